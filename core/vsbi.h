/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI 3.0 served to guests. Each extension is one function with the registers of the call as its
 * arguments: a0 to a5, the function id in a6, the extension in a7. What it returns goes into the
 * guest's a0 and a1. The caller is this_vcpu(). Of a parameter that the specification calls 32 bits wide the
 * upper half means nothing (section 3): it holds whatever the caller's ABI leaves there.
 */
#ifndef CORE_VSBI_H
#define CORE_VSBI_H

#include "arch/riscv/sbi.h"
#include "arch/riscv/trap.h"
#include "core/vcpu.h"

#define VSBI_UNUSED __attribute__((unused))
#define VSBI_FN(name)                                                                              \
	vsbi_ret name(VSBI_UNUSED uint64_t a0, VSBI_UNUSED uint64_t a1, VSBI_UNUSED uint64_t a2,   \
	              VSBI_UNUSED uint64_t a3, VSBI_UNUSED uint64_t a4, VSBI_UNUSED uint64_t a5,   \
	              VSBI_UNUSED uint64_t fid, VSBI_UNUSED uint64_t eid)

typedef VSBI_FN(vsbi_fn);

VSBI_FN(vsbi_base);
VSBI_FN(vsbi_time);
VSBI_FN(vsbi_ipi);
VSBI_FN(vsbi_rfence);
VSBI_FN(vsbi_hsm);
VSBI_FN(vsbi_srst);
VSBI_FN(vsbi_dbcn);
VSBI_FN(vsbi_pmu);
VSBI_FN(vsbi_pmu_hart_flags);

/* The extensions of a VM, by a perfect hash of their ids; an entry without function: none. */
#define VSBI_SLOTS 16U

struct vsbi_slot {
	uint64_t eid;
	vsbi_fn *fn;
};

static inline uint32_t vsbi_hash(uint64_t eid)
{
	return (uint32_t)(eid ^ eid >> 1) % VSBI_SLOTS; /* as in switch.S */
}

/* The vcpu that made the call. */
static inline struct vcpu *this_vcpu(void)
{
	return vcpu_of(this_context());
}

static inline vsbi_ret vsbi_result(long error, uint64_t value)
{
	return (vsbi_ret)value << 64 | (uint64_t)error;
}

/* Fills vm->sbi. At boot, once the VM's configuration is known. */
void vsbi_init(struct vm *vm);

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
