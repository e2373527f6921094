/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/machine/model.h"

#include <string.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/trap.h"

/* Host time after which a vcpu that should run has run: each other one had some turns, and its
 * windows are each a twentieth of a frame at least. */
#define PATIENCE                                                                                   \
	(3 * longest_turn() * (machine_vcpus() + 4) * machine.kind.harts *                         \
	 (machine.kind.schedules ? 100 : 1))
/* How long after the end of its window a vcpu may be entered: HS was on its way to it, and the
 * other harts took their time. */
#define LATE 1000UL
/* A hart may keep asleep for so long although it has work (sched_nap()). */
/* How long a function may take to come to rest at most. */
#define RESET     (3UL * MACHINE_TIMEBASE)
#define NAP       200UL
#define VS_CAUSES 0x2222UL

const uint32_t model_csrs[MODEL_CSRS] = {CSR_VSSTATUS,   CSR_VSIE,    CSR_VSTVEC,   CSR_VSSCRATCH,
                                         CSR_VSEPC,      CSR_VSCAUSE, CSR_VSTVAL,   CSR_VSATP,
                                         CSR_SCOUNTEREN, CSR_SENVCFG, CSR_VSISELECT};

struct model_text model_texts[VM_MAX_VMS];
static struct model_vcpu vcpus[VM_MAX_ALL_VCPUS];
static struct {
	uint64_t progress, since, silent_since;
} lives[VM_MAX_VMS];

static uint32_t machine_vcpus(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_vms; i++)
		n += vms[i].config->n_vcpus;
	return n;
}

static uint64_t longest_turn(void)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < n_vms; i++) {
		uint64_t turn = (uint64_t)vms[i].config->turn_us * MACHINE_TIMEBASE / 1000000;

		longest = turn > longest ? turn : longest;
	}
	return longest;
}

void model_reset(void)
{
	memset(vcpus, 0, sizeof(vcpus));
	memset(lives, 0, sizeof(lives));
	memset(model_texts, 0, sizeof(model_texts));
	model_mail_reset();
}

struct model_vcpu *model_of(const struct vcpu *vcpu)
{
	return &vcpus[vcpu->index];
}

bool model_is_on(struct vcpu *vcpu)
{
	unsigned long state = vcpu->hsm_state;

	return vcpu->vm->state == VM_RUNNING &&
	       (state == SBI_HSM_STATE_STARTED || state == SBI_HSM_STATE_SUSPENDED);
}

static uint32_t vmid_of(const struct vcpu *vcpu)
{
	return machine.kind.no_vmids ? 0 : vcpu->vm->index + 1;
}

/* --- memory -------------------------------------------------------------------------- */

uint64_t model_ram(const struct vm *vm)
{
	return vm->config->n_pieces ? vm->config->pieces[0].base : VM_RAM_BASE;
}

uint64_t model_ram_end(const struct vm *vm)
{
	const struct vm_config *config = vm->config;
	uint32_t n = config->n_pieces;

	return n ? config->pieces[n - 1].base + config->pieces[n - 1].size
	         : VM_RAM_BASE + config->memory;
}

/* In the last step of its memory, or the first. A step that was chosen is where the VM sees it. */
static uint64_t *word(const struct vcpu *vcpu, uint32_t i)
{
	const struct vm *vm = vcpu->vm;
	uint64_t at =
	    i & 1 && vm->config->n_pieces ? model_ram_end(vm) - VM_MEMORY_STEP : vm->memory.a;

	return (uint64_t *)(at + MODEL_WINDOW) + i;
}

uint64_t model_stamp(const struct vcpu *vcpu)
{
	return (uint64_t)(vcpu->vm->index + 1) << 56 | (vcpu->vm->htimedelta & 0xffffffffffffUL);
}

