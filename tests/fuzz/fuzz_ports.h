/* SPDX-License-Identifier: Apache-2.0 */
/* What drivers of ports do, as the input's bytes say, to the VMs and to the model of them. */
#ifndef TESTS_FUZZ_FUZZ_PORTS_H
#define TESTS_FUZZ_FUZZ_PORTS_H

#include <stddef.h>

#include "tests/fuzz/ports_model.h"

#define STATUS 0x14U /* registers of a port */
#define ISR    0x200U
#define NOTIFY 0x104U

/* The input, its next byte, or two, and how many are left. Behind its end are zeros. */
void fuzz_begin(const uint8_t *data, size_t size);
uint32_t fuzz_byte(void);
uint32_t fuzz_number(void);
size_t fuzz_left(void);

/* The place of a port's queue in its VM's memory. */
uint64_t fuzz_ring_at(const struct model_port *p, uint32_t queue);

void fuzz_poke16(const struct model_port *p, uint64_t at, uint32_t value);

void fuzz_write_common(struct model_port *p, uint32_t offset, uint32_t value, uint32_t width);

/* As a driver does it, from the reset to DRIVER_OK; the areas may overlap. */
void fuzz_set_up(struct model_port *p);

/* Writes a descriptor; makes a buffer available. */
void fuzz_describe(const struct model_port *p);
void fuzz_offer(const struct model_port *p);

/* A good frame in the next slot of a queue of 16: to whom, from whom and how long the bytes say. */
void fuzz_frame(const struct model_port *p, uint32_t queue, bool in_parts);

#endif
