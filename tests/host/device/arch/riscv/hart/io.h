/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of a device that is part of the test. */
#ifndef HOST_IO_H
#define HOST_IO_H

#include <stdint.h>

uint8_t io_read8(uint64_t address);
void io_write8(uint64_t address, uint8_t value);
uint32_t io_read32(uint64_t address);
uint64_t io_read64(uint64_t address);
void io_write32(uint64_t address, uint32_t value);
void io_write64(uint64_t address, uint64_t value);

#endif
