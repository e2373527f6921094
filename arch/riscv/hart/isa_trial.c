/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/isa_trial.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/trap.h"
#include "arch/riscv/hart/vs_state.h"

/* The trials. Each is called under a trap_guard: the hart lacks the extension if an instruction
 * traps or the result is false. */

/* The guard itself reads hstatus. Version 1.0 of H includes henvcfg and senvcfg. */
static bool try_h(const struct cbo_blocks *blocks)
{
	(void)blocks;
	(void)csr_read_guarded(CSR_HENVCFG);
	(void)csr_read_guarded(CSR_SENVCFG);
	return true;
}

/* Saves all registers to memory that belongs to another trial, and loads them. */
static bool try_v(const struct cbo_blocks *blocks)
{
	uint64_t csrs[4] = {0};

	(void)blocks;
	csr_set(CSR_SSTATUS, SSTATUS_VS);
	if (vec_bytes() > sizeof(gstage_trial) / 32)
		return true; /* vec_probe() refuses such registers */
	vec_save(gstage_trial, csrs);
	vec_restore(gstage_trial, csrs);
	__builtin_memset(gstage_trial, 0, sizeof(gstage_trial));
	return true;
}

static bool try_sscofpmf(const struct cbo_blocks *blocks)
{
	(void)blocks;
	(void)csr_read_guarded(CSR_SCOUNTOVF);
	return true;
}

static bool try_ssaia(const struct cbo_blocks *blocks)
{
	(void)blocks;
	(void)csr_read_guarded(CSR_HVIEN);
	return true;
}

/* Bits stay 0 if their extension is missing or not enabled in menvcfg. */
static bool henvcfg_takes(uint64_t bits)
{
	csr_write(CSR_HENVCFG, bits);
	return (csr_read(CSR_HENVCFG) & bits) == bits;
}

static bool try_sstc(const struct cbo_blocks *blocks)
{
	(void)blocks;
	(void)csr_read_guarded(CSR_STIMECMP);
	(void)csr_read_guarded(CSR_VSTIMECMP);
	return henvcfg_takes(HENVCFG_STCE);
}

static bool try_svadu(const struct cbo_blocks *blocks)
{
	(void)blocks;
	return henvcfg_takes(HENVCFG_ADUE);
}

static bool try_svpbmt(const struct cbo_blocks *blocks)
{
	(void)blocks;
	return henvcfg_takes(HENVCFG_PBMTE);
}

/* The index is the number of the extension. H is first, because all others depend on it. */
static bool (*const tries[ISA_GUEST_FIRST])(const struct cbo_blocks *blocks) = {
    [ISA_H] = try_h,           [ISA_V] = try_v,          [ISA_SSCOFPMF] = try_sscofpmf,
    [ISA_SSAIA] = try_ssaia,   [ISA_SSTC] = try_sstc,    [ISA_SVADU] = try_svadu,
    [ISA_SVPBMT] = try_svpbmt, [ISA_ZICBOM] = cbo_try_m, [ISA_ZICBOZ] = cbo_try_z,
    [ISA_ZICBOP] = cbo_try_p,
};
_Static_assert(ISA_H == 0, "tries[]");

const char *isa_refusal(void)
{
	struct trap_guard guard;

	/* Without H the guard itself traps; isa_probe() reports that. */
	trap_guard_begin(&guard);
	if (trap_guard_end(&guard) != ~0UL)
		return NULL;
	trap_guard_begin(&guard);
	(void)csr_read_guarded(CSR_TIME);
	if (trap_guard_end(&guard) != ~0UL)
		return "the firmware keeps time from HS (mcounteren)";
	trap_guard_begin(&guard);
	(void)csr_read_guarded(CSR_INSTRET);
	if (trap_guard_end(&guard) != ~0UL)
		return "the firmware keeps instret from HS (mcounteren)";
	return NULL;
}

bool isa_has_imsic(void)
{
	struct trap_guard guard;

	trap_guard_begin(&guard);
	csr_write(CSR_SISELECT, 0x70UL); /* eidelivery */
	(void)csr_read_guarded(CSR_SIREG);
	return trap_guard_end(&guard) == ~0UL;
}

uint64_t isa_probe(uint64_t promised, const struct cbo_blocks *blocks)
{
	uint64_t isa = promised;

	for (uint32_t ext = ISA_H; ext < ISA_GUEST_FIRST && isa & BIT(ISA_H); ext++) {
		struct trap_guard guard;
		bool works;

		if (!(isa & BIT(ext)) || !tries[ext])
			continue;
		trap_guard_begin(&guard);
		works = tries[ext](blocks);
		if (trap_guard_end(&guard) == ~0UL && works)
			continue;
		/* With Smstateen, AIA may be there but closed: hpm_init() reports that. */
		if (ext != ISA_SSAIA || !vs_state_has_hstateen0())
			isa &= ~BIT(ext);
	}
	return isa;
}
