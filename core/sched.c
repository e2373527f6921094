/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/sbi.h"
#include "core/check.h"
#include "core/terminal_port.h"
#include "core/platform.h"
#include "core/sched.h"
#include "core/trap_loop.h"
#include "core/vcpu_move.h"
#include "core/vcpu_requests.h"
#include "core/vm.h"
#include "vpmu/bits.h"

static void set_host_timer(const struct pcpu *pcpu, uint64_t deadline)
{
	if (pcpu->vs_has.sstc)
		csr_write(CSR_STIMECMP, deadline);
	else
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, deadline, 0, 0, 0, 0);
}

static void program_timer(struct pcpu *pcpu)
{
	uint64_t deadline = wake_times_earliest(&pcpu->wake);
	const struct vcpu *current = pcpu->current;
	uint64_t others = pcpu->ready & ~(current ? BIT(current->index) : 0);
	uint64_t turn_end = ~0UL;

	if (!pcpu->index && terminal_deadline() < deadline)
		deadline = terminal_deadline();
	if (others || (current && current->suspect))
		turn_end = pcpu->slice_end;
	else if (current)
		turn_end = pcpu->slice_end + pcpu->alone;
	if (turn_end < deadline)
		deadline = turn_end;
	/* Without Sstc the resident guest's own timer is ours to watch, too. */
	if (current && !pcpu->vs_has.sstc && current->timer < deadline)
		deadline = current->timer;
	set_host_timer(pcpu, deadline);
}

/*
 * Steal time begins where a vcpu wants to run and another one is resident; load() ends it. A hart
 * that idles, or is on its way to the one vcpu that wants it, steals from nobody: those that became
 * ready then are `unrobbed` until somebody is loaded.
 */
static void waits_its_turn(struct vcpu *vcpu, uint64_t now)
{
	if (!vcpu->fw.ready_since)
		vcpu->fw.ready_since = now;
}

static void wants_turn(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu->ready |= BIT(vcpu->index);
	if (!pcpu->current)
		pcpu->unrobbed |= BIT(vcpu->index);
	else if (vcpu != pcpu->current)
		waits_its_turn(vcpu, csr_read(CSR_TIME));
	pcpu_resched(pcpu);
}

void sched_set_ready(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	uint64_t bit = BIT(vcpu->index);

	CHECK(vcpu->home == this_pcpu());
	if (pcpu->waiting & bit) {
		wake_times_set(&pcpu->wake, vcpu->index, vcpu_lcofi_deadline(vcpu));
		if (atomic_load_explicit(&vcpu->hsm_state, memory_order_relaxed) ==
		    SBI_HSM_STATE_SUSPENDED)
			atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_STARTED);
		/* It is awake: nobody need wake it. */
		if (vcpu != pcpu->current)
			requests_unheed(&vcpu->requests);
	}
	pcpu->waiting &= ~bit;
	pcpu->called &= ~bit;
	wants_turn(pcpu, vcpu);
}

void sched_heed(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	uint64_t bit = BIT(vcpu->index);
	uint64_t heeded = REQ_AT_ONCE;

	CHECK(vcpu->home == this_pcpu());
	if (!(pcpu->ready & bit))
		heeded |= REQ_START | REQ_STOP;
	if (pcpu->waiting & ~pcpu->ready & bit)
		heeded |= vcpu_woken_by(vcpu);
	if (!(requests_heed(&vcpu->requests, heeded) & ~REQ_AT_ONCE))
		return;
	pcpu->called |= bit;
	wants_turn(pcpu, vcpu);
}

void sched_wait(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;

	CHECK(vcpu->home == this_pcpu());
	pcpu->ready &= ~BIT(vcpu->index);
	pcpu->waiting |= BIT(vcpu->index);
	pcpu_resched(pcpu);
}

void sched_yield(void)
{
	this_pcpu()->slice_end = 0;
	pcpu_resched(this_pcpu());
}

void sched_wake_if_interrupted(struct vcpu *vcpu)
{
	if ((vcpu->home->waiting & BIT(vcpu->index)) && vcpu_has_interrupt(vcpu))
		sched_set_ready(vcpu);
}

