/* SPDX-License-Identifier: Apache-2.0 */
/* Registers: RISC-V PLIC specification 1.0.0; Advanced Interrupt Architecture 1.0, chapters 3 and
 * 4. */
#include "arch/riscv/devices/irqchip.h"
#include "arch/riscv/devices/imsic.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"

#define PLIC_PENDING   0x1000UL
#define PLIC_ENABLE    0x2000UL
#define PLIC_THRESHOLD 0x200000UL
#define PLIC_CLAIM     0x200004UL
/* Of all sources; 0: the source interrupts no hart, and is not claimed. */
#define PLIC_PRIORITY 1U

#define APLIC_DOMAINCFG   0x0000UL
#define APLIC_SOURCECFG   0x0004UL /* entry of source 1 */
#define APLIC_SETIP       0x1c00UL
#define APLIC_INPUT       0x1d00UL /* when read: the rectified inputs */
#define APLIC_SETIPNUM    0x1cdcUL
#define APLIC_CLRIPNUM    0x1ddcUL
#define APLIC_SETIENUM    0x1edcUL
#define APLIC_CLRIENUM    0x1fdcUL
#define APLIC_TARGET      0x3004UL /* entry of source 1 */
#define APLIC_IDC         0x4000UL
#define APLIC_IDC_STRIDE  32UL
#define IDC_IDELIVERY     0x00UL
#define IDC_ITHRESHOLD    0x08UL
#define IDC_CLAIMI        0x1cUL
#define DOMAINCFG_IE      0x100U
#define DOMAINCFG_DM      0x004U
#define TARGET_HART_SHIFT 18
#define TARGET_FILE_SHIFT 12
#define TARGET_PRIORITY   1U
#define TOPEI_SHIFT       16

static volatile uint32_t *reg(const struct irqchip *chip, uint64_t offset)
{
	return (volatile uint32_t *)(chip->base + offset);
}

/* Returns the word of a source in a register with one bit for each source. */
static volatile uint32_t *word(const struct irqchip *chip, uint64_t base, uint32_t source)
{
	return reg(chip, base + 4UL * (source / 32));
}

static volatile uint32_t *plic_enables(const struct irqchip *chip, uint32_t place, uint32_t source)
{
	return word(chip, PLIC_ENABLE + 0x80UL * place, source);
}

static volatile uint32_t *plic_claim(const struct irqchip *chip, uint32_t place)
{
	return reg(chip, PLIC_CLAIM + 0x1000UL * place);
}

static volatile uint32_t *idc(const struct irqchip *chip, uint32_t place, uint64_t offset)
{
	return reg(chip, APLIC_IDC + APLIC_IDC_STRIDE * place + offset);
}

/* Returns the entry of a source in a table that begins with source 1. */
static volatile uint32_t *aplic_entry(const struct irqchip *chip, uint64_t base, uint32_t source)
{
	return reg(chip, base + 4UL * (source - 1));
}

static void imsic_write(uint64_t select, uint64_t value)
{
	csr_write(CSR_SISELECT, select);
	csr_write(CSR_SIREG, value);
}

void irqchip_init(const struct irqchip *chip)
{
	/* The firmware has set the addresses of the harts' IMSICs. Only M-mode can do this. */
	if (chip->kind == IRQCHIP_APLIC)
		*reg(chip, APLIC_DOMAINCFG) = DOMAINCFG_IE;
	if (chip->kind == IRQCHIP_IMSIC)
		*reg(chip, APLIC_DOMAINCFG) = DOMAINCFG_IE | DOMAINCFG_DM;
}

void irqchip_init_hart(const struct irqchip *chip, uint32_t place)
{
	switch (chip->kind) {
	case IRQCHIP_PLIC:
		*reg(chip, PLIC_THRESHOLD + 0x1000UL * place) = 0;
		break;
	case IRQCHIP_APLIC:
		*idc(chip, place, IDC_ITHRESHOLD) = 0;
		*idc(chip, place, IDC_IDELIVERY) = 1;
		break;
	case IRQCHIP_IMSIC:
		/* All identities: identities without a source are never sent. */
		imsic_write(IMSIC_EITHRESHOLD, 0);
		imsic_write(IMSIC_EIE0, ~1UL);
		imsic_write(IMSIC_EIDELIVERY, 1);
		break;
	default:
		break;
	}
}

bool irqchip_use(struct irqchip *chip, struct irqchip_source *source, uint32_t number,
                 enum irqchip_mode mode)
{
	bool plic = chip->kind == IRQCHIP_PLIC;
	bool message = chip->kind == IRQCHIP_IMSIC && mode != IRQCHIP_OFF;

	if (message && chip->n_messages == IRQCHIP_MESSAGES)
		return false;
	*source =
	    (struct irqchip_source){.number = number, .edge = mode <= IRQCHIP_FALLING && !plic};
	if (message) {
		source->message = ++chip->n_messages;
		chip->source_of[source->message] = (uint16_t)number;
	}
	irqchip_set_enabled(chip, source, false, false);
	if (!plic)
		*aplic_entry(chip, APLIC_SOURCECFG, number) = mode;
	return true;
}

