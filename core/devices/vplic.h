/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the interrupt controller of one VM ("sifive,plic-1.0.0"): sources 1..31, and one S-mode
 * context per vcpu (context n belongs to vcpu n). The caller of each function holds the lock of
 * that VM's devices; any hart may call.
 *
 * A source of an emulated device has a level, which the caller sets. A source of the host's
 * interrupt controller has requests, each of which is one interrupt: the host's controller has the
 * wire, and is notified of the completion.
 *
 * The rules are those of the RISC-V PLIC specification 1.0.0. A source that the gateway has
 * forwarded stays pending even if its level falls. The threshold does not affect claims. Among
 * equal priorities the lowest source number wins. A completion is ignored if the context has not
 * enabled the source.
 */
#ifndef CORE_DEVICES_VPLIC_H
#define CORE_DEVICES_VPLIC_H

#include <stdbool.h>
#include <stdint.h>

#define VPLIC_SIZE         0x400000u /* size of its guest-physical address range in bytes */
#define VPLIC_SOURCES      31u       /* for riscv,ndev of the guest: sources 1..31 */
#define VPLIC_MAX_CONTEXTS 8u
#define VPLIC_MAX_PRIORITY 7u /* priorities and thresholds have 3 bits; 0: never interrupts */

struct vplic {
	unsigned int n_contexts;
	uint32_t level;   /* bit s: the level that the device drives now */
	uint32_t asked;   /* bit s: requested while claimed; forwarded at the completion */
	uint32_t pending; /* bit s: forwarded by the gateway and not claimed */
	uint32_t claimed; /* bit s: claimed and not completed; the gateway forwards nothing */
	uint8_t priority[VPLIC_SOURCES + 1];
	uint8_t threshold[VPLIC_MAX_CONTEXTS];
	uint32_t enable[VPLIC_MAX_CONTEXTS];
	/* Changes since the caller cleared these two; only the caller clears them. */
	uint32_t changed;   /* VPLIC_OUTPUTS and others; 0: no change, and no completion */
	uint32_t completed; /* bit s: claimed, and now completed */
};

#define VPLIC_OUTPUTS   1u /* vplic_output() may have changed */
#define VPLIC_ENABLES   2u /* vplic_context() may have changed */
#define VPLIC_COMPLETED 4u /* completed is not 0 */

/* Sets the reset state. n_contexts is the number of vcpus of the VM, 1..VPLIC_MAX_CONTEXTS; a
 * larger number is reduced. */
void vplic_init(struct vplic *p, unsigned int n_contexts);

/* Guest accesses of 32 bits, at an offset from the base address. The caller handles other widths:
 * they read 0, and writes are ignored. So do accesses to offsets that are misaligned, undefined, or
 * belong to a context that does not exist. */
uint32_t vplic_read(struct vplic *p, uint32_t offset);
void vplic_write(struct vplic *p, uint32_t offset, uint32_t value);

/* For a PLIC with contexts in pairs, of which 2n + 1 is vcpu n's and 2n is for a mode that no guest
 * has: returns the offset at which the two functions above have the register at `offset`. It is
 * VPLIC_SIZE, where there is none, for a register of a context 2n. */
uint32_t vplic_unpaired(uint32_t offset);

/* Sets the level of a source. Sources outside 1..VPLIC_SOURCES are ignored. */
void vplic_set_level(struct vplic *p, unsigned int source, bool level);

/* Sets the level of a source in 1..VPLIC_SOURCES to high. Returns the contexts that signal it, a
 * bit for each. Otherwise like vplic_set_level(), but does not set `changed`. */
static inline uint32_t vplic_raise(struct vplic *p, unsigned int source)
{
	uint32_t bit = 1u << source, contexts = 0;

	p->level |= bit;
	if (p->claimed & bit)
		return 0;
	p->pending |= bit;
	for (unsigned int ctx = 0; ctx < p->n_contexts; ctx++) {
		if (p->enable[ctx] & bit && p->priority[source] > p->threshold[ctx])
			contexts |= 1u << ctx;
	}
	return contexts;
}

/* Returns what vplic_set_level() has set last; false after reset. */
static inline bool vplic_level(const struct vplic *p, unsigned int source)
{
	return p->level >> source & 1;
}

/* Requests one interrupt of a source. If the source is claimed, the request is forwarded after its
 * completion; if it is pending, nothing is added. Otherwise like vplic_set_level(). */
void vplic_request(struct vplic *p, unsigned int source);

/* Returns the lowest context that has the source enabled, or -1. */
int vplic_context(const struct vplic *p, unsigned int source);

/* Whether the context signals an external interrupt. False for a context that does not exist. */
bool vplic_output(const struct vplic *p, unsigned int context);

#endif
