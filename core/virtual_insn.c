/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/insn.h"
#include "arch/riscv/trap.h"
#include "core/guest_mem.h"
#include "core/sched.h"
#include "core/trap_loop.h"
#include "core/virtual_insn.h"
#include "core/vm.h"

#define WRS_NTO 0x00d00073U /* traps with hstatus.VTW, like WFI */

/* csrrs, csrrc and their immediate forms with operand 0: they read, and write nothing. */
#define CSR_READ_MASK 0xfa07fU
#define CSR_READ      0x02073U

/* Is a CSR one of the PMU that the guest may read? Nothing else of the PMU is a guest's. */
static bool may_read(const struct vcpu *vcpu, uint32_t csr)
{
	if (csr == CSR_SCOUNTOVF)
		return !vcpu_from_user() && vcpu->vm->config->pmu && vcpu->vm->pmu_policy.overflow;
	if (csr < CSR_CYCLE || csr > CSR_HPMCOUNTER31 ||
	    !(vpmu_readable(&vcpu->pmu) & BIT(csr - CSR_CYCLE)))
		return false;
	/* A read from VU whose kernel closed the counter comes here too, though it may be open in
	 * hcounteren: answering it would give a process what its kernel keeps from it. */
	return !vcpu_from_user() || csr_read(CSR_SCOUNTEREN) & BIT(csr - CSR_CYCLE);
}

struct csr_answer csr_read_fast(uint64_t raw)
{
	struct vcpu *vcpu = vcpu_of(this_context());
	uint32_t csr = (uint32_t)raw >> 20;
	struct csr_answer answer = {.reg = (long)(raw >> 7 & 31)};

	if ((raw & CSR_READ_MASK) != CSR_READ || !may_read(vcpu, csr)) {
		answer.reg = -1;
		return answer;
	}
	/* A counter read counts itself, so the value is taken after that. */
	vcpu_emulated(vcpu, 4);
	vcpu->exits[EXIT_CSR]++;
	if (csr == CSR_SCOUNTOVF)
		answer.value = vpmu_scountovf(&vcpu->pmu);
	else
		vpmu_csr_read(&vcpu->pmu, csr, &answer.value);
	if (!answer.reg)
		answer.value = 0;
	return answer;
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
		struct csr_answer answer;

		if (!guest_fetch(&raw))
			return EXIT_CSR;
		answer = csr_read_fast(raw);
		if (answer.reg >= 0) {
			vcpu->ctx.x[answer.reg] = answer.value;
			/* It has been counted. */
			vcpu->exits[EXIT_CSR]--;
			return EXIT_CSR;
		}
	}
	struct insn insn = insn_decode(raw);

	if (insn.kind == INSN_WFI && !vcpu_from_user()) {
		vcpu_emulated(vcpu, insn.length);
		wait_for_interrupt(vcpu);
		return EXIT_WFI;
	}
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
