/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses each register of each emulated device with each instruction, in S and in U, while
 * counters of all kinds run: one for each set of an event and a filter, others that share them, and
 * the exits by accesses. Each counts exactly what it counts of as many instructions that access
 * nothing; exits are one for each access. Every other time all counters wrap meanwhile. Then loads
 * into each integer register, and stores from each. All this `rounds=` times.
 */
#include "guests/bare/bare.h"

#define ACCESSES 8UL
#define WRAPS    (-4UL)
#define EXITS    (SBI_PMU_TYPE_FW << 16 | 0x105UL)

struct op {
	char name[8];
	void (*run)(uint64_t at);
	uint64_t width;
};
extern const struct op ops[];
extern const uint64_t n_ops;
void into_all(uint64_t at, uint64_t values[64]);
void from_all(uint64_t at, uint64_t values[64]);

/* Of the PLIC: priorities; pending; enables, thresholds and claims of a context and of none; what
 * is no register. Of the UART all. With chip=aplic, of the APLIC instead: the domain, sources, what
 * is pending and enabled, by bit and by number, messages, targets. Then also of a PCI bus: a
 * function from its ids to its last BAR, and none. */
struct place {
	uint64_t at, step, n;
};
static const struct place with_plic[] = {
    {0x0c000000, 4, 33}, {0x0c001000, 4, 2}, {0x0c002000, 0x80, 2}, {0x0c200000, 4, 3},
    {0x0c201000, 4, 2},  {0x0c3ffff8, 4, 2}, {0x10000000, 1, 9},    {0, 0, 0},
};
static const struct place with_aplic[] = {
    {0x0d000000, 4, 3},
    {0x0d000028, 4, 2},
    {0x0d001c00, 0x40, 2},
    {0x0d001cdc, 4, 1},
    {0x0d001d00, 0x40, 2},
    {0x0d001ddc, 4, 1},
    {0x0d001e00, 0x40, 2},
    {0x0d001edc, 4, 1},
    {0x0d001f00, 0xdc, 2},
    {0x0d002000, 4, 2},
    {0x0d003000, 4, 4},
    {0x0d003ffc, 4, 1},
    {0x30008000, 4, 10},
    {0x30010000, 4, 1},
    {0x300ffffc, 4, 1},
    {0x10000000, 1, 9},
    {0, 0, 0},
};
#define PLIC_PRIORITY_7 0x0c00001cUL
#define SOURCECFG_7     0x0d00001cUL
#define TARGET_7        0x0d00301cUL
#define UART_DATA       0x10000000UL
#define UART_IER        0x10000001UL
#define UART_MCR        0x10000004UL
#define UART_LOOP       0x10U

static const struct {
	uint64_t event, flags;
} wanted[] = {
    {EVENT_INSTRUCTIONS, 0},
    {EVENT_CYCLES, 0},
    {EVENT_INSTRUCTIONS, 0},
    {EVENT_INSTRUCTIONS, 0},
    {EVENT_CYCLES, 0},
    {EVENT_INSTRUCTIONS, SBI_PMU_CFG_FLAG_SET_UINH},
    {EVENT_CYCLES, SBI_PMU_CFG_FLAG_SET_SINH},
    {EXITS, 0},
};
#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

static uint64_t counter[WANTED], n_counters, live, hw;
static uint64_t accesses, wrong;

static uint64_t value_of(uint64_t ctr)
{
	if (BIT(ctr) & hw)
		return counter_read((uint32_t)ctr);
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0).value;
}

/* Not inlined, so that the instructions are the same each time. */
static __attribute__((noinline)) void run(const struct op *op, uint64_t at, bool user,
                                          uint64_t first, uint64_t values[WANTED])
{
	pmu_start(live, first);
	if (user)
		user_run(user_call, at, (uint64_t)op->run);
	else
		op->run(at);
	pmu_stop(live);
	for (uint64_t i = 0; i < n_counters; i++)
		values[i] = value_of(counter[i]) - first;
}

