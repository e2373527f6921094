/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI 3.0 served to guests. Each extension is a table of functions (core/vcpu/vsbi_slot.h), called
 * by the vcpu this_vcpu(). The upper half of a parameter that the specification calls 32 bits wide
 * means nothing (section 3): it holds whatever the caller's ABI leaves there.
 */
#ifndef CORE_VSBI_VSBI_H
#define CORE_VSBI_VSBI_H

#include "arch/riscv/hart/sbi.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vsbi_slot.h"

/* The functions that exist; the others are NULL. */
extern const struct vsbi_slot vsbi_base, vsbi_time, vsbi_ipi, vsbi_rfence, vsbi_hsm, vsbi_srst,
    vsbi_dbcn, vsbi_pmu, vsbi_tally;

/* Replaces any function of vsbi_pmu, for a guest that reads the hart's scountovf. */
VSBI_FN(vsbi_pmu_hart_flags);
VSBI_FN(vsbi_pmu_config_shown);
VSBI_FN(vsbi_pmu_start_shown);
VSBI_FN(vsbi_pmu_stop_shown);

/* Replace the functions of vsbi_time and vsbi_ipi, for a guest with an AIA. */
VSBI_FN(vsbi_set_timer_aia);
VSBI_FN(vsbi_send_ipi_aia);

static inline vsbi_ret vsbi_result(long error, uint64_t value)
{
	return (vsbi_ret)value << 64 | (uint64_t)error;
}

/* Fills in vm->sbi. At boot, once the VM's configuration and PMU policy are known. */
void vsbi_init(struct vm *vm);

/* Reads the host's vendor, architecture and implementation ids. Once, at boot. */
void vsbi_base_init(void);

/*
 * Calls fn for each vcpu in the hart mask (section 3.1). Returns false, without calling fn, if one
 * of them does not exist.
 */
bool vsbi_for_each_hart(struct vcpu *vcpu, uint64_t hart_mask, uint64_t hart_mask_base,
                        void (*fn)(struct vcpu *self, struct vcpu *target, uint64_t arg),
                        uint64_t arg);

#endif
