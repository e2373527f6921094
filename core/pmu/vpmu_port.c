/* SPDX-License-Identifier: Apache-2.0 */
/* Implements vpmu/port.h with this hart's counters (arch/riscv/counters/hpm.h) and interrupts. */
#include <string.h>

#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_raw.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/port.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/pmu/port.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/ledger.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"
#include "vpmu/port.h"

/* Polls of a counter that may have wrapped are at least 1/POLLS_HZ seconds (10 us) apart. */
#define POLLS_HZ 100000U

static void tell(enum ledger_what what, uint64_t hctr_mask)
{
	ledger(what, 0, this_pcpu()->current, hctr_mask);
}

/* Makes the vcpu the owner of the counter; NULL: no owner. The old owner's count is read first. */
static void change_owner(struct pcpu *pcpu, hctr_t hctr, struct vcpu *vcpu)
{
	struct vcpu **owner = &pcpu->hctr_owner[hctr.idx];

	if (*owner && *owner != vcpu) {
		vpmu_evict(&(*owner)->pmu, hctr);
		ledger(LEDGER_EVICTED, hctr.idx, *owner, 0);
	}
	if (*owner != vcpu)
		ledger(LEDGER_OWNS, hctr.idx, vcpu, 0);
	*owner = vcpu;
}

void hpm_failed(void)
{
	pcpu_resched(this_pcpu());
}

/* --- counters ------------------------------------------------------------------------------- */

bool vpmu_port_prepare(hctr_t hctr, const struct hw_event *config)
{
	struct pcpu *pcpu = this_pcpu();

	change_owner(pcpu, hctr, pcpu->current);
	ledger(LEDGER_PREPARED, hctr.idx, pcpu->current, 0);
	return hpm_holds(&pcpu->hpm, hctr.idx, config) ||
	       hpm_reprogram(&pcpu->hpm, hctr.idx, config);
}

void vpmu_port_set(uint64_t hctr_mask, uint64_t value, bool armed)
{
	tell(LEDGER_SET, hctr_mask);
	hpm_set(&this_pcpu()->hpm, hctr_mask, value, armed);
}

void vpmu_port_run(uint64_t hctr_mask)
{
	tell(LEDGER_RUN, hctr_mask);
	hpm_run(&this_pcpu()->hpm, hctr_mask);
}

void vpmu_port_start(uint64_t hctr_mask, uint64_t value)
{
	tell(LEDGER_SET, hctr_mask);
	tell(LEDGER_RUN, hctr_mask);
	hpm_start(&this_pcpu()->hpm, hctr_mask, value);
}

void vpmu_port_start_armed(hctr_t hctr, uint64_t value)
{
	tell(LEDGER_SET, BIT(hctr.idx));
	tell(LEDGER_RUN, BIT(hctr.idx));
	hpm_start_armed(&this_pcpu()->hpm, hctr.idx, value);
}

void vpmu_port_stop(uint64_t hctr_mask)
{
	hpm_stop(&this_pcpu()->hpm, hctr_mask);
	tell(LEDGER_STOP, hctr_mask);
}

uint64_t vpmu_port_read(hctr_t hctr)
{
	return hpm_value(&this_pcpu()->hpm, hctr.idx);
}

bool vpmu_port_is_unstarted(hctr_t hctr)
{
	return (this_pcpu()->hpm.unstarted >> hctr.idx & 1) != 0;
}

uint64_t vpmu_port_step(hctr_t hctr, uint64_t last, uint64_t *value)
{
	return hpm_step(hctr.idx, last, value);
}

void vpmu_port_set_direct(uint64_t hctr_mask)
{
	csr_write(CSR_HCOUNTEREN, BIT(CSR_TIME - CSR_CYCLE) | hctr_mask);
}

uint64_t vpmu_port_flags(void)
{
	return csr_read(CSR_SCOUNTOVF) & this_pcpu()->hpm.hctrs;
}

uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs)
{
	if (!(csr_read(CSR_SIP) & BIT(IRQ_LCOFI)))
		return 0;
	return hpm_take_overflow(&this_pcpu()->hpm) & armed_hctrs;
}

bool vpmu_port_is_quiet(void)
{
	return !(csr_read(CSR_SIP) & BIT(IRQ_LCOFI));
}

/* --- fixed counters ------------------------------------------------------------------------- */

/* HS measures the current stay with instret. If that is taken, it gets `value` next, so the stay's
 * beginning is moved by the same difference. */
void vpmu_port_fixed_take(hctr_t hctr, const struct hw_event *config, uint64_t value)
{
	struct pcpu *pcpu = this_pcpu();

	if (!hpm_fixed_take(&pcpu->hpm, hctr.idx, config)) {
		pcpu->hpm.failed |= BIT(hctr.idx);
		pcpu->hpm.unstarted |= BIT(hctr.idx);
		hpm_failed();
	}
	if (BIT(hctr.idx) == HCTRS_INSTRET) {
		uint64_t ahead = value - csr_read(CSR_INSTRET);

		if (pcpu->current->stats.clock_observed)
			vcpu_observers_lose_clock(pcpu->current);
		pcpu_top(pcpu)->stay_start += ahead;
		pcpu->last_irq_check += ahead;
	}
}

