/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/quirks.h"
#include "core/lib/text.h"
#include "core/log.h"
#include "core/pmu/vm_pmu.h"
#include "vpmu/bits.h"

const char *hart_lacks(const struct pcpu *pcpu, char *buf, size_t size)
{
	const struct hpm *hpm = &pcpu->hpm;
	uint64_t isa = pcpu->isa;
	const struct {
		bool lacks;
		const char *what;
	} parts[] = {
	    {!(isa & BIT(ISA_SSCOFPMF)), "no sscofpmf"},
	    {isa & BIT(ISA_SSCOFPMF) && !hpm->hctrs, "no counters"},
	    {!(isa & BIT(ISA_SSAIA)), "no ssaia"},
	    {isa & BIT(ISA_SSAIA) && hpm->no_overflow, hpm->no_overflow},
	    {quirks.no_lcofi, "no bit 13 of sie and hvien that can be set"},
	    {!(isa & BIT(ISA_SSCCFG)) && !hpm->ssccfg, "no ssccfg"},
	    {isa & BIT(ISA_SSCCFG) && hpm->hctrs && !hpm->ssccfg,
	     "no ssccfg that the firmware has set up"},
	};
	struct text text = text_begin(buf, size);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i].lacks)
			text_add(&text, "%s%s", text.length ? ", " : "", parts[i].what);
	}
	return buf;
}

/* Whether another vcpu may run on one of these harts. */
static bool shared(const struct vcpu *vcpu, uint64_t harts)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		for (uint32_t k = 0; k < vms[i].config->n_vcpus; k++)
			if (vms[i].vcpus[k] != vcpu && vms[i].config->vcpus[k].harts & harts)
				return true;
	}
	return false;
}

/* Whether every hart of every vcpu hides the OF bits of closed counters from VS. */
static bool flags_hidden(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		uint32_t hart;

		for_each_bit (hart, vm->config->vcpus[i].harts)
			if (!pcpu_at(hart)->hpm.flags_hidden)
				return false;
	}
	return true;
}

/* Returns why a vcpu cannot read the OF bits of a hart without Ssccfg, or NULL if it can. */
static const char *not_alone(const struct vm *vm, const struct vcpu *vcpu)
{
	uint64_t harts = vm->config->vcpus[vcpu->id].harts;
	bool hidden = flags_hidden(vm);

	if (!hidden && shared(vcpu, harts))
		return "other vcpus share it";
	if (!hidden && harts & (harts - 1))
		return "the vcpu may move";
	/* The hart's scountovf may show OF only of counters that the guest can read directly. */
	if (vm->config->pmu_trap_reads)
		return "pmu-reads is \"trap\"";
	/* Its counters would run while Tally corrects their OF bits. */
	if (vm->config->pmu_freeze_vcpu)
		return "pmu-freeze is \"vcpu\"";
	return NULL;
}

/* Returns the first vcpu that cannot have overflow interrupts, or NULL if there is none. */
static const struct vcpu *obstacle(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		const struct vcpu *vcpu = vm->vcpus[i];
		const struct hpm *hpm = &vcpu->home->hpm;

		if (!hpm->lcofi || (!hpm->ssccfg && not_alone(vm, vcpu)))
			return vcpu;
	}
	return NULL;
}

bool vm_overflow_offered(const struct vm *vm)
{
	return vm->config->pmu && vm->config->pmu_overflow && !obstacle(vm);
}

/* Whether a vcpu may read its hart's own OF bits. */
static bool reads_flags(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		if (!vm->vcpus[i]->home->hpm.ssccfg)
			return true;
	}
	return false;
}

void vm_overflow_policy(struct vm *vm)
{
	struct vpmu_policy *policy = &vm->pmu_policy;
	bool reads = reads_flags(vm), hidden = flags_hidden(vm);

	policy->overflow = vm_overflow_offered(vm);
	policy->shows_flags = policy->overflow && reads && hidden;
	policy->hart_flags = policy->overflow && reads && !hidden;
}

/* Without overflow interrupts a guest is not offered Sscofpmf, and then Linux has no filters. */
#define NO_OVERFLOW "vm %s: no overflow interrupts, so no sampling and in Linux no filters: "

void vm_overflow_report(const struct vm *vm)
{
	const struct vcpu *vcpu = obstacle(vm);
	char lacks[128];

	if (!vm->config->pmu)
		return;
	if (!vm->config->pmu_overflow) {
		log_line(NO_OVERFLOW "pmu-%s", vm->config->name,
		         vm->config->pmu_snapshot ? "snapshot is \"on\", pmu-overflow is not"
		                                  : "overflow is \"off\"");
		return;
	}
	if (vm->config->pmu_snapshot && !vcpu)
		log_line("vm %s: the snapshot with overflow interrupts: Linux up to 7.2 at least "
		         "loses counts after a sample",
		         vm->config->name);
	if (vcpu) {
		const struct pcpu *home = vcpu->home;
		const char *why = home->hpm.lcofi ? not_alone(vm, vcpu) : NULL;

		log_line(NO_OVERFLOW "hart %lu has %s%s%s", vm->config->name, home->hartid,
		         hart_lacks(home, lacks, sizeof(lacks)), why ? ", and " : "",
		         why ? why : "");
	} else if (vm->pmu_policy.shows_flags) {
		log_line(
		    "vm %s: overflow interrupts without ssccfg: a counter that samples has its "
		    "event for itself",
		    vm->config->name);
	} else if (vm->pmu_policy.hart_flags) {
		log_line("vm %s: overflow interrupts without ssccfg: one counter for each event%s",
		         vm->config->name,
		         quirks.no_armed_cache_events ? ", and no cache events" : "");
	}
}
