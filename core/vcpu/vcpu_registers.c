/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/vcpu_registers.h"

#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/trap.h"
#include "core/vcpu/ledger.h"
#include "core/vcpu/vm.h"

uint64_t vec_probe(void)
{
	uint64_t bytes;

	csr_set(CSR_SSTATUS, SSTATUS_VS);
	bytes = vec_bytes();
	return bytes <= VEC_MAX_BYTES ? bytes : 0;
}

/* sstatus is still that of the last vcpu, which leaves VS Off if it has no V. */
static void switch_on(const struct pcpu *pcpu)
{
	csr_set(CSR_SSTATUS, SSTATUS_FS | (pcpu->vec_bytes ? SSTATUS_VS : 0));
}

void vcpu_registers_reset(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;

	if (pcpu->registers_owner == vcpu)
		pcpu->registers_owner = NULL;
	ledger(LEDGER_RESET, 0, vcpu, 0);
	memset(vcpu->fp, 0, sizeof(vcpu->fp));
	vcpu->vs.sstatus |= SSTATUS_FS;
	if (!vcpu->vec)
		return;
	memset(vcpu->vec->csrs, 0, sizeof(vcpu->vec->csrs));
	memset(vcpu->vec->v, 0, 32 * pcpu->vec_bytes);
	vcpu->vs.sstatus |= SSTATUS_VS;
}

void vcpu_registers_leave(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;

	if (pcpu->registers_owner != vcpu)
		return;
	switch_on(pcpu);
	fp_save(vcpu->fp);
	if (vcpu->vec)
		vec_save(vcpu->vec->v, vcpu->vec->csrs);
	pcpu->registers_owner = NULL;
}

/* No fence is needed: vsatp is 0, and the entries of one VM are always walked with the same
 * ADUE. */
static void switch_adue(const struct vcpu *to)
{
	if (to->vm->no_adue)
		csr_clear(CSR_HENVCFG, HENVCFG_ADUE);
	else
		csr_set(CSR_HENVCFG, HENVCFG_ADUE);
}

/* For harts with vectors, records or an ADUE to switch, or whose registers belong to no vcpu. Not
 * inlined, so that the other path saves no registers. */
static __attribute__((noinline)) void exchange_all(struct vcpu *from, struct vcpu *to)
{
	if (to->home->vs_features.ctr)
		vs_state_clear_ctr();
	if (to->home->switches_adue)
		switch_adue(to);
	switch_on(to->home);
	if (from) {
		fp_save(from->fp);
		if (from->vec)
			vec_save(from->vec->v, from->vec->csrs);
	}
	fp_restore(to->fp);
	if (to->vec)
		vec_restore(to->vec->v, to->vec->csrs);
}

void vcpu_registers_exchange(struct pcpu *pcpu, struct vcpu *vcpu)
{
	struct vcpu *last = pcpu->registers_owner;

	pcpu->registers_owner = vcpu;
	if (!last || pcpu->more_registers) {
		exchange_all(last, vcpu);
		return;
	}
	/* The last vcpu may have left sstatus.FS Off. */
	csr_set(CSR_SSTATUS, SSTATUS_FS);
	fp_exchange(last->fp, vcpu->fp);
}
