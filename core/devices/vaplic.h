/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the APLIC of one VM: the S-level domain of sources 1..31, which sends MSIs to the IMSICs
 * of the vcpus (Advanced Interrupt Architecture 1.0, chapter 4; domaincfg.DM is always 1, BE always
 * 0, and there are no child domains). The caller of each function holds the lock of the VM's
 * devices; any hart may call.
 *
 * A source of an emulated device has a level, which the caller sets; its pending bit is here. A
 * *foreign* source is a source of the host's APLIC, which has its wire and its pending bit, and
 * sends its MSIs; the model has its configuration, and reports changes by the guest.
 */
#ifndef CORE_DEVICES_VAPLIC_H
#define CORE_DEVICES_VAPLIC_H

#include <stdbool.h>
#include <stdint.h>

#define VAPLIC_SIZE    0x4000u /* size of its guest-physical address range in bytes */
#define VAPLIC_SOURCES 31u     /* for riscv,num-sources of the guest: sources 1..31 */

/* sourcecfg.SM. */
enum vaplic_mode {
	VAPLIC_INACTIVE = 0,
	VAPLIC_DETACHED = 1,
	VAPLIC_RISING = 4,
	VAPLIC_FALLING,
	VAPLIC_HIGH,
	VAPLIC_LOW,
};

struct vaplic {
	unsigned int n_vcpus;
	bool on;          /* domaincfg.IE */
	uint32_t foreign; /* bit s: source s is the host's */
	uint32_t level;   /* bit s: the level that the device drives now; 0 if it is foreign */
	uint32_t pending; /* bit s; 0 if it is foreign */
	uint32_t enabled; /* bit s */
	/* One bit for each source, derived from its mode: active: not inactive; levels:
	 * level-triggered; high: active at high level or rising edge; low: active at low level or
	 * falling edge. */
	uint32_t active, levels, high, low;
	uint8_t mode[VAPLIC_SOURCES + 1];
	/* Destination of its MSIs: vcpu and interrupt identity. */
	uint8_t vcpu[VAPLIC_SOURCES + 1];
	uint16_t identity[VAPLIC_SOURCES + 1];
};

/* Sets the reset state. n_vcpus is at least 1. */
void vaplic_init(struct vaplic *a, unsigned int n_vcpus, uint32_t foreign);

struct vaplic_message {
	unsigned int vcpu;
	uint32_t identity; /* any value of 11 bits: a file ignores identities that it lacks */
};

/* Effects of a guest's write outside the model, besides MSIs that become due. */
struct vaplic_change {
	uint32_t routes; /* foreign sources: their mode, enable bit or target may have changed */
	uint32_t set, clear; /* foreign sources: set or clear their pending bits at the host */
	bool extempore;      /* the MSI below has to be sent */
	struct vaplic_message message; /* if extempore */
};

/* Whether the write has effects outside the model; nearly all writes have none. */
static inline bool vaplic_changes(const struct vaplic_change *change)
{
	return change->routes | change->set | change->clear | change->extempore;
}

/* Bits of the foreign sources that vaplic_read() needs. */
enum vaplic_needs { VAPLIC_NEEDS_NOTHING, VAPLIC_NEEDS_PENDING, VAPLIC_NEEDS_INPUT };
enum vaplic_needs vaplic_needs(uint32_t offset);

/* Guest accesses of 32 bits, at an offset from the base address. The caller handles other widths:
 * they read 0, and writes are ignored. Misaligned and undefined offsets do the same. `host` has the
 * bit of each foreign source that vaplic_needs() names. */
uint32_t vaplic_read(const struct vaplic *a, uint32_t offset, uint32_t host);
void vaplic_write(struct vaplic *a, uint32_t offset, uint32_t value, struct vaplic_change *change);

/* Sets the level of an emulated source. Sources outside 1..VAPLIC_SOURCES are ignored. */
void vaplic_set_level(struct vaplic *a, unsigned int source, bool level);

/* Takes an MSI that has to be sent. Returns false if there is none. Must be called until it returns
 * false, after each write and each change of a level. */
bool vaplic_take(struct vaplic *a, struct vaplic_message *message);

/* Whether vaplic_take() would return true. */
static inline bool vaplic_has_message(const struct vaplic *a)
{
	return a->on && a->pending & a->enabled;
}

/* Whether a foreign source may send MSIs now. */
bool vaplic_sends(const struct vaplic *a, unsigned int source);

#endif
