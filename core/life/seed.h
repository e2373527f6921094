/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds for the guests' random number generators: one for each life of each VM. They are derived
 * from the seed that the firmware gave to the host. Knowing some seeds reveals nothing about the
 * others. This file uses standard C only.
 */
#ifndef CORE_LIFE_SEED_H
#define CORE_LIFE_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEED_BYTES 32U

/* Takes the host's seed. Returns false if it is shorter than SEED_BYTES; then guests get no seed.
 * Bytes beyond SEED_BYTES are not used. Boot hart, at boot. */
bool seed_take(const void *host, size_t size);

/* Whether seed_take() has succeeded. */
bool seed_is_there(void);

/* Writes the seed of a VM's life; `life` is the number of lives before it. Needs no lock, because
 * the result depends on nothing else. */
void seed_of_life(uint32_t vm, uint64_t life, uint8_t seed[SEED_BYTES]);

#endif