static void look_at_memory(const struct vcpu *vcpu)
{
	uint32_t i = below(&machine.chance, MODEL_WORDS);
	uint64_t found = *word(vcpu, i);

	if (found && found != model_stamp(vcpu))
		DIFFERS(vcpu, "a word of somebody else's is in its memory: %lx", found);
	if (percent(&machine.chance, 20))
		*word(vcpu, below(&machine.chance, MODEL_WORDS)) = model_stamp(vcpu);
}

/* A new life begins with what its images say, and zeros. */
static void look_at_images(const struct vcpu *vcpu)
{
	const struct vm_config *config = vcpu->vm->config;
	const uint8_t *memory = (const uint8_t *)vcpu->vm->memory.a;

	if (memcmp(memory + config->kernel_offset, config->kernel.data, config->kernel.size) != 0)
		DIFFERS(vcpu, "its kernel is not the image");
	if (config->initrd.data &&
	    memcmp(memory + config->initrd_offset, config->initrd.data, config->initrd.size) != 0)
		DIFFERS(vcpu, "its initrd is not the image");
	for (uint32_t i = 0; i < MODEL_WORDS; i++) {
		if (*word(vcpu, i))
			DIFFERS(vcpu, "its memory holds something from before it started");
	}
}

/* With Sstc: of the guest in the hart. Tally keeps it where the hart does not compare it. */
static uint64_t timer_of(const struct machine_hart *h, const struct vcpu *vcpu)
{
	return h->csr[CSR_HENVCFG] & HENVCFG_STCE ? h->csr[CSR_VSTIMECMP] : vcpu->vs.vstimecmp;
}

/* --- registers ----------------------------------------------------------------------- */

void model_left(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	m->in_guest = false;
	machine_rests(h, false);
	memcpy(m->x, h->x, sizeof(m->x));
	memcpy(m->fp, h->fp, sizeof(m->fp));
	memcpy(m->vec, h->vec, sizeof(m->vec));
	memcpy(m->vec_csrs, h->vec_csrs, sizeof(m->vec_csrs));
	m->pc = h->csr[CSR_SEPC];
	m->user = h->user;
	m->vstimecmp = timer_of(h, vcpu);
	m->hvip = h->csr[CSR_HVIP];
	for (uint32_t i = 0; i < MODEL_CSRS; i++)
		m->csr[i] = h->csr[model_csrs[i]];
	m->guest_ticks += machine.time - m->entered_at;
	m->left_at = machine.fences;
	model_pay_left(h, vcpu);
}

/* It is in its handler; not where that begins behind the instruction, and nothing has changed. */
static bool injected(const struct machine_hart *h, const struct model_vcpu *m)
{
	bool same = true;

	for (uint32_t i = 0; i < MODEL_CSRS; i++)
		same &= h->csr[model_csrs[i]] == m->csr[i];
	return h->csr[CSR_SEPC] == (h->csr[CSR_VSTVEC] & ~3UL) && h->csr[CSR_VSEPC] == m->pc &&
	       !h->user && !(same && h->csr[CSR_SEPC] == m->expect.pc[1]);
}

static bool may_change(const struct model_vcpu *m, uint32_t csr, bool exception)
{
	if (m->expect.nonretentive && (csr == CSR_VSSTATUS || csr == CSR_VSATP))
		return true;
	return exception &&
	       (csr == CSR_VSSTATUS || csr == CSR_VSEPC || csr == CSR_VSCAUSE || csr == CSR_VSTVAL);
}

