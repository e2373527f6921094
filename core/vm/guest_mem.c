/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
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

/* HLVX is four bytes long, as trap_guard wants it. */
#define HLVX(width, value, address)                                                                \
	__asm__ volatile(".option push\n.option norvc\n.option arch, +h\n"                         \
	                 "hlvx." width " %0, (%1)\n.option pop"                                    \
	                 : "+r"(value)                                                             \
	                 : "r"(address)                                                            \
	                 : "memory")

/* What it calls is inlined, so that the guard is in registers. */
__attribute__((flatten)) uint32_t guest_fetch(void)
{
	struct trap_guard guard;
	uint64_t pc = csr_read(CSR_SEPC), low = 0, high = 0;

	trap_guard_begin(&guard);
	/* No page ends within an aligned word. Where half of one may be on the next page, that is
	 * read only if it is part of the instruction: in the middle of a page it cannot fault
	 * twice. */
	if (!(pc & 3)) {
		HLVX("wu", low, pc);
	} else {
		HLVX("hu", low, pc);
		if ((low & 3) == 3)
			HLVX("hu", high, pc + 2);
	}
	return trap_guard_end(&guard) == ~0UL ? (uint32_t)(low | high << 16) : 0;
}