static void check(const struct op *op, uint64_t at, bool user, uint64_t first,
                  const uint64_t expected[WANTED])
{
	uint64_t values[WANTED] = {0};

	run(op, at, user, first, values);
	accesses += ACCESSES;
	for (uint64_t i = 0; i < n_counters; i++) {
		uint64_t more = BIT(counter[i]) & hw ? 0 : ACCESSES;

		if (values[i] == expected[i] + more)
			continue;
		if (wrong++ < 10)
			print("emulated: %s 0x%x, %s, counter %u: %d, not %d\n", op->name, at,
			      user ? "U" : "S", counter[i], values[i], expected[i] + more);
	}
}

static void check_all(bool user, uint64_t first)
{
	uint64_t expected[WANTED] = {0};

	run(ops, 0, user, first, expected);
	for (const struct place *p = bootarg_is("chip", "aplic") ? with_aplic : with_plic; p->at;
	     p++) {
		for (uint64_t i = 0; i < p->n; i++) {
			uint64_t at = p->at + i * p->step;

			for (uint64_t o = 1; o < n_ops; o++) {
				if (at % ops[o].width)
					continue;
				*(volatile uint8_t *)UART_MCR = UART_LOOP;
				check(&ops[o], at, user, first, expected);
			}
		}
	}
}

/* What the UART is sent outside of loopback is printed. */
static void check_sending(void)
{
	uint64_t expected[WANTED] = {0};

	for (uint64_t i = 0; i < 4; i++) {
		bool user = i & 1;
		uint64_t first = i & 2 ? WRAPS : 0;

		run(ops, 0, user, first, expected);
		for (uint64_t o = 1; o < n_ops; o++) {
			if (ops[o].name[0] != 's')
				continue;
			*(volatile uint8_t *)UART_MCR = 0;
			check(&ops[o], UART_DATA, user, first, expected);
		}
	}
	print("\n");
}

static uint64_t registers_wrong(void)
{
	static uint64_t values[64];
	bool aplic = bootarg_is("chip", "aplic");
	const uint64_t at = aplic ? TARGET_7 : PLIC_PRIORITY_7;
	uint64_t n = 0;

	if (aplic)
		*(volatile uint32_t *)SOURCECFG_7 = 1; /* detached; it has a target */
	*(volatile uint32_t *)at = 5;
	into_all(at, values);
	for (uint64_t i = 0; i < 32; i++)
		n += values[32 + i] != (i ? 5 : 0);
	from_all(at, values);
	for (uint64_t i = 0; i < 32; i++)
		n += values[32 + i] != (i & 7);
	return n;
}

int emulated(uint64_t hartid)
{
	struct counters c = find_counters();
	uint64_t bad = 0;

	(void)hartid;
	hw = c.hw;
	for (uint64_t i = 0; i < WANTED; i++) {
		uint64_t mask = (wanted[i].event == EXITS ? c.fw : c.hw) & ~live;
		struct sbiret r = pmu_config(mask, wanted[i].flags, wanted[i].event);

		if (r.error) {
			print("emulated: event 0x%x flags 0x%x: error %d\n", wanted[i].event,
			      wanted[i].flags, r.error);
			continue;
		}
		counter[n_counters++] = r.value;
		live |= BIT(r.value);
	}
	for (uint64_t rounds = bootarg_num("rounds", 1); rounds; rounds--) {
		accesses = 0;
		for (uint64_t i = 0; i < 4; i++)
			check_all(i & 1, i & 2 ? WRAPS : 0);
		check_sending();
		*(volatile uint8_t *)UART_MCR = 0;
		*(volatile uint8_t *)UART_IER = 0;
		bad += registers_wrong();
		print("emulated: %u counters, %u accesses, %u counts wrong, %u registers wrong\n",
		      n_counters, accesses, wrong, bad);
	}
	return wrong || bad ? 1 : 0;
}
