/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches exits from VS/VU by their cause. */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/trap.h"
#include "core/dispatch/exit.h"
#include "core/hart/roam.h"
#include "core/life/last_words.h"
#include "core/sched/port.h"
#include "core/vcpu/exit_record.h"
#include "core/vcpu/stay.h"
#include "core/sched/sched.h"
#include "core/sched/vcpu_move.h"
#include "core/sched/windows.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/long_call.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"
#include "core/watch/trace.h"

/* An LCOFI never comes here, because lcofi_fast() handles it. */
static enum vcpu_exit interrupt(struct pcpu *pcpu, uint64_t irq)
{
	pcpu_interrupts(pcpu, BIT(irq));
	/* After the fence of the acknowledgement, so that it sees which vcpus were notified. */
	if (irq == IRQ_SSI)
		sched_handle_ipi();
	if (irq == IRQ_SEI)
		trap_loop_check_irq(pcpu->current);
	return irq == IRQ_STI ? EXIT_TIMER : EXIT_IRQ;
}

/* Not inlined, because exit_slow() would save more registers, also for vcpus that wait or yield. */
static __attribute__((noinline)) enum vcpu_exit exception(struct vcpu *vcpu, uint64_t cause)
{
	switch (cause) {
	case CAUSE_LOAD_GUEST_PAGE:
	case CAUSE_STORE_GUEST_PAGE:
		mmio_access(vcpu, cause == CAUSE_STORE_GUEST_PAGE);
		return EXIT_MMIO;
	case CAUSE_INSN_GUEST_PAGE:
		if (vcpu->vm->config->bad_access_stops)
			vm_failed(vcpu, "jump outside its memory, to", csr_read(CSR_HTVAL) << 2);
		else
			trap_inject(vcpu, CAUSE_INSN_ACCESS, csr_read(CSR_STVAL));
		return EXIT_OTHER;
	default:
		/* An exception that is delegated to the guest: a suspect's, or one that M-mode sees
		 * first and the firmware redirected to HS. */
		trap_inject(vcpu, cause, csr_read(CSR_STVAL));
		return EXIT_OTHER;
	}
}

__attribute__((flatten)) void lcofi_fast(void)
{
	struct vcpu *vcpu = this_vcpu();

	vcpu->ctx.exits[EXIT_LCOFI]++;
	vpmu_overflow(&vcpu->pmu);
}

static enum vcpu_exit serve(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t scause)
{
	if (scause == CAUSE_VIRTUAL_INSN)
		return virtual_insn(vcpu);
	if (scause & CAUSE_INTERRUPT)
		return interrupt(pcpu, scause & ~CAUSE_INTERRUPT);
	return exception(vcpu, scause);
}

/* Does one slice, and then other pending work of the hart. */
static void go_on(struct pcpu *pcpu, struct vcpu *vcpu)
{
	bool flags = vcpu->call.slice == hart_flags_slice;
	uint64_t from = csr_read(CSR_TIME);

	long_call_slice(pcpu, vcpu);
	/* Otherwise a short turn would be over before the guest's first instruction. */
	if (flags)
		pcpu->slice_end += csr_read(CSR_TIME) - from;
	if (!vcpu->call.slice && pcpu->has_schedule)
		windows_flags_set(vcpu);
	(void)sched_next_stay(pcpu);
}

/* Finishes the call of the vcpu that sched_next() chose, whose call.slice is not NULL. Returns the
 * vcpu to enter, which may be another one. */
static struct vcpu *long_call_finish(struct vcpu *vcpu)
{
	struct pcpu *pcpu = this_pcpu();

	do {
		go_on(pcpu, vcpu);
		vcpu = sched_next(pcpu);
	} while (vcpu->call.slice);
	roam(vcpu);
	return vcpu;
}

/* The last steps before the guest runs. */
static inline __attribute__((always_inline)) void settle(struct pcpu *pcpu, struct vcpu *vcpu)
{
	hart_flags_settle(vcpu);
	if (vcpu->guest_file)
		vs_interrupts_settle_aia(pcpu, vcpu);
	else
		vs_interrupts_settle();
	hpm_failures_settle_on(pcpu, vcpu);
}

/* The same where code size matters more than time. */
static __attribute__((noinline, cold)) void settle_small(struct pcpu *pcpu, struct vcpu *vcpu)
{
	settle(pcpu, vcpu);
	(void)pcpu_account_stay(pcpu);
}

