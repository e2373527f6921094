/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: who runs next, and the world switch. */
#include "arch/riscv/csr.h"
#include "core/vm/check.h"
#include "core/vm/platform.h"
#include "core/vm/sched_parts.h"
#include "core/vm/trap_loop.h"
#include "core/vm/vcpu_move.h"
#include "core/vm/vcpu_requests.h"
#include "core/vm/vm.h"
#include "vpmu/bits.h"

/* The ready vcpu whose turn is next after the last one, round robin. */
static struct vcpu *choose(const struct pcpu *pcpu)
{
	uint64_t after = pcpu->ready & -(pcpu->last << 1);

	return pcpu->vcpus[lowest_bit(after ? after : pcpu->ready)];
}

/* Waits, with no vcpu resident, until one is ready; the time then. Idle time is nobody's stay in
 * HS. Not inlined: sched_next() would save more registers. */
static __attribute__((noinline)) uint64_t idle(struct pcpu *pcpu)
{
	/* What the last vcpu left in the hart must not end WFI: its timer, as long as it is away.
	 */
	csr_write(CSR_VSIE, 0);
	do {
		sched_set_timer(pcpu, NULL);
		pcpu_account_stay(pcpu);
		if (!atomic_load(&pcpu->mail))
			wfi();
		pcpu->stay_start = csr_read(CSR_INSTRET);
		pcpu_interrupts(pcpu, csr_read(CSR_SIP) & csr_read(CSR_SIE));
		sched_check_mail(pcpu);
	} while (!pcpu->ready);
	return csr_read(CSR_TIME);
}

/* All others with a guest to run wait meanwhile. */
static void others_wait(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	uint64_t now = csr_read(CSR_TIME);
	uint32_t i;

	for_each_bit (i, pcpu->ready & ~pcpu->working & ~vcpu->bit)
		sched_waits_its_turn(pcpu->vcpus[i], now);
}

/* A turn spent on the next life of the vcpu's VM, interrupts served after each step. Not inlined,
 * as idle(). */
static __attribute__((noinline)) void work(struct pcpu *pcpu, struct vcpu *vcpu)
{
	uint64_t bit = vcpu->bit;

	requests_unheed(&vcpu->requests);
	pcpu->last = vcpu->bit;
	pcpu->slice_end = csr_read(CSR_TIME) + pcpu->slice;
	pcpu_book(pcpu, vcpu, EXIT_OTHER);
	while (pcpu->working & bit && csr_read(CSR_TIME) < pcpu->slice_end) {
		if (!vm_life_work(vcpu->vm)) {
			pcpu->working &= ~bit;
			sched_off(vcpu);
			sched_heed(vcpu);
		}
		sched_set_timer(pcpu, NULL);
		pcpu_account_stay(pcpu);
		pcpu_interrupts(pcpu, csr_read(CSR_SIP) & csr_read(CSR_SIE));
		sched_check_mail(pcpu);
		others_wait(pcpu, vcpu);
	}
}

/*
 * The turn of a vcpu of which something is asked, on its own account. false: it does not run: that
 * was all that it had the turn for, or it is off or gone.
 */
static __attribute__((noinline)) bool serve_turn(struct pcpu *pcpu, struct vcpu *vcpu)
{
	uint64_t bit = vcpu->bit;

	pcpu_book(pcpu, vcpu, EXIT_IRQ);
	pcpu->ready &= ~(pcpu->called & bit);
	pcpu->called &= ~bit;
	pcpu->last = vcpu->bit;
	if (vcpu_serve_turn(vcpu)) {
		if (pcpu->ready & bit) {
			/* It may have been woken. What came meanwhile comes as mail. */
			if (requests_heed(&vcpu->requests, REQ_ALL))
				pcpu_notify(pcpu, bit);
			return true;
		}
		pcpu->unrobbed &= ~bit;
		vcpu->fw.ready_since = 0;
		sched_heed(vcpu);
	}
	pcpu_interrupts(pcpu, csr_read(CSR_SIP) & csr_read(CSR_SIE));
	sched_check_mail(pcpu);
	return false;
}

/* The next vcpu with a guest to run; *now: the time, changed if it took some. */
static struct vcpu *next_to_run(struct pcpu *pcpu, uint64_t *now)
{
	for (;; *now = csr_read(CSR_TIME)) {
		if (!pcpu->ready)
			*now = idle(pcpu);
		struct vcpu *vcpu = choose(pcpu);

		/* From here on it is told of everything by an interrupt. */
		if (requests_heed(&vcpu->requests, REQ_ALL) && !serve_turn(pcpu, vcpu))
			continue;
		if (!(pcpu->working & vcpu->bit))
			return vcpu;
		work(pcpu, vcpu);
	}
}

