/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/devices/pci.h"

uint32_t pci_read32(uint64_t page, uint32_t offset)
{
	return *(volatile uint32_t *)(page + offset);
}

uint16_t pci_read16(uint64_t page, uint32_t offset)
{
	return *(volatile uint16_t *)(page + offset);
}

uint8_t pci_read8(uint64_t page, uint32_t offset)
{
	return *(volatile uint8_t *)(page + offset);
}

void pci_write32(uint64_t page, uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(page + offset) = value;
}

void pci_write16(uint64_t page, uint32_t offset, uint16_t value)
{
	*(volatile uint16_t *)(page + offset) = value;
}

void pci_write8(uint64_t page, uint32_t offset, uint8_t value)
{
	*(volatile uint8_t *)(page + offset) = value;
}
