/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes for ever with a chain of frames behind s0, as compilers lay it out, for who looks from
 * beside. The return addresses are FIRST_RA and 16 more for each frame.
 *   frames=N      how many (1 to 64)
 *   paging=yes    with page tables, which map RAM to itself in one piece of 1 GiB
 *   paging=deep   with five levels of them, which takes longest to walk: the last frames have a
 *                 page each, so that all 64 are in as many pages as a walk may look at
 *   others=yes    meanwhile its other vcpu writes the frames, and all of the tables that nothing is
 *                 executed by: pointers to frames, registers, holes and tables in a circle
 *   end=TEXT      what the last one says is before it: none (0), cycle (the first), mmio (register
 *                 of the UART), wild (no address), odd (not aligned), beyond (no RAM); or errno:
 * one more, which returns to -100 and leads to the first again
 */
#include "guests/bare/bare.h"
#include "guests/bare/vcpu/smp.h"

#define FRAMES   64UL
#define FIRST_RA 0x80300000UL
#define ROOT     0x80e00000UL
#define SV39     (8UL << 60)
#define SV57     (10UL << 60)
#define GIGAPAGE 0xcfUL       /* D A X W R V */
#define PAGES    0x80c00000UL /* 2 MiB in pages of 4 KiB */
#define MEGAPAGE 0x200000UL
#define TOGETHER 49U /* so many frames are in one page */

static struct frame {
	uint64_t fp, ra;
} frames[FRAMES] __attribute__((aligned(1024)));

static struct frame *frame_of(uint64_t i)
{
	if (i < TOGETHER || !bootarg_is("paging", "deep"))
		return &frames[i];
	return (struct frame *)(PAGES + 4096 * (i - TOGETHER));
}

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

/* An address or the number of a page: of RAM, of registers, of nothing, of what other entries of
 * the root lead to. */
static uint64_t any_place(uint64_t luck)
{
	switch (luck >> 8 & 7) {
	case 0:
		return 0x10000010;
	case 1:
		return luck;
	case 2:
		return luck >> 25;
	case 3:
		return 0x80000000UL | (luck >> 20 & 0xfffff8);
	case 4:
		return ROOT;
	default:
		return (uint64_t)&frames[1 + (luck >> 16) % (FRAMES - 1)];
	}
}

static void write_for_ever(uint64_t hartid, struct smp_vcpu *self)
{
	volatile uint64_t *root = (volatile uint64_t *)ROOT;
	uint64_t luck = 1;

	(void)hartid, (void)self;
	for (;;) {
		volatile struct frame *frame;

		luck = luck * 6364136223846793005UL + 1442695040888963407UL;
		frame = &frames[(luck >> 40) % FRAMES];
		frame->fp = any_place(luck);
		frame->ra = luck >> 33 & 1 ? FIRST_RA + 16 * (luck >> 50) : luck;
		root[3 + (luck >> 45) % 509] =
		    (any_place(luck * 3) >> 12) << 10 | (luck >> 24 & 0x1f);
	}
}

static uint64_t one_piece(void)
{
	volatile uint64_t *root = (volatile uint64_t *)ROOT;

	root[2] = (0x80000000UL >> 12) << 10 | GIGAPAGE;
	return SV39;
}

static uint64_t deep(void)
{
	volatile uint64_t *table = (volatile uint64_t *)ROOT;

	/* The root, and two tables below it, have one entry each. */
	for (uint32_t level = 0; level < 3; level++, table += 512)
		table[level == 2 ? 2 : 0] = ((uint64_t)(table + 512) >> 12) << 10 | 1;
	for (uint64_t i = 0; i < 512; i++) {
		uint64_t at = 0x80000000UL + i * MEGAPAGE;

		table[i] = at == PAGES ? ((uint64_t)(table + 512) >> 12) << 10 | 1
		                       : at >> 12 << 10 | GIGAPAGE;
		table[512 + i] = (PAGES + 4096 * i) >> 12 << 10 | GIGAPAGE;
	}
	return SV57;
}

int chain(uint64_t hartid)
{
	uint64_t n = bootarg_num("frames", 16);

	(void)hartid;
	if (n < 1 || n > FRAMES)
		return 1;
	for (uint64_t i = 0; i < n; i++)
		*frame_of(i) =
		    (struct frame){.fp = (uint64_t)(frame_of(i + 1) + 1), .ra = FIRST_RA + 16 * i};
	if (bootarg_is("end", "errno") && n < FRAMES)
		*frame_of(n) = (struct frame){.fp = (uint64_t)(frame_of(0) + 1), .ra = -100UL};
	else
		frame_of(n - 1)->fp = end();
	if (bootarg("paging")) {
		csr_write(satp, (bootarg_is("paging", "deep") ? deep() : one_piece()) | ROOT >> 12);
		__asm__ volatile("sfence.vma" ::: "memory");
	}
	if (bootarg("others") && smp_start(1, write_for_ever))
		return 1;
	print("chain: begins\n");
	__asm__ volatile("mv s0, %0\n1: addi t0, t0, 1\n j 1b" ::"r"(&frames[1])
	                 : "s0", "t0", "memory");
	return 0;
}
