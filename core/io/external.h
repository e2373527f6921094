/* SPDX-License-Identifier: Apache-2.0 */
/* External interrupts of the harts: of the console's UART, of the IOMMU, and of devices that
 * VMs have. */
#ifndef CORE_IO_EXTERNAL_H
#define CORE_IO_EXTERNAL_H

#include "arch/riscv/devices/irqchip.h"
#include "core/hart/pcpu.h"

/* Makes ready the interrupt controller. Boot hart only, before all that follows but
 * external_init_hart(). */
void external_init(void);

/* Enables external interrupts on the calling hart. */
void external_init_hart(struct pcpu *pcpu);

/* Whether the console's UART can interrupt. */
bool external_hears(void);

/* Makes the console's UART interrupt the calling hart, and serve() its handler. Called once, at
 * boot. */
void external_listen(void (*serve)(void));

/* The calling hart looks at that time, in host time, at what may not interrupt, for guests that
 * have to ring, or for the next window; ~0: not at all. */
void external_look_at(enum external_what what, uint64_t time);

/* The same for another hart. Boot hart only, before that one looks at anything. */
void external_look_begins(struct pcpu *pcpu, enum external_what what, uint64_t time);

/* external_at of the calling hart has come. */
void external_look(void);

/* A source interrupts another hart. Any hart may call it. */
void external_aim(const struct irqchip_source *source, uint32_t from, uint32_t to);

/* Serves one source that interrupts the calling hart, and has others wait for the next time. */
void external_came(void);

#endif
