/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/insn.h"
#include "arch/riscv/hart/quirks.h"
#include "core/dispatch/exit.h"
#include "core/sched/sched.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vs_interrupts.h"
#include "vpmu/retired.h"

/* csrrs, csrrc and their immediate forms with operand 0, which read and do not write. */
#define CSR_READ_MASK 0xfa07fU
#define CSR_READ      0x02073U
#define CSR_READS     0x02000U /* set in all of these, and clear in WFI */

/* scountovf has this number among the counters, which have 0..31. */
#define SCOUNTOVF (CSR_SCOUNTOVF - CSR_CYCLE)

/* The same for 32 consecutive CSRs at a time. */
#define CSRS_READ_MASK   (0xfe000000U | CSR_READ_MASK)
#define CSRS_READ(first) ((uint32_t)(first) << 20 | CSR_READ)

/*
 * Whether n is a CSR of the PMU that the guest may read. Guests have no other CSRs of the PMU. A
 * read from VU may trap because the guest's kernel closed the counter, even if it is open in
 * hcounteren. Emulating it would give the process what its kernel denies it.
 */
static inline bool may_read(const struct vcpu *vcpu, uint64_t n, bool user)
{
	if (n == SCOUNTOVF)
		return !user && vpmu_has_overflow(&vcpu->pmu);
	return vpmu_may_read(&vcpu->pmu, n) && (!user || csr_read(CSR_SCOUNTEREN) >> n & 1);
}

/* Common to all emulated instructions. */
static inline void execute(struct vcpu *vcpu)
{
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + 4);
	vcpu->ctx.exits[EXIT_CSR]++;
}

/* Called before the instruction. Returns false if an LCOFI is pending and the guest has an AIA:
 * then the exit must go through exit_slow(), which only read_any() does. */
static inline bool settle(const struct vcpu *vcpu)
{
	if (!vs_lcofi(csr_read(CSR_HVIP)))
		return true;
	if (vcpu->guest_file)
		return false;
	vs_interrupts_pending();
	return true;
}

/* Writes the value, and returns the result of csr_read_fast(). Few instructions compute the
 * register's place in ctx.x[] from the instruction. */
static inline long answer(uint64_t raw, uint64_t value)
{
	uint64_t at = raw >> 4 & 31 * sizeof(value);

	*(uint64_t *)((uint8_t *)this_vcpu()->ctx.x + at) = value;
	return (long)at;
}

/* Not inlined, so that csr_read_fast() itself needs no stack. Work can become pending only here, by
 * an overflow. `slow` are hctrs for vpmu_retired_slow(). */
static __attribute__((noinline)) long answer_late(uint64_t slow, uint64_t raw)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t n = (raw >> 20 & 0xfff) - CSR_CYCLE;
	long at;

	if (slow) {
		vpmu_retired_slow(&vcpu->pmu, slow);
		/* A counter that this loses still returns its value a last time. */
		hpm_failures_settle(vcpu);
	}
	at = answer(raw, n < VPMU_HW_COUNTERS ? vpmu_csr_value(&vcpu->pmu, n)
	                                      : vpmu_scountovf(&vcpu->pmu));
	return pcpu_top(vcpu->home)->pending ? CSR_READ_PENDING - at : at;
}

/* Whether sepc is in the last four bytes of a page: for a WFI it may be one page too high then, see
 * quirks.h. */
static inline bool pc_is_doubtful(void)
{
	return ((csr_read(CSR_SEPC) + 4) & (PAGE_SIZE - 4)) == 0 && quirks.wfi_pc_at_page_end;
}

static __attribute__((noinline)) long read_any(uint64_t ignored, uint64_t raw)
{
	struct vcpu *vcpu = this_vcpu();
	/* the number of a counter; larger for other CSRs */
	uint64_t n = (raw >> 20 & 0xfff) - CSR_CYCLE;
	bool user = vcpu_from_user();

	(void)ignored;
	if ((raw & CSR_READ_MASK) != CSR_READ || !may_read(vcpu, n, user))
		return CSR_READ_NONE;
	vs_interrupts_settle();
	execute(vcpu);
	return answer_late(vpmu_retired_fast(&vcpu->pmu, user), raw);
}

/*
 * A read that is not recorded yet. It is recorded only if the same instruction needs no check the
 * next time: it reads and does not write. That the kernel executes it, csr_read_fast() checks each
 * time.
 */
