/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/machine/machine.h"

#include <sanitizer/common_interface_defs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/host/vm_config.h"
#include "tests/host/machine/model.h"

#if defined(__SANITIZE_ADDRESS__)
#define LEAVES(fake, to) __sanitizer_start_switch_fiber(fake, (to)->stack, (to)->size)
#define ARRIVES(fake)    __sanitizer_finish_switch_fiber(fake, NULL, NULL)
#define KNOW_STACK(f)    __sanitizer_finish_switch_fiber(NULL, &(f)->stack, &(f)->size)
#else
#define LEAVES(fake, to) ((void)(fake), (void)(to))
#define ARRIVES(fake)    ((void)(fake))
#define KNOW_STACK(f)    ((void)(f))
#endif

#define STACK_BYTES (1UL << 20)
#define MAIN        MACHINE_HARTS
#define MOST_SPUN   1000000U /* visible accesses between two things that guests do */
#define LONGEST_LOG 12U      /* stalls last for less than 2 to the power of this, in ticks */
#define MOST_DONE   4096U    /* visible accesses between two guests of a hart */

void tally_main(uint64_t hartid, void *dtb);
void secondary_main(uint64_t hartid, uint64_t index);

struct machine machine;

static struct fiber {
	ucontext_t context;
	const void *stack;
	size_t size;
} fibers[MACHINE_HARTS + 1];

/* --- turns --------------------------------------------------------------------------- */

static void switch_to(uint32_t next)
{
	struct fiber *from = &fibers[machine.now], *to = &fibers[next];
	void *fake = NULL;

	if (from == to)
		return;
	machine.now = next;
	machine.turns++;
	LEAVES(&fake, to);
	swapcontext(&from->context, &to->context);
	ARRIVES(fake);
}

_Noreturn void machine_ends(void)
{
	machine.off = true;
	for (;;)
		switch_to(MAIN);
}

_Noreturn void machine_differs(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(machine.why, sizeof(machine.why), format, args);
	va_end(args);
	machine_ends();
}

uint64_t machine_host_timer(const struct machine_hart *h)
{
	return machine.kind.sstc ? h->csr[CSR_STIMECMP] : h->timer;
}

uint64_t machine_pending(const struct machine_hart *h)
{
	uint64_t pending = h->csr[CSR_SIP] & (BIT(IRQ_SSI) | BIT(IRQ_LCOFI));

	if (machine.time >= machine_host_timer(h))
		pending |= BIT(IRQ_STI);
	if (chip_interrupts((uint32_t)(h - machine.hart)))
		pending |= BIT(IRQ_SEI);
	return pending;
}

bool machine_guest_timer(const struct machine_hart *h)
{
	return machine.kind.sstc && h->csr[CSR_HENVCFG] & HENVCFG_STCE &&
	       h->csr[CSR_VSTIMECMP] <= machine.time + h->csr[CSR_HTIMEDELTA];
}

static bool can_run(const struct machine_hart *h)
{
	return h->started && machine.time >= h->stalled_until &&
	       (!h->sleeps || (machine_pending(h) & h->csr[CSR_SIE]) || aia_interrupts(h) ||
	        (h->guest_waits && model_interrupts(h)));
}

/* Returns false if no other hart can run. */
static bool turn(void)
{
	uint32_t n = 0, others[MACHINE_HARTS];
	uint64_t now = machine.time;

	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		if (i != machine.now && can_run(&machine.hart[i]))
			others[n++] = i;
	}
	if (!n)
		return false;
	switch_to(others[below(&machine.chance, n)]);
	if (machine.booted && machine.time != now)
		model_pay_lost(now);
	return true;
}

void machine_turn(void)
{
	(void)turn();
}

void machine_rests(struct machine_hart *h, bool rests)
{
	h->rested += rests;
	h->rests = rests;
	h->others = 0;
	h->did = 0;
}

/* The hart does nothing for a while, as if its firmware had something to do. */
static void stall(struct machine_hart *h)
{
	uint64_t ticks = 1 + below(&machine.chance, 1U << below(&machine.chance, LONGEST_LOG));

	machine.stalled += ticks;
	h->stalled_until = machine.time + ticks;
	while (machine.time < h->stalled_until) {
		/* Others that only sleep let the time pass. */
		if (!turn())
			machine.time = h->stalled_until;
	}
}

