/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest with an AIA does with its interrupt file, and with its APLIC. */
#include "arch/riscv/hart/csr.h"
#include "tests/host/machine/guest_acts.h"

#define APLIC(offset) (GUEST_APLIC_BASE + (offset))
#define IPRIO_FIRST   0x30U

static struct chance *luck(void)
{
	return &machine.chance;
}

/* Its priorities are all 0, and their registers come in pairs. */
static void looks_at_priorities(struct machine_hart *h)
{
	uint32_t rd = 5 + below(luck(), 3), op = 1 + below(luck(), 3);
	uint32_t raw = (uint32_t)CSR_SIREG << 20 | 6U << 15 | op << 12 | rd << 7 | 0x73U;

	h->csr[CSR_VSISELECT] = IPRIO_FIRST + below(luck(), 18);
	h->csr[CSR_STVAL] = percent(luck(), 90) ? raw : 0;
	guest_expect(h)->zero = BIT(rd);
	guest_insn_traps(h, CAUSE_VIRTUAL_INSN, raw, BIT(rd));
}

/* A register, and what may be written there. */
static uint64_t some_register(const struct vcpu *vcpu, uint64_t *value)
{
	static const uint32_t numbers[] = {0x1cdc, 0x1ddc, 0x1edc, 0x1edc, 0x1fdc, 0x2000};
	static const uint32_t bits[] = {0x1c00, 0x1d00, 0x1e00, 0x1f00};
	static const uint8_t modes[] = {0, 1, 4, 5, 6, 6, 7};
	uint64_t source = guest_source();
	uint64_t to =
	    below(luck(), vcpu->vm->config->n_vcpus) << 18 | (1 + below(luck(), MACHINE_IDS));

	switch (below(luck(), 7)) {
	case 0:
		*value = percent(luck(), 90) ? 0x100 : 0;
		return 0;
	case 1:
		*value = modes[below(luck(), sizeof(modes))];
		return 4 * source;
	case 2:
		*value = percent(luck(), 90) ? to : chance(luck());
		return 0x3000 + 4 * source;
	case 3:
		*value = to;
		return 0x3000;
	case 4:
		*value = chance(luck());
		return bits[below(luck(), ARRAY_SIZE(bits))];
	case 5:
		*value = chance(luck());
		return below(luck(), GUEST_APLIC_SIZE);
	default:
		*value = source;
		return numbers[below(luck(), ARRAY_SIZE(numbers))];
	}
}

static void uses_aplic(struct machine_hart *h, const struct vcpu *vcpu)
{
	uint32_t rd = 5 + below(luck(), 3), width = percent(luck(), 95) ? 2 : below(luck(), 4);
	uint64_t at = APLIC(some_register(vcpu, &h->x[rd]));

	guest_access(h, at, percent(luck(), 75), width, rd);
}

void guest_uses_aia(struct machine_hart *h, struct vcpu *vcpu)
{
	if (h->user)
		return;
	if (percent(luck(), 10))
		chip_lowers(vcpu->vm);
	switch (below(luck(), 8)) {
	case 0:
		looks_at_priorities(h);
		break;
	case 1:
	case 2:
		uses_aplic(h, vcpu);
		break;
	default:
		aia_acts(vcpu);
	}
}
