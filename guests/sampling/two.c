/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two filters of one event at once, U on one counter and S on another. First they count, and both
 * must count what each counts alone. Then `samples=` samples of each, that of U every `period=`
 * instructions. Prints how late those of S come.
 */
#include "guests/sampling/sampling.h"

#define ROUNDS   10000UL
#define S_PERIOD 20000UL
/* All hardware counters, including cycle and instret. */
#define ALL (hw_counters() | BIT(0) | BIT(2))

static uint32_t user, super; /* counters */
static uint64_t period, wanted, user_taken, super_taken, latest, wrong;
static uint64_t since; /* see rate.c */

/* Makes the same calls and runs the same code, of which there is one copy, whatever counts. Returns
 * the value of S's counter. */
static __attribute__((noinline, noclone)) uint64_t count(uint64_t set, uint64_t rounds)
{
	pmu_start(set, 5);
	user_run(user_code, rounds, 0);
	pmu_stop(set);
	return counter_read(super);
}

/* Returns false if the second filter is refused. */
static bool counting(uint64_t event)
{
	struct sbiret second;
	uint64_t alone;

	super = configure(ALL, UINH, event);
	alone = count(BIT(super), ROUNDS);
	pmu_reset(BIT(super));
	user = configure(ALL, SINH, event);
	second = pmu_config(ALL, UINH, event);
	if (second.error) {
		print("event 0x%x: the second filter: error %d\n", event, second.error);
		pmu_reset(BIT(user));
		return false;
	}
	super = (uint32_t)second.value;
	for (uint64_t rounds = 1; rounds <= ROUNDS; rounds *= 10) {
		uint64_t s = count(BIT(user) | BIT(super), rounds);

		wrong += s != alone || counter_read(user) != 5 + 2 * rounds + 1;
	}
	print("event 0x%x: counters %u and %u, %u wrong\n", event, user, super, wrong);
	return true;
}

static void take_user(struct trap_frame *f)
{
	uint64_t now = user_position(f, ROUNDS);

	wrong += now - since != period || counter_read(user);
	since = now;
	pmu_stop(BIT(user));
	if (++user_taken < wanted)
		pmu_start(BIT(user), -period);
}

static void take_super(void)
{
	uint64_t late;

	pmu_stop(BIT(super));
	late = counter_read(super);
	latest = late > latest ? late : latest;
	if (++super_taken < wanted)
		pmu_start(BIT(super), -S_PERIOD);
}

static void on_overflow(struct trap_frame *f)
{
	uint64_t flags;

	/* In this order none is lost. One may be found that was taken already. */
	csr_clear(sip, IRQ_LCOFI);
	flags = own_flags(csr_read(CSR_SCOUNTOVF), BIT(user) | BIT(super));
	wrong += f->cause != CAUSE_LCOFI || flags & ~(BIT(user) | BIT(super));
	if (flags & BIT(user) && user_taken < wanted)
		take_user(f);
	if (flags & BIT(super) && super_taken < wanted)
		take_super();
}

/* Half of it runs in U, which only one counter counts, half in S. */
static void work(void)
{
	user_run(user_code, ROUNDS, 0);
	since -= 2 * ROUNDS + 1;
	csr_set(sstatus, 2);
	segment_of(super)(ROUNDS);
	csr_clear(sstatus, 2);
}

static void sampling(void)
{
	user_taken = super_taken = latest = since = 0;
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	pmu_start(BIT(super), -S_PERIOD);
	pmu_start(BIT(user), -period);
	while (user_taken < wanted || super_taken < wanted)
		work();
	/* Nothing more may come. */
	for (unsigned i = 0; i < 10; i++)
		work();
	pmu_reset(BIT(user) | BIT(super));
	print("%u samples of U, %u of S, up to %u late, %u wrong\n", user_taken, super_taken,
	      latest, wrong);
}

int two(void)
{
	wanted = bootarg_num("samples", 300);
	period = bootarg_num("period", 1000);
	for (uint64_t event = EVENT_CYCLES; event <= EVENT_INSTRUCTIONS; event++) {
		if (counting(event))
			sampling();
	}
	print("two: ends\n");
	return wrong != 0;
}
