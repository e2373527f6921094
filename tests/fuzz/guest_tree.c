/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/guest_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "arch/riscv/hart/isa.h"
#include "core/life/guest_dt.h"
#include "core/life/seed.h"
#include "core/tree/pci_node.h"
#include "core/tree/vm_memory.h"

#define IMSICS "/soc/interrupt-controller@28000000"

static uint64_t next(uint64_t *chance)
{
	*chance = *chance * 6364136223846793005U + 1442695040888963407U;
	return *chance >> 16;
}

static int at(const void *dt, const char *path)
{
	int offset = fdt_path_offset(dt, path);

	assert_true(offset >= 0);
	return offset;
}

/* A property of n cells, or of 0 cells that is not there. */
static const fdt32_t *cells(const void *dt, const char *path, const char *name, uint32_t n)
{
	int size;
	const fdt32_t *value = fdt_getprop(dt, at(dt, path), name, &size);

	assert_int_equal(value ? size : 0, 4 * n);
	return value;
}

static uint64_t number(const fdt32_t *value)
{
	return (uint64_t)fdt32_to_cpu(value[0]) << 32 | fdt32_to_cpu(value[1]);
}

static int children(const void *dt, const char *path)
{
	int node, n = 0;

	fdt_for_each_subnode(node, dt, at(dt, path)) n++;
	return n;
}

static void check_memory(const void *dt, const struct vm_config *vm)
{
	uint32_t n = 0;

	for (; vm_piece(vm, n).size; n++) {
		char path[40];
		const fdt32_t *reg;

		snprintf(path, sizeof(path), "/memory@%llx",
		         (unsigned long long)vm_piece(vm, n).guest);
		reg = cells(dt, path, "reg", 4);
		assert_int_equal(number(reg), vm_piece(vm, n).guest);
		assert_int_equal(number(reg + 2), vm_piece(vm, n).size);
	}
	/* Of memory nodes there is no other. */
	assert_int_equal(children(dt, "/"), 3 + (int)n);
}

static void check_chosen(const void *dt, const struct vm_config *vm, bool seed)
{
	const char *args = fdt_getprop(dt, at(dt, "/chosen"), "bootargs", NULL);
	uint64_t from, to;

	assert_int_equal(args != NULL, vm->bootargs != NULL);
	if (args)
		assert_string_equal(args, vm->bootargs);
	cells(dt, "/chosen", "rng-seed", seed ? SEED_BYTES / 4 : 0);
	assert_int_equal(guest_dt_seed_at(dt) != 0, seed);
	cells(dt, "/chosen", "linux,initrd-end", vm->initrd.data ? 2 : 0);
	if (!vm->initrd.data)
		return;
	from = number(cells(dt, "/chosen", "linux,initrd-start", 2)) - vm->ram_base;
	to = number(cells(dt, "/chosen", "linux,initrd-end", 2)) - vm->ram_base;
	assert_int_equal(to - from, vm->initrd.size);
	assert_true(from >= vm->kernel_offset + vm->kernel_span && to <= vm->dtb_offset);
}

static const char *chip_of(const struct vm_config *vm)
{
	return vm->aia ? "/soc/interrupt-controller@d000000" : "/soc/plic@c000000";
}

/* Each vcpu is there, and the PLIC leads to each, or the IMSIC that the APLIC sends to. */
static void check_vcpus(const void *dt, const struct vm_config *vm, const struct guest_machine *m)
{
	uint32_t each = vm->virt ? 4 : 2; /* cells */
	const fdt32_t *lines =
	    cells(dt, vm->aia ? IMSICS : chip_of(vm), "interrupts-extended", each * vm->n_vcpus);

	if (vm->aia)
		assert_int_equal(fdt_node_offset_by_phandle(
		                     dt, fdt32_to_cpu(*cells(dt, chip_of(vm), "msi-parent", 1))),
		                 at(dt, IMSICS));
	assert_int_equal(children(dt, "/cpus"), (int)vm->n_vcpus);
	for (uint32_t i = 0; i < vm->n_vcpus; i++) {
		char path[] = "/cpus/cpu@0";
		int node, controller;

		path[sizeof(path) - 2] = (char)('0' + i);
		node = at(dt, path);
		assert_int_equal(fdt32_to_cpu(*cells(dt, path, "reg", 1)), i);
		assert_int_equal(fdt_stringlist_count(dt, node, "riscv,isa-extensions"),
		                 (int)m->n_ext);
		controller =
		    fdt_node_offset_by_phandle(dt, fdt32_to_cpu(lines[each * i + each - 2]));
		assert_int_equal(fdt_parent_offset(dt, controller), node);
	}
}

