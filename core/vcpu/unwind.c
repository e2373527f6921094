/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/unwind.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/pte.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/vcpu.h"

#define PPN_MASK   (BIT(44) - 1)
#define LEVEL_BITS 9

#define SATP_MODE_SHIFT 60
#define SATP_SV39       8U /* three levels; Sv48 and Sv57 follow with one more each */
#define SATP_SV57       10U

/* The limits of a call: frames, and page walks, but for one more of the last frame. */
#define PIECE_FRAMES 8U
#define PIECE_WALKS  2U

/* Reads a word of the guest's RAM. Returns false if there is no RAM. */
static bool read_table(const struct vm *vm, uint64_t gpa, uint64_t *value)
{
	const volatile uint64_t *at = guest_mem(vm, (gpa_t){gpa}, sizeof(*at));

	if (at)
		*value = *at;
	return at;
}

/* Whether all address bits above the translated ones are copies of the highest translated one. */
static bool is_canonical(const struct guest_view *v, uint64_t va)
{
	return v->bits == 64 || !((va + BIT(v->bits - 1)) >> v->bits);
}

/* Translates the address of a page as the hart would for such an access. Returns false for a
 * fault. */
static bool walk(const struct guest_view *v, uint64_t va, uint64_t *gpa)
{
	uint64_t table = (v->satp & PPN_MASK) * PAGE_SIZE, pte;
	uint32_t shift = v->bits;

	*gpa = va;
	if (shift == 64)
		return true;
	while (shift > 12 && is_canonical(v, va)) {
		shift -= LEVEL_BITS;
		if (!read_table(v->vm, table + (va >> shift & (BIT(LEVEL_BITS) - 1)) * sizeof(pte),
		                &pte) ||
		    !(pte & PTE_V))
			return false;
		table = (pte >> PTE_PPN_SHIFT & PPN_MASK) * PAGE_SIZE;
		if (!(pte & (PTE_R | PTE_X)))
			continue;
		*gpa = table | (va & (BIT(shift) - 1));
		/* Guests are not offered pages of 64 KiB (Svnapot). */
		return pte & v->needs && (bool)(pte & PTE_U) == v->user && !(pte >> 63) &&
		       !(table & (BIT(shift) - 1));
	}
	return false;
}

/* Translates a page that read() does not have yet. Not inlined, because most frames are in the page
 * of the frame before. */
static __attribute__((noinline)) bool turn_page(struct guest_view *v, uint64_t va)
{
	uint64_t gpa;

	v->host = NULL;
	if (!v->walks || !walk(v, ALIGN_DOWN(va, PAGE_SIZE), &gpa))
		return false;
	v->walks--;
	v->host = guest_mem(v->vm, (gpa_t){gpa}, PAGE_SIZE);
	v->page = ALIGN_DOWN(va, PAGE_SIZE);
	return v->host;
}

/* Reads an aligned word. */
static inline __attribute__((always_inline)) bool read(struct guest_view *v, uint64_t va,
                                                       uint64_t *value)
{
	if ((va - v->page >= PAGE_SIZE || !v->host) && !turn_page(v, va))
		return false;
	*value = *(const volatile uint64_t *)(v->host + (va - v->page));
	return true;
}

/* Whether va can be a return address. Data that is no chain soon has a word that cannot. */
static bool is_code(const struct guest_view *v, uint64_t va)
{
	return va && !(va & 1) && va <= -(uint64_t)PAGE_SIZE && is_canonical(v, va);
}

/* Returns false if this vsatp has an unknown mode. */
static bool look_at(struct guest_view *v)
{
	uint64_t mode = v->satp >> SATP_MODE_SHIFT;

	v->bits = mode ? 12 + LEVEL_BITS * (3 + (uint32_t)(mode - SATP_SV39)) : 64;
	return !mode || (mode >= SATP_SV39 && mode <= SATP_SV57);
}

void unwind_begin(struct unwind *u, const struct vcpu *vcpu)
{
	u->view = (struct guest_view){.vm = vcpu->vm,
	                              .satp = csr_read(CSR_VSATP),
	                              .user = vcpu_from_user(),
	                              .needs = PTE_R,
	                              .walks = UNWIND_WALKS};
	u->fp = vcpu->ctx.x[REG_S0];
	u->n = 0;
	u->cut = false;
	u->ended = !look_at(&u->view);
}

bool unwind_more(struct unwind *u, uint64_t most)
{
	struct guest_view *v = &u->view;
	uint64_t fp = u->fp, n = u->n, stop = n + PIECE_FRAMES;
	uint32_t walks = v->walks;

	if (stop > most)
		stop = most;
	while (!u->ended && n < stop && walks - v->walks < PIECE_WALKS) {
		uint64_t ra, next;
		bool there =
		    !(fp & (sizeof(fp) - 1)) && read(v, fp - 8, &ra) && read(v, fp - 16, &next);

		if (!there || !is_code(v, ra)) {
			u->ended = true;
			u->cut = there && ra;
			break;
		}
		u->chain[n++] = ra;
		fp = next;
	}
	u->n = n;
	u->fp = fp;
	return u->ended || n >= most;
}

uint32_t unwind_insn(const struct vcpu *vcpu, uint64_t pc, bool user)
{
	struct guest_view v = {
	    .vm = vcpu->vm, .satp = csr_read(CSR_VSATP), .user = user, .needs = PTE_X, .walks = 2};
	uint32_t insn = 0;
	uint64_t word;

	if (!look_at(&v))
		return 0;
	/* In halves, because the second one may be on the next page. */
	for (uint32_t shift = 0; shift < 32 && (!shift || (insn & 3) == 3); shift += 16, pc += 2) {
		if (!read(&v, ALIGN_DOWN(pc, sizeof(word)), &word))
			return 0;
		insn |= (uint32_t)(uint16_t)(word >> (pc & 6) * 8) << shift;
	}
	return insn;
}
