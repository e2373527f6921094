/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/hlvx.h"
#include "arch/riscv/trap.h"
#include "core/vm/guest_mem.h"

void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size)
{
	uint64_t offset = gpa.a - VM_RAM_BASE;

	if (gpa.a < VM_RAM_BASE || offset >= vm->config->memory ||
	    size > vm->config->memory - offset)
		return NULL;
	return (void *)(vm->memory.a + offset);
}

/* Everything that this calls is inlined, because the trap guard is kept in registers. */
__attribute__((flatten)) uint32_t guest_fetch(void)
{
	struct trap_guard guard;
	uint64_t pc = csr_read(CSR_SEPC), low = 0, high = 0;

	trap_guard_begin(&guard);
	/* An aligned word never crosses a page. Otherwise the upper half may be on the next page,
	 * and is read only if it belongs to the instruction. If both halves are on one page, the
	 * second read cannot fault after the first did not. */
	if (!(pc & 3)) {
		HLVX("wu", low, pc);
	} else {
		HLVX("hu", low, pc);
		if ((low & 3) == 3)
			HLVX("hu", high, pc + 2);
	}
	return trap_guard_end(&guard) == ~0UL ? (uint32_t)(low | high << 16) : 0;
}
