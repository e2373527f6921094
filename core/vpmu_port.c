/* SPDX-License-Identifier: Apache-2.0 */
/* vpmu/port.h on this hart's counters (arch/riscv/hpm.h) and interrupts. */
#include <string.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/hpm.h"
#include "core/guest_mem.h"
#include "core/pcpu.h"
#include "core/vcpu.h"
#include "vpmu/port.h"

_Static_assert(VPMU_INH_VS == HPM_INH_VS && VPMU_INH_VU == HPM_INH_VU &&
                   VPMU_COUNT_HS == HPM_COUNT_HS,
               "filters are passed as is");

static struct hpm_config to_hpm(const struct vpmu_hw_config *config)
{
	return (struct hpm_config){.event_idx = config->event_idx,
	                           .inhibit = config->inhibit,
	                           .event_data = config->event_data};
}

uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data)
{
	return hpm_event_hctrs(&this_pcpu()->hpm, event_idx, event_data);
}

bool vpmu_port_prepare(hctr_t hctr, const struct vpmu_hw_config *config)
{
	struct hpm_config hpm_config = to_hpm(config);

	return hpm_program(&this_pcpu()->hpm, hctr.idx, &hpm_config);
}

uint64_t vpmu_port_start(const struct vpmu_hw_start *starts, uint32_t n)
{
	struct hpm *hpm = &this_pcpu()->hpm;
	uint64_t refused = 0, resume = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct vpmu_hw_start *s = &starts[i];
		struct hpm_config config = to_hpm(&s->config);

		/* Those that nobody touched since they were stopped go on with one call. */
		if (hpm_holds(hpm, s->hctr.idx, &config, s->value, s->armed))
			resume |= BIT(s->hctr.idx);
		else if (!hpm_start(hpm, s->hctr.idx, &config, s->value, s->armed))
			refused |= BIT(s->hctr.idx);
	}
	if (resume)
		hpm_resume(hpm, resume);
	return refused;
}

void vpmu_port_stop(uint64_t hctr_mask)
{
	hpm_stop(&this_pcpu()->hpm, hctr_mask);
}

uint64_t vpmu_port_read(hctr_t hctr)
{
	return hpm_read(hctr.idx);
}

uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs)
{
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
