/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/guest_file.h"

#include "arch/riscv/hart/fence.h"
#include "core/hart/check.h"
#include "core/hart/platform.h"

/* Values of siselect: priorities of major interrupts. On RV64 only every second register exists. */
#define IPRIO_FIRST 0x30UL
#define IPRIO_LAST  0x3fUL

void guest_files_init(struct pcpu *pcpu)
{
	pcpu->guest_files = 0;
	pcpu->no_guest_files_reason = "the hart does not interrupt by messages";
	if (pcpu->irq_place == IRQCHIP_NOWHERE)
		return;
	pcpu->guest_files =
	    imsic_probe(&platform.imsic, &pcpu->file_words, &pcpu->no_guest_files_reason);
	if (pcpu->guest_files)
		csr_set(CSR_HIE, BIT(IRQ_SGEI));
}

void guest_file_give(struct vcpu *vcpu)
{
	struct pcpu *home = vcpu->home;

	vcpu->guest_file = ++home->files_taken;
	vcpu->guest_file_at = imsic_file_at(&platform.imsic, home->irq_place, vcpu->guest_file);
	home->vcpu_of_file[vcpu->guest_file] = vcpu;
	CHECK(vcpu->guest_file <= home->guest_files);
}

bool guest_file_begin(struct vcpu *vcpu)
{
	if (vcpu->file_used)
		return true;
	/* The page of the file was mapped after this hart had begun to use the map of HS. */
	sfence_vma_all();
	imsic_file_clear(vcpu->home->file_words, vcpu->guest_file);
	vcpu->file_used = imsic_file_is_at(vcpu->guest_file_at, vcpu->guest_file);
	fence_output_then_memory(); /* the vcpu has not started yet */
	return vcpu->file_used;
}

/* Other vcpus of the VM that have not ended may still send messages. So the file is cleared again
 * before it is used. */
void guest_file_end(struct vcpu *vcpu)
{
	guest_file_disable_irq(vcpu);
	imsic_file_clear(vcpu->home->file_words, vcpu->guest_file);
	vcpu->file_used = false;
}

bool guest_file_access(struct vcpu *vcpu, const struct insn *insn)
{
	uint64_t select;

	if (insn->kind != INSN_CSR || insn->csr != CSR_SIREG || vcpu_from_user())
		return false;
	select = csr_read(CSR_VSISELECT);
	if (select < IPRIO_FIRST || select > IPRIO_LAST || select & 1)
		return false;
	if (insn->reg)
		vcpu->ctx.x[insn->reg] = 0;
	vcpu_emulated(vcpu, insn->length);
	return true;
}