void vpmu_port_fixed_release(uint64_t hctr_mask)
{
	hpm_fixed_release(&this_pcpu()->hpm, hctr_mask);
}

/* --- events --------------------------------------------------------------------------------- */

uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data)
{
	struct pcpu *pcpu = this_pcpu();
	struct vcpu *vcpu = pcpu->current;
	uint64_t running = vcpu ? vpmu_active(&vcpu->pmu) : 0;
	uint32_t i;

	if (hw_event_is_raw(event_idx)) {
		/* Counters that do not run belong to no vcpu afterwards. */
		for_each_bit (i, pcpu->hpm.hctrs & ~running)
			change_owner(pcpu, (hctr_t){i}, NULL);
		if (vcpu)
			vpmu_finish_evict(&vcpu->pmu);
		if (vcpu && vcpu->hart_flags)
			hart_flags_handle_overflow(vcpu);
	}
	return hpm_event_hctrs(&pcpu->hpm, event_idx, event_data, running);
}

void vpmu_port_event_of_raw(uint32_t *event_idx, uint64_t *event_data)
{
	const struct hpm_event *event = hpm_raw_find(&this_pcpu()->hpm, *event_data);

	if (!event)
		return;
	*event_idx = event->event_idx;
	*event_data = 0;
}

void vpmu_port_fw_watch(uint32_t codes)
{
	struct vcpu *vcpu = this_pcpu()->current;

	vcpu_fw_watch(vcpu, codes | vcpu->stats.fw_observed);
}

uint64_t vpmu_port_fw_total(uint32_t code)
{
	return vcpu_fw_total(this_pcpu()->current, code);
}

/* --- guest memory --------------------------------------------------------------------------- */

bool vpmu_port_guest_read(uint64_t gpa, void *to, uint32_t n)
{
	const void *from = guest_mem(this_pcpu()->current->vm, (gpa_t){gpa}, n);

	if (from)
		memcpy(to, from, n);
	return from;
}

bool vpmu_port_guest_write(uint64_t gpa, const void *from, uint32_t n)
{
	void *to = guest_mem(this_pcpu()->current->vm, (gpa_t){gpa}, n);

	if (to)
		memcpy(to, from, n);
	return to;
}

bool vpmu_port_guest_ram(uint64_t gpa, uint64_t n)
{
	return guest_mem(this_pcpu()->current->vm, (gpa_t){gpa}, n);
}

/* --- notices -------------------------------------------------------------------------------- */

/*
 * The poll is at least 1 / POLLS_HZ seconds from now, so that many polls of a counter that hardly
 * counts cost the guest little. The same delay comes after the earliest possible wrap, so that a
 * counter that never stops has wrapped by then, and one poll is enough.
 */
void vpmu_port_poll_after(uint64_t counts)
{
	struct pcpu *pcpu = this_pcpu();
	struct vcpu *vcpu = pcpu->current;

	vcpu->poll_at = counts == ~0UL ? ~0UL
	                               : csr_read(CSR_TIME) + counts / pcpu->cycles_per_tick +
	                                     platform.timebase / POLLS_HZ;
	vcpu_set_wake(vcpu);
	pcpu_resched(pcpu);
}

/* When counters stop, WFI still traps: the next WFI itself ends that (virtual_insn.c), because most
 * stops come just before a start. */
void vpmu_port_trap_wfi(void)
{
	vcpu_set_vtw(this_pcpu()->current, true);
}

void vpmu_port_raise_lcofi(void)
{
	struct vcpu *vcpu = this_pcpu()->current;

	if (vcpu->hart_flags)
		hart_flags_handle_overflow(vcpu);
	/* An LCOFI that is still pending also stands for this overflow. */
	if (!(csr_read(CSR_HVIP) & BIT(IRQ_LCOFI))) {
		if (vcpu->lcofi_limited) {
			vcpu_lcofi_limited(vcpu);
			return;
		}
		vcpu->stats.lcofis++;
		csr_set(CSR_HVIP, BIT(IRQ_LCOFI));
	}
	vs_interrupts_pending();
}

void vpmu_port_budget_spent(void)
{
	vcpu_budget_spent(this_pcpu()->current);
}

void vpmu_port_budget_lost(void)
{
	struct vcpu *vcpu = this_pcpu()->current;

	vm_failed(vcpu, "its hart has refused the counter of its budget,",
	          vcpu->vm->pmu_policy.budget_hctr);
}

void vpmu_port_observer_lost(uint32_t n, uint64_t value)
{
	vcpu_observer_lost(this_pcpu()->current, n, value);
}

uint64_t vpmu_port_sample(uint32_t n, uint64_t period, uint64_t missed)
{
	return vcpu_sample(this_pcpu()->current, n, period, missed);
}