static void compare(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	const struct model_expect *e = &m->expect;
	uint64_t pc = h->csr[CSR_SEPC];
	bool exception = e->may_inject && injected(h, m);

	if (!exception && pc != e->pc[0] && pc != e->pc[1])
		DIFFERS(vcpu, "goes on at %lx instead of %lx or %lx", pc, e->pc[0], e->pc[1]);
	if (!exception && h->user != m->user)
		DIFFERS(vcpu, "is in another mode");
	for (uint32_t i = 1; i < 32; i++) {
		if (h->x[i] != m->x[i] && (exception || !(e->x >> i & 1)))
			DIFFERS(vcpu, "x%u is %lx instead of %lx", i, h->x[i], m->x[i]);
	}
	for (uint32_t i = 1; i < 32 && !exception && pc == e->pc[1]; i++) {
		if (e->zero >> i & 1 && h->x[i])
			DIFFERS(vcpu, "x%u is %lx instead of 0", i, h->x[i]);
	}
	if (e->sets_vsie && !exception && pc == e->pc[1])
		m->csr[1] = e->vsie;
	for (uint32_t i = 0; i < MODEL_CSRS; i++) {
		uint64_t now = h->csr[model_csrs[i]];

		if (now != m->csr[i] && !may_change(m, model_csrs[i], exception))
			DIFFERS(vcpu, "CSR %x is %lx instead of %lx", model_csrs[i], now,
			        m->csr[i]);
	}
	if (e->sets_timer && (!e->retires || (!exception && pc == e->pc[1]))) {
		m->timer = e->timer;
		m->vstimecmp = e->timer;
	}
	if (machine.kind.sstc && timer_of(h, vcpu) != m->vstimecmp)
		DIFFERS(vcpu, "its timer is %lx instead of %lx", timer_of(h, vcpu), m->vstimecmp);
	if (memcmp(h->fp, m->fp, sizeof(m->fp)) != 0)
		DIFFERS(vcpu, "its floating-point registers have changed");
	if (vcpu->vec && (memcmp(h->vec, m->vec, sizeof(m->vec)) != 0 ||
	                  memcmp(h->vec_csrs, m->vec_csrs, sizeof(m->vec_csrs)) != 0))
		DIFFERS(vcpu, "its vector registers have changed");
	if (e->retires && !exception && pc == e->pc[1])
		model_retired_late(h, vcpu);
}

static bool all_zero(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n && !*p) {
		p++;
		n--;
	}
	return !n;
}

/* In this life of its VM, and not fulfilled yet. Another call may be in the middle of the next. */
static bool was_asked(struct model_vcpu *m, uint64_t pc, uint64_t opaque, uint64_t life)
{
	for (uint32_t i = 0; i < m->n_starts && i < MODEL_STARTS; i++) {
		if (m->starts[i].pc != pc || m->starts[i].opaque != opaque ||
		    m->starts[i].life != life)
			continue;
		m->starts[i].life = ~0UL;
		return true;
	}
	return false;
}

/* All that the last life has printed is out. */
static void look_at_texts(const struct vcpu *vcpu)
{
	uint32_t vm = vcpu->vm->index;
	struct model_text *t = &model_texts[vm];

	if (operator_seen[vm] < t->least ||
	    (operator_seen[vm] > t->most && !(operator_repeats >> vm & 1)))
		DIFFERS(vcpu, "its VM has printed %lu to %lu letters, and %lu were seen", t->least,
		        t->most, operator_seen[vm]);
	t->least = t->most = operator_seen[vm];
	operator_repeats &= ~(1U << vm);
}