static __attribute__((noinline)) long read_first(uint64_t ignored, uint64_t raw)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t n = raw >> 20 & 31;
	uint64_t value, slow;

	if (vcpu_from_user() || !settle(vcpu))
		return read_any(ignored, raw);
	if ((raw & CSRS_READ_MASK) == CSRS_READ(CSR_CYCLE) && vpmu_runs(&vcpu->pmu, n)) {
		execute(vcpu);
		slow = vpmu_retired_read(&vcpu->pmu, n, raw, &value);
		return slow ? answer_late(slow, raw) : answer(raw, value);
	}
	if ((raw & ~(31UL << 7)) == CSRS_READ(CSR_SCOUNTOVF) && vpmu_has_overflow(&vcpu->pmu)) {
		execute(vcpu);
		slow = vpmu_retired_scountovf(&vcpu->pmu, raw);
		return slow ? answer_late(slow, raw) : answer(raw, vpmu_scountovf(&vcpu->pmu));
	}
	return read_any(ignored, raw);
}

/* For an instruction that reads no CSR. Every instruction that the hart provides passes here, so
 * the sepc of a WFI is corrected here. */
static inline long no_read(uint64_t raw)
{
	if (raw == WFI && pc_is_doubtful())
		csr_write(CSR_SEPC, csr_read(CSR_SEPC) - PAGE_SIZE);
	return CSR_READ_NONE;
}

/* A read of scountovf by an instruction that has read it before, otherwise any read. */
static __attribute__((noinline, flatten)) long read_no_counter(uint64_t ignored, uint64_t raw)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t counts, slow;

	if (!vpmu_scountovf_cached(&vcpu->pmu, raw, &counts) || vcpu_from_user())
		return raw & CSR_READS ? read_first(ignored, raw) : no_read(raw);
	if (!settle(vcpu))
		return read_any(ignored, raw);
	execute(vcpu);
	slow = vpmu_step_cached(&vcpu->pmu, counts);
	return slow ? answer_late(slow, raw) : answer(raw, vpmu_scountovf(&vcpu->pmu));
}

/*
 * The fast path, for the most frequent reads: of a counter, by the kernel, with an instruction that
 * has read it before. raw and ignored stay in their registers on all paths, so that a register is
 * free for the return value.
 */
__attribute__((flatten)) long csr_read_fast(uint64_t ignored, uint64_t raw)
{
	struct vcpu *vcpu = this_vcpu();
	uint64_t n = raw >> 20 & 31; /* of a counter, if the instruction is recorded */
	uint64_t counts, value, slow;

	if (!vpmu_read_cached(&vcpu->pmu, n, raw, &counts) || vcpu_from_user())
		return read_no_counter(ignored, raw);
	if (!settle(vcpu))
		return read_any(ignored, raw);
	execute(vcpu);
	/* A counter counts its own read, so the value is taken afterwards. */
	slow = vpmu_retired_cached(&vcpu->pmu, n, counts, &value);
	if (slow)
		return answer_late(slow, raw);
	return answer(raw, value);
}

/*
 * All instructions that do not yield the hart. Not inlined, like the functions it calls, because
 * exit_slow() would save more registers. fetched: the hart did not provide the instruction, so
 * csr_read_fast() has not seen it.
 */
static __attribute__((noinline)) enum vcpu_exit any_insn(struct vcpu *vcpu, uint32_t raw,
                                                         bool fetched)
{
	struct insn insn;

	/* The sepc of a WFI that was fetched is right. */
	if (fetched && raw != WFI && csr_read_fast(0, raw) != CSR_READ_NONE) {
		vcpu->ctx.x[0] = 0;
		/* serve() counts this exit. */
		vcpu->ctx.exits[EXIT_CSR]--;
		return EXIT_CSR;
	}
	insn = insn_decode(raw);
	if (vs_interrupts_access(vcpu, &insn) ||
	    (vcpu->guest_file && guest_file_access(vcpu, &insn)))
		return EXIT_CSR;
	vcpu_fw_count(vcpu, SBI_PMU_FW_ILLEGAL_INSN);
	trap_inject(vcpu, CAUSE_ILLEGAL_INSN, raw);
	return EXIT_CSR;
}

enum vcpu_exit virtual_insn(struct vcpu *vcpu)
{
	uint32_t raw = (uint32_t)csr_read(CSR_STVAL);
	bool fetched = !raw, waits;

	/* A hart may leave stval at 0; QEMU does for WRS.NTO. */
	if (fetched) {
		raw = guest_fetch();
		if (!raw)
			return EXIT_CSR;
	}
	/* The most urgent instructions first, without decoding. VU may not execute WFI. */
	waits = raw == WFI && !vcpu_from_user();
	if (!waits && raw != WRS_NTO)
		return any_insn(vcpu, raw, fetched);
	/* Counts stay exact: the guest executes it again, in VS. */
	if (vcpu_may_sleep(vcpu)) {
		vcpu_trap_wfi(vcpu, false);
		return EXIT_WFI;
	}
	vcpu_emulated(vcpu, 4);
	if (!waits)
		/* Zawrs: the guest waits for another vcpu, which may need this hart. The wait may
		 * end early. */
		sched_yield();
	else if (!(csr_read(CSR_VSIP) & csr_read(CSR_VSIE)))
		sched_wait(vcpu);
	return EXIT_WFI;
}