void sched_off(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;

	CHECK(vcpu->home == this_pcpu());
	wake_times_set(&pcpu->wake, vcpu->index, ~0UL);
	pcpu->ready &= ~BIT(vcpu->index);
	pcpu->waiting &= ~BIT(vcpu->index);
	pcpu->called &= ~BIT(vcpu->index);
	pcpu->unrobbed &= ~BIT(vcpu->index);
	pcpu_resched(pcpu);
}

/* When to look at a vcpu that waits. */
static uint64_t next_wake(const struct vcpu *vcpu)
{
	uint64_t timer = vcpu_timer_deadline(vcpu);
	uint64_t lcofi = vcpu_lcofi_deadline(vcpu);

	return timer < lcofi ? timer : lcofi;
}

static inline void wake_in_time(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (vcpu_has_interrupt(vcpu))
		sched_set_ready(vcpu);
	else
		wake_times_set(&pcpu->wake, vcpu->index, next_wake(vcpu));
}

void sched_wake_in_time(struct vcpu *vcpu)
{
	wake_in_time(vcpu->home, vcpu);
}

void sched_nap(uint64_t ticks)
{
	uint64_t now = csr_read(CSR_TIME), end = now + ticks;

	for (; now < end; now = csr_read(CSR_TIME)) {
		set_host_timer(this_pcpu(), end);
		wfi();
		pcpu_heard();
	}
	/* Mail that came is for the next stay. */
	if (atomic_load(&this_pcpu()->mail))
		csr_set(CSR_SIP, BIT(IRQ_SSI));
	pcpu_resched(this_pcpu());
}

void sched_remove(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu());
	sched_off(vcpu);
	vcpu_end_observers(vcpu);
	if (vcpu_is_current(vcpu)) {
		vpmu_reset(&vcpu->pmu);
		vcpu_put(vcpu);
	} else {
		vpmu_init(&vcpu->pmu, &vcpu->vm->pmu_policy);
	}
	vcpu->fw.watched = 0;
	vcpu->fw.ready_since = 0;
	vcpu->timer = ~0UL;
	sched_heed(vcpu);
	vm_vcpu_gone(vcpu);
}

void sched_work(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu());
	vcpu->home->working |= BIT(vcpu->index);
	sched_set_ready(vcpu);
}

bool sched_works(const struct vcpu *vcpu)
{
	return vcpu->home->working & BIT(vcpu->index);
}

/* Without Sstc: the moment that the guest asked for has come. */
static void timer_came(struct vcpu *vcpu)
{
	vcpu->timer = ~0UL;
	vcpu_set_virq(vcpu, IRQ_VSTI, true);
}

/* Its PMU wants to look at a counter, now or later. */
static void look(struct vcpu *vcpu, uint64_t now)
{
	if (now < vcpu->look_at) {
		vcpu_set_wake(vcpu);
		return;
	}
	vcpu->look_at = ~0UL;
	vpmu_look(&vcpu->pmu);
}

void sched_timer(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t now = csr_read(CSR_TIME);

	while (wake_times_earliest(&pcpu->wake) <= now) {
		struct vcpu *vcpu = pcpu->vcpus[wake_times_who(&pcpu->wake)];

		wake_times_set(&pcpu->wake, vcpu->index, ~0UL);
		if (vcpu->timer <= now)
			timer_came(vcpu);
		if (vcpu->few_lcofis)
			vcpu_lcofi_release(vcpu, now);
		if (vcpu->look_at != ~0UL)
			look(vcpu, now);
		sched_wake_if_interrupted(vcpu);
	}
	if (pcpu->current && pcpu->current->timer <= now)
		timer_came(pcpu->current);
	if (!pcpu->index && terminal_deadline() <= now)
		terminal_input();
	/* Also when nothing changed: the timer has to be set anew. */
	pcpu_resched(pcpu);
}

/*
 * The hart works on behalf of a vcpu, in the turn of the resident one. If they are not of one VM, the
 * resident one is robbed until give_back().
 */
static void work_for(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu_book(pcpu, vcpu, EXIT_IRQ);
	pcpu->told = vcpu;
	if (pcpu->current && pcpu->current->vm != vcpu->vm)
		waits_its_turn(pcpu->current, csr_read(CSR_TIME));
}

