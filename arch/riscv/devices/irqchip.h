/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's interrupt controller: its sources, each of which interrupts one hart at a time. A hart
 * has a place in the controller: its PLIC context, or its index in the domain of the APLIC or
 * IMSIC.
 *
 * A source's registers are accessed only by the owner of the source (core/io/wired.h). But a PLIC's
 * enable register has 32 sources, so only one hart at a time may call irqchip_set_affinity().
 */
#ifndef ARCH_RISCV_DEVICES_IRQCHIP_H
#define ARCH_RISCV_DEVICES_IRQCHIP_H

#include "core/lib/types.h"

#define IRQCHIP_NOWHERE  (~0U) /* a place: no hart */
#define IRQCHIP_SOURCES  1023U /* the highest number in any controller */
#define IRQCHIP_MESSAGES 63U   /* identities 1 to 63 of an IMSIC are used */

enum irqchip_kind {
	IRQCHIP_NONE,
	IRQCHIP_PLIC,
	IRQCHIP_APLIC, /* the APLIC signals the hart directly */
	IRQCHIP_IMSIC, /* the APLIC sends messages to the hart's IMSIC */
};

struct irqchip {
	enum irqchip_kind kind;
	uint64_t base, size; /* of the PLIC or APLIC */
	/* Constant after boot. */
	uint32_t n_messages;                      /* number of identities given to sources */
	uint16_t source_of[IRQCHIP_MESSAGES + 1]; /* by identity */
};

/* When a source interrupts; a PLIC ignores this. The values are those of sourcecfg.SM. A source
 * that is only routed (irqchip_route()) begins inactive, and has no message to HS. */
enum irqchip_mode { IRQCHIP_OFF, IRQCHIP_RISING = 4, IRQCHIP_FALLING, IRQCHIP_HIGH, IRQCHIP_LOW };

struct irqchip_source {
	uint32_t number;  /* 0: none */
	uint32_t message; /* the identity of its messages */
	bool edge;        /* false with a PLIC, which holds each source until its completion */
};

/* Initialize the controller, and the calling hart's part of it. */
void irqchip_init(const struct irqchip *chip);
void irqchip_init_hart(const struct irqchip *chip, uint32_t place);

/* Begins to use a source. It interrupts no hart yet. Returns false if there are too many sources.
 * At boot only. */
bool irqchip_use(struct irqchip *chip, struct irqchip_source *source, uint32_t number,
                 enum irqchip_mode mode);

/* Sends the source's interrupts to another hart. An earlier claim may be completed there. */
void irqchip_set_affinity(const struct irqchip *chip, const struct irqchip_source *source,
                          uint32_t from, uint32_t to);

/* Lets the source interrupt its hart (true) or not (false). Interrupts that came meanwhile are not
 * lost. `held`: it was held and not completed yet. */
void irqchip_set_enabled(const struct irqchip *chip, const struct irqchip_source *source, bool on,
                         bool held);

/* Returns the number of a source that interrupts the calling hart; 0: none. A PLIC gives it to no
 * other hart until it is completed. */
uint32_t irqchip_claim(const struct irqchip *chip, uint32_t place);

/* Whether the wire of a claimed level source is known to be low again. Without messages the pending
 * bit of an APLIC is the level, but QEMU keeps it after the level has fallen. */
bool irqchip_is_low(const struct irqchip *chip, const struct irqchip_source *source);

/* Keeps a claimed source from interrupting before its completion, even if it is high. An edge
 * source is not held. */
void irqchip_hold(const struct irqchip *chip, const struct irqchip_source *source);

/* Completes a claimed source; `place` is its hart. If its wire is still high, it interrupts again.
 * `listens`: it was held, and interrupts its hart. Any hart may call it. */
void irqchip_complete(const struct irqchip *chip, const struct irqchip_source *source,
                      uint32_t place, bool listens);

/* Drops an interrupt that came while the source was off. Returns false if one is pending that only
 * a claim can clear. */
bool irqchip_forget(const struct irqchip *chip, const struct irqchip_source *source);

/*
 * Sources that belong to a guest with an AIA: they have the guest's own configuration, and their
 * messages go directly to a guest interrupt file. With IRQCHIP_IMSIC only, for
 * sources that began as IRQCHIP_OFF.
 */
struct irqchip_route {
	uint32_t mode; /* the guest's sourcecfg.SM; 0: inactive, and never pending */
	uint32_t place, file, identity;
	bool on; /* it sends messages */
};
void irqchip_route(const struct irqchip *chip, const struct irqchip_source *source,
                   const struct irqchip_route *route);

/* Performs a write of the source's number to setipnum, or clripnum. */
void irqchip_set_pending(const struct irqchip *chip, const struct irqchip_source *source, bool on);

/* Whether the source is pending, or (false) its rectified input is high. */
bool irqchip_reads(const struct irqchip *chip, const struct irqchip_source *source, bool pending);

#endif