/* It has been started, or its VM has: nothing is left of what was there before. */
static void compare_fresh(struct machine_hart *h, struct vcpu *vcpu, bool new_life)
{
	const struct vm_config *config = vcpu->vm->config;
	struct model_vcpu *m = model_of(vcpu);
	uint64_t pc = h->csr[CSR_SEPC];
	bool first = new_life && vcpu->id == 0 &&
	             pc == model_ram(vcpu->vm) + config->kernel_offset &&
	             h->x[11] == model_ram(vcpu->vm) + config->dtb_offset;

	if (!first && !was_asked(m, pc, h->x[11], vcpu->vm->htimedelta))
		DIFFERS(vcpu, "begins at %lx with %lx, which nobody asked for", pc, h->x[11]);
	if (first) {
		look_at_images(vcpu);
		look_at_texts(vcpu);
	}
	for (uint32_t i = 1; i < 32; i++) {
		if (i != 11 && h->x[i] != (i == 10 ? vcpu->id : 0))
			DIFFERS(vcpu, "begins with x%u = %lx", i, h->x[i]);
	}
	for (uint32_t i = 1; i < 8; i++) {
		if (h->csr[model_csrs[i]])
			DIFFERS(vcpu, "begins with CSR %x = %lx", model_csrs[i],
			        h->csr[model_csrs[i]]);
	}
	if (!all_zero(h->fp, sizeof(h->fp)) ||
	    (vcpu->vec &&
	     (!all_zero(h->vec, sizeof(h->vec)) || !all_zero(h->vec_csrs, sizeof(h->vec_csrs)))))
		DIFFERS(vcpu, "begins with floating-point or vector registers of before");
	if (h->user)
		DIFFERS(vcpu, "begins in VU");
	m->off = m->ipi_due = m->start_due = m->counts = m->begins = m->looping = false;
	m->sent.kind = MODEL_SENT_NOTHING;
	m->samples = MODEL_SAMPLES_NOTHING;
	m->refused = m->granted = m->stopped = m->wrapped = false;
	m->sampler = percent(&machine.chance, 60);
	if (h->csr[CSR_HVIP] & BIT(IRQ_LCOFI))
		DIFFERS(vcpu, "begins with an LCOFI of before");
	m->says = 0;
	m->vvma_due = m->fence_i_due = 0;
	m->left_at = m->seen ? m->left_at : 0;
	m->hart = MACHINE_HARTS; /* fences as on arrival */
	m->hog = percent(&machine.chance, 15);
	m->timer = ~0UL;
	m->life = vcpu->vm->htimedelta;
	m->seen = true;
}

/* --- who owns the hart --------------------------------------------------------------- */

void model_hgatp(struct machine_hart *h, uint64_t hgatp)
{
	if (machine.booted && h->csr[CSR_VSATP] && hgatp != h->csr[CSR_HGATP])
		machine_differs("hart %u: hgatp changes while vsatp is another guest's",
		                machine.now);
}

