/* SPDX-License-Identifier: Apache-2.0 */
/* The host's interrupt controller, for one source: the console's UART. Its interrupts go to the
 * boot hart. */
#ifndef ARCH_IRQCHIP_H
#define ARCH_IRQCHIP_H

#include "core/lib/types.h"

enum irqchip_kind {
	IRQCHIP_NONE,
	IRQCHIP_PLIC,
	IRQCHIP_APLIC, /* the APLIC signals the hart directly */
	IRQCHIP_IMSIC, /* the APLIC sends messages to the hart's IMSIC */
};

struct irqchip {
	enum irqchip_kind kind;
	uint64_t base, size; /* of the PLIC or APLIC */
	uint32_t
	    hart; /* the boot hart's PLIC context, or its index in the APLIC's or IMSIC's domain */
};

/* Enables a level-triggered source. Boot hart only; the caller enables SEI afterwards. */
void irqchip_enable(const struct irqchip *chip, uint32_t source);

/* Returns the pending source, which must be served and then completed. 0: none. */
uint32_t irqchip_claim(const struct irqchip *chip);
void irqchip_complete(const struct irqchip *chip, uint32_t source);

#endif