void irqchip_set_affinity(const struct irqchip *chip, const struct irqchip_source *source,
                          uint32_t from, uint32_t to)
{
	uint32_t bit = 1U << source->number % 32;

	if (chip->kind == IRQCHIP_PLIC) {
		/* The order matters: QEMU checks pending sources when a wire, a priority or a claim
		 * changes, not when enables do. A source that becomes pending while no hart has it
		 * enabled would wait for the next such change. For a moment it may interrupt both
		 * harts, of which only one claims it. */
		*plic_enables(chip, to, source->number) |= bit;
		if (from != IRQCHIP_NOWHERE && from != to)
			*plic_enables(chip, from, source->number) &= ~bit;
		return;
	}
	*aplic_entry(chip, APLIC_TARGET, source->number) =
	    to << TARGET_HART_SHIFT |
	    (chip->kind == IRQCHIP_IMSIC ? source->message : TARGET_PRIORITY);
}

static bool is_set(const struct irqchip *chip, uint64_t base, uint32_t source)
{
	return *word(chip, base, source) & 1U << source % 32;
}

bool irqchip_is_low(const struct irqchip *chip, const struct irqchip_source *source)
{
	return chip->kind == IRQCHIP_APLIC && !source->edge &&
	       !is_set(chip, APLIC_INPUT, source->number);
}

/* Sends a message if the wire is high. After enabling or completing a source, the APLIC does this
 * only on request (AIA 4.9.2). */
static void ask(const struct irqchip *chip, const struct irqchip_source *source)
{
	if (chip->kind == IRQCHIP_IMSIC && !source->edge)
		*reg(chip, APLIC_SETIPNUM) = source->number;
}

void irqchip_set_enabled(const struct irqchip *chip, const struct irqchip_source *source, bool on,
                         bool held)
{
	if (chip->kind == IRQCHIP_PLIC) {
		*reg(chip, 4UL * source->number) = on ? PLIC_PRIORITY : 0;
	} else if (!on) {
		*reg(chip, APLIC_CLRIENUM) = source->number;
	} else if (!held) {
		/* In this order there is only one message. */
		ask(chip, source);
		*reg(chip, APLIC_SETIENUM) = source->number;
	}
}

uint32_t irqchip_claim(const struct irqchip *chip, uint32_t place)
{
	switch (chip->kind) {
	case IRQCHIP_PLIC:
		return *plic_claim(chip, place);
	case IRQCHIP_APLIC:
		return *idc(chip, place, IDC_CLAIMI) >> TOPEI_SHIFT;
	case IRQCHIP_IMSIC:
		return chip->source_of[(csr_swap(CSR_STOPEI, 0) >> TOPEI_SHIFT) & IRQCHIP_MESSAGES];
	default:
		return 0;
	}
}

void irqchip_hold(const struct irqchip *chip, const struct irqchip_source *source)
{
	if (chip->kind != IRQCHIP_PLIC && !source->edge)
		*reg(chip, APLIC_CLRIENUM) = source->number;
}

void irqchip_complete(const struct irqchip *chip, const struct irqchip_source *source,
                      uint32_t place, bool listens)
{
	fence_devices_then_output(); /* docs/memory-order.md, "Lock" */
	if (chip->kind == IRQCHIP_PLIC) {
		*plic_claim(chip, place) = source->number;
		return;
	}
	if (!listens || source->edge) {
		ask(chip, source);
		return;
	}
	/* Cancels the message of an interrupt that came meanwhile and has gone. */
	if (chip->kind == IRQCHIP_IMSIC)
		*reg(chip, APLIC_CLRIPNUM) = source->number;
	ask(chip, source);
	*reg(chip, APLIC_SETIENUM) = source->number;
}

bool irqchip_forget(const struct irqchip *chip, const struct irqchip_source *source)
{
	uint64_t base = chip->kind == IRQCHIP_PLIC ? PLIC_PENDING : APLIC_SETIP;

	/* No effect on a level source of an APLIC without messages. Its pending bit is the level,
	 * but QEMU 10 keeps it until a claim. */
	if (chip->kind != IRQCHIP_PLIC)
		*reg(chip, APLIC_CLRIPNUM) = source->number;
	return !is_set(chip, base, source->number);
}

void irqchip_route(const struct irqchip *chip, const struct irqchip_source *source,
                   const struct irqchip_route *route)
{
	volatile uint32_t *mode = aplic_entry(chip, APLIC_SOURCECFG, source->number);
	volatile uint32_t *target = aplic_entry(chip, APLIC_TARGET, source->number);
	uint32_t to =
	    route->place << TARGET_HART_SHIFT | route->file << TARGET_FILE_SHIFT | route->identity;

	/* Messages must not go to a target that the APLIC has not fully accepted, see below. */
	if (!route->on || *target != to)
		*reg(chip, APLIC_CLRIENUM) = source->number;
	/* Writing the mode may make the source pending. */
	if (*mode != route->mode)
		*mode = route->mode;
	if (!route->mode)
		return;
	*target = to;
	/* If the APLIC lacks the identity or the file, messages would go elsewhere, to HS in the
	 * worst case. */
	if (route->on && *target == to)
		*reg(chip, APLIC_SETIENUM) = source->number;
	else
		*reg(chip, APLIC_CLRIENUM) = source->number;
}

void irqchip_set_pending(const struct irqchip *chip, const struct irqchip_source *source, bool on)
{
	*reg(chip, on ? APLIC_SETIPNUM : APLIC_CLRIPNUM) = source->number;
}

bool irqchip_reads(const struct irqchip *chip, const struct irqchip_source *source, bool pending)
{
	return is_set(chip, pending ? APLIC_SETIP : APLIC_INPUT, source->number);
}
