/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/hlvx.h"
#include "arch/riscv/hart/trap.h"
#include "core/tree/vm_memory.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/unwind.h"

/* Pieces never touch, so no range extends over two of them. */
static void *in_other_pieces(const struct vm_config *config, uint64_t gpa, uint64_t size)
{
	for (uint32_t i = 1; i < config->n_pieces; i++) {
		struct vm_piece piece = vm_piece(config, i);
		uint64_t offset = gpa - piece.guest;

		if (offset < piece.size && size <= piece.size - offset)
			return (void *)(piece.host + offset);
	}
	return NULL;
}

void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size)
{
	const struct vm_config *config = vm->config;
	uint64_t offset = gpa.a - config->ram_base;

	/* An address below ram_base wraps to an offset beyond all memory. */
	if (offset < config->first_size && size <= config->first_size - offset)
		return (void *)(vm->memory.a + offset);
	return in_other_pieces(config, gpa.a, size);
}

/* All calls here are inlined, because the trap guard is kept in registers. Not inlined itself,
 * because virtual_insn() would save more registers. */
__attribute__((noinline, flatten)) uint32_t guest_fetch(void)
{
	uint64_t pc = csr_read(CSR_SEPC), low = 0, high = 0;

	/* QEMU ignores henvcfg.ADUE in HLVX, and would set A where the VM may only read
	 * (docs/platform.md, "Page tables"). */
	if (__builtin_expect(this_vcpu()->vm->no_adue, 0))
		return unwind_insn(this_vcpu(), pc, vcpu_from_user());
	struct trap_guard guard = trap_guard_begin();
	/* An aligned word never crosses a page. Otherwise the upper half may be on the next page,
	 * and is read only if it belongs to the instruction. If both halves are on one page, the
	 * second read cannot fault, because the first did not. */
	if (!(pc & 3)) {
		HLVX("wu", low, pc);
	} else {
		HLVX("hu", low, pc);
		if ((low & 3) == 3)
			HLVX("hu", high, pc + 2);
	}
	return trap_guard_end(&guard) == ~0UL ? (uint32_t)(low | high << 16) : 0;
}
