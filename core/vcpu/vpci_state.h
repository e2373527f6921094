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
	uint32_t words[VPCI_WORDS]; /* what the guest reads, unless one of the others says more */
	uint32_t sizes[PCI_BARS];   /* of these after all ones; 0: no BAR */
	bool intx;                  /* its INTx goes to the VM */
	uint32_t msix;              /* the capability, if the guest sees it; 0: it does not */
	/* Of a life. */
	uint32_t sizing;  /* bit n: all ones were written to BAR n last */
	uint16_t command; /* as the guest has written it */
	uint8_t line;     /* a byte that guests write notes in */
	bool muted;       /* it does not master the bus before the next life */
};

struct vpci {
	uint32_t n;
	struct vpci_function *functions[VM_MAX_DEVICES];
};

#endif
