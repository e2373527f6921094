/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dispatch/exit.h"
#include "arch/riscv/hart/csr.h"
#include "core/sched/sched.h"
#include "vpmu/bits.h"

void guest_file_handle_irq(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t came = csr_read(CSR_HGEIP) & csr_read(CSR_HGEIE);
	bool first = true;
	uint32_t file;

	/* Otherwise the interrupt would never end. */
	csr_clear(CSR_HGEIE, came);
	pcpu->listened_files &= ~came;
	for_each_bit (file, came) {
		struct vcpu *vcpu = pcpu->vcpu_of_file[file];

		/* Each VM pays for the work that it causes. */
		if (first)
			sched_account_stay_to(vcpu);
		else
			sched_account_rest_to(vcpu);
		first = false;
		sched_wake_if_interrupted(vcpu);
	}
}