/* What a vcpu that is alone, or roams, needs when it has been loaded. */
static __attribute__((noinline)) void loaded_unshared(const struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (pcpu->n_vcpus == 1)
		vcpu_trap_wfi(vcpu, !vcpu_may_sleep(vcpu));
	if (platform.roam)
		vcpu_roam(vcpu);
}

static void load(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	uint64_t unrobbed = pcpu->unrobbed;
	uint32_t i;

	if (vcpu->fw.ready_since) {
		vcpu->fw.steal_ticks += now - vcpu->fw.ready_since;
		vcpu->fw.ready_since = 0;
	}
	if (unrobbed) {
		pcpu->unrobbed = 0;
		for_each_bit (i, unrobbed & ~vcpu->bit)
			sched_waits_its_turn(pcpu->vcpus[i], now);
	}
	pcpu->slice_end = now + pcpu->slice;
	if (atomic_load_explicit(&vcpu->vm->owed_ticks, memory_order_relaxed))
		sched_pay(pcpu, vcpu->vm);
	vcpu->fw.resident_since = now;
	vcpu_load(pcpu, vcpu);
	if (!pcpu->shared)
		loaded_unshared(pcpu, vcpu);
}

/* One that does not want another turn leaves the hart. Not inlined: change() would save more
 * registers. */
static __attribute__((noinline)) void rest(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (pcpu->waiting & vcpu->bit)
		sched_wake_in_time(vcpu);
	if (!(pcpu->ready & vcpu->bit))
		sched_heed(vcpu);
}

/* Not inlined, as rest(). */
static __attribute__((noinline)) void leave(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (!(pcpu->ready & vcpu->bit))
		rest(pcpu, vcpu);
	else
		pcpu->unrobbed |= vcpu->bit;
	(void)vcpu_hand_over(vcpu);
}

/* Takes the current vcpu off the hart. */
static void put(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	vcpu_fw_resident_until(&vcpu->fw, now);
	vcpu_put(pcpu, vcpu);
	pcpu->last = vcpu->bit;
	if (vcpu_wants_away(vcpu)) {
		leave(pcpu, vcpu);
		return;
	}
	if (pcpu->ready & vcpu->bit)
		sched_waits_its_turn(vcpu, now);
	else
		rest(pcpu, vcpu);
}

/* Does the resident vcpu's turn go on, or is there another one as nobody else wants it? */
static inline bool keeps_hart(struct pcpu *pcpu, const struct vcpu *vcpu, uint64_t now)
{
	if (!(pcpu->ready & vcpu->bit) || vcpu_wants_away(vcpu))
		return false;
	if (now < pcpu->slice_end)
		return true;
	if (pcpu->ready != vcpu->bit)
		return false;
	pcpu->slice_end = now + pcpu->slice;
	return true;
}

static void watch_suspect(struct pcpu *pcpu, const struct vcpu *vcpu)
{
	/* Nearly always nobody is one. */
	if (__builtin_expect(pcpu->suspect == vcpu->suspect, 1))
		return;
	pcpu->suspect = vcpu->suspect;
	vs_delegate(!pcpu->suspect);
}

static struct vcpu *enter(struct pcpu *pcpu, struct vcpu *vcpu)
{
	*pcpu_pending(pcpu) = 0;
	sched_set_timer(pcpu, vcpu);
	return vcpu;
}

/* The world switch. last: who is resident, NULL: nobody. Not inlined, so that sched_next() saves no
 * register. */
static __attribute__((noinline)) struct vcpu *change(struct pcpu *pcpu, struct vcpu *last,
                                                     uint64_t now)
{
	struct vcpu *vcpu;

	if (last)
		put(pcpu, last, now);
	vcpu = next_to_run(pcpu, &now);
	load(pcpu, vcpu, now);
	watch_suspect(pcpu, vcpu);
	return enter(pcpu, vcpu);
}

/* The resident vcpu was robbed, or it or the one before is or seems to be a suspect. */
static __attribute__((noinline)) struct vcpu *look(struct pcpu *pcpu, struct vcpu *vcpu,
                                                   uint64_t now)
{
	if (vcpu->fw.ready_since)
		sched_give_back(pcpu, vcpu, now);
	if (now >= pcpu->slice_end)
		trap_loop_look(vcpu);
	if (!keeps_hart(pcpu, vcpu, now))
		return change(pcpu, vcpu, now);
	watch_suspect(pcpu, vcpu);
	return enter(pcpu, vcpu);
}

struct vcpu *sched_next(struct pcpu *pcpu)
{
	struct vcpu *vcpu = pcpu->current;
	uint64_t now = csr_read(CSR_TIME);

	if (vcpu) {
		if (vcpu->fw.ready_since || vcpu->suspect || pcpu->suspect ||
		    (now >= pcpu->slice_end && trap_loop_seems()))
			return look(pcpu, vcpu, now);
		if (keeps_hart(pcpu, vcpu, now))
			return enter(pcpu, vcpu);
	}
	return change(pcpu, vcpu, now);
}
