/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a bare guest shares with other VMs, and the bells of it: functions of its PCI bus.
 * docs/shared.md has the layout, byte for byte. Includes nothing but itself.
 */
#ifndef GUESTS_LIB_BELL_H
#define GUESTS_LIB_BELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BELL_ECAM  0x30000000UL
#define BELL_ID    0x10f01af4U
#define BELL_SLOTS 32U

/* Registers in BAR 0. */
enum {
	BELL_RING = 0x00,      /* a 1 in bit n rings bell n */
	BELL_STATE = 0x04,     /* what has come; a 1 clears a bit */
	BELL_MASK = 0x08,      /* which of these interrupt */
	BELL_ALIVE = 0x0c,     /* bit n: the VM of bell n is in a life */
	BELL_SELF = 0x10,      /* the number of the own bell */
	BELL_BELLS = 0x14,     /* bit n: there is a bell n */
	BELL_SOURCE = 0x18,    /* of the interrupt controller */
	BELL_IDENTITY = 0x1c,  /* of the interrupt file of vcpu 0; 0: none */
	BELL_HEARTBEAT = 0x20, /* written: this VM is alive (heartbeat-ms) */
	BELL_ACCESS = 0x24,    /* 1: the memory may be written */
	BELL_SIZE = 0x28,      /* of the memory; 64 bits */
	BELL_NAME = 0x30,      /* of the memory; 16 bytes with zeros at the end */
	BELL_LIVES = 0x40,     /* + 4 * n: lives of the VM of bell n that have begun */
};
#define BELL_RUNG    1U
#define BELL_CHANGED 2U

struct bell {
	uintptr_t config; /* its configuration space */
	uintptr_t page;   /* BAR 0 */
	uintptr_t memory; /* BAR 2 */
	uint64_t size;
};

static inline uint32_t bell_in(uintptr_t at)
{
	return *(volatile uint32_t *)at;
}

static inline uint32_t bell_read(const struct bell *bell, uint32_t reg)
{
	return bell_in(bell->page + reg);
}

static inline void bell_write(const struct bell *bell, uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)(bell->page + reg) = value;
}

/* Rings all other bells of the memory, whose VMs then find what was written there before. */
static inline void bell_ring(const struct bell *bell)
{
	__asm__ volatile("fence w, o" ::: "memory");
	bell_write(bell, BELL_RING, ~0U);
}

/* Takes what has come, and may then read what was written before the bell rang. Whoever rings from
 * here on interrupts again. */
static inline uint32_t bell_take(const struct bell *bell)
{
	uint32_t state = bell_read(bell, BELL_STATE);

	bell_write(bell, BELL_STATE, state);
	__asm__ volatile("fence io, rw" ::: "memory");
	return state;
}

/* Registers have 32 bits, and the name ends with a 0. */
static inline bool bell_is(const struct bell *bell, const char *name)
{
	for (uint32_t i = 0; i < 16; i++, name++) {
		uint8_t c = (uint8_t)(bell_read(bell, BELL_NAME + (i & ~3U)) >> i % 4 * 8);

		if (c != (uint8_t)*name)
			return false;
		if (!c)
			return true;
	}
	return false;
}

/* Finds the bell of the memory with this name. */
static inline bool bell_find(const char *name, struct bell *bell)
{
	for (uint32_t slot = 0; slot < BELL_SLOTS; slot++) {
		bell->config = BELL_ECAM + ((uintptr_t)slot << 15);
		if (bell_in(bell->config) != BELL_ID)
			continue;
		bell->page = bell_in(bell->config + 0x10) & ~0xfU;
		bell->memory = (uint64_t)bell_in(bell->config + 0x1c) << 32 |
		               (bell_in(bell->config + 0x18) & ~0xfU);
		bell->size =
		    (uint64_t)bell_read(bell, BELL_SIZE + 4) << 32 | bell_read(bell, BELL_SIZE);
		if (bell_is(bell, name))
			return true;
	}
	return false;
}

#endif