static void check_devices(const void *dt, const struct vm_config *vm)
{
	const char *out = fdt_getprop(dt, at(dt, "/chosen"), "stdout-path", NULL);

	assert_int_equal(children(dt, "/soc"), 1 + vm->console + vm->rtc + vm->aia +
	                                           pci_node_is_there(vm) + (vm->virt ? 8 : 0));
	if (vm->rtc_source)
		assert_int_equal(
		    fdt32_to_cpu(*cells(dt, "/soc/rtc@101000", "interrupts", 1 + vm->aia)),
		    vm->rtc_source);
	assert_int_equal(out != NULL, vm->console);
	if (!out)
		return;
	assert_int_equal(
	    fdt_node_offset_by_phandle(dt, fdt32_to_cpu(*cells(dt, "/soc", "interrupt-parent", 1))),
	    at(dt, chip_of(vm)));
}

/* The string has room for all extensions that a hart can have. */
static struct guest_machine a_machine(uint64_t chance, char *isa, const char **names)
{
	static const char *const mmu[] = {"riscv,sv39", "riscv,sv48", "riscv,sv57"};
	uint64_t host = next(&chance) % 4 ? next(&chance) ^ next(&chance) << 32 : ~UINT64_C(0);
	struct guest_machine m = {
	    .timebase_frequency = (uint32_t)next(&chance),
	    .isa = isa,
	    .isa_extensions = names,
	    .mmu_type = mmu[next(&chance) % 3],
	    .cbom_block = host & BIT(ISA_ZICBOM) ? 64 : 0,
	    .cboz_block = host & BIT(ISA_ZICBOZ) ? 4096 : 0,
	    .cbop_block = host & BIT(ISA_ZICBOP) ? 32 : 0,
	    .seed = next(&chance) & 1,
	    .imsic_ids = 63,
	};

	m.n_ext = (uint32_t)isa_guest(host, next(&chance) & 1, isa, ISA_TEXT_BYTES, names);
	assert_in_range(m.n_ext, 7, ISA_EXTENSIONS + 8);
	assert_true(strlen(isa) + 1 < ISA_TEXT_BYTES);
	assert_string_equal(isa + strlen(isa) - strlen(names[m.n_ext - 1]), names[m.n_ext - 1]);
	return m;
}

/* Each of its own allocation, so that ASan knows where it ends. */
static void build(const struct vm_config *vm, const struct guest_machine *m, uint64_t chance)
{
	void *dt = malloc(VM_DTB_SIZE), *again = malloc(VM_DTB_SIZE), *small;
	size_t size;

	memset(dt, 0xa5, VM_DTB_SIZE);
	memset(again, 0x5a, VM_DTB_SIZE);
	assert_int_equal(guest_dt_build(dt, VM_DTB_SIZE, vm, m), 0);
	assert_int_equal(guest_dt_build(again, VM_DTB_SIZE, vm, m), 0);
	assert_int_equal(fdt_check_full(dt, VM_DTB_SIZE), 0);
	assert_int_equal(fdt_pack(dt), 0);
	assert_int_equal(fdt_pack(again), 0);
	size = fdt_totalsize(dt);
	assert_int_equal(fdt_check_full(dt, size), 0);
	assert_int_equal(fdt_totalsize(again), size);
	assert_memory_equal(dt, again, size);
	check_memory(dt, vm);
	check_chosen(dt, vm, m->seed);
	check_vcpus(dt, vm, m);
	check_devices(dt, vm);
	free(again);
	free(dt);

	/* Too small: it says so, and writes nothing behind the end. */
	size = next(&chance) % size;
	small = malloc(size + 1);
	assert_int_equal(guest_dt_build(small, size, vm, m), -FDT_ERR_NOSPACE);
	free(small);
}

void check_guest_trees(const struct vm_tree *tree, uint64_t chance)
{
	static char isa[ISA_TEXT_BYTES];
	static const char *names[ISA_EXTENSIONS + 8];

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		struct guest_machine m = a_machine(chance + i, isa, names);

		build(&tree->vms[i], &m, chance ^ i);
	}
}