void sched_mail_came(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t mail = atomic_load_explicit(&pcpu->mail, memory_order_relaxed);
	struct vcpu *vcpu = mail ? pcpu->vcpus[lowest_bit(mail)] : pcpu->told;

	if (vcpu && vcpu_home(vcpu) == pcpu) {
		/* From its beginning on. */
		pcpu->stay_of = vcpu;
		pcpu->stay_why = EXIT_IRQ;
		work_for(pcpu, vcpu);
	}
}

void sched_serve_mail(void)
{
	struct pcpu *pcpu = this_pcpu();
	struct vcpu *whose = pcpu->stay_of;
	enum vcpu_exit why = pcpu->stay_why;
	uint64_t left;

	/* First the interrupt, then the mail, then the requests: what comes in between is seen next
	 * time. */
	pcpu_heard();
	left = atomic_exchange(&pcpu->mail, 0);
	for (; left; left &= left - 1) {
		struct vcpu *vcpu = pcpu->vcpus[lowest_bit(left)];

		if (vcpu_home(vcpu) == pcpu)
			work_for(pcpu, vcpu);
		vcpu_serve_mail(vcpu);
	}
	if (pcpu->current && whose && vcpu_home(whose) == pcpu)
		pcpu_book(pcpu, whose, why);
	pcpu_resched(pcpu);
}

/* The resident vcpu has its hart back. What was taken is added to its turn, and its robber's VM owes
 * it. */
static __attribute__((noinline)) void give_back(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	uint64_t taken = now - vcpu->fw.ready_since;

	vcpu->fw.ready_since = 0;
	vcpu->fw.steal_ticks += taken;
	pcpu->slice_end += taken;
	atomic_fetch_add(&pcpu->told->vm->owed_ticks, taken);
}

/* A turn that begins is so much shorter as its VM owes, but half a turn remains. */
static __attribute__((noinline)) void pay(struct pcpu *pcpu, struct vm *vm)
{
	unsigned long owed = atomic_load(&vm->owed_ticks);
	uint64_t paid = owed < pcpu->slice / 2 ? owed : pcpu->slice / 2;

	/* If another hart is about to pay, the next turn does. */
	if (atomic_compare_exchange_strong(&vm->owed_ticks, &owed, owed - paid))
		pcpu->slice_end -= paid;
}

/* The ready vcpu whose turn is next after `last`, round robin. */
static struct vcpu *choose(const struct pcpu *pcpu, uint32_t last)
{
	uint64_t after = pcpu->ready & ~((BIT(last) << 1) - 1);

	return pcpu->vcpus[lowest_bit(after ? after : pcpu->ready)];
}

/* Waits, with no vcpu resident, until one is ready; the time then. Idle time is nobody's stay in
 * HS. Not inlined: sched_next() would save more registers. */
static __attribute__((noinline)) uint64_t idle(struct pcpu *pcpu)
{
	/* What the last vcpu left in the hart must not end WFI: its timer, as long as it is away. */
	csr_write(CSR_VSIE, 0);
	do {
		program_timer(pcpu);
		pcpu_account_stay(pcpu);
		if (!atomic_load(&pcpu->mail))
			wfi();
		pcpu->stay_start = csr_read(CSR_INSTRET);
		pcpu_interrupts(pcpu, csr_read(CSR_SIP) & csr_read(CSR_SIE));
		sched_check_mail();
	} while (!pcpu->ready);
	return csr_read(CSR_TIME);
}

/* All others with a guest to run wait meanwhile. */
static void others_wait(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	uint64_t now = csr_read(CSR_TIME);
	uint32_t i;

	for_each_bit (i, pcpu->ready & ~pcpu->working & ~BIT(vcpu->index))
		waits_its_turn(pcpu->vcpus[i], now);
}

/* A turn spent on the next life of the vcpu's VM, interrupts served after each step. Not inlined, as
 * idle(). */
static __attribute__((noinline)) void work(struct pcpu *pcpu, struct vcpu *vcpu)
{
	uint64_t bit = BIT(vcpu->index);

	requests_unheed(&vcpu->requests);
	pcpu->last = vcpu->index;
	pcpu->slice_end = csr_read(CSR_TIME) + pcpu->slice;
	pcpu_book(pcpu, vcpu, EXIT_OTHER);
	while (pcpu->working & bit && csr_read(CSR_TIME) < pcpu->slice_end) {
		if (!vm_life_work(vcpu->vm)) {
			pcpu->working &= ~bit;
			sched_off(vcpu);
			sched_heed(vcpu);
		}
		program_timer(pcpu);
		pcpu_account_stay(pcpu);
		pcpu_interrupts(pcpu, csr_read(CSR_SIP) & csr_read(CSR_SIE));
		sched_check_mail();
		others_wait(pcpu, vcpu);
	}
}

