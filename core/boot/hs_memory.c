/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/hs_memory.h"

#include "arch/riscv/hs_map.h"
#include "core/boot/page_alloc.h"
#include "core/log.h"
#include "core/vm/platform.h"

extern char _image_start[], _rodata_start[], _data_start[], _stacks_start[], _stacks_end[];

static struct hs_map map;
static bool made;

static void add(uint64_t from, uint64_t to, enum hs_access access)
{
	hs_map_add(&map, from, to - from, access, page_alloc);
}

/* Tally itself. The page between the two stacks of each hart is left out. */
static void add_image(uint64_t ram_end)
{
	uint64_t from = (uint64_t)_data_start;

	add((uint64_t)_image_start, (uint64_t)_rodata_start, HS_READ_EXECUTE);
	add((uint64_t)_rodata_start, (uint64_t)_data_start, HS_READ);
	for (uint64_t stack = (uint64_t)_stacks_start; stack < (uint64_t)_stacks_end;
	     stack += HART_STACK_SIZE) {
		add(from, stack + HART_STACK_GUARD, HS_READ_WRITE);
		from = stack + HART_STACK_GUARD + PAGE_SIZE;
	}
	/* Its other data, tables, and the guests' memory. */
	add(from, ram_end, HS_READ_WRITE);
}

static uint64_t end_of(uint64_t base, uint64_t size)
{
	return ALIGN_UP(base + size, PAGE_SIZE);
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void hs_memory_make(uint64_t tree_end)
{
	const struct irqchip *chip = &platform.irqchip;
	uint64_t uart = ALIGN_DOWN(platform.uart_base, PAGE_SIZE);
	uint64_t uart_end = end_of(platform.uart_base, platform.uart_size);
	uint64_t chip_at = ALIGN_DOWN(chip->base, PAGE_SIZE);
	uint64_t chip_end = end_of(chip->base, chip->size);
	uint64_t last = max(tree_end, max(uart_end, chip_end)) - 1;

	if (!hs_map_init(&map, last, page_alloc)) {
		log_line("HS runs without translation: no mode reaches %lx", last);
		return;
	}
	add_image(platform.tree_base);
	add(platform.tree_base, tree_end, HS_READ);
	if (platform.uart_base)
		add(uart, uart_end, HS_READ_WRITE);
	/* Both may be in one page. */
	if (chip->kind != IRQCHIP_NONE && uart_end > chip_at && uart < chip_end)
		chip_at = uart_end;
	if (chip->kind != IRQCHIP_NONE && chip_at < chip_end)
		add(chip_at, chip_end, HS_READ_WRITE);
	made = true;
}

void hs_memory_use(uint64_t hartid)
{
	if (made && !hs_map_use(&map))
		log_line("hart %lu: HS runs without translation: the hart has no Sv%u", hartid,
		         12 + 9 * map.levels);
}
