/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the APLIC of one VM: the S-level domain of sources 1..31, whose interrupts are messages
 * to the IMSICs of the vcpus (Advanced Interrupt Architecture 1.0, chapter 4; domaincfg.DM is
 * always 1, BE always 0, and there are no child domains). The caller of each function holds the
 * lock of the VM's devices; any hart may call.
 *
 * A source of an emulated device has a level, which the caller sets, and its pending bit is here. A
 * *foreign* source is one of the host's APLIC, which has its wire and its pending bit, and sends
 * its messages; the model has its configuration, and tells what the guest has changed.
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
	/* What the modes say, a bit for each source: it is not inactive; it is a level; its
	 * interrupt is the wire's high level or rising edge, or the low or falling one. */
	uint32_t active, levels, high, low;
	uint8_t mode[VAPLIC_SOURCES + 1];
	/* To whom its messages go: the vcpu and the identity. */
	uint8_t vcpu[VAPLIC_SOURCES + 1];
	uint16_t identity[VAPLIC_SOURCES + 1];
};

/* Sets the reset state. n_vcpus is at least 1. */
void vaplic_init(struct vaplic *a, unsigned int n_vcpus, uint32_t foreign);

struct vaplic_message {
	unsigned int vcpu;
	uint32_t identity; /* any value of 11 bits: a file ignores those that it does not have */
};

/* What a guest's write has changed, besides messages that have to be sent. */
struct vaplic_change {
	uint32_t routes; /* foreign sources: their mode, enable bit or target may have changed */
	uint32_t set, clear; /* foreign sources: make them pending, or not, in the host's way */
	bool extempore;      /* this message has to be sent */
	struct vaplic_message message; /* if extempore */
};

/* Registers from here on are not about what the domain and its sources are. */
#define VAPLIC_PENDING 0x1c00u

/* Nearly all writes change only what is in the model. */
static inline bool vaplic_changes(const struct vaplic_change *change)
{
	return change->routes | change->set | change->clear | change->extempore;
}

/* Bits of the foreign sources that vaplic_read() needs. */
enum vaplic_needs { VAPLIC_NEEDS_NOTHING, VAPLIC_NEEDS_PENDING, VAPLIC_NEEDS_INPUT };
enum vaplic_needs vaplic_needs(uint32_t offset);

/* Guest accesses of 32 bits, at an offset from the base address. The caller handles other widths:
 * they read 0, and writes are ignored. The same goes for offsets that are misaligned or undefined.
 * `host` has a bit for each foreign source, as vaplic_needs() says. */
uint32_t vaplic_read(const struct vaplic *a, uint32_t offset, uint32_t host);
void vaplic_write(struct vaplic *a, uint32_t offset, uint32_t value, struct vaplic_change *change);

/* Sets the level of an emulated source. Sources outside 1..VAPLIC_SOURCES are ignored. */
void vaplic_set_level(struct vaplic *a, unsigned int source, bool level);

/* Takes a message that has to be sent. Returns false if there is none. To be asked until it does
 * so, after each write and each change of a level. */
bool vaplic_take(struct vaplic *a, struct vaplic_message *message);

/* Whether vaplic_take() has one. */
static inline bool vaplic_has_message(const struct vaplic *a)
{
	return a->on && a->pending & a->enabled;
}

/* Whether a foreign source may send messages now. */
bool vaplic_sends(const struct vaplic *a, unsigned int source);

#endif
