/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes for ever with a chain of frames behind s0, as compilers lay it out, for who looks from
 * beside. The return addresses are FIRST_RA and 16 more for each frame.
 *   frames=N      how many (1 to 64)
 *   paging=yes    with page tables, which map RAM to itself in one piece of 1 GiB
 *   end=TEXT      what the last one says is before it: none (0), cycle (the first), mmio (register
 *                 of the UART), wild (no address), odd (not aligned), beyond (no RAM)
 */
#include "guests/bare/bare.h"

#define FRAMES   64UL
#define FIRST_RA 0x80300000UL
#define ROOT     0x80e00000UL
#define SV39     (8UL << 60)
#define GIGAPAGE 0xcfUL /* D A X W R V */

static struct frame {
	uint64_t fp, ra;
} frames[FRAMES];

static uint64_t end(void)
{
	static const struct {
		const char *name;
		uint64_t fp;
	} ends[] = {{"cycle", 0},
	            {"mmio", 0x10000010},
	            {"wild", 0x7123456789abcde0},
	            {"odd", FIRST_RA + 3},
	            {"beyond", 0xbffff000}};

	for (uint32_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (bootarg_is("end", ends[i].name))
			return i ? ends[i].fp : (uint64_t)&frames[1];
	}
	return 0;
}

int chain(uint64_t hartid)
{
	uint64_t n = bootarg_num("frames", 16);
	volatile uint64_t *root = (volatile uint64_t *)ROOT;

	(void)hartid;
	if (n < 1 || n > FRAMES)
		return 1;
	for (uint64_t i = 0; i < n; i++)
		frames[i] = (struct frame){.fp = (uint64_t)&frames[i + 2], .ra = FIRST_RA + 16 * i};
	frames[n - 1].fp = end();
	if (bootarg("paging")) {
		root[2] = (0x80000000UL >> 12) << 10 | GIGAPAGE;
		csr_write(satp, SV39 | ROOT >> 12);
		__asm__ volatile("sfence.vma" ::: "memory");
	}
	print("chain: begins\n");
	__asm__ volatile("mv s0, %0\n1: addi t0, t0, 1\n j 1b" ::"r"(&frames[1])
	                 : "s0", "t0", "memory");
	return 0;
}