static void look_at_fences(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	uint32_t vmid = vmid_of(vcpu);
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

static uint64_t ticks_of(uint64_t us)
{
	return us * MACHINE_TIMEBASE / 1000000;
}

static bool is_open(const struct vm_schedule *s, const struct vcpu *vcpu, uint64_t offset)
{
	uint64_t frame = ticks_of(s->frame_us);
	bool slack = s->slack >> vcpu->vm->index & 1;

	for (uint32_t i = 0; i < s->n_windows; i++) {
		const struct vm_window_of *w = &s->windows[i];
		uint64_t begins = ticks_of(w->start_us), ends = begins + ticks_of(w->length_us);

		if (w->vm == vcpu->vm->index && offset >= begins && offset < ends + LATE)
			return true;
		/* What is nobody's alone. */
		begins -= ticks_of(w->guard_us);
		slack &= !((offset >= begins + LATE && offset < ends) ||
		           (offset + frame >= begins + LATE && offset + frame < ends) ||
		           (offset >= begins + frame + LATE));
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
		uint64_t offset = passed - ((passed + 1) * 1000000 - 1) / frame * frame / 1000000;

		if (s->hart == h->id && !is_open(s, vcpu, offset))
			DIFFERS(vcpu, "runs at %lu of its hart's frame, outside its windows",
			        offset);
	}
}

static void look_at_owner(struct machine_hart *h, struct vcpu *vcpu)
{
	const struct pcpu *pcpu = this_pcpu();
	struct model_vcpu *m = model_of(vcpu);

	if (m->in_guest)
		DIFFERS(vcpu, "runs on hart %u, too", m->hart);
	if (vcpu->home != pcpu || pcpu->current != vcpu)
		DIFFERS(vcpu, "is entered away from its home");
	if (!(vcpu->vm->config->vcpus[vcpu->id].harts & BIT(h->id)))
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
	if (pcpu->scheduled)
		look_at_window(h, vcpu);
}

/* --- what wakes it ------------------------------------------------------------------- */

uint64_t model_interrupts(const struct machine_hart *h)
{
	uint64_t pending =
	    (h->csr[CSR_HVIP] & VS_INTERRUPTS) >> 1 | (h->csr[CSR_HVIP] & BIT(IRQ_LCOFI));

	if (machine_guest_timer(h))
		pending |= BIT(IRQ_STI);
	if (aia_guest_pends(h))
		pending |= BIT(IRQ_SEI);
	return pending & h->csr[CSR_VSIE];
}

/* Whether something must wake a vcpu that is not in a hart. */
static bool must_wake(const struct vcpu *vcpu, const struct model_vcpu *m)
{
	uint64_t now = machine.time + vcpu->vm->htimedelta;
	uint64_t pending = (m->hvip & VS_INTERRUPTS) >> 1 | (m->hvip & BIT(IRQ_LCOFI));

	if (m->ipi_due)
		pending |= BIT(IRQ_SSI);
	if ((machine.kind.sstc ? m->vstimecmp : m->timer) <= now)
		pending |= BIT(IRQ_STI);
	if (vcpu->vm->config->aia ? aia_pends(vcpu) : vplic_output(&vcpu->vm->plic, vcpu->id))
		pending |= BIT(IRQ_SEI);
	else
		pending &= ~BIT(IRQ_SEI);
	return pending & m->csr[1];
}

static bool should_run(struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);

	if (vcpu->vm->state != VM_RUNNING || m->in_guest || vcpu->vm->command)
		return false;
	if (m->start_due || !m->seen || m->off || m->life != vcpu->vm->htimedelta)
		return m->start_due || vcpu->hsm_state == SBI_HSM_STATE_START_PENDING;
	return !m->expect.waits || must_wake(vcpu, m);
}

/* --- what it has sent ---------------------------------------------------------------- */

/* Whether a fence is missing that somebody counts on. */
static bool is_behind(const struct machine_hart *h, const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);

	return h->vvma_fenced[vmid_of(vcpu)] < m->vvma_due || h->fence_i_at < m->fence_i_due;
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
	    is_behind(&machine.hart[t->hart], target))
		DIFFERS(target, "runs on without a fence that its sender has waited for");
}

static void call_returned(struct machine_hart *h, struct vcpu *vcpu)
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
	if (!h->x[10])
		model_texts[vm->index].least += m->says;
	m->says = 0;
	m->sent.kind = MODEL_SENT_NOTHING;
	m->begins = m->refused = m->granted = false;
	m->reads = 0;
}

/* --- moments ------------------------------------------------------------------------- */

void model_entered(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	bool new_life = !m->seen || m->life != vcpu->vm->htimedelta;

	if (!machine.booted)
		first_frame = -vcpu->vm->htimedelta; /* the clocks begin with the frames */
	machine.booted = true;
	h->user = !(h->csr[CSR_SSTATUS] & SSTATUS_SPP);
	look_at_owner(h, vcpu);
	if (new_life || m->off) {
		compare_fresh(h, vcpu, new_life);
	} else {
		compare(h, vcpu);
		model_lcofi_entered(h, vcpu);
		model_pay_entered(h, vcpu);
		/* What a device wanted may have been done by another vcpu meanwhile. */
		if (m->expect.waits && h->csr[CSR_SEPC] == m->expect.pc[1] &&
		    !model_interrupts(h) &&
		    (vcpu->vm->config->aia || !(h->csr[CSR_VSIE] & BIT(IRQ_SEI))))
			DIFFERS(vcpu, "is awake, and nothing has woken it");
	}
	aia_entered(h, vcpu, new_life);
	look_at_fences(h, vcpu);
	model_pay_times(vcpu);
	call_returned(h, vcpu);
	m->in_guest = true;
	m->called_at = h->csr[CSR_SIP] & BIT(IRQ_SSI) ? m->steps + 1 : 0;
	machine_rests(h, true);
	m->ipi.on = false;
	for (uint32_t i = 0; i < MAX_HART_VCPUS && this_pcpu()->vcpus[i]; i++)
		model_of(this_pcpu()->vcpus[i])->wakes.on = false;
	/* An SBI call does not look at it, nor, with an AIA, does a read of a counter
	 * (core/vm/vs_interrupts.h). */
	m->masked &= h->csr[CSR_SCAUSE] == CAUSE_ECALL_VS ||
	             (vcpu->vm->config->aia && h->csr[CSR_SCAUSE] == CAUSE_VIRTUAL_INSN);
	m->wants_since = 0;
	m->entered_at = machine.time;
	memset(&m->expect, 0, sizeof(m->expect));
	/* It may fault, or load with a reservation, before anything else. */
	if (percent(&machine.chance, 10))
		h->reserved_by = vcpu;
}

