/* SPDX-License-Identifier: Apache-2.0 */
/* External interrupts of the harts: of the console's UART, of the IOMMU, and of devices of VMs. */
#ifndef CORE_IO_EXTERNAL_H
#define CORE_IO_EXTERNAL_H

#include "arch/riscv/devices/irqchip.h"
#include "core/hart/pcpu.h"

/* Sets up the interrupt controller. Boot hart only, before the other functions except
 * external_init_hart(). */
void external_init(void);

/* Enables external interrupts on the calling hart. */
void external_init_hart(struct pcpu *pcpu);

/* Makes serve() the handler of the console's UART, and of EXTERNAL_CONSOLE on each hart. If the
 * UART can interrupt, it interrupts the calling hart, and this returns true. Called once, at boot.
 */
bool external_serve_console(void (*serve)(void));

/* Serves the console, or the IOMMU, if the stay is young enough; otherwise it returns false. Each
 * sets the time of its next call, which is not now. On the hart that serves it. */
bool external_work(struct pcpu *pcpu, bool console);

/* Moves the interrupt of a source to another hart. Any hart may call it. */
void external_set_affinity(const struct irqchip_source *source, uint32_t from, uint32_t to);

/* Serves one source that interrupts the calling hart; others wait for the next stay. */
void external_handle_irq(void);

#endif
