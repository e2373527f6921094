/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to device registers. Host tests replace them with a simulated device. */
#ifndef ARCH_RISCV_HART_IO_H
#define ARCH_RISCV_HART_IO_H

#include <stdint.h>

static inline uint8_t io_read8(uint64_t address)
{
	return *(const volatile uint8_t *)address;
}

static inline void io_write8(uint64_t address, uint8_t value)
{
	*(volatile uint8_t *)address = value;
}

static inline uint32_t io_read32(uint64_t address)
{
	return *(const volatile uint32_t *)address;
}

static inline uint64_t io_read64(uint64_t address)
{
	return *(const volatile uint64_t *)address;
}

static inline void io_write32(uint64_t address, uint32_t value)
{
	*(volatile uint32_t *)address = value;
}

static inline void io_write64(uint64_t address, uint64_t value)
{
	*(volatile uint64_t *)address = value;
}

#endif
