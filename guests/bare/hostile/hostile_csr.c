/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes every CSR number, in S and in U, and counter CSRs while counters run. */
#include "guests/bare/bare.h"

#define CSR_SATP 0x180

static uint64_t write_all(uint32_t csr)
{
	static const uint64_t values[] = {~0UL, 0, 0xaaaaaaaaaaaaaaaaUL, 1UL << 63};
	uint64_t passed = 0, old;

	trap_guard();
	old = insn_run(INSN_CSRR_A0(csr), 0);
	if (trap_unguard().cause != ~0UL)
		old = 0;
	/* A satp that takes effect would end this guest too early. */
	for (unsigned i = 0; i < 4 && csr != CSR_SATP; i++) {
		passed += insn_passes(INSN_CSRW_A0(csr), values[i]);
		/* Restored at once, because the guest's own stvec, sscratch and sie are among
		 * them. */
		insn_passes(INSN_CSRW_A0(csr), old);
	}
	return passed;
}

/* csrrs and csrrc with a0, csrrsi and csrrci: the other instructions that access a CSR. */
static uint64_t other_forms(uint32_t csr)
{
	uint64_t passed = 0;

	passed += insn_passes(csr << 20 | 0x52573, 0); /* csrrs a0, csr, a0 */
	passed += insn_passes(csr << 20 | 0x53573, 0); /* csrrc a0, csr, a0 */
	passed += insn_passes(csr << 20 | 0x06573, 0); /* csrrsi a0, csr, 0 */
	passed += insn_passes(csr << 20 | 0x07573, 0); /* csrrci a0, csr, 0 */
	return passed;
}

/* Prints which numbers can be read. The test checks that these are the right ones. */
static void list_readable(const char *mode, bool (*passes)(uint32_t, uint64_t))
{
	print("hostile: CSRs that %s reads:", mode);
	for (uint32_t csr = 0; csr < 4096; csr++)
		if (passes(INSN_CSRR_A0(csr), 0))
			print(" %x", (uint64_t)csr);
	print("\n");
}

static uint64_t sweep(void)
{
	uint64_t passed = 0;

	for (uint32_t csr = 0; csr < 4096; csr++) {
		passed += insn_passes_in_user(INSN_CSRW_A0(csr), ~0UL);
		passed += write_all(csr);
		passed += other_forms(csr);
	}
	return passed;
}

/* Reads counters and scountovf many times, direct and trapped, while its own counters run. */
static uint64_t counters(void)
{
	uint64_t hw = find_counters().hw, passed = 0;

	pmu_config(hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_INSTRUCTIONS);
	pmu_config(hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_INSTRUCTIONS);
	pmu_config(hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_CYCLES);
	for (uint32_t enable = 0; enable < 2; enable++) {
		csr_write(scounteren, enable ? 0xffffffffUL : 0);
		for (uint32_t csr = 0xc00; csr < 0xc20; csr++) {
			passed += insn_passes(INSN_CSRR_A0(csr), 0);
			passed += insn_passes_in_user(INSN_CSRR_A0(csr), 0);
			passed += insn_passes(INSN_CSRW_A0(csr), ~0UL);
		}
		passed += insn_passes(INSN_CSRR_A0(CSR_SCOUNTOVF), 0);
		passed += insn_passes(INSN_CSRW_A0(CSR_SCOUNTOVF), ~0UL);
		passed += insn_passes_in_user(INSN_CSRR_A0(CSR_SCOUNTOVF), 0);
	}
	csr_write(scounteren, 2);
	pmu_reset(hw);
	return passed;
}

uint64_t hostile_csrs(void)
{
	uint64_t passed = counters();

	list_readable("S", insn_passes);
	list_readable("U", insn_passes_in_user);
	passed += sweep();

	csr_write(sie, 0);
	csr_clear(sstatus, SSTATUS_SIE);
	csr_write(sscratch, 0);
	csr_write(CSR_SATP, 0);
	csr_write(scounteren, 2);
	return passed;
}
