/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sequences=` random sequences, from `seed=`, of starts, stops, resets, masking, accesses to sip
 * and world switches, between runs of known length in U. Counters count U only, so a small model
 * knows every value, every OF bit, and the instruction of every interrupt. `sharers=` counters
 * count each event. clean=yes leaves out what OpenSBI on QEMU does wrong: a start while LCOFIP is
 * 1, and starts far from the wrap.
 */
#include "guests/sampling/sampling.h"

#define OPS      24U
#define COUNTERS 8U
#define WRS_NTO  ".word 0x00d00073"

/* The model. Counters are numbered in the order of configuration. */
static struct counter {
	uint64_t event, value;
	uint32_t idx;
	bool running;
} counter[COUNTERS];
static uint32_t n;
static uint64_t flags; /* OF, by idx */
static bool pending;   /* sip.LCOFIP */
static bool enabled;   /* sie.13 */

static uint64_t state, sequence, interrupts, wrong;
static bool clean, calls;

static uint64_t random(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? state % below : 0;
}

static uint64_t used(void)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < n; i++)
		mask |= BIT(counter[i].idx);
	return mask;
}

static void bad(const char *what, uint64_t is, uint64_t should)
{
	if (wrong++ < 20)
		print("chance: sequence %u: %s is 0x%x, should be 0x%x\n", sequence, what, is,
		      should);
}

static void check(const char *what, uint64_t is, uint64_t should)
{
	if (is != should)
		bad(what, is, should);
}

static void check_all(void)
{
	check("sip.LCOFIP", csr_read(sip) >> 13 & 1, pending);
	check("sie.LCOFIE", csr_read(sie) >> 13 & 1, enabled);
	check("scountovf", own_flags(csr_read(CSR_SCOUNTOVF), used()), flags);
	for (uint32_t i = 0; i < n; i++)
		check("counter", counter_read(counter[i].idx), counter[i].value);
}

/* Returns the instructions until the first wrap that sets LCOFIP. All ones: none. */
static uint64_t next_wrap(void)
{
	uint64_t next = ~0UL;

	for (uint32_t i = 0; i < n; i++)
		if (counter[i].running && !(flags & BIT(counter[i].idx)) && counter[i].value &&
		    -counter[i].value < next)
			next = -counter[i].value;
	return next;
}

static void advance(uint64_t instructions)
{
	for (uint32_t i = 0; i < n; i++) {
		struct counter *c = &counter[i];

		if (!c->running)
			continue;
		if (c->value && -c->value <= instructions && !(flags & BIT(c->idx))) {
			flags |= BIT(c->idx);
			pending = true;
		}
		c->value += instructions;
	}
}

static uint64_t some_value(void)
{
	/* Values near the wrap are rare, because they make the emulator slow while S runs. */
	switch (random(clean ? 10 : 14)) {
	case 0:
		return -(random(5) + 1);
	case 1:
		return -(random(40) + 1);
	case 10:
		return random(2) << 61;
	case 11:
		return 0x8000000000000001UL + random(1000);
	case 12:
		return random(~0UL);
	default:
		return -(random(500) + 1);
	}
}

/* Starts a random set of stopped counters, with one value or each with its own. */
static void start_some(void)
{
	uint64_t mask = 0, value = some_value();
	bool keep = !random(4);

	if (clean && pending)
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (counter[i].running || random(2))
			continue;
		/* A start without a value near the wrap arms the counter again. Far from the wrap:
		 * see above. */
		if (clean && keep && counter[i].value < 0xc000000000000000UL)
			continue;
		mask |= BIT(counter[i].idx);
		counter[i].running = true;
		if (!keep)
			counter[i].value = value;
	}
	flags &= ~mask;
	check("start",
	      (uint64_t)(mask ? sbi_pmu(SBI_PMU_COUNTER_START, 0, mask, !keep, value, 0).error : 0),
	      0);
}

static void stop_some(void)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!counter[i].running || random(2))
			continue;
		mask |= BIT(counter[i].idx);
		counter[i].running = false;
	}
	if (mask)
		check("stop", (uint64_t)pmu_stop(mask), 0);
}

/* Resets one counter and configures it again for the same event: it keeps its value, and OF is
 * 0. */
static void reset_one(void)
{
	struct counter *c = &counter[random(n)];
	struct sbiret r;

	pmu_reset(BIT(c->idx));
	r = pmu_config(BIT(c->idx), SINH | SBI_PMU_CFG_FLAG_CLEAR_VALUE, c->event);
	check("config_matching", r.value, c->idx);
	c->running = false;
	c->value = 0;
	flags &= ~BIT(c->idx);
	if (clean)
		flags |= csr_read(CSR_SCOUNTOVF) & BIT(c->idx);
}

static uint64_t rounds, done;
static bool in_user;

static void on_overflow(struct trap_frame *f)
{
	uint64_t at = in_user ? user_position(f, rounds) : 0, next = pending ? 0 : next_wrap();

	interrupts++;
	check("cause", f->cause, CAUSE_LCOFI);
	check("the interrupt's place", at - done, next);
	advance(at - done);
	done = at;
	check_all();
	csr_clear(sip, IRQ_LCOFI);
	pending = false;
	if (random(2)) {
		stop_some();
		start_some();
	}
	if (!random(8)) {
		csr_clear(sie, IRQ_LCOFI);
		enabled = false;
	}
}

static void run(void)
{
	uint64_t all;

	rounds = random(4) ? random(100) + 1 : random(500) + 1;
	all = 2 * rounds + 1;
	done = 0;
	in_user = true;
	user_run(user_code, rounds, 0);
	in_user = false;
	/* At a wrap on the ecall, interrupts are off. */
	if (enabled && (pending || next_wrap() < all - done))
		bad("an interrupt lost after", done, pending ? 0 : next_wrap());
	advance(all - done);
}

/* Enables interrupts of S for a moment. */
static void open_window(void)
{
	uint64_t before = interrupts;
	bool due = pending && enabled;

	done = 0;
	csr_set(sstatus, SSTATUS_SIE);
	csr_clear(sstatus, SSTATUS_SIE);
	check("interrupts in S", interrupts - before, due);
}

/* Lets another guest run, or sleeps until the timer. */
static void let_others_run(void)
{
	uint64_t kept = csr_read(sie);

	if (random(2)) {
		__asm__ volatile(WRS_NTO);
		return;
	}
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + random(30), 0, 0, 0, 0, 0);
	csr_write(sie, IRQ_TIMER);
	__asm__ volatile("wfi");
	csr_write(sie, kept);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
}

static void operation(void)
{
	switch (random(12)) {
	case 0:
	case 1:
		start_some();
		break;
	case 2:
		stop_some();
		break;
	case 3:
		reset_one();
		break;
	case 4:
		csr_clear(sie, IRQ_LCOFI);
		enabled = false;
		/* Tally must notice it, see core/vcpu/vs_interrupts.h. */
		if (calls && pending)
			pmu_stop(0);
		break;
	case 5:
		csr_set(sie, IRQ_LCOFI);
		enabled = true;
		break;
	case 6:
		csr_clear(sip, IRQ_LCOFI);
		pending = false;
		break;
	case 7:
		/* While it is masked, Tally would not notice it, see core/vcpu/vs_interrupts.h. */
		if (random(4) || clean || !enabled)
			break;
		csr_set(sip, IRQ_LCOFI);
		pending = true;
		break;
	case 8:
		let_others_run();
		break;
	case 9:
		open_window();
		break;
	default:
		run();
	}
}

static void begin(uint32_t sharers)
{
	uint64_t hw = hw_counters(), left = hw;

	csr_clear(sie, IRQ_LCOFI);
	csr_clear(sip, IRQ_LCOFI);
	pmu_reset(hw);
	pending = enabled = false;
	flags = 0;
	n = 0;
	for (uint32_t i = 0; i < 2 * sharers && n < COUNTERS; i++) {
		uint64_t event = EVENT_CYCLES + i % 2;
		struct sbiret r = pmu_config(left, SINH | SBI_PMU_CFG_FLAG_CLEAR_VALUE, event);

		check("config_matching", (uint64_t)r.error, 0);
		left &= ~BIT(r.value);
		counter[n++] = (struct counter){.idx = (uint32_t)r.value, .event = event};
	}
	if (clean)
		flags = csr_read(CSR_SCOUNTOVF) & used();
}

int chance(void)
{
	uint64_t sequences = bootarg_num("sequences", 10000);
	uint32_t sharers = (uint32_t)bootarg_num("sharers", 2);

	state = bootarg_num("seed", 1) * 0x9e3779b97f4a7c15UL;
	clean = bootarg_is("clean", "yes");
	calls = bootarg_is("calls", "yes");
	irq_handle_by(on_overflow);
	for (sequence = 0; sequence < sequences && wrong < 100; sequence++) {
		begin(sharers);
		for (uint32_t i = 0; i < OPS; i++) {
			operation();
			/* A read may be an exit, after which the hart notices what it missed. */
			if (!random(4))
				check_all();
		}
		check_all();
	}
	print("chance: ends after %u sequences, %u interrupts, %u wrong\n", sequence, interrupts,
	      wrong);
	return wrong != 0;
}
