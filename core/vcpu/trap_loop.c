/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/trap_loop.h"

#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/vs_state.h"
#include "core/vcpu/vm.h"

#define TRAP_LOOP_MANY 1000U

/* Size of the beginning of a trap handler, from the trap vector on, where it saves registers. */
#define HANDLER_BYTES 1024U

/*
 * Whether the guest, with interrupts off, is in a trap handler that handles a trap of its own
 * beginning. `pc` is the next instruction. In a trap loop this is true at every instruction;
 * otherwise only until the guest has recovered from such a trap.
 */
static bool in_loop(uint64_t pc)
{
	uint64_t vector = csr_read(CSR_VSTVEC) & ~3UL;
	uint64_t trapped = csr_read(CSR_VSEPC);
	uint64_t status = csr_read(CSR_VSSTATUS);

	return status & SSTATUS_SPP && !(status & SSTATUS_SIE) &&
	       !(csr_read(CSR_VSCAUSE) & CAUSE_INTERRUPT) && trapped - vector < HANDLER_BYTES &&
	       pc - vector <= trapped - vector;
}

/* If the suspect is not in a loop, it gets its overflow interrupt one time slice later. In a loop
 * it cannot take the interrupt. */
static void hide_lcofi(struct vcpu *vcpu)
{
	if (!quirks.lcofi_delegates || !(csr_read(CSR_HVIP) & BIT(IRQ_LCOFI)))
		return;
	vcpu->lcofi_hidden = true;
	csr_clear(CSR_HVIP, BIT(IRQ_LCOFI));
}

static void show_lcofi(struct vcpu *vcpu)
{
	if (vcpu->lcofi_hidden)
		csr_set(CSR_HVIP, BIT(IRQ_LCOFI));
	vcpu->lcofi_hidden = false;
}

void trap_loop_update_suspect(struct vcpu *vcpu)
{
	vcpu->trap_loop_suspect = !vcpu_from_user() && in_loop(csr_read(CSR_SEPC));
	if (vcpu->trap_loop_suspect) {
		hide_lcofi(vcpu);
	} else {
		vcpu->traps_in_row = 0;
		show_lcofi(vcpu);
	}
}

void trap_loop_check_irq(struct vcpu *vcpu)
{
	trap_loop_check(vcpu);
	if (vcpu->trap_loop_suspect)
		pcpu_resched(this_pcpu());
}

void trap_inject(struct vcpu *vcpu, uint64_t cause, uint64_t tval)
{
	uint64_t pc = csr_read(CSR_SEPC);
	uint64_t last_pc = csr_read(CSR_VSEPC);
	uint64_t last_cause = csr_read(CSR_VSCAUSE);

	if (pc == last_pc && cause == last_cause && !vcpu_from_user() && in_loop(pc))
		vcpu->traps_in_row++;
	else
		vcpu->traps_in_row = 0;
	if (vcpu->traps_in_row < TRAP_LOOP_MANY)
		vs_inject(cause, tval);
	else
		vm_failed(vcpu, "its trap handler traps for ever at", pc);
}
