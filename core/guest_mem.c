/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/trap.h"
#include "core/guest_mem.h"

void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size)
{
	uint64_t offset = gpa.a - VM_RAM_BASE;

	if (gpa.a < VM_RAM_BASE || offset >= vm->config->memory ||
	    size > vm->config->memory - offset)
		return NULL;
	return (void *)(vm->memory.a + offset);
}

/* HLVX is four bytes long, as trap_guard wants it; in the middle of a page it cannot fault twice. */
#define HLVX_HU(value, address)                                                                    \
	__asm__ volatile(".option push\n.option norvc\n.option arch, +h\n"                         \
	                 "hlvx.hu %0, (%1)\n.option pop"                                           \
	                 : "+r"(value)                                                             \
	                 : "r"(address)                                                            \
	                 : "memory")

bool guest_fetch(uint32_t *insn)
{
	struct trap_guard guard;
	uint64_t pc = csr_read(CSR_SEPC), low = 0, high = 0;

	trap_guard_begin(&guard);
	HLVX_HU(low, pc);
	if ((low & 3) == 3)
		HLVX_HU(high, pc + 2);
	*insn = (uint32_t)(low | high << 16);
	return trap_guard_end(&guard) == ~0UL;
}
