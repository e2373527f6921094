/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of kind `fuzz`, and how it survives them. Bootargs:
 *   seed=N          decides everything
 *   life=N          instead of the number that this life of the guest has, which it prints at first
 *   only=NAME       steps of this name, none of the others
 *   without=NAME    all steps but those
 *   first=, last=   the numbers of the first and of the last step
 *   of=N            vcpu N alone takes steps
 *   trace=1         prints what each step does
 *   quiet=1         prints nothing: the guest has no console
 *   operator=1      the guest is an operator, and has steps of one
 *   virt=1          its VM has machine = "virt": it also accesses the virtio-mmio slots
 *   key=1           it has a power key, and accesses that
 *   stops=1         a bad access ends this life: steps with wild addresses are rare
 */
#include "guests/bare/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdatomic.h>

#define WATCH_TICKS 500U
#define IRQS        100U
#define SKIPS       64U
#define TOLD        50U
#define SELDOM      30U
#define LOOK        32U     /* steps, after which a vcpu looks after the others */
#define LOST        400000U /* ticks: 20 turns */

static const struct {
	const char *name;
	uint64_t weight;
	void (*step)(struct fuzz_vcpu *v);
	bool wild; /* goes to any address */
} steps[] = {
    {"pmu", 400, fuzz_pmu, false},
    {"sbi", 150, fuzz_sbi, false},
    {"csr", 150, fuzz_csr, false},
    {"float", 100, fuzz_float, true},
    {"insn", 100, fuzz_insn, true},
    {"mmio", 80, fuzz_mmio, true},
    {"paging", 100, fuzz_paging, true},
    {"code", 60, fuzz_shared_code, true},
    {"flood", 60, fuzz_flood, false},
    {"wait", 30, fuzz_wait, false},
    {"spin", 60, fuzz_spin, false},
    {"hsm", 20, fuzz_hsm, false},
    {"print", 2, fuzz_print, false},
    {"vector", 1, fuzz_vector, true},
    {"end", 1, fuzz_end, false},
    {"file", 40, fuzz_file, false},
    {"operator", 100, fuzz_operator, false},
};
/* The last one is that of an operator. */
#define STEPS (sizeof(steps) / sizeof(steps[0]) - !is_operator)

static uint64_t seed_arg, first, last, weights, vcpus;
static bool trace, quiet, stops, is_operator, allowed[sizeof(steps) / sizeof(steps[0])];

uint64_t fuzz_count(void)
{
	return vcpus;
}

/* Held for a line. A guest that overwrites it prints mixed lines. */
static atomic_flag printing;

static void lock(void)
{
	for (unsigned i = 0; i < 100000 && atomic_flag_test_and_set(&printing); i++)
		;
}

void fuzz_say(struct fuzz_vcpu *v, const char *fmt, ...)
{
	va_list args;

	if (!trace)
		return;
	lock();
	print("fuzz: %u.%u ", v->id, v->step);
	va_start(args, fmt);
	print_args(fmt, args);
	va_end(args);
	print("\n");
	atomic_flag_clear(&printing);
}

void fuzz_restore(struct fuzz_vcpu *v)
{
	csr_clear(sstatus, SSTATUS_SIE);
	csr_write(stvec, (uint64_t)fuzz_vectors + 64 * v->id);
	csr_write(satp, 0);
	csr_clear(sstatus, 1UL << 6); /* UBE */
	__asm__ volatile("sfence.vma" ::: "memory");
}

static void prepare(struct fuzz_vcpu *v)
{
	uint64_t bits;

	fuzz_restore(v);
	v->random = fuzz_mix(seed_arg ^ fuzz_mix(v->life ^ fuzz_mix(v->id << 32 ^ v->step)));
	bits = fuzz_random(v);
	csr_write(sie, IRQ_TIMER | (bits & (IRQ_SOFT | IRQ_EXTERNAL | IRQ_LCOFI)));
	if (bits >> 32 & 3) {
		csr_set(sstatus, 3UL << 13 | SSTATUS_VS);
	}
	v->irqs = v->skipped = v->code = v->code_end = 0;
	v->until = csr_read(time) + WATCH_TICKS;
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, v->until, 0, 0, 0, 0, 0);
}

/* How far it has come, which is what the tests ask of it. */
static void tell(struct fuzz_vcpu *v)
{
	if (quiet)
		return;
	fuzz_restore(v);
	lock();
	print("fuzz: vcpu %u: %u steps\n", v->id, v->taken);
	atomic_flag_clear(&printing);
}

/*
 * Starts vcpus that have stopped themselves. One that takes no steps any more has lost its way in a
 * place where no interrupt finds it: then the guest starts again, as another life.
 */
static void look_after_others(struct fuzz_vcpu *v)
{
	uint64_t now = csr_read(time);

	fuzz_restore(v);
	for (uint64_t i = 0; i < vcpus; i++) {
		const struct fuzz_vcpu *other = fuzz_vcpu(i);

		if (other == v || other->step > last)
			continue;
		if (sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, i, (uint64_t)fuzz_begin, 0, 0, 0, 0)
		            .error == 0 ||
		    v->seen[i] != other->taken || !v->seen_at[i]) {
			v->seen[i] = other->taken;
			v->seen_at[i] = now;
		} else if (now - v->seen_at[i] > LOST) {
			sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
		}
	}
}

