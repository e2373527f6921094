/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/bare/io/operator_irq.h"

#include "guests/bare/bare.h"
#include "guests/bare/io/aia.h"

#define PLIC_PRIORITY 0x0c000000UL
#define PLIC_ENABLE   0x0c002000UL
#define PLIC_CLAIM    0x0c200004UL

volatile struct operator_irqs operator_irqs;

static const struct operator_function *function;
static uint32_t source, identity;

static void took(bool mine)
{
	if (!mine || !operator_read(function, OPERATOR_STATE)) {
		operator_irqs.strange++;
		return;
	}
	operator_irqs.came++;
	if (operator_irqs.leave)
		operator_irqs.leave--;
	else
		operator_write(function, OPERATOR_STATE, 1);
}

static void on_plic(struct trap_frame *frame)
{
	uint32_t claimed = operator_in(PLIC_CLAIM);

	(void)frame;
	took(claimed == source);
	*(volatile uint32_t *)PLIC_CLAIM = claimed;
}

static void on_message(uint64_t id)
{
	took(id == identity);
}

/* The APLIC is asked to look at the level again. */
static void on_source(uint64_t id)
{
	took(id == source);
	*aplic(APLIC_SETIPNUM) = source;
}

void operator_listen(const struct operator_function *f, bool by_aplic)
{
	function = f;
	source = operator_read(f, OPERATOR_SOURCE);
	identity = operator_read(f, OPERATOR_IDENTITY);
	if (identity || by_aplic) {
		__asm__ volatile("mv tp, zero"); /* the number of the vcpu, see aia_irq.c */
		aia_on_message = identity ? on_message : on_source;
		aia_on(IRQ_EXTERNAL);
		if (!identity)
			aia_route(source, APLIC_HIGH, 0, source);
		return;
	}
	irq_handle_by(on_plic);
	*(volatile uint32_t *)(PLIC_PRIORITY + 4 * source) = 1;
	*(volatile uint32_t *)PLIC_ENABLE = 1U << source;
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
}
