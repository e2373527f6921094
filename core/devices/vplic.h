/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the interrupt controller of one VM ("sifive,plic-1.0.0"): level-triggered sources 1..31,
 * and one S-mode context per vcpu (context n belongs to vcpu n). The caller of each function holds
 * the lock of that VM's devices; any hart may call. The result of vplic_output() may change by
 * vplic_write(), vplic_set_level(), and by vplic_read() of a claim register.
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
	uint32_t pending; /* bit s: forwarded by the gateway and not claimed */
	uint32_t claimed; /* bit s: claimed and not completed; the gateway forwards nothing */
	uint8_t priority[VPLIC_SOURCES + 1];
	uint8_t threshold[VPLIC_MAX_CONTEXTS];
	uint32_t enable[VPLIC_MAX_CONTEXTS];
};

/* Sets the reset state. n_contexts is the number of vcpus of the VM, 1..VPLIC_MAX_CONTEXTS; a
 * larger number is reduced. */
void vplic_init(struct vplic *p, unsigned int n_contexts);

/* Guest accesses of 32 bits, at an offset from the base address. The caller handles other widths:
 * they read 0, and writes are ignored. The same goes for offsets that are misaligned, undefined, or
 * belong to a context that does not exist. */
uint32_t vplic_read(struct vplic *p, uint32_t offset);
void vplic_write(struct vplic *p, uint32_t offset, uint32_t value);

/* Sets the level of a source. Sources outside 1..VPLIC_SOURCES are ignored. */
void vplic_set_level(struct vplic *p, unsigned int source, bool level);

/* Whether the context signals an external interrupt. False for a context that does not exist. */
bool vplic_output(const struct vplic *p, unsigned int context);

#endif
