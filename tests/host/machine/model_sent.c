/* SPDX-License-Identifier: Apache-2.0 */
/* What a vcpu has sent to others, which they must have when its call returns. */
#include "tests/host/machine/model.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/trap.h"

/* Whether a fence is missing that somebody counts on. */
bool model_is_behind(const struct machine_hart *h, const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);

	return h->vvma_fenced[model_vmid_of(vcpu)] < m->vvma_due || h->fence_i_at < m->fence_i_due;
}

/* Whoever was on all the time must have it now, or get it before its guest goes on. */
static void deliver(const struct model_sent *sent, struct vcpu *target)
{
	struct model_vcpu *t = model_of(target);
	uint32_t i = target->id;

	if (!(sent->to >> i & 1) || sent->changes[i] != t->changes || !model_is_on(target) ||
	    t->off || t->life != target->vm->htimedelta || t->start_due)
		return;
	switch (sent->kind) {
	case MODEL_SENT_IPI:
		if (sent->cleared[i] == t->cleared)
			t->ipi_due = true;
		break;
	case MODEL_SENT_VVMA:
		t->vvma_due = sent->fences;
		break;
	case MODEL_SENT_FENCE_I:
		t->fence_i_due = sent->fences;
		break;
	}
	/* Whoever runs on another hart just now has made the fence already, unless its hart had an
	 * IPI when it came, which is taken before its next instruction. */
	if (t->in_guest && t->called_at != t->steps + 1 &&
	    model_is_behind(&machine.hart[t->hart], target))
		DIFFERS(target, "runs on without a fence that its sender has waited for");
}

void model_call_returned(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	const struct vm *vm = vcpu->vm;

	for (uint32_t i = 0; i < vm->config->n_vcpus && m->sent.kind && !h->x[10]; i++)
		deliver(&m->sent, vm->vcpus[i]);
	if (m->begins && !h->x[10]) {
		m->counts = true;
		m->stopped = false;
		m->counter = (uint32_t)h->x[11];
		m->count = 0;
	}
	model_sampled(h, vcpu);
	if (m->refused && !h->x[10])
		DIFFERS(vcpu, "reached memory that it has not");
	if (m->granted && (int64_t)h->x[10] == SBI_ERR_INVALID_PARAM)
		DIFFERS(vcpu, "was refused memory that it has");
	if (!h->x[10] && m->says && m->says_some && !h->x[11])
		DIFFERS(vcpu, "wrote no byte of %lu, and is not told to wait", m->says);
	if (!h->x[10])
		model_texts[vm->index].least +=
		    m->says && m->says_some ? model_letters(h->x[11]) : m->says;
	m->says = 0;
	m->prints = false;
	m->sent.kind = MODEL_SENT_NOTHING;
	m->begins = m->refused = m->granted = false;
	m->reads = 0;
}
