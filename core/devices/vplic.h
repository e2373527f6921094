/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the interrupt controller of one VM ("sifive,plic-1.0.0"): level-triggered sources
 * 1..31, one S-mode context per vCPU (context n belongs to vCPU n). All functions need the lock of
 * that VM's devices, held by the caller; any hart may call. After each vplic_write(),
 * vplic_set_level() and claim (vplic_read() of a claim register) any vplic_output() may have
 * changed.
 *
 * Rules are those of the RISC-V PLIC specification 1.0.0: a source that the gateway has forwarded
 * stays pending though its level falls; the threshold does not matter for a claim; of equal
 * priorities the lower source number wins; completion by a context that has not enabled the source
 * is ignored.
 */
#ifndef CORE_DEVICES_VPLIC_H
#define CORE_DEVICES_VPLIC_H

#include <stdbool.h>
#include <stdint.h>

#define VPLIC_SIZE         0x400000u /* bytes of guest-physical space it takes */
#define VPLIC_SOURCES      31u       /* for the guest's riscv,ndev: sources 1..31 */
#define VPLIC_MAX_CONTEXTS 8u
#define VPLIC_MAX_PRIORITY 7u /* priorities and thresholds keep 3 bits; 0 = never interrupts */

struct vplic {
	unsigned int n_contexts;
	uint32_t level;   /* bit s: what the device drives now */
	uint32_t pending; /* bit s: forwarded by the gateway, not claimed */
	uint32_t claimed; /* bit s: claimed, not completed: the gateway forwards nothing */
	uint8_t priority[VPLIC_SOURCES + 1];
	uint8_t threshold[VPLIC_MAX_CONTEXTS];
	uint32_t enable[VPLIC_MAX_CONTEXTS];
};

/* Reset state. n_contexts: vCPUs of the VM, 1..VPLIC_MAX_CONTEXTS (a larger number is cut). */
void vplic_init(struct vplic *p, unsigned int n_contexts);

/* Guest access of 32 bits at an offset from the base. The caller handles other widths: they read 0
 * and are ignored. So is whatever is misaligned, undefined, or of a context that does not exist. */
uint32_t vplic_read(struct vplic *p, uint32_t offset);
void vplic_write(struct vplic *p, uint32_t offset, uint32_t value);

/* A device drives its line. Sources outside 1..VPLIC_SOURCES are ignored. */
void vplic_set_level(struct vplic *p, unsigned int source, bool level);

/* Does this context ask for VS external interrupt? False for a context that does not exist. */
bool vplic_output(const struct vplic *p, unsigned int context);

#endif
