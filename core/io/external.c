/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/external.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/spinlock.h"
#include "core/hart/platform.h"
#include "core/io/dma.h"
#include "core/io/wired.h"

/* Constant after boot, and the boot hart's. */
static struct irqchip_source uart;
static void (*serve_console)(void);

/* Protects the members that irqchip_set_affinity() changes. The innermost lock. */
static struct spinlock aiming;

void external_init(void)
{
	if (platform.irqchip.kind == IRQCHIP_NONE)
		return;
	irqchip_init(&platform.irqchip);
	if (platform.uart_irq)
		(void)irqchip_use(&platform.irqchip, &uart, platform.uart_irq, IRQCHIP_HIGH);
}

void external_init_hart(struct pcpu *pcpu)
{
	pcpu->irq_place = IRQCHIP_NOWHERE;
	for (uint32_t what = 0; what < EXTERNAL_KINDS; what++)
		pcpu->poll_times[what] = ~0UL;
	if (platform.irqchip.kind == IRQCHIP_NONE || pcpu->no_imsic)
		return;
	pcpu->irq_place = pcpu->listed->irq_place;
	if (pcpu->irq_place == IRQCHIP_NOWHERE)
		return;
	irqchip_init_hart(&platform.irqchip, pcpu->irq_place);
	csr_set(CSR_SIE, BIT(IRQ_SEI));
}

void external_set_affinity(const struct irqchip_source *source, uint32_t from, uint32_t to)
{
	spin_lock(&aiming);
	irqchip_set_affinity(&platform.irqchip, source, from, to);
	spin_unlock(&aiming);
}

bool external_work(struct pcpu *pcpu, bool console)
{
	if (!pcpu_may_begin(pcpu))
		return false;
	pcpu->stay_work |= STAY_WORK_DONE;
	if (console)
		serve_console();
	else
		dma_serve(NULL);
	return true;
}

bool external_serve_console(void (*serve)(void))
{
	serve_console = serve;
	if (!uart.number)
		return false;
	external_set_affinity(&uart, IRQCHIP_NOWHERE, this_pcpu()->irq_place);
	irqchip_set_enabled(&platform.irqchip, &uart, true, false);
	return true;
}

/* Completed after the UART was read. If it has more bytes the level is still high, and the next
 * interrupt takes them. */
static void uart_came(struct pcpu *pcpu)
{
	/* QEMU's PLIC may not interrupt again until the UART is read. */
	if (!external_work(pcpu, true))
		external_poll_at(EXTERNAL_CONSOLE, csr_read(CSR_TIME));
	irqchip_complete(&platform.irqchip, &uart, pcpu->irq_place, false);
}

void external_handle_irq(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint32_t source = irqchip_claim(&platform.irqchip, pcpu->irq_place);

	if (!source)
		return; /* another hart was faster, or the source was turned off */
	if (source == uart.number) {
		uart_came(pcpu);
	} else if (dma_handle_irq(source)) {
		pcpu->stay_work |= STAY_WORK_DONE;
	} else {
		wired_handle_irq(source);
	}
}
