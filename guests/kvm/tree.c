/* SPDX-License-Identifier: Apache-2.0 */
/* Written in one pass. Errors of libfdt stay: once one call has failed, finishing fails, too. */
#include "guests/kvm/tree.h"

#include <stddef.h>

#include <libfdt.h>

static int cells(void *fdt, const char *name, uint64_t a, uint64_t b)
{
	fdt64_t value[2] = {cpu_to_fdt64(a), cpu_to_fdt64(b)};

	return fdt_property(fdt, name, value, sizeof(value));
}

static int chosen(void *fdt, const char *bootargs)
{
	return fdt_begin_node(fdt, "chosen") || fdt_property_string(fdt, "bootargs", bootargs) ||
	       fdt_end_node(fdt);
}

static int memory(void *fdt, uint64_t base, uint64_t size)
{
	return fdt_begin_node(fdt, "memory@80000000") ||
	       fdt_property_string(fdt, "device_type", "memory") || cells(fdt, "reg", base, size) ||
	       fdt_end_node(fdt);
}

static int cpus(void *fdt, uint64_t timebase)
{
	return fdt_begin_node(fdt, "cpus") || fdt_property_u32(fdt, "#address-cells", 1) ||
	       fdt_property_u32(fdt, "#size-cells", 0) ||
	       fdt_property_u32(fdt, "timebase-frequency", (uint32_t)timebase) ||
	       fdt_begin_node(fdt, "cpu@0") || fdt_property_string(fdt, "device_type", "cpu") ||
	       fdt_property_string(fdt, "compatible", "riscv") || fdt_property_u32(fdt, "reg", 0) ||
	       fdt_property_string(fdt, "riscv,isa", "rv64imafdc_sscofpmf_sstc") ||
	       fdt_end_node(fdt) || fdt_end_node(fdt);
}

bool make_tree(void *at, uint64_t ram_base, uint64_t ram_size, uint64_t timebase,
               const char *bootargs)
{
	return !(fdt_create(at, TREE_SPACE) || fdt_finish_reservemap(at) ||
	         fdt_begin_node(at, "") || fdt_property_u32(at, "#address-cells", 2) ||
	         fdt_property_u32(at, "#size-cells", 2) || chosen(at, bootargs) ||
	         memory(at, ram_base, ram_size) || cpus(at, timebase) || fdt_end_node(at) ||
	         fdt_finish(at));
}
