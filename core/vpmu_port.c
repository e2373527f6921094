/* SPDX-License-Identifier: Apache-2.0 */
/* vpmu/port.h on this hart's counters (arch/riscv/hpm.h) and interrupts. */
#include <stddef.h>
#include <string.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/hpm.h"
#include "arch/riscv/hpm_raw.h"
#include "arch/riscv/quirks.h"
#include "core/guest_mem.h"
#include "core/pcpu.h"
#include "core/vcpu.h"
#include "vpmu/port.h"

_Static_assert(VPMU_INH_VS == HPM_INH_VS && VPMU_INH_VU == HPM_INH_VU &&
                   VPMU_COUNT_HS == HPM_COUNT_HS,
               "filters are passed as is");

/* One thing seen from two folders that do not know each other. */
_Static_assert(
    sizeof(struct vpmu_hw_config) == sizeof(struct hpm_config) &&
        offsetof(struct vpmu_hw_config, event_idx) == offsetof(struct hpm_config, event_idx) &&
        offsetof(struct vpmu_hw_config, inhibit) == offsetof(struct hpm_config, inhibit) &&
        offsetof(struct vpmu_hw_config, event_data) == offsetof(struct hpm_config, event_data),
    "configurations are passed as they are");

static const struct hpm_config *to_hpm(const struct vpmu_hw_config *config)
{
	return (const struct hpm_config *)config;
}

void vpmu_port_raw_event(uint32_t *event_idx, uint64_t *event_data)
{
	const struct hpm_event *event = hpm_raw_find(&this_pcpu()->hpm, *event_data);

	if (!event)
		return;
	*event_idx = event->event_idx;
	*event_data = 0;
}

uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data)
{
	return hpm_event_hctrs(&this_pcpu()->hpm, event_idx, event_data);
}

bool vpmu_port_prepare(hctr_t hctr, const struct vpmu_hw_config *config)
{
	struct hpm *hpm = &this_pcpu()->hpm;

	return hpm_holds(hpm, hctr.idx, to_hpm(config)) ||
	       hpm_reprogram(hpm, hctr.idx, to_hpm(config));
}

/* Not inlined: the usual way through vpmu_port_set() then needs no stack. */
static __attribute__((noinline)) bool reprogram_and_set(struct hpm *hpm, uint32_t hctr,
                                                        const struct hpm_config *config,
                                                        uint64_t value, bool armed)
{
	return hpm_reprogram(hpm, hctr, config) && hpm->backend->set(hpm, hctr, value, armed);
}

bool vpmu_port_set(hctr_t hctr, const struct vpmu_hw_config *config, uint64_t value, bool armed)
{
	struct hpm *hpm = &this_pcpu()->hpm;

	armed = armed && quirk_may_arm(config->event_idx);
	if (!hpm_holds(hpm, hctr.idx, to_hpm(config)))
		return reprogram_and_set(hpm, hctr.idx, to_hpm(config), value, armed);
	return hpm->backend->set(hpm, hctr.idx, value, armed);
}

void vpmu_port_run(uint64_t hctr_mask)
{
	struct hpm *hpm = &this_pcpu()->hpm;

	hpm->running |= hctr_mask;
	hpm->backend->run(hpm, hctr_mask);
}

void vpmu_port_stop(uint64_t hctr_mask)
{
	struct hpm *hpm = &this_pcpu()->hpm;

	hpm->running &= ~hctr_mask;
	hpm->backend->stop(hctr_mask);
}

bool vpmu_port_step(hctr_t hctr, uint64_t last)
{
	return this_pcpu()->hpm.backend->step(hctr.idx, last);
}

uint64_t vpmu_port_read(hctr_t hctr)
{
	return hpm_read(hctr.idx);
}

uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs)
{
	if (!(csr_read(CSR_SIP) & BIT(IRQ_LCOFI)))
		return 0;
	return hpm_take_overflow(&this_pcpu()->hpm) & armed_hctrs;
}

void vpmu_port_set_direct(uint64_t hctr_mask)
{
	csr_write(CSR_HCOUNTEREN, BIT(CSR_TIME - CSR_CYCLE) | hctr_mask);
}

void vpmu_port_raise_lcofi(void)
{
	struct vcpu *vcpu = this_pcpu()->current;

	vcpu->fw.lcofis++;
	vcpu_set_virq(vcpu, IRQ_LCOFI, true);
}

void vpmu_port_fw_watch(uint32_t codes)
{
	vcpu_fw_watch(this_pcpu()->current, codes);
}

uint64_t vpmu_port_fw_total(uint32_t code)
{
	return vcpu_fw_total(this_pcpu()->current, code);
}

bool vpmu_port_guest_ram(uint64_t gpa, uint64_t n)
{
	return guest_mem(this_pcpu()->current->vm, (gpa_t){gpa}, n);
}

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
