/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to memory that does not exist or belongs to others: every width, atomics, and jumps. */
#include "guests/bare/bare.h"

#define CLOCK 0x101000UL
#define UART  0x10000000UL
#define PLIC  0x0c000000UL
#define SLOT  0x10001000UL /* the first of eight, with virt=yes */

static const uint32_t insns[] = {
    0x00050503, /* lb a0, 0(a0) */
    0x00051503, /* lh */
    0x00052503, /* lw */
    0x00053503, /* ld */
    0x00054503, /* lbu */
    0x00056503, /* lwu */
    0x00a50023, /* sb a0, 0(a0) */
    0x00a51023, /* sh */
    0x00a52023, /* sw */
    0x00a53023, /* sd */
    0x0005352f, /* amoadd.d a0, zero, (a0) */
    0x1005352f, /* lr.d a0, (a0) */
    0x08a5252f, /* amoswap.w a0, a0, (a0) */
    0x00053507, /* fld fa0, 0(a0) */
    0x00a53027, /* fsd fa0, 0(a0) */
    0x05f50513, /* addi a0, a0, 95: harmless, mixed with the others */
};

/* Addresses outside the guest's RAM and devices, including those of Tally and of other VMs. */
static const uint64_t places[] = {
    0x0,
    0x8,
    0x1000,     /* boot ROM */
    0x100000,   /* the machine's power switch */
    0x102000,   /* behind its clock */
    0x2000000,  /* CLINT */
    0x2004000,  /* mtimecmp */
    0x200bff8,  /* mtime */
    0x3000000,  /* PCI I/O */
    0xbffffff,  /* across the start of the PLIC */
    0x10001000, /* virtio */
    0x10008000,
    0x10100000, /* fw_cfg */
    0x20000000, /* flash */
    0x30000000, /* PCI ECAM */
    0x40000000, /* PCI memory */
    0x7fffffff, /* across the start of RAM */
    0x7ffffff8,
    0x3fffffffff8, /* the end of Sv39x4 */
    0x20000000000, /* above it */
    0x1000000000000,
    0x80000000000000,   /* 2^55 */
    0x8000000080200000, /* not canonical */
    0xffffffff80200000,
    0xfffffffffffffff8,
    0xffffffffffffffff,
};

static uint64_t touch(uint64_t addr)
{
	uint64_t passed = 0;

	for (unsigned i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
		passed += insn_passes(insns[i], addr);
	/* For a jump, the guard returns to the caller. */
	trap_guard();
	__asm__ volatile("jalr ra, %0" ::"r"(addr & ~1UL) : "ra", "memory");
	passed += trap_unguard().cause == ~0UL;
	return passed;
}

/* Accesses all physical memory above the guest's own, in steps. Bootargs say where its own ends. */
static uint64_t beyond_ram(void)
{
	uint64_t top = bootarg_num("top", 0x81000000), passed = 0;

	passed += touch(top - 4) * 0; /* half of it is inside, so it may trap or not */
	for (uint64_t a = top; a < 0x100000000UL; a += 0x100000)
		passed += insn_passes(0x00053503, a) + insn_passes(0x00a53023, a);
	passed += touch(top) + touch(top + 0x1000) + touch(0xfffffff8);
	return passed;
}

static bool is_own_slot(uint64_t addr)
{
	return bootarg("virt") && addr >= SLOT && addr < SLOT + 0x8000;
}

/* Accesses its own devices at offsets and widths that nobody uses. Not THR, which would print. */
static void own_devices(void)
{
	for (uint64_t off = 1; off < 0x120; off++) {
		for (unsigned i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
			insn_passes(insns[i], UART + off);
	}
	for (uint64_t off = 0; off < 0x400000; off += off < 0x3000 ? 0x7c : 0xff8) {
		insn_passes(0x00052503, PLIC + off);
		insn_passes(0x00a52023, PLIC + off);
		insn_passes(0x00053503, PLIC + off);
		insn_passes(0x00a50023, PLIC + off + 1);
	}
	insn_passes(0x00a50023, UART + 0x100); /* sb: outside of the eight registers */
	for (uint64_t off = 0; off < 0x1000; off += off < 0x40 ? 1 : 0x7f) {
		for (unsigned i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
			insn_passes(insns[i], CLOCK + off);
	}
	for (uint64_t off = 0; off < 0x8000; off += off % 0x1000 < 0x110 ? 1 : 0x7f) {
		for (unsigned i = 0; i < sizeof(insns) / sizeof(insns[0]) && bootarg("virt"); i++)
			insn_passes(insns[i], SLOT + off);
	}
}

uint64_t hostile_memory(void)
{
	uint64_t passed = 0;

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!is_own_slot(places[i]))
			passed += touch(places[i]) - 1; /* the addi */
	}
	passed += beyond_ram() - 3;
	own_devices();
	return passed;
}