static unsigned choose(struct fuzz_vcpu *v)
{
	uint64_t n = fuzz_below(v, weights);

	for (unsigned i = 0; i < STEPS; i++) {
		if (n < steps[i].weight)
			return stops && steps[i].wild && !fuzz_once_in(v, SELDOM) ? 0 : i;
		n -= steps[i].weight;
	}
	return 0;
}

void fuzz_loop(struct fuzz_vcpu *v)
{
	if (bootarg("of") && v->id != bootarg_num("of", 0))
		v->step = last + 1;
	for (; v->step <= last; v->step++) {
		unsigned n;

		prepare(v);
		n = choose(v);
		if (!allowed[n])
			continue;
		fuzz_say(v, steps[n].name);
		fuzz_try(v, steps[n].step);
		v->taken++;
		if (v->taken % TOLD == 0)
			tell(v);
		if (v->taken % LOOK == 0)
			look_after_others(v);
	}
	csr_write(sie, 0);
	for (;;)
		__asm__ volatile("wfi");
}

/* Returns what fuzz.S has to do. Its random numbers are others than the step's, because when an
 * interrupt comes is no matter of the seed. */
static uint64_t interrupted(struct fuzz_vcpu *v)
{
	uint64_t mine = v->random, number = v->cause & 63;

	v->random = v->irq_random;
	if (number == 1) {
		csr_clear(sip, IRQ_SOFT);
		if (fuzz_once_in(v, 4))
			sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, fuzz_random(v) & 15, 0, 0, 0, 0, 0);
	} else if (number == 5) {
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, v->until, 0, 0, 0, 0, 0);
	} else if (number == 13) {
		csr_clear(sip, IRQ_LCOFI);
		if (fuzz_once_in(v, 2))
			pmu_stop(fuzz_few_bits(v, 2));
		if (fuzz_once_in(v, 2))
			pmu_start(fuzz_random(v) & 0x7fffd, -fuzz_below(v, 3000));
	} else if (number == 9) {
		volatile uint32_t *claim = (volatile uint32_t *)(PLIC + 0x201004 + 0x2000 * v->id);
		uint32_t source = *claim;

		if (fuzz_once_in(v, 2))
			*claim = source;
		else
			csr_clear(sie, IRQ_EXTERNAL);
	}
	v->irq_random = v->random;
	v->random = mine;
	if (v->irqs++ < IRQS && csr_read(time) < v->until)
		return FUZZ_GO_ON;
	csr_write(sie, IRQ_TIMER);
	return v->code ? FUZZ_RETURN : FUZZ_GIVE_UP;
}

uint64_t fuzz_trap(struct fuzz_vcpu *v)
{
	uint64_t pc = (v->pc & 0x3fffffff) | 0x80000000UL;
	uint16_t word;

	if (v->cause & CAUSE_IRQ)
		return interrupted(v);
	if (!v->code)
		return FUZZ_GIVE_UP;
	/* The code may have turned paging on. */
	if (pc < v->code || pc >= v->code_end || v->cause == 3 || v->skipped++ >= SKIPS)
		return FUZZ_RETURN;
	word = *(const volatile uint16_t *)pc;
	v->pc += (word & 3) == 3 ? 4 : 2;
	return FUZZ_GO_ON;
}

/* A number that no other life of this guest has. */
static uint64_t this_life(void)
{
	uint32_t size;
	const uint8_t *given = chosen_property("rng-seed", &size);
	uint64_t life = 0;

	for (unsigned i = 0; given && i < 4 && i < size; i++)
		life = life << 8 | given[i];
	return bootarg_num("life", life);
}

static void begin_vcpu(uint64_t id, uint64_t life)
{
	struct fuzz_vcpu *v = fuzz_vcpu(id);

	v->id = id;
	v->life = life;
	v->step = first;
	v->taken = 0;
	v->irq_random = fuzz_mix(seed_arg + id);
	v->stack = (uint64_t)v + FUZZ_SIZE / 2;
	v->begin = (uint64_t)v + FUZZ_SIZE;
}

int fuzz(uint64_t hartid)
{
	uint64_t life = this_life();

	seed_arg = bootarg_num("seed", 1);
	first = bootarg_num("first", 0);
	last = bootarg_num("last", ~0UL >> 1);
	quiet = bootarg_num("quiet", 0) != 0;
	stops = bootarg_num("stops", 0) != 0;
	trace = bootarg_num("trace", 0) != 0 && !quiet;
	is_operator = fuzz_operator_begin();
	for (unsigned i = 0; i < STEPS; i++) {
		weights += steps[i].weight;
		allowed[i] = !bootarg_is("without", steps[i].name) &&
		             (!bootarg("only") || bootarg_is("only", steps[i].name));
	}
	while (vcpus < FUZZ_VCPUS &&
	       !sbi_call(SBI_EXT_HSM, SBI_HSM_HART_GET_STATUS, vcpus, 0, 0, 0, 0, 0).error)
		vcpus++;
	if (!quiet)
		print("fuzz: seed=%u life=%u, %u vcpus\n", seed_arg, life, vcpus);
	for (uint64_t i = 0; i < FUZZ_VCPUS; i++)
		begin_vcpu(i, life);
	for (uint64_t i = 0; i < vcpus; i++)
		if (i != hartid)
			sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, i, (uint64_t)fuzz_begin, 0, 0, 0,
			         0);
	fuzz_begin(hartid, 0);
}
