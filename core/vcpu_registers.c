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
	if (vcpu->home->fp_image == vcpu->fp)
		vcpu->home->fp_image = NULL;
	if (vcpu->vec && vcpu->home->vec_image == vcpu->vec)
		vcpu->home->vec_image = NULL;
}

void vcpu_registers_reset(struct vcpu *vcpu)
{
	vcpu_registers_leave(vcpu);
	vcpu->fp_used = false;
	if (!vcpu->vec)
		return;
	vcpu->vs.sstatus |= SSTATUS_VS_CLEAN;
	vcpu->vec_used = false;
}

static void fp_put(struct vcpu *vcpu)
{
	if ((vcpu->vs.sstatus & SSTATUS_FS) != SSTATUS_FS_DIRTY)
		return;
	fp_save(vcpu->fp);
	vcpu->fp_used = true;
	vcpu->home->fp_image = vcpu->fp;
	vcpu->vs.sstatus = (vcpu->vs.sstatus & ~SSTATUS_FS) | SSTATUS_FS_CLEAN;
}

static void fp_load(struct vcpu *vcpu)
{
	static const uint64_t zeroes[33];
	const uint64_t *image = vcpu->fp_used ? vcpu->fp : zeroes;

	if (vcpu->home->fp_image == image)
		return;
	csr_set(CSR_SSTATUS, SSTATUS_FS_CLEAN);
	fp_restore(image);
	vcpu->home->fp_image = image;
}

static void vec_put(struct vcpu *vcpu)
{
	if ((vcpu->vs.sstatus & SSTATUS_VS) != SSTATUS_VS_DIRTY)
		return;
	vec_save(vcpu->vec->v, vcpu->vec->csrs);
	vcpu->vec_used = true;
	vcpu->home->vec_image = vcpu->vec;
	vcpu->vs.sstatus = (vcpu->vs.sstatus & ~SSTATUS_VS) | SSTATUS_VS_CLEAN;
}

/* A vcpu whose VM has no V runs with VS off: what the hart holds is out of its reach. */
static void vec_load(struct vcpu *vcpu)
{
	static const struct vec_image zeroes;
	const struct vec_image *image = vcpu->vec_used ? vcpu->vec : &zeroes;

	if (!vcpu->vec || vcpu->home->vec_image == image)
		return;
	csr_set(CSR_SSTATUS, SSTATUS_VS_CLEAN);
	vec_restore(image->v, image->csrs);
	vcpu->home->vec_image = image;
}

void vcpu_registers_put(struct vcpu *vcpu)
{
	fp_put(vcpu);
	vec_put(vcpu);
}

void vcpu_registers_load(struct vcpu *vcpu)
{
	fp_load(vcpu);
	vec_load(vcpu);
}
