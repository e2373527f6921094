/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/insn.h"
#include "arch/riscv/trap.h"
#include "core/guest_mem.h"
#include "core/hpm_failures.h"
#include "core/sched.h"
#include "core/trap_loop.h"
#include "core/virtual_insn.h"
#include "core/vm.h"
#include "core/vs_interrupts.h"

#define WRS_NTO 0x00d00073U /* traps with hstatus.VTW, like WFI */

/* csrrs, csrrc and their immediate forms with operand 0: they read, and write nothing. */
#define CSR_READ_MASK 0xfa07fU
#define CSR_READ      0x02073U

/* Counters are told by their number, 0..31; scountovf is number */
#define SCOUNTOVF (CSR_SCOUNTOVF - CSR_CYCLE)

/*
 * Is a CSR one of the PMU that the guest may read? Nothing else of the PMU is a guest's. A read from
 * VU whose kernel closed the counter comes here too, though it may be open in hcounteren: answering
 * it would give a process what its kernel keeps from it.
 */
static inline bool may_read(const struct vcpu *vcpu, uint64_t n, bool user)
{
	if (n == SCOUNTOVF)
		return !user && vpmu_has_overflow(&vcpu->pmu);
	return vpmu_may_read(&vcpu->pmu, n) && (!user || csr_read(CSR_SCOUNTEREN) >> n & 1);
}

static inline long answer(struct vcpu *vcpu, uint64_t n, uint64_t reg)
{
	vcpu->ctx.x[reg] =
	    n < VPMU_HW_COUNTERS ? vpmu_csr_value(&vcpu->pmu, n) : vpmu_scountovf(&vcpu->pmu);
	return (long)reg;
}

/* The trapped instruction is executed, and counts as one. Returns what vpmu_retired_cheap() does. */
static inline uint64_t execute(struct vcpu *vcpu, bool user)
{
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + 4);
	vcpu->ctx.exits[EXIT_CSR]++;
	vs_interrupts_settle();
	return vpmu_retired_cheap(&vcpu->pmu, user);
}

/* Not inlined: csr_read_fast() itself then needs no stack. Only here can work come to pend, by an
 * overflow that the instruction brings. */
static __attribute__((noinline)) long retire_and_answer(struct vcpu *vcpu, uint64_t n, uint64_t reg,
                                                        uint64_t dear)
{
	vpmu_retired_dear(&vcpu->pmu, dear);
	/* One that is lost by this has its value all the same, for the last time. */
	hpm_failures_settle(vcpu);
	answer(vcpu, n, reg);
	return *pcpu_pending(vcpu->home) ? CSR_READ_PENDING - (long)reg : (long)reg;
}

static __attribute__((noinline)) long read_any(struct vcpu *vcpu, uint64_t n, uint64_t reg,
                                               bool user)
{
	uint64_t dear;

	if (!may_read(vcpu, n, user))
		return CSR_READ_NONE;
	dear = execute(vcpu, user);
	if (dear)
		return retire_and_answer(vcpu, n, reg, dear);
	return answer(vcpu, n, reg);
}

__attribute__((flatten)) long csr_read_fast(uint64_t raw)
{
	struct vcpu *vcpu = vcpu_of(this_context());
	uint64_t n = (raw >> 20 & 0xfff) - CSR_CYCLE; /* of a counter; others are beyond */
	uint64_t reg = raw >> 7 & 31;
	bool user = vcpu_from_user();
	uint64_t dear;

	if ((raw & CSR_READ_MASK) != CSR_READ)
		return CSR_READ_NONE;
	/* What is read most, in fewer instructions: by the kernel, scountovf or a counter that runs. */
	if (user || !(vpmu_runs(&vcpu->pmu, n) || n == SCOUNTOVF))
		return read_any(vcpu, n, reg, user);
	if (n == SCOUNTOVF && !vpmu_has_overflow(&vcpu->pmu))
		return CSR_READ_NONE;
	/* A counter counts its own read, so the value is taken after that. */
	dear = execute(vcpu, false);
	if (dear)
		return retire_and_answer(vcpu, n, reg, dear);
	vcpu->ctx.x[reg] =
	    n == SCOUNTOVF ? vpmu_scountovf(&vcpu->pmu) : vpmu_running_value(&vcpu->pmu, n);
	return (long)reg;
}

static void wait_for_interrupt(struct vcpu *vcpu)
{
	if (csr_read(CSR_VSIP) & csr_read(CSR_VSIE))
		return;
	sched_wait(vcpu);
}

enum vcpu_exit virtual_insn(struct vcpu *vcpu)
{
	uint32_t raw = (uint32_t)csr_read(CSR_STVAL);

	/* A hart may leave stval at 0: what csr_read_fast() refused then may be a read after all. */
	if (!raw) {
		if (!guest_fetch(&raw))
			return EXIT_CSR;
		if (csr_read_fast(raw) != CSR_READ_NONE) {
			vcpu->ctx.x[0] = 0;
			/* It has been counted. */
			vcpu->ctx.exits[EXIT_CSR]--;
			return EXIT_CSR;
		}
	}
	struct insn insn = insn_decode(raw);

	bool waits = insn.kind == INSN_WFI && !vcpu_from_user();

	/* Nothing counts any more that would suffer: it is executed again, in VS. */
	if ((waits || raw == WRS_NTO) && vcpu_may_sleep(vcpu)) {
		vcpu_trap_wfi(vcpu, false);
		return EXIT_WFI;
	}
	if (waits) {
		vcpu_emulated(vcpu, insn.length);
		wait_for_interrupt(vcpu);
		return EXIT_WFI;
	}
	if (vs_interrupts_access(vcpu, &insn))
		return EXIT_CSR;
	if (raw == WRS_NTO) {
		/* Zawrs: it waits for another vcpu, which may need this hart. It may end early. */
		vcpu_emulated(vcpu, 4);
		sched_yield();
		return EXIT_WFI;
	}
	vcpu_fw_seen(vcpu, SBI_PMU_FW_ILLEGAL_INSN);
	trap_inject(vcpu, CAUSE_ILLEGAL_INSN, raw);
	return EXIT_CSR;
}
