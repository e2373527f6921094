/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/hs_memory.h"

#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/hs_map.h"
#include "core/boot/page_alloc.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/panic.h"

extern char _image_start[], _rodata_start[], _data_start[], _stacks_start[];

static struct hs_map map;
static bool made;

static void add(uint64_t from, uint64_t to, enum hs_access access)
{
	hs_map_add(&map, from, to - from, access, page_alloc);
}

/* Maps Tally itself, without the guard page between the two stacks of each hart. */
static void add_image(uint64_t tables_end)
{
	uint64_t from = (uint64_t)_data_start;

	add((uint64_t)_image_start, (uint64_t)_rodata_start, HS_READ_EXECUTE);
	add((uint64_t)_rodata_start, (uint64_t)_data_start, HS_READ);
	for (uint32_t i = 0; i < platform.n_harts; i++) {
		uint64_t stack = (uint64_t)_stacks_start + i * HART_STACK_SIZE;

		add(from, stack + HART_STACK_GUARD, HS_READ_WRITE);
		from = stack + HART_STACK_GUARD + PAGE_SIZE;
	}
	/* Maps its other data, and the tables. */
	add(from, tables_end, HS_READ_WRITE);
}

/* Whole pages of registers, each of them once. */
#define MAX_REGISTERS 8U
static struct vm_range registers[MAX_REGISTERS];
static uint32_t n_registers;

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Joins pages that overlap: several devices may be in one. */
static void need_registers(uint64_t base, uint64_t size)
{
	struct vm_range pages = {ALIGN_DOWN(base, PAGE_SIZE),
	                         ALIGN_UP(base + (size ? size : 1), PAGE_SIZE)};

	vm_ranges_join(registers, &n_registers, &pages);
	if (n_registers == MAX_REGISTERS)
		panic("hs_memory: registers of too many devices");
	registers[n_registers++] = pages;
}

void hs_memory_make(const struct vm_guests *guests)
{
	uint64_t end = guests->tree.to;

	if (platform.uart_base)
		need_registers(platform.uart_base, platform.uart_size);
	if (platform.irqchip.kind != IRQCHIP_NONE)
		need_registers(platform.irqchip.base, platform.irqchip.size);
	if (platform.iommu.size)
		need_registers(platform.iommu.base, platform.iommu.size);
	for (uint32_t i = 0; i < n_registers; i++)
		end = max(end, registers[i].to);
	for (uint32_t i = 0; i < guests->n; i++)
		end = max(end, guests->ranges[i].to);
	if (!hs_map_init(&map, end - 1, page_alloc)) {
		log_line("HS runs without translation: no mode reaches %lx", end - 1);
		return;
	}
	add_image(guests->kept.to);
	for (uint32_t i = 0; i < guests->n; i++)
		add(guests->ranges[i].from, guests->ranges[i].to, HS_READ_WRITE);
	add(guests->tree.from, guests->tree.to, HS_READ);
	for (uint32_t i = 0; i < n_registers; i++)
		add(registers[i].from, registers[i].to, HS_READ_WRITE);
	made = true;
}

static void add_pages(uint64_t at, uint64_t end)
{
	for (uint64_t page = ALIGN_DOWN(at, PAGE_SIZE); page < end; page += PAGE_SIZE) {
		if (!hs_map_has(&map, page))
			add(page, page + PAGE_SIZE, HS_READ_WRITE);
	}
}

/* For devices whose registers Tally writes at the end of a life. */
void hs_memory_add_devices(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_devices && made; i++) {
		const struct vm_device *device = &vm->devices[i];
		uint64_t end = device->registers + device->registers_size;

		if (device->reset == VM_RESET_UNKNOWN || device->pci.given)
			continue;
		if (!hs_map_reaches(&map, end - 1))
			platform_lacks("vm %s: HS does not reach the registers of device %s",
			               vm->name, device->name);
		add_pages(device->registers, end);
	}
}

void hs_memory_add_pages(uint64_t at, uint64_t size, const char *whose)
{
	if (!made)
		return;
	if (!hs_map_reaches(&map, at + size - 1))
		platform_lacks("HS does not reach the registers of %s at 0x%lx", whose, at);
	add_pages(at, at + size);
	sfence_vma_all();
}

void hs_memory_call_unmapped(void (*what)(void *), void *with)
{
	uint64_t satp = hs_map_switch(0);

	what(with);
	(void)hs_map_switch(satp);
}

void hs_memory_use(uint64_t hartid)
{
	if (made && !hs_map_use(&map))
		log_line("hart %lu: HS runs without translation: the hart has no Sv%u", hartid,
		         12 + 9 * map.levels);
}
