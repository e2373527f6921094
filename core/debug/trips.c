/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that the map of HS forbids. */
#include <string.h>

#include "core/boot/debug.h"
#include "core/boot/hs_memory.h"
#include "core/debug/words.h"
#include "core/hart/platform.h"
#include "core/panic.h"

static const uint32_t constant = 1;
static uint32_t data[] = {0x00008067}; /* ret */

static void store(uint64_t address)
{
	*(volatile uint8_t *)address = 0;
}

static void load(uint64_t address)
{
	__asm__ volatile("lb zero, 0(%0)" ::"r"(address) : "memory");
}

static void jump(uint64_t address)
{
	__asm__ volatile("la ra, 1f\njr %0\n1:" ::"r"(address) : "ra", "memory");
}

static void overflow(void)
{
	__asm__ volatile("1: addi sp, sp, -16\nsd zero, 0(sp)\nj 1b" ::: "memory");
}

static void lose_stack(void)
{
	__asm__ volatile("mv sp, zero\nsd zero, -8(sp)" ::: "memory");
}

/* Only the hart that started last makes the access. */
void debug_trip(struct pcpu *pcpu)
{
	const char *trip = debug_words.trip;

	if (!pcpu->index && platform.n_harts > 1)
		return;

	if (!strcmp(trip, "text-write"))
		store((uint64_t)hs_memory_use);
	if (!strcmp(trip, "rodata-write"))
		store((uint64_t)&constant);
	if (!strcmp(trip, "tree-write"))
		store(platform.tree_base);
	if (!strcmp(trip, "data-exec"))
		jump((uint64_t)data);
	if (!strcmp(trip, "stack-exec"))
		jump((uint64_t)&pcpu_top(pcpu)->pending);
	if (!strcmp(trip, "guest-exec"))
		jump(platform.tree_base - PAGE_SIZE);
	if (!strcmp(trip, "registers-exec"))
		jump(platform.uart_base);
	if (!strcmp(trip, "firmware-read"))
		load(platform.ram.tally);
	if (!strcmp(trip, "null-read"))
		load(0);
	if (!strcmp(trip, "stack-overflow"))
		overflow();
	if (!strcmp(trip, "stack-lost"))
		lose_stack();
	if (!strcmp(trip, "last-words-twice")) {
		pcpu->panicking = 1;
		load(0);
	}
	if (trip[0])
		panic("tally.trip=%s: nothing forbids it", trip);
}
