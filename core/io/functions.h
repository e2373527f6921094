/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI functions of VMs, from one life to the next. In a life a function is controlled by the
 * guest's configuration space (core/io/vpci.h), and its requests are translated for the VM
 * (core/io/dma.h). Between two lives it cannot master the bus, is in no domain, and has been reset.
 */
#ifndef CORE_IO_FUNCTIONS_H
#define CORE_IO_FUNCTIONS_H

#include "core/host/vm_config.h"
#include "core/io/vpci.h"

struct vm;

struct function {
	/* Constant after boot. */
	struct pci_function pci;
	struct vm *vm;
	const struct vm_device *device;
	uint32_t device_id; /* its id at the IOMMU */
	/* The VM's lock of devices protects these. */
	struct vpci_function shown;
	/* At the end of a life, lead hart only: whether the reset has begun, and when. */
	bool resetting;
	uint64_t since;
	bool set_up;           /* the reset is over */
	uint32_t msix_cleared; /* entries of its MSI-X table */
};

extern struct function functions[VM_MAX_FUNCTIONS];
extern uint32_t n_functions;

/* Whether functions of a VM may send MSIs: its vcpus have interrupt files, and the IOMMU restricts
 * the MSIs to these. */
bool functions_have_messages(const struct vm_config *vm);

/* Adds the functions that boot has found for a VM, whose memory is mapped. At boot only. */
void functions_make(struct vm *vm);

/* A life begins: all functions are as after reset, and in the VM's domain. The caller holds
 * vm->devices. */
void functions_begin(struct vm *vm);

/* A life is over: no function begins a request any more. */
void functions_stop(struct vm *vm);

/* Makes a step of a function's reset, which begins when no request is outstanding. Returns true
 * when it is done. Lead hart only. */
bool function_reset(const struct vm_device *device);

#endif
