/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest interrupt files of vcpus whose VM has an AIA. Each such vcpu owns one file of its hart,
 * permanently, so it cannot move. While it is resident, messages to the file interrupt it without
 * an exit. While it is blocked in WFI, the first enabled one interrupts HS (SGEI). HS then makes
 * the vcpu ready, and ignores the file until the next WFI. A vcpu that is ready or off needs no
 * SGEI.
 */
#ifndef CORE_VCPU_GUEST_FILE_H
#define CORE_VCPU_GUEST_FILE_H

#include "arch/riscv/hart/insn.h"
#include "core/vcpu/vcpu.h"

/* Finds the guest files of the calling hart. */
void guest_files_init(struct pcpu *pcpu);

/* Gives the next free file of its home to a vcpu. At boot only; the VM tree was checked. */
void guest_file_give(struct vcpu *vcpu);

/* Whether the file has an interrupt for the vcpu. Home hart only. */
static inline bool guest_file_is_pending(const struct vcpu *vcpu)
{
	return csr_read(CSR_HGEIP) >> vcpu->guest_file & 1;
}

/* Lets the file's interrupts interrupt HS (SGEI), or not. Outside its windows they do not, whatever
 * is set here. Home hart only; the vcpu has a file, and is present if its interrupts are enabled.
 */
static inline void guest_file_enable_irq(const struct vcpu *vcpu)
{
	vcpu->home->listened_files |= BIT(vcpu->guest_file);
	csr_set(CSR_HGEIE, BIT(vcpu->guest_file));
}
static inline void guest_file_disable_irq(const struct vcpu *vcpu)
{
	vcpu->home->listened_files &= ~BIT(vcpu->guest_file);
	csr_clear(CSR_HGEIE, BIT(vcpu->guest_file));
}

/* Called when the vcpu starts, and when a life of its VM is over. Home hart only. Returns false if
 * the file is not where the host's tree says: the page that the VM has then is not its own. */
bool guest_file_begin(struct vcpu *vcpu);
void guest_file_end(struct vcpu *vcpu);

/* Emulates a trapped access to an AIA register that reads as 0 for guests: the priorities. Returns
 * true if the instruction was such an access. */
bool guest_file_access(struct vcpu *vcpu, const struct insn *insn);

#endif
