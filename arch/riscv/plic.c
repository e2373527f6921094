/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/plic.h"

static volatile uint32_t *reg(const struct plic *plic, uint64_t offset)
{
	return (volatile uint32_t *)(plic->base + offset);
}

void plic_enable(const struct plic *plic, uint32_t source)
{
	*reg(plic, 4UL * source) = 1;
	*reg(plic, 0x2000UL + 0x80UL * plic->context + 4UL * (source / 32)) |= 1U << source % 32;
	*reg(plic, 0x200000UL + 0x1000UL * plic->context) = 0;
}

uint32_t plic_claim(const struct plic *plic)
{
	return plic->base ? *reg(plic, 0x200004UL + 0x1000UL * plic->context) : 0;
}

void plic_complete(const struct plic *plic, uint32_t source)
{
	*reg(plic, 0x200004UL + 0x1000UL * plic->context) = source;
}
