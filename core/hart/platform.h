/* SPDX-License-Identifier: Apache-2.0 */
/* The machine, as the host device tree describes it (core/boot/host_dt.h). Constant after boot. */
#ifndef CORE_HART_PLATFORM_H
#define CORE_HART_PLATFORM_H

#include "arch/riscv/counters/hpm.h"
#include "arch/riscv/devices/imsic.h"
#include "arch/riscv/devices/irqchip.h"
#include "core/hart/pcpu.h"
#include "core/host/host_iommu.h"
#include "core/host/vm_config.h"
#include "core/lib/types.h"

struct platform {
	struct vm_ram ram;
	uint64_t tree_base, tree_size; /* the VM tree (/chosen linux,initrd-*) */
	/* Tally's copy of the host's device tree. NULL: it could not be kept. */
	const void *host_tree;
	uint32_t timebase; /* Hz */
	uint32_t n_harts;
	uint32_t harts_unused; /* number of harts beyond MAX_HARTS */
	struct platform_hart {
		uint64_t hartid;
		uint64_t isa;
		struct cbo_blocks blocks;
		uint32_t intc_phandle;
		uint32_t irq_place; /* in the interrupt controller, or IRQCHIP_NOWHERE */
		const char *unused; /* why no VM can have it; NULL: one can, or it was not probed */
	} harts[MAX_HARTS];
	const char *mmu_type; /* a copy, because the memory of the host tree is reused */
	uint64_t uart_base;   /* 0: no UART that Tally can drive */
	uint64_t uart_size;
	uint32_t uart_shift, uart_width, uart_irq;
	struct irqchip irqchip;
	struct host_iommu iommu; /* size 0: the machine has none */
	struct imsic imsic;      /* ids 0: guests have no files in it */
	/* From /chosen bootargs: tally.backend=, tally.console=, tally.inexact-counts
	 * (core/boot/bootargs.h). */
	enum hpm_choice backend;
	const struct selectors *table; /* the VM tree's node /pmu; NULL: it has none */
	bool interactive, frames;
	bool inexact; /* use counters of a hart that counts wrong; the VM tree may say so, too */
};

extern struct platform platform;

/* Returns the hart with this id, or NULL. */
struct platform_hart *platform_hart(uint64_t hartid);

#endif