/* Makes OF bits while the vcpu waits for its window, each in a stay of its own. Between two of them
 * only fences are served. long_call_finish() makes any that are left. */
static __attribute__((cold)) void set_flags(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t at)
{
	do { /* WAITS */
		long_call_slice(pcpu, vcpu);
		vcpu_serve_fences(vcpu);
		pcpu->last_irq_check = pcpu_account_stay(pcpu);
	} while (vcpu->call.slice == hart_flags_slice && csr_read(CSR_TIME) < at);
}

/* Interrupts that pend are held off, and so is the timer, until the guest has begun.
 * As few instructions as possible are between the end of the wait and the guest. The time until
 * then is steal time, and the instructions are accounted to no vcpu. The rest of a long call comes
 * after the wait. */
void exit_enter_at(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t loaded, uint64_t at)
{
	uint64_t now, calm_until = windows_calm_until(at);
	bool calls, held = false;

	if (vcpu->call.slice == hart_flags_slice)
		set_flags(pcpu, vcpu, at);
	calls = vcpu->call.slice;
	if (calls) {
		pcpu_account_stay(pcpu);
	} else {
		sched_finish_entry(pcpu, vcpu, calm_until);
		settle_small(pcpu, vcpu);
	}
	pcpu->slice_end += at - loaded;
	vcpu->stats.steal_ticks += at - loaded;
	vcpu_cpu_time_stop(&vcpu->stats, loaded);
	/* Fences are served at once, so that their senders need not wait for the window. */
	while ((now = csr_read(CSR_TIME)) < at) { /* WAITS */
		vcpu_serve_fences(vcpu);
		/* Not in the last tick, or the end of the wait would be seen late. */
		if (now + 1 < at && !held && !calls &&
		    pcpu_pending_interrupts(pcpu) & ~BIT(IRQ_LCOFI)) {
			windows_hold_off(pcpu, calm_until);
			held = true;
		}
	}
	if (now > at || calls)
		windows_vcpu_began(vcpu, now);
	vcpu_cpu_time_start(&vcpu->stats, at);
	if (!calls)
		enter_guest(&vcpu->ctx);
	pcpu_top(pcpu)->stay_start = csr_read(CSR_INSTRET);
	pcpu->last_irq_check = pcpu_top(pcpu)->stay_start;
}

/* exit_slow() has a cheaper copy of this at its end. */
__attribute__((cold)) _Noreturn void exit_enter(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (vcpu->call.slice)
		vcpu = long_call_finish(vcpu);
	settle_small(pcpu, vcpu);
	enter_guest(&vcpu->ctx);
}

/* The fast paths' exits are not traced, because SBI calls are traced in another place
 * (core/watch/trace.h). */
static __attribute__((noinline)) void record(const struct vcpu *vcpu, bool fast)
{
	struct exit_record exit;

	exit_record_make(&exit, vcpu);
	if (!fast && atomic_load_explicit(&vcpu->traced, memory_order_relaxed))
		trace_exit(&exit);
	if (vcpu->last_words)
		last_words_add_exit(&exit);
}

_Noreturn void exit_slow(struct guest_context *ctx, uint64_t scause)
{
	struct vcpu *vcpu = vcpu_of(ctx);
	struct pcpu *pcpu = this_pcpu();

	/* pcpu_top()->stay_start with one instruction less */
	pcpu->last_irq_check = *(uint64_t *)(ctx->hs_sp + (HART_STACK_STAY - HART_STACK_TOP));
	pcpu->stay_vcpu = vcpu;
	if (~scause < VCPU_EXITS) {
		/* The fast path has counted the exit already. */
		pcpu->stay_cause = (enum vcpu_exit) ~scause;
		if (vcpu->last_words)
			record(vcpu, true);
	} else {
		if (__atomic_load_n(&vcpu->exits_noted, __ATOMIC_RELAXED))
			record(vcpu, false);
		pcpu->stay_cause = serve(pcpu, vcpu, scause);
		vcpu->ctx.exits[pcpu->stay_cause]++;
	}

	hpm_failures_settle_exit(pcpu, vcpu, scause);
	/* After this the vcpu may be off, or moving to another hart. */
	sched_check_notified(pcpu);
	if (pcpu_top(pcpu)->pending) {
		vcpu = sched_next(pcpu);
		if (vcpu->call.slice)
			vcpu = long_call_finish(vcpu);
	}
	settle(pcpu, vcpu);
	(void)pcpu_account_stay_inline(pcpu);
	enter_guest(&vcpu->ctx);
}
