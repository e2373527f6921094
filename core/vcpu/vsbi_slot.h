/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatch of a VM's SBI calls: one function of Tally for each function of each extension that the
 * VM is offered. Its arguments are the registers of the call: a0 to a5, the function id in a6, the
 * extension in a7. Its result goes into the guest's a0 and a1.
 */
#ifndef CORE_VCPU_VSBI_SLOT_H
#define CORE_VCPU_VSBI_SLOT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/riscv/hart/port.h"

#define VSBI_UNUSED __attribute__((unused))
#define VSBI_FN(name)                                                                              \
	vsbi_ret name(VSBI_UNUSED uint64_t a0, VSBI_UNUSED uint64_t a1, VSBI_UNUSED uint64_t a2,   \
	              VSBI_UNUSED uint64_t a3, VSBI_UNUSED uint64_t a4, VSBI_UNUSED uint64_t a5,   \
	              VSBI_UNUSED uint64_t fid, VSBI_UNUSED uint64_t eid)

typedef VSBI_FN(vsbi_fn);

/*
 * An extension. A VM has VSBI_SLOTS of them, indexed by the low bits of their ids, which differ.
 * The slot of an extension that the VM is not offered has no id, so the extension is not found. The
 * slot of id 0 has functions that return "not supported".
 */
struct vsbi_slot {
	uint64_t eid;
	vsbi_fn *fn[VSBI_FUNCTIONS]; /* in a VM's slot with an id, none is NULL */
};

/* The same look-up as in switch.S. Returns NULL if there is no such function. */
static inline vsbi_fn *vsbi_find(const struct vsbi_slot sbi[VSBI_SLOTS], uint64_t eid, uint64_t fid)
{
	const struct vsbi_slot *slot = &sbi[eid % VSBI_SLOTS];

	return slot->eid == eid && fid < VSBI_FUNCTIONS ? slot->fn[fid] : NULL;
}

#endif
