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

/* Whole pages of registers, from the first to behind the last; none: both are 0. */
struct registers {
	uint64_t from, to;
};

static struct registers registers(uint64_t base, uint64_t size)
{
	return (struct registers){ALIGN_DOWN(base, PAGE_SIZE),
	                          ALIGN_UP(base + (size ? size : 1), PAGE_SIZE)};
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void hs_memory_make(uint64_t tree_end)
{
	const struct irqchip *irqchip = &platform.irqchip;
	struct registers uart = {0}, chip = {0};
	uint64_t last;

	if (platform.uart_base)
		uart = registers(platform.uart_base, platform.uart_size);
	if (irqchip->kind != IRQCHIP_NONE)
		chip = registers(irqchip->base, irqchip->size);
	/* Both may be in one page. */
	if (uart.from < chip.to && chip.from < uart.to) {
		uart = (struct registers){min(uart.from, chip.from), max(uart.to, chip.to)};
		chip = (struct registers){0};
	}
	last = max(tree_end, max(uart.to, chip.to)) - 1;
	if (!hs_map_init(&map, last, page_alloc)) {
		log_line("HS runs without translation: no mode reaches %lx", last);
		return;
	}
	add_image(platform.tree_base);
	add(platform.tree_base, tree_end, HS_READ);
	add(uart.from, uart.to, HS_READ_WRITE);
	add(chip.from, chip.to, HS_READ_WRITE);
	made = true;
}

void hs_memory_use(uint64_t hartid)
{
	if (made && !hs_map_use(&map))
		log_line("hart %lu: HS runs without translation: the hart has no Sv%u", hartid,
		         12 + 9 * map.levels);
}