/* Whoever has been woken on this hart is ready, although another one runs. */
static void look_at_neighbours(const struct vcpu *vcpu)
{
	struct pcpu *pcpu = this_pcpu();

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		struct vcpu *other = pcpu->vcpus[i];
		struct model_vcpu *m = model_of(other);

		if (other == vcpu || other->home != pcpu || pcpu->ready & other->bit ||
		    !(pcpu->waiting & other->bit) || !m->expect.waits || !should_run(other))
			m->wakes.on = false;
		else if (model_is_late(&m->wakes))
			DIFFERS(other, "sleeps, and something has woken it");
	}
}

/* While accesses to its sie trap, a guest with an AIA finds in stopi what hvictl names, beside
 * external interrupts; and the host's timer is its own. */
static void look_at_stopi(const struct machine_hart *h, const struct vcpu *vcpu)
{
	uint64_t hvictl = h->csr[CSR_HVICTL], pending = model_interrupts(h);
	uint64_t named = hvictl >> HVICTL_IID_SHIFT & 0xfff;
	bool traps = hvictl & HVICTL_VTI && vcpu->vm->config->aia;
	bool due = timer_of(h, vcpu) <= machine.time + vcpu->vm->htimedelta;

	if (machine.kind.sstc && !(h->csr[CSR_HENVCFG] & HENVCFG_STCE) != traps)
		DIFFERS(vcpu, "its timer is%s the hart's", traps ? "" : " not");
	if (!traps)
		return;
	if (machine.kind.sstc && due != !!(h->csr[CSR_HVIP] & BIT(IRQ_VSTI)))
		DIFFERS(vcpu, "its timer has%s expired, and it finds otherwise", due ? "" : " not");
	if (named != (pending & BIT(IRQ_SSI) ? IRQ_SSI : pending & BIT(IRQ_STI) ? IRQ_STI : 0))
		DIFFERS(vcpu, "finds %lu in stopi, and %lx pends", named, pending);
}

void model_step(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	uint32_t vmid = vmid_of(vcpu);

	m->steps++;
	if (h->vs_cached[vmid] & ~vcpu->bit)
		DIFFERS(vcpu, "uses translations of another vcpu");
	h->vs_cached[vmid] |= vcpu->bit;
	/* While it pends, and is masked, what unmasks it must trap. */
	if (machine.kind.late_unmask && !(h->csr[CSR_HVICTL] & HVICTL_VTI) &&
	    h->csr[CSR_HVIP] & ~h->csr[CSR_VSIE] & BIT(IRQ_LCOFI) && !m->masked)
		DIFFERS(vcpu, "may unmask its LCOFI unseen");
	look_at_stopi(h, vcpu);
	model_heart_step(vcpu);
	if (m->ipi_due && !(h->csr[CSR_HVIP] & BIT(IRQ_VSSI)) &&
	    (!(vcpu->requests.pending & REQ_IPI) || model_is_late(&m->ipi)))
		DIFFERS(vcpu, "has lost an IPI");
	if (!m->ipi_due || h->csr[CSR_HVIP] & BIT(IRQ_VSSI))
		m->ipi.on = m->ipi_due = false;
	if (is_behind(h, vcpu))
		DIFFERS(vcpu, "goes on without a fence that was done for its sender");
	look_at_memory(vcpu);
	look_at_neighbours(vcpu);
	model_mail_step(h);
	model_pay_step(vcpu);
	model_lcofi_step(h, vcpu);
}

