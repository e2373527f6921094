/* SPDX-License-Identifier: Apache-2.0 */
/* The host's interrupt controller, for one source (the console's) that goes to the boot hart. */
#ifndef ARCH_IRQCHIP_H
#define ARCH_IRQCHIP_H

#include "core/lib/types.h"

enum irqchip_kind {
	IRQCHIP_NONE,
	IRQCHIP_PLIC,
	IRQCHIP_APLIC, /* wires go to the hart as they are */
	IRQCHIP_IMSIC, /* the APLIC makes messages of them, for the hart's IMSIC */
};

struct irqchip {
	enum irqchip_kind kind;
	uint64_t base; /* of the PLIC or APLIC */
	uint32_t
	    hart; /* the boot hart there: PLIC context, index in the APLIC's or IMSIC's domain */
};

/* A source that is high while it wants something. Boot hart, which has SEI enabled afterwards. */
void irqchip_enable(const struct irqchip *chip, uint32_t source);

/* Not 0: there is something to serve, and then to be completed. */
uint32_t irqchip_claim(const struct irqchip *chip);
void irqchip_complete(const struct irqchip *chip, uint32_t source);

#endif
