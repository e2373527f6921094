/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest pays for: time and instructions, from above and from below. */
#include "arch/riscv/hart/csr.h"
#include "core/watch/account.h"
#include "tests/host/machine/model.h"

/* Instructions between the last account of a stay and the guest: check_entry() looks at so many
 * CSRs, and at the home of each vcpu. */
#define UNACCOUNTED 5U
/* Ticks from the expiry of a timer to the turn of its vcpu in HS. */
#define WAKES 200U

static uint64_t cpu_of(const struct vcpu *vcpu)
{
	int64_t ticks = vcpu->stats.cpu_ticks;

	return (uint64_t)ticks + (ticks < 0 ? machine.time : 0);
}

static uint64_t debts(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n_vms; i++)
		sum += vms[i].debt_ticks;
	return sum;
}

/* Those that are not resident on this hart, and have an IPI pending. */
static uint64_t ipis_of_others(const struct vcpu *vcpu)
{
	const struct pcpu *pcpu = this_pcpu();
	uint64_t found = 0;

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		const struct vcpu *other = pcpu->vcpus[i];

		if (other != vcpu && other->home == pcpu && other->vs.hvip & BIT(IRQ_VSSI))
			found |= other->bit;
	}
	return found;
}

/* Instructions of HS that are accounted to vcpus of this hart. */
static uint64_t accounted_here(void)
{
	const struct pcpu *pcpu = this_pcpu();
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		if (pcpu->vcpus[i]->home == pcpu)
			sum += vcpu_hs_insns(pcpu->vcpus[i]);
	}
	return sum;
}

/* Changes with each move, and when one that was on its way has arrived. */
static uint64_t all_moves(void)
{
	const struct pcpu *pcpu = this_pcpu();
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++)
		sum += pcpu->vcpus[i]->moves + (pcpu->vcpus[i]->home == pcpu ? 1UL << 32 : 0);
	return sum;
}

/* Changes when another vcpu becomes resident, or the same one once more. */
static uint64_t stay_on(const struct machine_hart *h)
{
	return h->loads * MACHINE_HARTS + machine.now;
}

void model_pay_left(const struct machine_hart *h, const struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	m->steal = vcpu->stats.steal_ticks;
	m->turns = machine.turns;
	m->debts = debts();
	m->others = ipis_of_others(vcpu);
	m->cpu = (uint64_t)vcpu->stats.cpu_ticks;
	m->stay = stay_on(h);
	m->had = cpu_of(vcpu) + m->steal + vcpu->budget.throttled_ticks;
	m->time = machine.time;
	m->moves = all_moves();
	m->insns = h->insns_hs;
	m->accounted = accounted_here();
	m->noted = h->records_exits;
	m->lost = 0;
}

/* The host time since when the vcpu, which left by waiting, wants to run for its timer's sake. */
static uint64_t wants_since(const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);
	uint64_t timer = machine.kind.sstc ? m->vstimecmp : m->timer;
	uint64_t expired = timer - vcpu->vm->htimedelta;

	return expired > m->time ? expired : m->time;
}

void model_pay_lost(uint64_t from)
{
	const struct pcpu *pcpu = this_pcpu();

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		uint64_t since = wants_since(pcpu->vcpus[i]);

		since = since > from ? since : from;
		if (since < machine.time)
			model_of(pcpu->vcpus[i])->lost += machine.time - since;
	}
}

void model_pay_times(const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);
	uint64_t cpu = cpu_of(vcpu);

	if (cpu < m->guest_ticks)
		DIFFERS(vcpu, "ran for %lu ticks and is said to have had %lu", m->guest_ticks, cpu);
	if (cpu + vcpu->stats.steal_ticks + vcpu->budget.throttled_ticks > machine.time)
		DIFFERS(vcpu, "had %lu ticks, and %lu were stolen, of %lu", cpu,
		        vcpu->stats.steal_ticks, machine.time);
}

/*
 * It was resident all the time. Nobody else's requests were served meanwhile, but
 * the operator's; and what was stolen from it is the debt of somebody else.
 */
static void look_at_slice(const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);
	uint64_t stolen = vcpu->stats.steal_ticks - m->steal;

	if (m->cpu - (uint64_t)vcpu->stats.cpu_ticks != stolen)
		DIFFERS(vcpu, "has had %lu ticks for itself that were stolen", stolen);
	if (m->turns != machine.turns)
		return;
	if (ipis_of_others(vcpu) & ~m->others)
		DIFFERS(vcpu, "paid for an IPI to a vcpu that was not resident");
	if (debts() - m->debts != stolen)
		DIFFERS(vcpu, "lost %lu ticks, and others' debts grew by %ld", stolen,
		        (long)(debts() - m->debts));
}

