/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that serve a VM's SBI calls: one for each extension that the VM has. The parameters
 * are the registers of the call: a0 to a5, the function id (a6) and the extension id (a7). The
 * return value goes into the guest's a0 and a1.
 */
#ifndef CORE_VM_VSBI_SLOT_H
#define CORE_VM_VSBI_SLOT_H

#include <stdint.h>

#include "arch/riscv/trap.h"

#define VSBI_UNUSED __attribute__((unused))
#define VSBI_FN(name)                                                                              \
	vsbi_ret name(VSBI_UNUSED uint64_t a0, VSBI_UNUSED uint64_t a1, VSBI_UNUSED uint64_t a2,   \
	              VSBI_UNUSED uint64_t a3, VSBI_UNUSED uint64_t a4, VSBI_UNUSED uint64_t a5,   \
	              VSBI_UNUSED uint64_t fid, VSBI_UNUSED uint64_t eid)

typedef VSBI_FN(vsbi_fn);

/* The table of a VM's extensions, indexed by a perfect hash of the extension id. An entry without a
 * function is empty. */
#define VSBI_SLOTS 16U

struct vsbi_slot {
	uint64_t eid;
	vsbi_fn *fn;
};

static inline uint32_t vsbi_hash(uint64_t eid)
{
	return (uint32_t)(eid ^ eid >> 1) % VSBI_SLOTS; /* switch.S has the same hash */
}

#endif