/* Another hart may go on. Time passes for this one, too, although it gets nothing done. */
static void may_turn(struct machine_hart *h)
{
	uint64_t now = machine.time, stalled = machine.stalled;

	if (machine.kind.harts > 1 && below(&machine.chance, 6) == 0)
		machine_turn();
	h->others += machine.time - now;
	if (h->did++ < MOST_DONE)
		h->lost += machine.time - now - (machine.stalled - stalled);
}

static bool some_end(void)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (vms[i].state == VM_ENDING)
			return true;
	}
	return false;
}

void machine_sees(void)
{

	machine_hart()->insns_hs++;
	machine_count(machine_hart(), 1, false);
	if (machine.booted)
		model_mail_served();
	/* Time passes for who spins, too; on a slow line, for who waits until much has drained. */
	machine.time += below(&machine.chance, 16) == 0;
	if (machine.kind.slow_line && machine.spun > MOST_SPUN / 16 && some_end()) {
		machine.time += 8;
		machine.stalled += 8;
	}
	if (machine.spun++ > MOST_SPUN)
		machine_differs("hart %u spins for ever", machine.now);
	if (machine.kind.stalls && machine.booted &&
	    below(&machine.chance, machine.kind.short_lives ? 60 : 250) == 0)
		stall(machine_hart());
	may_turn(machine_hart());
}

/* In host time, of the guest that sleeps in the hart. */
static uint64_t guest_timer(const struct machine_hart *h)
{
	uint64_t now = machine.time + h->csr[CSR_HTIMEDELTA];

	if (!machine.kind.sstc || !(h->csr[CSR_HENVCFG] & HENVCFG_STCE) ||
	    h->csr[CSR_VSTIMECMP] <= now)
		return ~0UL;
	return machine.time + (h->csr[CSR_VSTIMECMP] - now) < machine.time
	           ? ~0UL
	           : machine.time + (h->csr[CSR_VSTIMECMP] - now);
}

/* All harts sleep: nothing happens until the next timer, or until somebody types. */
static void time_passes(void)
{
	uint64_t next = operator_next();

	bool stalls = false;

	for (uint32_t i = 0; i < machine.kind.harts; i++)
		stalls |= machine.hart[i].stalled_until > machine.time;
	machine.spun = 0;
	if (!stalls)
		model_standstill();
	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		const struct machine_hart *h = &machine.hart[i];

		if (h->stalled_until > machine.time && h->stalled_until < next)
			next = h->stalled_until;
		if (h->started && h->csr[CSR_SIE] & BIT(IRQ_STI) && machine_host_timer(h) < next)
			next = machine_host_timer(h);
		if (h->guest_waits && guest_timer(h) < next)
			next = guest_timer(h);
	}
	if (machine.uart_sends && machine.uart_until < next)
		next = machine.uart_until;
	if (next > machine.time)
		machine.time = next;
	if (machine.kind.files && percent(&machine.chance, 30))
		aia_messages();
	model_time();
	/* A machine whose VMs are all off goes on as long as an operator may start one. */
	if (++machine.idle >= 4 * machine.most_steps)
		machine_ends();
}

void machine_wfi(void)
{
	struct machine_hart *h = machine_hart();

	h->sleeps = true;
	/* A hart that naps has something to do yet (roam_nap()). */
	if (!h->guest_waits && !machine.kind.roam)
		machine_rests(h, true);
	while (!can_run(h)) {
		if (!turn() && !can_run(h))
			time_passes();
	}
	h->sleeps = false;
	if (!h->guest_waits)
		machine_rests(h, false);
}

/* --- harts --------------------------------------------------------------------------- */

static void begin_hart(void)
{
	struct machine_hart *h = machine_hart();

	/* The boot hart is entered from main()'s stack, the others from another hart's. */
	if (machine.now == 0)
		KNOW_STACK(&fibers[MAIN]);
	else
		ARRIVES(NULL);
	/* A hart that enters a guest comes back here, with an empty stack. */
	(void)setjmp(h->base);
	h = machine_hart();
	if (h->ctx)
		guest_runs(h);
	if (!h->start_opaque)
		tally_main(h->id, machine_host_tree(&machine.kind));
	/* What entry.S does. */
	uint32_t *taken = h->start_opaque;

	machine_sees();
	if (__atomic_exchange_n(taken, 1, __ATOMIC_SEQ_CST)) {
		for (;;)
			machine_wfi();
	}
	h->index = taken[1];
	secondary_main(h->id, h->index);
}