void model_pay_sums(void)
{
	uint64_t accounted = 0, all = 0;

	for (uint32_t i = 0; i < n_vms; i++) {
		for (uint32_t k = 0; k < vms[i].config->n_vcpus; k++)
			accounted += vcpu_hs_insns(vms[i].vcpus[k]);
	}
	for (uint32_t i = 0; i < machine.kind.harts; i++)
		all += machine.hart[i].insns_hs;
	if (accounted > all)
		machine_differs("vcpus are charged %lu instructions of HS, which executed %lu",
		                accounted, all);
}

/* Its account has all that its observer has counted, and an exit of each kind at least as often as
 * it took something. */
static void look_at_account(const struct vcpu *vcpu)
{
	const struct account *a = vcpu->observers.account;
	const struct observer *o = vcpu->observers.observer;
	uint64_t rows = 0, counted;

	if (!a)
		return;
	for (uint32_t i = 0; i < ACCOUNT_CLASSES; i++) {
		rows += a->rows[i].insns;
		if (i < ACCOUNT_NO_EXIT && !a->rows[i].exits && a->rows[i].insns)
			DIFFERS(vcpu, "row %u has instructions of no exit", i);
	}
	/* Without guest files harts have no interrupts but those that have rows of their own. */
	if (a->rows[ACCOUNT_INTERRUPT].exits && !this_pcpu()->files_taken)
		DIFFERS(vcpu, "%lu exits in its account are interrupts that there are not",
		        a->rows[ACCOUNT_INTERRUPT].exits);
	while (o->number != a->number)
		o++;
	counted = o->ended ? o->value : vcpu_hs_insns(vcpu) - o->base;
	if (rows != counted)
		DIFFERS(vcpu, "%lu instructions of HS in its account, of %lu", rows, counted);
}

/* A vcpu that waited wants to run since its timer expired, also outside its windows. HS may be on
 * its way to it for some ticks. */
static void look_at_wait(const struct vcpu *vcpu, uint64_t had)
{
	const struct model_vcpu *m = model_of(vcpu);
	uint64_t timer = machine.kind.sstc ? m->vstimecmp : m->timer;
	uint64_t passed = machine.time - wants_since(vcpu);

	/* Where harts stall, or time passes faster while functions are reset, HS may be late. */
	if (machine.kind.stalls || machine.kind.iommu || !m->expect.waits || m->prints ||
	    !this_pcpu()->has_schedule || m->moves != all_moves())
		return;
	if (m->csr[1] & BIT(IRQ_STI) && timer <= machine.time + vcpu->vm->htimedelta &&
	    had + WAKES + m->lost < passed)
		DIFFERS(vcpu, "had, or lost, %lu ticks of %lu since its timer expired", had,
		        passed);
}

/*
 * What a vcpu had, what was stolen from it, and for how long its budget was spent, is all the time
 * in which it wanted to run. Each instruction of HS in a stay that stays with the hart's vcpus is
 * one's; what noting stays takes is nobody's.
 */
void model_pay_entered(const struct machine_hart *h, const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);
	uint64_t throttled = vcpu->budget.throttled_ticks;
	uint64_t had = cpu_of(vcpu) + vcpu->stats.steal_ticks + throttled - m->had,
	         passed = machine.time - m->time;
	uint64_t insns = h->insns_hs - m->insns, accounted = accounted_here() - m->accounted;
	uint64_t most = UNACCOUNTED;
	bool same = stay_on(h) == m->stay;

	for (uint32_t i = 0; i < n_vms; i++)
		most += vms[i].config->n_vcpus;

	if (had > passed ||
	    (had < passed && !m->expect.waits && !m->prints && m->moves == all_moves()))
		DIFFERS(vcpu, "had, or lost, %lu ticks of %lu", had, passed);
	look_at_wait(vcpu, had);
	if (vcpu->budget.count && vcpu->budget.spent)
		DIFFERS(vcpu, "runs, and its budget is spent until %lu", vcpu->budget.period_end);
	if (m->noted || h->records_exits)
		most = insns;
	if (same && m->moves == all_moves() && (accounted > insns || insns - accounted > most))
		DIFFERS(vcpu, "%lu instructions of HS are accounted, of %lu", accounted, insns);
	if (same)
		look_at_slice(vcpu);
	look_at_account(vcpu);
}

/* Who is ready and does not run is told so. */
void model_pay_step(const struct vcpu *vcpu)
{
	const struct pcpu *pcpu = this_pcpu();

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		const struct vcpu *other = pcpu->vcpus[i];

		if (other != vcpu && other->home == pcpu && !other->run.blocked &&
		    !other->stats.steal_since)
			DIFFERS(other, "is ready, and its time is nobody's");
	}
}
