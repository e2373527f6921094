/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds for the guests' random numbers: one for each life of each VM, derived from the seed that
 * the firmware gave to the host. Knowing some of them tells nothing about the others. Pure.
 */
#ifndef CORE_VM_SEED_H
#define CORE_VM_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEED_BYTES 32U

/* The host's own. false: it is shorter than SEED_BYTES, and guests get none. What it has beyond
 * them is not used: they are as many as a guest gets. At boot, boot hart. */
bool seed_take(const void *host, size_t size);

/* Has one been taken? */
bool seed_is_there(void);

/* Needs no lock: no life of a VM depends on another. life: those that it had before. */
void seed_of_life(uint32_t vm, uint64_t life, uint8_t seed[SEED_BYTES]);

#endif