/*
 * The turn of a vcpu of which something is asked, on its own account. false: it does not run: that was
 * all that it had the turn for, or it is off or gone.
 */
static __attribute__((noinline)) bool serve_turn(struct pcpu *pcpu, struct vcpu *vcpu)
{
	uint64_t bit = BIT(vcpu->index);

	pcpu_book(pcpu, vcpu, EXIT_IRQ);
	pcpu->ready &= ~(pcpu->called & bit);
	pcpu->called &= ~bit;
	pcpu->last = vcpu->index;
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
	sched_check_mail();
	return false;
}

/* The next vcpu with a guest to run; *now: the time, changed if it took some. */
static struct vcpu *next_to_run(struct pcpu *pcpu, uint64_t *now)
{
	for (;; *now = csr_read(CSR_TIME)) {
		if (!pcpu->ready)
			*now = idle(pcpu);
		struct vcpu *vcpu = choose(pcpu, pcpu->last);

		/* From here on it is told of everything by an interrupt. */
		if (requests_heed(&vcpu->requests, REQ_ALL) && !serve_turn(pcpu, vcpu))
			continue;
		if (!(pcpu->working & BIT(vcpu->index)))
			return vcpu;
		work(pcpu, vcpu);
	}
}

static void load(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	uint32_t i;

	if (vcpu->fw.ready_since) {
		vcpu->fw.steal_ticks += now - vcpu->fw.ready_since;
		vcpu->fw.ready_since = 0;
	}
	for_each_bit (i, pcpu->unrobbed & ~BIT(vcpu->index))
		waits_its_turn(pcpu->vcpus[i], now);
	pcpu->unrobbed = 0;
	vcpu_load(vcpu);
	if (platform.roam)
		vcpu_roam(vcpu);
	pcpu->slice_end = now + pcpu->slice;
	if (atomic_load_explicit(&vcpu->vm->owed_ticks, memory_order_relaxed))
		pay(pcpu, vcpu->vm);
}

/* One that does not want another turn leaves the hart. Not inlined: sched_next() would save more
 * registers. */
static __attribute__((noinline)) void rest(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (pcpu->waiting & BIT(vcpu->index))
		wake_in_time(pcpu, vcpu);
	if (!(pcpu->ready & BIT(vcpu->index)))
		sched_heed(vcpu);
}

/* Takes the current vcpu off the hart. */
static void put(struct pcpu *pcpu, struct vcpu *vcpu)
{
	uint64_t self = BIT(vcpu->index);

	vcpu_put(vcpu);
	pcpu->last = vcpu->index;
	if (pcpu->ready & self)
		pcpu->unrobbed |= self;
	else
		rest(pcpu, vcpu);
	if (vcpu_wants_away(vcpu))
		(void)vcpu_hand_over(vcpu);
}

struct vcpu *sched_next(void)
{
	struct pcpu *pcpu = this_pcpu();
	struct vcpu *current = pcpu->current;
	uint64_t now = csr_read(CSR_TIME);

	if (current && current->fw.ready_since)
		give_back(pcpu, current, now);
	if (current && now >= pcpu->slice_end)
		trap_loop_look(current);
	if (current && pcpu->ready & BIT(current->index) && !vcpu_wants_away(current) &&
	    (now < pcpu->slice_end || pcpu->ready == BIT(current->index))) {
		if (now >= pcpu->slice_end)
			pcpu->slice_end = now + pcpu->slice;
	} else {
		if (current)
			put(pcpu, current);
		current = next_to_run(pcpu, &now);
		load(pcpu, current, now);
	}
	if (pcpu->suspect != current->suspect) {
		pcpu->suspect = current->suspect;
		vs_delegate(!pcpu->suspect);
	}
	*pcpu_pending(pcpu) = 0;
	program_timer(pcpu);
	return current;
}
