/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest may see: its memory and its registers, whatever the hart did meanwhile. */
#include "tests/host/machine/model.h"

#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/console/ring.h"
#include "core/log.h"

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

void model_see_memory(const struct vcpu *vcpu)
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

uint64_t model_timer_of(const struct machine_hart *h, const struct vcpu *vcpu)
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
	m->vstimecmp = model_timer_of(h, vcpu);
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

void model_see_same(struct machine_hart *h, struct vcpu *vcpu)
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
	if (machine.kind.sstc && model_timer_of(h, vcpu) != m->vstimecmp)
		DIFFERS(vcpu, "its timer is %lx instead of %lx", model_timer_of(h, vcpu),
		        m->vstimecmp);
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

static uint64_t ring_used(unsigned int writer, size_t share)
{
	size_t room = log_room(writer);

	return room < share - 2 ? share - 2 - room : 0;
}

/* The VM's bytes in the ring, and those of a line that is on its way: its end may be in the ring,
 * too, as another writer's. A frame is as long as no other writer prints. If frames begin, the
 * VM's unfinished line is part of the answer. */
static uint64_t ring_waiting(uint32_t vm)
{
	if (!machine.kind.slow_line && !log_has_more() && !operator_begins())
		return 0;
	return ring_used(vm, RING_SHARE - RING_END) + ring_used(RING_ANSWERS, RING_ANSWERS_SHARE) +
	       operator_unfinished();
}

/* All that the last life has printed is out, but for what waits for the line. */
static void look_at_texts(const struct vcpu *vcpu)
{
	uint32_t vm = vcpu->vm->index;
	struct model_text *t = &model_texts[vm];
	uint64_t waits = ring_waiting(vm);

	if (operator_seen[vm] + waits < t->least ||
	    (operator_seen[vm] > t->most && !(operator_repeats >> vm & 1)))
		DIFFERS(vcpu, "its VM has printed %lu to %lu letters, and %lu were seen", t->least,
		        t->most, operator_seen[vm]);
	if (waits)
		return;
	t->least = t->most = operator_seen[vm];
	operator_repeats &= ~(1U << vm);
}

/* It has been started, or its VM has: nothing is left of what was there before. */
void model_see_fresh(struct machine_hart *h, struct vcpu *vcpu, bool new_life)
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
	m->prints = false;
	m->vvma_due = m->fence_i_due = 0;
	m->left_at = m->seen ? m->left_at : 0;
	m->hart = MACHINE_HARTS; /* fences as on arrival */
	m->hog = percent(&machine.chance, 15);
	m->timer = ~0UL;
	m->life = vcpu->vm->htimedelta;
	m->seen = true;
}