/* Who waits for a hart that stalls need not go on. Never 0. */
static uint64_t clock_now(void)
{
	return machine.time - machine.stalled + (1UL << 40);
}

static bool is_long_ago(uint64_t since)
{
	return (int64_t)(clock_now() - since) > (int64_t)PATIENCE;
}

static void look_at_vm(struct vm *vm, bool still)
{
	unsigned int state = vm->state;
	bool given = dma_is_given(vm);
	bool changes =
	    state == VM_ENDING || state == VM_CLEARING || state == VM_LOADING || vm->command;

	uint64_t progress = vm->life.device + vm->life.detached + state + 8 * vm->command +
	                    256 * vm->life.step + (vm->life.done << 12) + vm->htimedelta;

	if (!changes || lives[vm->index].progress != progress) {
		lives[vm->index].progress = progress;
		lives[vm->index].since = clock_now();
	} else if (still || is_long_ago(lives[vm->index].since + (given ? RESET : 0))) {
		machine_differs("vm%u stays %s%s", vm->index, vm_state_name(vm),
		                vm->command ? ", with a command" : "");
	}
	if (!model_is_silent(vm))
		lives[vm->index].silent_since = 0;
	else if (!lives[vm->index].silent_since)
		lives[vm->index].silent_since = clock_now();
	else if (still || is_long_ago(lives[vm->index].silent_since))
		machine_differs("vm%u does not ring, and nobody notices", vm->index);
}

/* Boot is over. The first VM is not deferred. */
static bool are_begun(void)
{
	return n_vms && vms[0].config && vms[0].state == VM_RUNNING;
}

/* It has spent its budget, and the period is not over. */
static bool is_throttled(const struct vcpu *vcpu)
{
	return vcpu->budget.count && vcpu->budget.throttled_since &&
	       machine.time < vcpu->budget.period_end;
}

static void look_at_all(bool still)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (!machine.booted && !are_begun())
			return;
		look_at_vm(&vms[i], still);
		for (uint32_t k = 0; k < vms[i].config->n_vcpus; k++) {
			struct vcpu *vcpu = vms[i].vcpus[k];
			struct model_vcpu *m = model_of(vcpu);

			if (!should_run(vcpu) || is_throttled(vcpu))
				m->wants_since = 0;
			else if (!m->wants_since)
				m->wants_since = clock_now();
			if (m->wants_since && (still || is_long_ago(m->wants_since)))
				DIFFERS(vcpu, "should run, and does not (%s)",
				        still ? "all harts sleep" : "for long");
		}
	}
	if (still && observe_request.vcpus)
		machine_differs("nobody serves the operator's request");
}

void model_standstill(void)
{
	uint64_t soon = machine.time + NAP;

	/* Who is away may have much to do. */
	if (machine.kind.schedules)
		return;
	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		const struct machine_hart *h = &machine.hart[i];

		if (h->started && (machine.kind.sstc ? h->csr[CSR_STIMECMP] : h->timer) <= soon)
			return;
	}
	look_at_all(true);
	chip_look(true);
	dma_look_at(true);
}

void model_time(void)
{
	if (machine.steps % 64 == 0) {
		chip_look(false);
		dma_look_at(false);
		look_at_all(false);
		model_pay_sums();
	}
}
