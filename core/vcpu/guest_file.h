/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupt files of vcpus whose VM has an AIA. Each such vcpu owns a guest interrupt file of
 * its hart for good, so it cannot move. While it is resident, messages to the file interrupt it
 * without an exit. While it is blocked in WFI, the first one that it would take interrupts HS
 * (SGEI), which makes the vcpu ready and does not listen to the file again before the next WFI. A
 * vcpu that is ready, or off, needs no telling.
 */
#ifndef CORE_VCPU_GUEST_FILE_H
#define CORE_VCPU_GUEST_FILE_H

#include "arch/riscv/hart/insn.h"
#include "core/vcpu/vcpu.h"

/* Finds the guest files of the calling hart. */
void guest_files_init(struct pcpu *pcpu);

/* Gives the next file of its home to a vcpu. At boot only; the VM tree was checked. */
void guest_file_give(struct vcpu *vcpu);

/* Whether its file has an interrupt for it. Home hart only. */
static inline bool guest_file_pends(const struct vcpu *vcpu)
{
	return csr_read(CSR_HGEIP) >> vcpu->guest_file & 1;
}

/* HS hears of the file's next interrupt, or of none. Home hart only; the vcpu has a file. */
static inline void guest_file_listen(const struct vcpu *vcpu)
{
	csr_set(CSR_HGEIE, BIT(vcpu->guest_file));
}
static inline void guest_file_ignore(const struct vcpu *vcpu)
{
	csr_clear(CSR_HGEIE, BIT(vcpu->guest_file));
}

/* The vcpu starts; or a life of its VM is over. Home hart only. Returns false if the file is not
 * where the host's tree says: then the page that the VM has is somebody else's. */
bool guest_file_begin(struct vcpu *vcpu);
void guest_file_end(struct vcpu *vcpu);

/* Handles a trapped instruction if it is an access to a register of the AIA that guests find empty:
 * priorities. Returns true if it was. */
bool guest_file_access(struct vcpu *vcpu, const struct insn *insn);

#endif
