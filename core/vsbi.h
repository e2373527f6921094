/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI 3.0 served to guests. Each extension is one function: it gets the resident vcpu, the
 * function id and a0..a5, and returns error and value for a0 and a1.
 */
#ifndef CORE_VSBI_H
#define CORE_VSBI_H

#include "arch/riscv/sbi.h"
#include "core/vcpu.h"

typedef struct sbi_ret vsbi_fn(struct vcpu *vcpu, uint64_t fid, const uint64_t *args);

vsbi_fn vsbi_base, vsbi_time, vsbi_ipi, vsbi_rfence, vsbi_hsm, vsbi_srst, vsbi_dbcn, vsbi_pmu;

/* Is the extension there for this VM? */
bool vsbi_has(const struct vm *vm, uint64_t eid);

/* Vendor, architecture and implementation ids of the host, asked once at boot. */
void vsbi_base_init(void);

/*
 * Section 3.1, hart masks: calls fn for each vcpu named. false: one of them does not exist, and
 * nothing was called.
 */
bool vsbi_for_each_hart(struct vcpu *vcpu, uint64_t hart_mask, uint64_t hart_mask_base,
                        void (*fn)(struct vcpu *self, struct vcpu *target, uint64_t arg),
                        uint64_t arg);

#endif
