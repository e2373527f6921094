/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/isa_trial.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/trap.h"
#include "arch/riscv/hart/vs_state.h"

/* Saves all registers to memory that belongs to another trial, and loads them. */
static bool try_v(void)
{
	uint64_t csrs[4] = {0};

	csr_set(CSR_SSTATUS, SSTATUS_VS);
	if (vec_bytes() > sizeof(gstage_trial) / 32)
		return true; /* vec_probe() refuses such registers */
	vec_save(gstage_trial, csrs);
	vec_restore(gstage_trial, csrs);
	__builtin_memset(gstage_trial, 0, sizeof(gstage_trial));
	return true;
}

/* Bits stay 0 if their extension is missing or not enabled in menvcfg. */
static bool henvcfg_takes(uint64_t bits)
{
	csr_write(CSR_HENVCFG, bits);
	return (csr_read(CSR_HENVCFG) & bits) == bits;
}

/* Called under a trap_guard: the hart lacks the extension if an instruction traps or the result is
 * false. */
static bool works(enum isa_ext ext, const struct cbo_blocks *blocks)
{
	switch (ext) {
	case ISA_H: /* The guard itself reads hstatus. Version 1.0 includes henvcfg and senvcfg. */
		(void)csr_read_guarded(CSR_HENVCFG);
		(void)csr_read_guarded(CSR_SENVCFG);
		return true;
	case ISA_V:
		return try_v();
	case ISA_SSCOFPMF:
		(void)csr_read_guarded(CSR_SCOUNTOVF);
		return true;
	case ISA_SSAIA:
		(void)csr_read_guarded(CSR_HVIEN);
		return true;
	case ISA_SSTC:
		(void)csr_read_guarded(CSR_STIMECMP);
		(void)csr_read_guarded(CSR_VSTIMECMP);
		return henvcfg_takes(HENVCFG_STCE);
	case ISA_SVADU:
		return henvcfg_takes(HENVCFG_ADUE);
	case ISA_SVPBMT:
		return henvcfg_takes(HENVCFG_PBMTE);
	case ISA_ZICBOM:
		cbo_try_all();
		return cbo_is_block(blocks->zicbom);
	case ISA_ZICBOZ:
		return cbo_is_block(blocks->zicboz) && cbo_zeroes(blocks->zicboz);
	case ISA_ZICBOP: /* A prefetch is a hint and never traps. */
		return cbo_is_block(blocks->zicbop);
	default:
		return true;
	}
}

const char *isa_refusal(void)
{
	/* Without H each guard traps; isa_probe() reports that. */
	if (!csr_is_readable(CSR_HSTATUS))
		return NULL;
	if (!csr_is_readable(CSR_TIME))
		return "the firmware keeps time from HS (mcounteren)";
	if (!csr_is_readable(CSR_INSTRET))
		return "the firmware keeps instret from HS (mcounteren)";
	return NULL;
}

bool isa_has_imsic(void)
{
	struct trap_guard guard = trap_guard_begin();

	csr_write(CSR_SISELECT, 0x70UL); /* eidelivery */
	(void)csr_read_guarded(CSR_SIREG);
	return trap_guard_end(&guard) == ~0UL;
}

_Static_assert(ISA_H == 0, "tried first, because all others depend on it");
uint64_t isa_probe(uint64_t promised, const struct cbo_blocks *blocks)
{
	uint64_t isa = promised;

	for (uint32_t ext = ISA_H; ext < ISA_GUEST_FIRST && isa & BIT(ISA_H); ext++) {
		bool ok = false;

		if (!(isa & BIT(ext)) || (hs_can(ok = works(ext, blocks)) && ok))
			continue;
		/* With Smstateen, AIA may be there but closed: hpm_init() reports that. */
		if (ext != ISA_SSAIA || !vs_state_has_hstateen0())
			isa &= ~BIT(ext);
	}
	return isa;
}