static void prepare(uint32_t i)
{
	struct machine_hart *h = &machine.hart[i];
	struct fiber *f = &fibers[i];
	void *stack =
	    mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		abort();
	*f = (struct fiber){.stack = stack, .size = STACK_BYTES};
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = stack;
	f->context.uc_stack.ss_size = STACK_BYTES;
	f->context.uc_link = NULL;
	makecontext(&f->context, begin_hart, 0);
	/* The firmware numbers harts as it likes. */
	h->id = 2 * i + 1;
	h->timer = ~0UL;
	h->csr[CSR_STIMECMP] = ~0UL;
	h->csr[CSR_SSTATUS] = SSTATUS_FS | SSTATUS_VS;
	h->counters[2].runs = h->counters[2].counts_hs = true;
	h->counters[0].runs = h->counters[0].counts_hs = true;
	h->counters[0].selector = SBI_PMU_HW_CPU_CYCLES;
	h->counters[2].selector = SBI_PMU_HW_INSTRUCTIONS;
}

struct machine_hart *machine_hart_of(uint64_t hartid)
{
	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		if (machine.hart[i].id == hartid)
			return &machine.hart[i];
	}
	return NULL;
}

void machine_start_hart(uint64_t hartid, uint64_t entry, void *opaque)
{
	struct machine_hart *h = machine_hart_of(hartid);

	h->start_entry = entry;
	h->start_opaque = opaque;
	h->started = true;
}

struct pcpu *this_pcpu(void)
{
	return &hart_stacks[machine_hart()->index].pcpu;
}

struct guest_context *this_context(void)
{
	return machine_hart()->ctx;
}

static void choose_kind(struct machine_kind *k)
{
	struct chance *c = &machine.chance;

	k->harts = 1 + below(c, MACHINE_HARTS);
	k->sstc = percent(c, 70);
	k->vectors = percent(c, 50);
	k->delegated = percent(c, 50);
	k->no_vmids = percent(c, 25);
	k->roam = percent(c, 25);
	k->interactive = percent(c, 50);
	k->frames = percent(c, 25);
	k->hart_flags = percent(c, 10);
	k->firmware_fails = percent(c, 25);
	k->boot_fails = percent(c, 15);
	k->late_unmask = percent(c, 30);
	k->busy_operator = percent(c, 30);
	k->slow_line = percent(c, 30);
	k->stalls = percent(c, 50);
	k->short_lives = percent(c, 15);
	k->n_vms = 1 + below(c, 4);
	k->iommu = percent(c, 50);
	k->iommu_wires = below(c, MACHINE_IOMMU_WIRES + 1);
	k->iommu_stops = percent(c, 20);
	k->files = percent(c, 50) ? 1 + below(c, 7) : 0;
	k->schedules = percent(c, 25);
	k->chatty = k->slow_line && percent(c, 50);
}

extern char _image_end[];

/* Whoever had the memory before has left something in it, which no VM may find. */
static void soil_memory(void)
{
	for (uint64_t at = (uint64_t)_image_end; at < (uint64_t)_image_end + MACHINE_RAM;
	     at += VM_MEMORY_STEP)
		memset((void *)(at + MODEL_WINDOW), 0x5e, MODEL_WORDS * sizeof(uint64_t));
}

bool machine_run(uint64_t seed, uint64_t steps)
{
	machine = (struct machine){.chance = {chance_mix(seed)}, .most_steps = steps};
	choose_kind(&machine.kind);
	/* Not by chance, so that all else is as without them. */
	if (seed % 3 == 0 && machine.kind.n_vms > 1)
		machine.kind.networks = 1 + (seed % 6 == 0 && machine.kind.n_vms > 3);
	model_reset();
	operator_reset();
	dma_reset();
	aia_reset();
	soil_memory();
	for (uint32_t i = 0; i < machine.kind.harts; i++)
		prepare(i);
	machine.hart[0].started = true;
	machine.now = MAIN;
	switch_to(0);
	return !*machine.why;
}
