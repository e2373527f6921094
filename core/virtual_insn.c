/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/insn.h"
#include "core/guest_mem.h"
#include "core/sched.h"
#include "core/virtual_insn.h"
#include "core/vm.h"

#define WRS_NTO 0x00d00073U /* traps with hstatus.VTW, like WFI */

/* Reads of the counters and of scountovf; nothing else of the PMU is a guest's. */
static bool read_pmu_csr(const struct vcpu *vcpu, const struct insn *insn, uint64_t *value)
{
	if (!vcpu->vm->config->pmu || insn->csr_writes)
		return false;
	if (insn->csr == CSR_SCOUNTOVF) {
		if (vcpu_from_user() || !vcpu->vm->pmu_policy.overflow)
			return false;
		*value = vpmu_scountovf(&vcpu->pmu);
		return true;
	}
	if (insn->csr < CSR_CYCLE || insn->csr > CSR_HPMCOUNTER31)
		return false;
	/* A read from VU whose kernel closed the counter comes here too, though it may be open in
	 * hcounteren: answering it would give a process what its kernel keeps from it. */
	if (vcpu_from_user() && !(csr_read(CSR_SCOUNTEREN) & BIT(insn->csr - CSR_CYCLE)))
		return false;
	return vpmu_csr_read(&vcpu->pmu, insn->csr, value);
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
	uint64_t value;

	/* A hart may leave stval at 0. */
	if (!raw && !guest_fetch(&raw))
		return EXIT_CSR;
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
	if (insn.kind == INSN_CSR && read_pmu_csr(vcpu, &insn, &value)) {
		vcpu_emulated(vcpu, insn.length);
		/* A counter read counts itself, so the value is taken after that. */
		(void)read_pmu_csr(vcpu, &insn, &value);
		if (insn.reg)
			vcpu->ctx.x[insn.reg] = value;
		return EXIT_CSR;
	}
	vcpu_fw_seen(vcpu, SBI_PMU_FW_ILLEGAL_INSN);
	vs_inject(CAUSE_ILLEGAL_INSN, raw);
	return EXIT_CSR;
}
