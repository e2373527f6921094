/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest's counter of instructions, which the model knows exactly, and the virtual LCOFI: it pends
 * when one of its counters has wrapped, masked or not, until the guest clears it, wherever the vcpu
 * is meanwhile; and nobody else's does.
 */
#include "arch/riscv/hart/csr.h"
#include "core/pmu/vm_pmu.h"
#include "tests/host/machine/model.h"

static void counted(struct model_vcpu *m, uint64_t insns)
{
	if (!m->counts || m->stopped)
		return;
	m->wrapped |= m->count + insns < m->count;
	m->count += insns;
}

/* Tally has emulated an instruction, perhaps a read of its counter. */
void model_retired_late(const struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	counted(m, 1);
	if (m->reads && m->counts)
		model_read(vcpu, h->x[m->reads]);
}

void model_retired(struct machine_hart *h, struct vcpu *vcpu, uint64_t insns)
{
	machine_count(h, insns, true);
	counted(model_of(vcpu), insns);
}

void model_read(struct vcpu *vcpu, uint64_t value)
{
	if (value != model_of(vcpu)->count)
		DIFFERS(vcpu, "reads %lx instead of %lx", value, model_of(vcpu)->count);
}

/* Its counter stops, or starts at another value. */
void model_sampled(const struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	if (m->samples != MODEL_SAMPLES_NOTHING && m->counts) {
		if (h->x[10])
			DIFFERS(vcpu, "cannot use its counter: error %ld", (long)h->x[10]);
		m->stopped = m->samples == MODEL_SAMPLES_STOP;
		if (!m->stopped) {
			m->count = m->sample;
			m->wrapped = false;
		}
	}
	m->samples = MODEL_SAMPLES_NOTHING;
}

void model_lcofi_entered(const struct machine_hart *h, const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);
	uint64_t bit = BIT(IRQ_LCOFI), pends = h->csr[CSR_HVIP] & bit;

	if (m->hvip & ~m->expect.clears & bit && !pends)
		DIFFERS(vcpu, "has lost an LCOFI");
	if (pends && !(m->hvip & bit) && !vm_overflow_offered(vcpu->vm))
		DIFFERS(vcpu, "has an LCOFI, and its VM has none");
	if (pends && !(m->hvip & bit) && m->sampler && !m->wrapped)
		DIFFERS(vcpu, "has an LCOFI of somebody else");
}

void model_lcofi_step(const struct machine_hart *h, const struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	if (h->csr[CSR_HVIP] & BIT(IRQ_LCOFI))
		m->wrapped = false;
	/* A VM with a limit may get it later. */
	if (m->wrapped && m->counts && !vcpu->vm->config->pmu_overflow_limit &&
	    vm_overflow_offered(vcpu->vm))
		DIFFERS(vcpu, "gets no LCOFI for its counter's overflow");
}
