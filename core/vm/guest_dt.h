/* SPDX-License-Identifier: Apache-2.0 */
/* The device tree that a guest boots with. This file uses libfdt and standard C only. */
#ifndef CORE_VM_GUEST_DT_H
#define CORE_VM_GUEST_DT_H

#include <stddef.h>
#include <stdint.h>

#include "core/vm/seed.h"
#include "core/config/vm_config.h"

/* Addresses of a guest's devices, and the interrupt source of its UART. */
#define GUEST_PLIC_BASE UINT64_C(0x0c000000)
#define GUEST_UART_BASE UINT64_C(0x10000000)
#define GUEST_UART_IRQ  10U

/* What is the same for all VMs of one machine. */
struct guest_machine {
	uint64_t ram_base;           /* VM_RAM_BASE */
	uint32_t timebase_frequency; /* Hz */
	/* The ISA in both forms: one complete string, and one name for each extension. */
	const char *isa;                   /* "rv64imafdc_zicntr..." */
	const char *const *isa_extensions; /* "i", "m", ... */
	uint32_t n_ext;
	const char *mmu_type; /* "riscv,sv39", "riscv,sv48" or "riscv,sv57" */
	/* Block sizes of cache-block operations in bytes. 0: the guest does not have the
	 * operation. */
	uint32_t cbom_block, cboz_block, cbop_block;
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

/* Returns the offset of the seed in a finished tree, in bytes. 0: the tree has no seed. */
size_t guest_dt_seed_at(const void *dtb);

#endif
