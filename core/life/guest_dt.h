/* SPDX-License-Identifier: Apache-2.0 */
/* The device tree of a guest. This file uses libfdt and standard C only. */
#ifndef CORE_LIFE_GUEST_DT_H
#define CORE_LIFE_GUEST_DT_H

#include <stddef.h>
#include <stdint.h>

#include "core/host/vm_config.h"

/* Properties that all VMs of a machine share. */
struct guest_machine {
	uint32_t timebase_frequency; /* Hz */
	/* The ISA in both forms: one complete string, and one name for each extension. */
	const char *isa;                   /* "rv64imafdc_zicntr..." */
	const char *const *isa_extensions; /* "i", "m", ... */
	uint32_t n_ext;
	const char *mmu_type; /* "riscv,sv39", "riscv,sv48" or "riscv,sv57" */
	/* Block sizes of cache-block operations in bytes. 0 if the guest does not have the
	 * operation. */
	uint32_t cbom_block, cboz_block, cbop_block;
	const void *host_tree;          /* has the nodes of its devices; NULL if there are none */
	uint32_t imsic_ids;             /* identities of its IMSICs, if it has them */
	const struct vm_shared *shared; /* of the VM tree; may be NULL if the VM has none */
	bool seed; /* /chosen gets an rng-seed of SEED_BYTES zeros, to be filled in */
};

/*
 * Writes the device tree of a VM that vm_config_parse() accepted into buf, which must be 8-byte
 * aligned. A size of VM_DTB_SIZE bytes is always enough. The same input gives the same bytes.
 * Returns 0 or a negative error of libfdt (-FDT_ERR_NOSPACE: size is too small); after an error the
 * contents of buf are undefined.
 */
int guest_dt_build(void *buf, size_t size, const struct vm_config *vm,
                   const struct guest_machine *machine);

/* Returns the offset of the seed in a finished tree, in bytes, or 0 if the tree has no seed. */
size_t guest_dt_seed_at(const void *dtb);

#endif
