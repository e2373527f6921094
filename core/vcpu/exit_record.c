/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/exit_record.h"

#include "arch/riscv/hart/trap.h"

__attribute__((noinline)) void exit_record_make(struct exit_record *exit, const struct vcpu *vcpu)
{
	exit->time = csr_read(CSR_TIME);
	exit->vcpu = vcpu;
	exit->scause = csr_read(CSR_SCAUSE);
	exit->sepc = csr_read(CSR_SEPC);
	if (exit_is_ecall(exit)) {
		exit->eid = this_context()->x[REG_A7];
		exit->fid = this_context()->x[REG_A6];
	} else {
		exit->stval = csr_read(CSR_STVAL);
		exit->gpa = csr_read(CSR_HTVAL) << 2;
	}
}
