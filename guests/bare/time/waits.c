/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for a byte of input, then works in S and in U, `rounds=` times. For observers: while it
 * waits, their counts must not change.
 *   every=N        waits for the next multiple of N ticks of its time, and for no input
 *   asleep=yes     it sleeps until then, and has to be in S
 *   filter=u, k    u: it waits in S, and instructions in U are counted; k: the other way round
 *   own=yes        it counts them itself as well, and prints the increase at each wait
 *   own=restarts   the same, and it stops the counter in between and starts it with a new value
 *   own=both       as own=yes, and it counts the other mode, too, without reading it
 *   length=N       rounds of two instructions in each mode
 *   calls=N        illegal instructions, and calls of SET_TIMER
 */
#include "guests/bare/bare.h"

#define UART_RBR ((volatile uint8_t *)0x10000000)
#define UART_LSR ((volatile uint8_t *)0x10000005)
#define LSR_DR   0x01
#define ILLEGAL  0xffffffffU

static uint64_t every; /* ticks; 0: it waits for input */

static uint64_t no_counter(void)
{
	return 0;
}

static void spin(uint64_t rounds)
{
	__asm__ volatile("1: addi %0, %0, -1; bnez %0, 1b" : "+r"(rounds));
}

/* Waits in S and in U. The bytes of input are ignored. */
static uint64_t wait(uint64_t read)
{
	uint64_t value = ((read_t)read)(), end;

	if (every) {
		end = csr_read(time) / every * every + every;
		if (bootarg_is("asleep", "yes"))
			sleep_for(end - csr_read(time));
		for (uint64_t now = end - every; now < end; now = csr_read(time))
			spin(1000); /* QEMU takes long for a look at the time */
		return value;
	}
	while (!(*UART_LSR & LSR_DR))
		;
	(void)*UART_RBR;
	return value;
}

/* Does what firmware events count. */
static void call(uint64_t n)
{
	for (; n; n--) {
		trap_guard();
		insn_run(ILLEGAL, 0);
		trap_unguard();
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	}
}

struct own {
	uint32_t ctr;
	bool counts;
	read_t read;
};

static bool begin(struct own *own, uint64_t flags)
{
	struct sbiret r;

	*own = (struct own){.read = no_counter};
	if (!bootarg("own"))
		return true;
	r = pmu_config(find_counters().hw, flags, EVENT_INSTRUCTIONS);
	if (r.error)
		return false;
	own->ctr = (uint32_t)r.value;
	own->counts = true;
	own->read = read_of(own->ctr);
	csr_write(scounteren, BIT(own->ctr) | 2);
	if (pmu_start(BIT(own->ctr), 1000))
		return false;
	if (!bootarg_is("own", "both"))
		return true;
	flags ^= SBI_PMU_CFG_FLAG_SET_SINH | SBI_PMU_CFG_FLAG_SET_UINH;
	r = pmu_config(find_counters().hw, flags, EVENT_INSTRUCTIONS);
	return !r.error && !pmu_start(BIT(r.value), 0);
}

int waits(uint64_t hartid)
{
	bool user = bootarg_is("filter", "u"), restarts = bootarg_is("own", "restarts");
	uint64_t rounds = bootarg_num("rounds", 3), length = bootarg_num("length", 1000000);
	uint64_t last = 0, skipped = 0;
	struct own own;

	(void)hartid;
	every = bootarg_num("every", 0);
	csr_set(scounteren, 2); /* time, in U */
	if (!begin(&own, user ? SBI_PMU_CFG_FLAG_SET_SINH : SBI_PMU_CFG_FLAG_SET_UINH)) {
		print("waits: no counter\n");
		return 1;
	}
	print("waits: begins\n");
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t value = user ? wait((uint64_t)own.read)
		                      : user_run(user_call, (uint64_t)own.read, (uint64_t)wait);

		print("waits: %u: %u\n", i, i ? value - last + skipped : 0);
		last = value;
		skipped = 0;
		spin(length);
		call(bootarg_num("calls", 0));
		user_run(user_call, length, (uint64_t)spin);
		if (restarts) {
			/* Little must happen while it is stopped; nothing does in U. */
			pmu_stop(BIT(own.ctr));
			skipped = counter_read(own.ctr) - 77777;
			pmu_start(BIT(own.ctr), 77777);
		}
	}
	print("waits: ends\n");
	return 0;
}
