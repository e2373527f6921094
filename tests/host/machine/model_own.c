/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a hart is when a guest is entered: its home, its memory, its window, its counters. */
#include "tests/host/machine/model.h"

#include "arch/riscv/hart/csr.h"

/* How long after the end of its window a vcpu may be entered: HS was on its way to it. What other
 * harts did meanwhile comes on top. */
#define LATE 200UL

void model_hgatp(struct machine_hart *h, uint64_t hgatp)
{
	if (machine.booted && h->csr[CSR_VSATP] && hgatp != h->csr[CSR_HGATP])
		machine_differs("hart %u: hgatp changes while vsatp is another guest's",
		                machine.now);
}

void model_own_fences(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	uint32_t vmid = model_vmid_of(vcpu);
	bool arrives = m->hart != machine.now;

	if (!h->gvma_fenced[vmid])
		DIFFERS(vcpu, "runs before its second-stage table was fenced");
	if (h->vs_cached[vmid] & ~vcpu->bit)
		DIFFERS(vcpu, "may use translations of another vcpu");
	if (arrives && (h->vvma_fenced[vmid] <= m->left_at || h->fence_i_at <= m->left_at))
		DIFFERS(vcpu, "comes to a hart with what that had cached before");
	m->hart = machine.now;
}

static uint64_t first_frame; /* host time of its beginning */

void model_own_frames_begin(uint64_t at)
{
	first_frame = at;
}

static uint64_t ticks_of(uint64_t us)
{
	return us * MACHINE_TIMEBASE / 1000000;
}

/* The last window of a frame may be left late in the next one; there is none before the first. */
static bool is_open(const struct vm_schedule *s, const struct vcpu *vcpu, uint64_t offset,
                    uint64_t late, bool first)
{
	uint64_t frame = ticks_of(s->frame_us);
	bool slack = s->slack >> vcpu->vm->index & 1;

	for (uint32_t i = 0; i < s->n_windows; i++) {
		const struct vm_hart_window *w = &s->windows[i];
		uint64_t begins = ticks_of(w->start_us), ends = begins + ticks_of(w->length_us);

		if (w->vm == vcpu->vm->index && ((offset >= begins && offset < ends + late) ||
		                                 (!first && offset + frame < ends + late)))
			return true;
		/* What is nobody's alone. */
		begins -= ticks_of(w->guard_us);
		slack &= !((offset >= begins + late && offset < ends) ||
		           (offset + frame >= begins + late && offset + frame < ends) ||
		           (offset >= begins + frame + late));
	}
	return slack;
}

/* No guest begins before its window, to the tick. Where harts stall, or time passes faster while
 * functions are reset, any may be late. */
static void look_at_window(const struct machine_hart *h, const struct vcpu *vcpu)
{
	bool late = machine.kind.stalls || machine.kind.iommu;
	/* The VMs are a member of the tree. */
	const struct vm_tree *tree =
	    (const struct vm_tree *)((const char *)vms[0].config - offsetof(struct vm_tree, vms));

	for (uint32_t i = 0; i < tree->n_schedules && !late; i++) {
		const struct vm_schedule *s = &tree->schedules[i];
		uint64_t frame =
		    s->frame_us * (uint64_t)MACHINE_TIMEBASE; /* millionths of a tick */
		uint64_t passed = machine.time - first_frame;
		uint64_t n = ((passed + 1) * 1000000 - 1) / frame;
		uint64_t offset = passed - n * frame / 1000000;

		if (s->id == h->id && !is_open(s, vcpu, offset, LATE + h->others, !n))
			DIFFERS(vcpu, "runs at %lu of its hart's frame, outside its windows",
			        offset);
	}
}

/* Outside its windows a vcpu does not disturb others: it is not ready, and neither its interrupt
 * file nor a device of its VM interrupts the hart. */
static void look_at_away(const struct machine_hart *h, const struct pcpu *pcpu)
{
	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		const struct vcpu *other = pcpu->vcpus[i];

		if (other->home != pcpu || pcpu->present & other->bit)
			continue;
		if (pcpu->ready & other->bit)
			DIFFERS(other, "is ready outside its windows");
		if (other->guest_file && h->csr[CSR_HGEIE] & BIT(other->guest_file))
			DIFFERS(other, "has its interrupt file heard outside its windows");
		if (chip_disturbs(other))
			DIFFERS(other, "has a source that is on outside its windows");
	}
}

void model_own_hart(struct machine_hart *h, struct vcpu *vcpu)
{
	const struct pcpu *pcpu = this_pcpu();
	struct model_vcpu *m = model_of(vcpu);

	if (m->in_guest)
		DIFFERS(vcpu, "runs on hart %u, too", m->hart);
	if (vcpu->home != pcpu || pcpu->current != vcpu)
		DIFFERS(vcpu, "is entered away from its home");
	if (!(vcpu->vm->config->vcpus[vcpu->id].harts & BIT(pcpu->index)))
		DIFFERS(vcpu, "may not run on this hart");
	if (h->csr[CSR_HGATP] != vcpu->vm->gstage.hgatp)
		DIFFERS(vcpu, "runs on another VM's memory");
	if (h->csr[CSR_HTIMEDELTA] != vcpu->vm->htimedelta)
		DIFFERS(vcpu, "has another VM's time");
	if (h->reserved_by && h->reserved_by != vcpu)
		DIFFERS(vcpu, "has another context's reservation");
	/* A firmware that fails may not have stopped it. */
	for (uint32_t i = 3; i < 8 && !machine.kind.firmware_fails; i++) {
		if (h->counters[i].runs && pcpu->hctr_owner[i] != vcpu)
			DIFFERS(vcpu, "counter %u runs for somebody else", i);
	}
	if (vcpu->vm->state == VM_OFF || vcpu->vm->state == VM_CLEARING ||
	    vcpu->vm->state == VM_LOADING)
		DIFFERS(vcpu, "runs while its VM is not running");
	/* With an interrupt of HS pending it does nothing. */
	if (pcpu->has_schedule && !(machine_pending(h) & h->csr[CSR_SIE]))
		look_at_window(h, vcpu);
	if (pcpu->has_schedule)
		look_at_away(h, pcpu);
}
