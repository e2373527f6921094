/* SPDX-License-Identifier: Apache-2.0 */
/* Written in one pass. libfdt's errors persist: after a call has failed, finishing fails as
 * well. */
#include "guests/kvm/tree.h"

#include <stddef.h>
#include <string.h>

#include <libfdt.h>

#include "guests/kvm/uart.h"

#define ISA_SPACE 1024

/* Extensions for hypervisors or for the firmware alone. */
static const char *const not_for_guests[] = {
    "h",        "smaia",    "ssaia",  "smcntrpmf", "smcdeleg",  "ssccfg",
    "smcsrind", "sscsrind", "sdtrig", "smepmp",    "smstateen", "ssstateen",
};

static int cells(void *fdt, const char *name, uint64_t a, uint64_t b)
{
	fdt64_t value[2] = {cpu_to_fdt64(a), cpu_to_fdt64(b)};

	return fdt_property(fdt, name, value, sizeof(value));
}

static int chosen(void *fdt, const struct tree *tree)
{
	return fdt_begin_node(fdt, "chosen") ||
	       fdt_property_string(fdt, "bootargs", tree->bootargs) ||
	       (tree->initrd != tree->initrd_end &&
	        (fdt_property_u64(fdt, "linux,initrd-start", tree->initrd) ||
	         fdt_property_u64(fdt, "linux,initrd-end", tree->initrd_end))) ||
	       fdt_end_node(fdt);
}

static int memory(void *fdt, const struct tree *tree)
{
	return fdt_begin_node(fdt, "memory@80000000") ||
	       fdt_property_string(fdt, "device_type", "memory") ||
	       cells(fdt, "reg", tree->ram_base, tree->ram_size) || fdt_end_node(fdt);
}

static bool is_for_guests(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(not_for_guests) / sizeof(not_for_guests[0]); i++) {
		if (strlen(not_for_guests[i]) == length && !memcmp(not_for_guests[i], name, length))
			return false;
	}
	return true;
}

/* Copies riscv,isa. Single letters come first, up to the first underscore. */
static void guest_isa(char *to, const char *from)
{
	char *end = to + ISA_SPACE - 1;
	size_t letters = strcspn(from, "_");

	for (size_t i = 0; i < letters && to < end; i++) {
		if (i < strlen("rv64") || is_for_guests(from + i, 1))
			*to++ = from[i];
	}
	from += letters;
	while (*from == '_') {
		size_t length = strcspn(from + 1, "_");

		if (is_for_guests(from + 1, length) && length + 1 <= (size_t)(end - to)) {
			memcpy(to, from, length + 1);
			to += length + 1;
		}
		from += length + 1;
	}
	*to = 0;
}

static int block(void *fdt, const char *name, uint32_t size)
{
	return size ? fdt_property_u32(fdt, name, size) : 0;
}

static int cpus(void *fdt, const struct tree *tree)
{
	char isa[ISA_SPACE];

	guest_isa(isa, tree->isa);
	return fdt_begin_node(fdt, "cpus") || fdt_property_u32(fdt, "#address-cells", 1) ||
	       fdt_property_u32(fdt, "#size-cells", 0) ||
	       fdt_property_u32(fdt, "timebase-frequency", (uint32_t)tree->timebase) ||
	       fdt_begin_node(fdt, "cpu@0") || fdt_property_string(fdt, "device_type", "cpu") ||
	       fdt_property_string(fdt, "compatible", "riscv") || fdt_property_u32(fdt, "reg", 0) ||
	       fdt_property_string(fdt, "status", "okay") ||
	       fdt_property_string(fdt, "riscv,isa", isa) ||
	       block(fdt, "riscv,cbom-block-size", tree->cbom_block) ||
	       block(fdt, "riscv,cboz-block-size", tree->cboz_block) ||
	       fdt_property_string(fdt, "mmu-type", "riscv,sv57") ||
	       fdt_begin_node(fdt, "interrupt-controller") ||
	       fdt_property_string(fdt, "compatible", "riscv,cpu-intc") ||
	       fdt_property(fdt, "interrupt-controller", "", 0) ||
	       fdt_property_u32(fdt, "#address-cells", 0) ||
	       fdt_property_u32(fdt, "#interrupt-cells", 1) || fdt_end_node(fdt) ||
	       fdt_end_node(fdt) || fdt_end_node(fdt);
}

static int uart(void *fdt)
{
	return fdt_begin_node(fdt, "soc") || fdt_property_string(fdt, "compatible", "simple-bus") ||
	       fdt_property_u32(fdt, "#address-cells", 2) ||
	       fdt_property_u32(fdt, "#size-cells", 2) || fdt_property(fdt, "ranges", "", 0) ||
	       fdt_begin_node(fdt, "serial@10000000") ||
	       fdt_property_string(fdt, "compatible", "ns16550a") ||
	       cells(fdt, "reg", UART_BASE, UART_SIZE) ||
	       fdt_property_u32(fdt, "clock-frequency", 3686400) || fdt_end_node(fdt) ||
	       fdt_end_node(fdt);
}

bool make_tree(void *at, const struct tree *tree)
{
	return !(fdt_create(at, TREE_SPACE) || fdt_finish_reservemap(at) ||
	         fdt_begin_node(at, "") || fdt_property_u32(at, "#address-cells", 2) ||
	         fdt_property_u32(at, "#size-cells", 2) || chosen(at, tree) || memory(at, tree) ||
	         cpus(at, tree) || uart(at) || fdt_end_node(at) || fdt_finish(at));
}
