/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest interrupt files of the harts, and who may have them. Messages come from guests through
 * their second stage, from clocks, from engines, and at random from anywhere, whatever the vcpu
 * does meanwhile. What must hold: a file is one vcpu's for good, on its hart; only its owner sees
 * it; nothing but its owner changes it in a life, and nothing in it is of a life before; its first
 * interrupt wakes a vcpu that sleeps, by one SGEI at most, and nobody listens to it otherwise.
 */
#include <string.h>

#include "arch/riscv/devices/imsic.h"
#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "tests/host/machine/model.h"

#define FILE_PAGES (1U << MACHINE_FILE_BITS) /* of a hart: its own file, then the guests' */
#define WORDS      4U                        /* of 64 identities, of a file */

struct file {
	bool delivers;
	uint64_t threshold, pending, enabled;
	uint64_t life[MACHINE_IDS + 1]; /* in which a message came */
	const struct vcpu *owner;       /* the first that had it */
	uint32_t told;                  /* SGEIs since its owner was resident */
};

static struct file files[MACHINE_HARTS][FILE_PAGES];

void aia_reset(void)
{
	memset(files, 0, sizeof(files));
}

/* The file of a page. NULL: there is none. */
static struct file *at(uint64_t address)
{
	uint64_t page = (address - MACHINE_IMSIC_BASE) / PAGE_SIZE;
	uint64_t file = page % FILE_PAGES;

	return address >= MACHINE_IMSIC_BASE && page / FILE_PAGES < machine.kind.harts && file &&
	               file <= machine.kind.files
	           ? &files[page / FILE_PAGES][file]
	           : NULL;
}

static struct file *file_at(uint64_t page)
{
	struct file *f = at(page);

	if (!f)
		machine_differs("at %lx is no guest's file", page);
	return f;
}

static struct file *file_of(const struct vcpu *vcpu)
{
	return file_at(vcpu->guest_file_at.a);
}

static bool pends(const struct file *f)
{
	uint64_t seen = f->threshold ? BIT(f->threshold) - 1 : ~0UL;

	return f->delivers && f->pending & f->enabled & seen;
}

bool aia_pends(const struct vcpu *vcpu)
{
	return vcpu->guest_file && pends(file_of(vcpu));
}

uint64_t aia_hgeip(const struct machine_hart *h)
{
	uint64_t bits = 0;

	for (uint32_t i = 1; i <= machine.kind.files; i++)
		bits |= (uint64_t)pends(&files[h - machine.hart][i]) << i;
	return bits;
}

bool aia_interrupts(const struct machine_hart *h)
{
	return h->csr[CSR_HIE] & BIT(IRQ_SGEI) && aia_hgeip(h) & h->csr[CSR_HGEIE];
}

bool aia_guest_pends(const struct machine_hart *h)
{
	uint64_t file = (h->csr[CSR_HSTATUS] & HSTATUS_VGEIN) >> HSTATUS_VGEIN_SHIFT;

	return aia_hgeip(h) >> file & 1;
}

/* --- messages ------------------------------------------------------------------------ */

/* The life in which a VM is that has a page. */
static uint64_t life_of(uint64_t page)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		for (uint32_t k = 0; k < vms[i].config->n_vcpus; k++) {
			if (vms[i].vcpus[k]->guest_file_at.a == page)
				return vms[i].htimedelta;
		}
	}
	machine_differs("a message to %lx, which is nobody's file", page);
}

void aia_message(uint64_t page, uint32_t identity)
{
	uint64_t life = life_of(page);
	struct file *f = file_at(page);

	if (!identity || identity > MACHINE_IDS)
		return;
	f->pending |= BIT(identity);
	f->life[identity] = life;
}

void aia_messages(void)
{
	const struct vm *vm = &vms[below(&machine.chance, n_vms ? n_vms : 1)];

	if (!machine.booted || !vm->config->aia)
		return;
	aia_message(vm->vcpus[below(&machine.chance, vm->config->n_vcpus)]->guest_file_at.a,
	            1 + below(&machine.chance, MACHINE_IDS));
}

/* Where the second stage leads. 0: nowhere. */
static uint64_t translate(const struct vm *vm, uint64_t address)
{
	const uint64_t *table = (const uint64_t *)(vm->gstage.hgatp << 20 >> 20 << 12);

	for (uint32_t level = 2;; level--) {
		uint32_t shift = 12 + 9 * level;
		uint64_t entry = table[address >> shift & (level == 2 ? 2047 : 511)];
		uint64_t to = entry >> 10 << 12 & 0x3ffffffffff000;

		if (!(entry & 1))
			return 0;
		if (entry & 0xe)
			return (to & ~(BIT(shift) - 1)) | (address & (BIT(shift) - 1));
		if (!level)
			return 0;
		table = (const uint64_t *)to;
	}
}

/* To some vcpu of its VM, or to one that the VM does not have. */
static void sends(const struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;
	uint32_t i = below(&machine.chance, vm->config->n_vcpus + 1);
	uint64_t to = translate(vm, GUEST_IMSIC_BASE + i * GUEST_IMSIC_STEP);

	if (i == vm->config->n_vcpus ? to != 0 : to != vm->vcpus[i]->guest_file_at.a)
		DIFFERS(vcpu, "reaches %lx instead of the file of vcpu %u", to, i);
	if (to)
		aia_message(to, below(&machine.chance, MACHINE_IDS + 2));
}

