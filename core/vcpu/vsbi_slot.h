/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM's SBI calls lead to: for each function of each extension that it is offered one of
 * ours. Its arguments are the registers of the call: a0 to a5, the function id in a6, the extension
 * in a7. What it returns goes into the guest's a0 and a1.
 */
#ifndef CORE_VCPU_VSBI_SLOT_H
#define CORE_VCPU_VSBI_SLOT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/riscv/hart/port.h"
#include "arch/riscv/hart/trap.h"

#define VSBI_UNUSED __attribute__((unused))
#define VSBI_FN(name)                                                                              \
	vsbi_ret name(VSBI_UNUSED uint64_t a0, VSBI_UNUSED uint64_t a1, VSBI_UNUSED uint64_t a2,   \
	              VSBI_UNUSED uint64_t a3, VSBI_UNUSED uint64_t a4, VSBI_UNUSED uint64_t a5,   \
	              VSBI_UNUSED uint64_t fid, VSBI_UNUSED uint64_t eid)

typedef VSBI_FN(vsbi_fn);

/*
 * An extension. A VM has VSBI_SLOTS of them, by the low bits of their ids, which differ. One that
 * it is not offered has no id, and is not found: the place of id 0 has functions that say so.
 */
struct vsbi_slot {
	uint64_t eid;
	vsbi_fn *fn[VSBI_FUNCTIONS]; /* in a VM's none is NULL, where there is an id */
};

/* What switch.S does by itself. NULL: nobody serves it. */
static inline vsbi_fn *vsbi_find(const struct vsbi_slot sbi[VSBI_SLOTS], uint64_t eid, uint64_t fid)
{
	const struct vsbi_slot *slot = &sbi[eid % VSBI_SLOTS];

	return slot->eid == eid && fid < VSBI_FUNCTIONS ? slot->fn[fid] : NULL;
}

#endif
