/* SPDX-License-Identifier: Apache-2.0 */
/* Registers: RISC-V PLIC specification 1.0.0; Advanced Interrupt Architecture 1.0, chapters 3 and
 * 4. */
#include "arch/riscv/irqchip.h"

#include "arch/riscv/csr.h"
#include "arch/riscv/fence.h"

#define PLIC_ENABLE    0x2000UL
#define PLIC_THRESHOLD 0x200000UL
#define PLIC_CLAIM     0x200004UL

#define APLIC_DOMAINCFG   0x0000UL
#define APLIC_SOURCECFG   0x0004UL /* entry of source 1 */
#define APLIC_SETIPNUM    0x1cdcUL
#define APLIC_SETIENUM    0x1edcUL
#define APLIC_TARGET      0x3004UL /* entry of source 1 */
#define APLIC_IDC         0x4000UL
#define APLIC_IDC_STRIDE  32UL
#define IDC_IDELIVERY     0x00UL
#define IDC_ITHRESHOLD    0x08UL
#define IDC_CLAIMI        0x1cUL
#define DOMAINCFG_IE      0x100U
#define DOMAINCFG_DM      0x004U
#define SOURCECFG_LEVEL1  6U
#define TARGET_HART_SHIFT 18
#define TARGET_PRIORITY   1U
#define TOPEI_SHIFT       16

#define IMSIC_EIDELIVERY  0x70UL
#define IMSIC_EITHRESHOLD 0x72UL
#define IMSIC_EIE0        0xc0UL
#define MESSAGE           1U /* the identity of the only message */

static volatile uint32_t *reg(const struct irqchip *chip, uint64_t offset)
{
	return (volatile uint32_t *)(chip->base + offset);
}

static void plic_enable(const struct irqchip *chip, uint32_t source)
{
	*reg(chip, 4UL * source) = 1;
	*reg(chip, PLIC_ENABLE + 0x80UL * chip->hart + 4UL * (source / 32)) |= 1U << source % 32;
	*reg(chip, PLIC_THRESHOLD + 0x1000UL * chip->hart) = 0;
}

static volatile uint32_t *idc(const struct irqchip *chip, uint64_t offset)
{
	return reg(chip, APLIC_IDC + APLIC_IDC_STRIDE * chip->hart + offset);
}

static void imsic_write(uint64_t select, uint64_t value)
{
	csr_write(CSR_SISELECT, select);
	csr_write(CSR_SIREG, value);
}

static void aplic_enable(const struct irqchip *chip, uint32_t source)
{
	bool messages = chip->kind == IRQCHIP_IMSIC;

	/* The firmware has set the addresses of the harts' IMSICs, which only M-mode can do. */
	*reg(chip, APLIC_DOMAINCFG) = DOMAINCFG_IE | (messages ? DOMAINCFG_DM : 0);
	*reg(chip, APLIC_SOURCECFG + 4UL * (source - 1)) = SOURCECFG_LEVEL1;
	*reg(chip, APLIC_TARGET + 4UL * (source - 1)) =
	    chip->hart << TARGET_HART_SHIFT | (messages ? MESSAGE : TARGET_PRIORITY);
	if (messages) {
		imsic_write(IMSIC_EITHRESHOLD, 0);
		imsic_write(IMSIC_EIE0, BIT(MESSAGE));
		imsic_write(IMSIC_EIDELIVERY, 1);
	} else {
		*idc(chip, IDC_ITHRESHOLD) = 0;
		*idc(chip, IDC_IDELIVERY) = 1;
	}
	*reg(chip, APLIC_SETIENUM) = source;
}

void irqchip_enable(const struct irqchip *chip, uint32_t source)
{
	if (chip->kind == IRQCHIP_PLIC)
		plic_enable(chip, source);
	else
		aplic_enable(chip, source);
}

uint32_t irqchip_claim(const struct irqchip *chip)
{
	switch (chip->kind) {
	case IRQCHIP_PLIC:
		return *reg(chip, PLIC_CLAIM + 0x1000UL * chip->hart);
	case IRQCHIP_APLIC:
		return *idc(chip, IDC_CLAIMI) >> TOPEI_SHIFT;
	case IRQCHIP_IMSIC:
		return (uint32_t)csr_swap(CSR_STOPEI, 0) >> TOPEI_SHIFT;
	default:
		return 0;
	}
}

void irqchip_complete(const struct irqchip *chip, uint32_t source)
{
	fence_devices_then_output(); /* docs/memory-order.md, "Lock" */
	if (chip->kind == IRQCHIP_PLIC)
		*reg(chip, PLIC_CLAIM + 0x1000UL * chip->hart) = source;
	/* A wire that is still high sends another message only if it is asked to (AIA 4.9.2). */
	if (chip->kind == IRQCHIP_IMSIC)
		*reg(chip, APLIC_SETIPNUM) = source;
}