void aia_acts(const struct vcpu *vcpu)
{
	struct file *f = file_of(vcpu);
	uint64_t bits = chance(&machine.chance) & chance(&machine.chance) & ~1UL;

	switch (below(&machine.chance, 7)) {
	case 0:
		f->delivers = percent(&machine.chance, 90);
		break;
	case 1:
		f->threshold =
		    percent(&machine.chance, 70) ? 0 : below(&machine.chance, MACHINE_IDS + 1);
		break;
	case 2:
		f->enabled = percent(&machine.chance, 80) ? f->enabled | bits : bits;
		break;
	case 3:
		f->pending &= percent(&machine.chance, 70) ? 0 : f->pending - 1;
		break;
	case 4:
		f->pending = percent(&machine.chance, 50) ? f->pending & ~bits : 0;
		break;
	default:
		sends(vcpu);
	}
}

/* --- what must hold ------------------------------------------------------------------ */

static bool in_its_life(const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);

	return m->seen && m->life == vcpu->vm->htimedelta && vcpu->vm->state == VM_RUNNING;
}

/* hgeie changes. */
uint64_t aia_listens(const struct machine_hart *h, uint64_t to)
{
	uint64_t begins = to & ~h->csr[CSR_HGEIE];

	for (uint32_t i = 1; i <= machine.kind.files; i++) {
		const struct vcpu *owner = files[h - machine.hart][i].owner;

		if (begins >> i & 1 &&
		    (!owner || owner->home->current == owner || !(owner->run.blocked & BLOCK_WAIT)))
			machine_differs("hart %lu listens to file %u, whose vcpu does not sleep",
			                h->id, i);
	}
	return to & (BIT(machine.kind.files + 1) - 2);
}

void aia_tells(const struct machine_hart *h)
{
	uint64_t came = aia_hgeip(h) & h->csr[CSR_HGEIE];

	for (uint32_t i = 1; i <= machine.kind.files; i++) {
		struct file *f = &files[h - machine.hart][i];

		if (came >> i & 1 && ++f->told > 1)
			DIFFERS(f->owner, "interrupts its hart %u times in a turn", f->told);
	}
}

static void look_at_fresh(const struct vcpu *vcpu, const struct file *f)
{
	if (f->delivers || f->threshold || f->enabled)
		DIFFERS(vcpu, "begins with an interrupt file that is in use");
	for (uint32_t i = 1; i <= MACHINE_IDS; i++) {
		if (f->pending >> i & 1 && f->life[i] != vcpu->vm->htimedelta)
			DIFFERS(vcpu, "begins with message %u of a life before", i);
	}
}

void aia_entered(const struct machine_hart *h, const struct vcpu *vcpu, bool fresh)
{
	uint64_t file = (h->csr[CSR_HSTATUS] & HSTATUS_VGEIN) >> HSTATUS_VGEIN_SHIFT;
	uint64_t page = MACHINE_IMSIC_BASE + (machine.now * FILE_PAGES + file) * PAGE_SIZE;
	struct file *f;

	if (!vcpu->vm->config->aia) {
		if (file)
			DIFFERS(vcpu, "has file %lu, and its VM no AIA", file);
		return;
	}
	f = file_at(page);
	if (!f->owner)
		f->owner = vcpu;
	if (f->owner != vcpu)
		DIFFERS(vcpu, "has the interrupt file of another vcpu");
	if (translate(vcpu->vm, GUEST_IMSIC_BASE + vcpu->id * GUEST_IMSIC_STEP) != page)
		DIFFERS(vcpu, "has file %lu, and others reach another one for it", file);
	if (h->csr[CSR_HGEIE] >> file & 1)
		DIFFERS(vcpu, "is resident, and its hart listens to its file");
	if (h->csr[CSR_HVIP] & BIT(IRQ_VSEI))
		DIFFERS(vcpu, "has an external interrupt that is not of its file");
	if (fresh)
		look_at_fresh(vcpu, f);
	f->told = 0;
}

/* --- as the registers say ------------------------------------------------------------ */

uint32_t imsic_probe(const struct imsic *imsic, uint32_t *words, const char **why)
{
	*words = WORDS;
	*why = "the machine has none";
	return imsic->ids ? machine.kind.files : 0;
}

hpa_t imsic_file_at(const struct imsic *imsic, uint32_t place, uint32_t file)
{
	return (hpa_t){imsic->base + (((uint64_t)place << imsic->file_bits) + file) * PAGE_SIZE};
}

void imsic_file_clear(uint32_t words, uint32_t file)
{
	struct file *f = &files[machine.now][file];

	machine_sees();
	if (words != WORDS)
		machine_differs("%u words of a file are cleared", words);
	if (f->owner && in_its_life(f->owner))
		DIFFERS(f->owner, "loses what is in its interrupt file");
	*f = (struct file){.owner = f->owner, .told = f->told};
}

bool imsic_file_is_at(hpa_t page, uint32_t file)
{
	machine_sees();
	/* Now and then the host's tree is wrong. */
	return at(page.a) == &files[machine.now][file] && below(&machine.chance, 200);
}

void imsic_send(hpa_t file, uint32_t identity)
{
	machine_sees();
	aia_message(file.a, identity);
}
