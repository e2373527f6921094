/* SPDX-License-Identifier: Apache-2.0 */
/* Spins for ticks=. Prints how often, how many of these ticks Tally counts as steal time, how many
 * instructions it has executed in HS for this guest, how many rounds took longer than long= ticks,
 * and how long these took. With late=yes it waits each time for a timer that has expired already.
 */
#include "guests/bare/bare.h"

#define HS_INSTRUCTIONS 265UL /* docs/events.md */
#define STEAL_TICKS     266UL

/* Starts a counter for an event of Tally. Returns -1 if there is none. */
static uint64_t begin(uint64_t *fw, uint64_t code)
{
	struct sbiret r = pmu_config(*fw, 0, SBI_PMU_TYPE_FW << 16 | code);

	if (r.error || pmu_start(BIT(r.value), 0))
		return ~0UL;
	*fw &= ~BIT(r.value);
	return r.value;
}

static uint64_t value(uint64_t ctr)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0).value;
}

/* Its timer expires while the hart has another vcpu, if that takes longer than this. It waits for
 * that interrupt, which is there, with its first instructions afterwards. */
#define LATE_TICKS 500U

static void be_late(void)
{
	uint64_t last = csr_read(time), end = last + LATE_TICKS / 2, now;

	sbi_call(SBI_EXT_TIME, 0, last + LATE_TICKS, 0, 0, 0, 0, 0);
	while ((now = csr_read(time)) < end)
		last = now;
	if (now - last > LATE_TICKS)
		__asm__ volatile("wfi");
}

/* Reads the steal time, and the time into *now. Both are of one turn: where another vcpu has the
 * hart in between, they are read again.
 */
static uint64_t read_steal(uint64_t ctr, uint64_t *now)
{
	uint64_t ticks, before;

	do {
		before = csr_read(time);
		ticks = value(ctr);
		*now = csr_read(time);
	} while (*now - before > LATE_TICKS);
	return ticks;
}

int steal(uint64_t hartid)
{
	uint64_t fw = find_counters().fw, rounds = 0;
	uint64_t stolen = begin(&fw, STEAL_TICKS), spent = begin(&fw, HS_INSTRUCTIONS);
	uint64_t start, limit = bootarg_num("long", ~0UL), n_long = 0, in_long = 0;
	bool late = bootarg_is("late", "yes");
	uint64_t now, before;

	(void)hartid;
	if (stolen == ~0UL || spent == ~0UL)
		return 1;
	csr_set(sie, late ? IRQ_TIMER : 0);
	before = read_steal(stolen, &start);
	for (uint64_t last = start; !time_is_up(); rounds++, last = now) {
		for (volatile unsigned i = 0; i < 1000 && !late; i++)
			;
		if (late)
			be_late();
		now = csr_read(time);
		if (now - last > limit) {
			n_long++;
			in_long += now - last;
		}
	}
	stolen = read_steal(stolen, &now) - before;
	print("steal: %u of %u", stolen, now - start);
	print(", %u rounds, %u instructions in HS", rounds, value(spent));
	print(", %u long rounds of %u\n", n_long, in_long);
	return 0;
}
