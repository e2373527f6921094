/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/pci_acts.h"

#include "core/lib/text.h"

enum kind { FINE, WATCHDOG, PANIC, BMC, SMBUS, IPMI, BRIDGE, PERIPHERAL, PAST_IOMMU };

static const char *const kinds[] = {
    [WATCHDOG] = "a watchdog",
    [PANIC] = "a panic notifier",
    [BMC] = "a BMC",
    [SMBUS] = "an SMBus",
    [IPMI] = "an IPMI interface",
    [BRIDGE] = "a bridge to parts of the machine",
    [PERIPHERAL] = "a peripheral of the system",
};

/* Ids of functions, or classes, base << 8 | subclass, which are below 0x10000. The first match
 * decides. LPC and power management are bridges; timers, watchdogs, hot-plug controllers and error
 * collectors are peripherals of the system. */
static const struct {
	uint32_t key;
	uint8_t shift; /* this many low bits of a class are ignored */
	uint8_t kind;
} known[] = {
    {0x1b360011, 0, PANIC},      /* QEMU's pvpanic */
    {0x808625ab, 0, WATCHDOG},   /* i6300esb */
    {0x11e35030, 0, WATCHDOG},   /* Berkshire's PCI-PC */
    {0x494f22c0, 0, WATCHDOG},   /* PCI-WDT500 */
    {0x1a032000, 0, BMC},        /* ASPEED's graphics, which reach the memory of their BMC */
    {0x1af41002, 0, PAST_IOMMU}, /* virtio's balloon, before version 1 */
    {0x1af41045, 0, PAST_IOMMU}, /* and since: its requests name pages of the machine */
    {0x1af41058, 0, PAST_IOMMU}, /* virtio's memory device, which plugs such pages */
    {0x1af41057, 0, PAST_IOMMU}, /* virtio's IOMMU, which maps for all functions */
    {0x0801, 0, FINE},           /* DMA controllers */
    {0x0805, 0, FINE},           /* SD hosts */
    {0x0c05, 0, SMBUS},          {0x0c07, 0, IPMI}, {0x06, 8, BRIDGE}, {0x08, 8, PERIPHERAL},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

bool pci_acts_allowed(uint32_t id, uint32_t class, const struct vm_pci *pci, char *reason,
                      size_t size)
{
	struct text text = text_begin(reason, size);
	uint32_t n = 0, kind;

	while (n < KNOWN && known[n].key != id && known[n].key != class >> known[n].shift)
		n++;
	kind = n < KNOWN ? known[n].kind : FINE;
	if (kind == FINE || (kind != PAST_IOMMU && pci->forced))
		return true;
	text_add(&text, "%04x:%04x ", id >> 16, id & 0xffff);
	if (kind == PAST_IOMMU)
		text_add(&text, "changes memory past the IOMMU");
	else
		text_add(&text,
		         "is %s, which can stop the machine: needs force = \"" PCI_ACTS_CONSENT
		         "\"",
		         kinds[kind]);
	return false;
}
