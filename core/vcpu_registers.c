/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu_registers.h"
#include "arch/riscv/csr.h"
#include "arch/riscv/trap.h"
#include "core/pcpu.h"
#include "core/vcpu.h"

uint64_t vec_probe(void)
{
	uint64_t bytes;

	csr_set(CSR_SSTATUS, SSTATUS_VS_CLEAN);
	bytes = vec_bytes();
	return bytes <= VEC_MAX_BYTES ? bytes : 0;
}

void vcpu_registers_leave(struct vcpu *vcpu)
{
	if (vcpu->home->registers_of == vcpu)
		vcpu->home->registers_of = vcpu->home;
}

void vcpu_registers_reset(struct vcpu *vcpu)
{
	vcpu_registers_leave(vcpu);
	vcpu->registers = NULL;
	if (vcpu->vec)
		vcpu->vs.sstatus |= SSTATUS_VS_CLEAN;
}

void vcpu_registers_save(struct vcpu *vcpu)
{
	fp_save(vcpu->fp);
	if (vcpu->vec)
		vec_save(vcpu->vec->v, vcpu->vec->csrs);
	vcpu->registers = vcpu;
	vcpu->home->registers_of = vcpu;
	vcpu->vs.sstatus &= ~(SSTATUS_SD | SSTATUS_FS | SSTATUS_VS);
	vcpu->vs.sstatus |= SSTATUS_FS_CLEAN | (vcpu->vec ? SSTATUS_VS_CLEAN : 0);
}

/* Vector registers are loaded for a VM without V, too: so they are never older than the others. */
void vcpu_registers_restore(struct vcpu *vcpu)
{
	static const uint64_t no_fp[33];
	static const struct vec_image no_vec;
	const struct vec_image *vec = vcpu->registers && vcpu->vec ? vcpu->vec : &no_vec;

	csr_set(CSR_SSTATUS, SSTATUS_FS_CLEAN);
	fp_restore(vcpu->registers ? vcpu->fp : no_fp);
	if (vcpu->home->vec_bytes) {
		csr_set(CSR_SSTATUS, SSTATUS_VS_CLEAN);
		vec_restore(vec->v, vec->csrs);
	}
	vcpu->home->registers_of = vcpu->registers;
}
