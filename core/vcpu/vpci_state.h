/* SPDX-License-Identifier: Apache-2.0 */
/* Part of struct vm: core/io/vpci.h. */
#ifndef CORE_VCPU_VPCI_STATE_H
#define CORE_VCPU_VPCI_STATE_H

#include "arch/riscv/devices/pci.h"
#include "core/host/vm_config.h"

#define VPCI_WORDS (PCI_HEADER_END / 4)

struct vpci_function {
	/* Constant after boot. */
	const struct pci_function *host;
	/* values that the guest reads, unless other members change them */
	uint32_t words[VPCI_WORDS];
	uint32_t sizes[PCI_BARS]; /* value of each BAR after all ones were written; 0: no BAR */
	bool intx;                /* its INTx is routed to the VM */
	/* offset of the capability if the guest sees it; 0: it does not */
	uint32_t msix;
	/* State of one life. */
	uint32_t sizing;     /* bit n: the last write to BAR n was all ones */
	uint16_t command;    /* as written by the guest */
	uint8_t line;        /* interrupt line: guests may store a value here */
	bool master_blocked; /* it cannot be bus master until the next life */
};

struct vpci {
	uint32_t n;
	struct vpci_function *functions[VM_MAX_DEVICES];
};

#endif
