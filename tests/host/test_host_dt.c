/* SPDX-License-Identifier: Apache-2.0 */
/* What boot takes from the trees of boards (tests/host/boards): memory, harts, the console. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "arch/riscv/hart/isa.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/host/host_reserved.h"
#include "core/life/seed.h"
#include "core/log.h"
#include "core/panic.h"
#include "tests/host/board.h"
#include "tests/host/host_dt.h"
#include "tools/vm_check/tree.h"

#define IMAGE_SIZE MIB(1)

uint64_t host_csrs[4096];

static jmp_buf refused;
static char said[256];

static void say(const char *format, va_list args)
{
	vsnprintf(said, sizeof(said), format, args);
}

_Noreturn void platform_lacks(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	longjmp(refused, 1);
}

void log_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

bool seed_take(const void *host, size_t size)
{
	(void)host, (void)size;
	return false;
}

/* The firmware starts no hart. Each that was asked for, with its number one more, is two digits. */
static uint64_t asked;
void boot_on_other_hart(uint64_t hartid, void *dtb)
{
	assert_ptr_equal(dtb, board);
	asked = asked * 100 + hartid + 1;
}

const char *start(uint64_t at, uint64_t hart)
{
	platform = (struct platform){.n_harts = 0};
	said[0] = 0;
	asked = 0;
	if (setjmp(refused))
		return said;
	host_dt_read(board, hart, (struct vm_range){at, at + IMAGE_SIZE});
	boot_report_require(platform_hart(hart), board);
	return said;
}

const char *unusable(uint32_t i)
{
	return hart_unusable(platform.harts[i].hartid, platform.harts[i].isa);
}

static const char *start_board(const char *name, uint64_t at, uint64_t hart)
{
	use_board(name);
	return start(at, hart);
}

static int find(const char *path)
{
	int node = fdt_path_offset(board, path);

	assert_true(node >= 0);
	return node;
}

static void set_u32(const char *path, const char *name, uint32_t value)
{
	assert_int_equal(fdt_setprop_u32(board, find(path), name, value), 0);
}

static void set_text(const char *path, const char *name, const char *value)
{
	assert_int_equal(fdt_setprop_string(board, find(path), name, value), 0);
}

static void assert_ram(uint64_t from, uint64_t to, uint64_t unused)
{
	assert_int_equal(platform.ram.n, 1);
	assert_int_equal(platform.ram.banks[0].from, from);
	assert_int_equal(platform.ram.banks[0].to, to);
	assert_int_equal(platform.ram.before + platform.ram.beyond, unused);
}

/* The banks, where Tally's memory begins, and what is in none of them. */
static void assert_banks(const char *banks, uint64_t tally, uint64_t unused)
{
	char text[512];
	size_t n = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < platform.ram.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llx-%llx", i ? " " : "",
		                      (unsigned long long)platform.ram.banks[i].from,
		                      (unsigned long long)platform.ram.banks[i].to);
	assert_string_equal(text, banks);
	assert_int_equal(platform.ram.tally, tally);
	assert_int_equal(platform.ram.before + platform.ram.beyond, unused);
}

static void assert_uart(uint64_t base, uint32_t shift, uint32_t width, uint32_t irq)
{
	assert_int_equal(platform.uart_base, base);
	assert_int_equal(platform.uart_shift, shift);
	assert_int_equal(platform.uart_width, width);
	assert_int_equal(platform.uart_irq, irq);
}

/* --- memory ---------------------------------------------------------------------------- */

/* Also where the board reserves the end of it. */
static void all_ram_is_used(void **state)
{
	struct host_reserved kept;

	(void)state;
	assert_string_equal(start_board("p550", 0x80200000, 0), "");
	assert_ram(0x80000000, 0x480000000, 0);
	assert_int_equal(platform.tree_size, MIB(4));
	assert_true(host_reserved_find(board, 0x47fc00000, MIB(4), &kept));
}

/* It asks for nobody's memory if it is disabled. */
static void what_is_kept_may_be_off(void **state)
{
	struct host_reserved kept;

	(void)state;
	use_board("p550");
	set_text("/reserved-memory/coprocessor@47ff00000", "status", "disabled");
	set_text("/reserved-memory/frames@47fc00000", "status", "disabled");
	assert_string_equal(start(0x80200000, 0), "");
	assert_false(host_reserved_find(board, 0x47fc00000, MIB(4), &kept));
}

static void no_memory_is_kept_from_tally(void **state)
{
	const fdt32_t reg[] = {0, cpu_to_fdt32(0x81f00000), 0, cpu_to_fdt32(0x100000)};
	int node;

	(void)state;
	use_board("p550");
	node = find("/reserved-memory/video@100000000");
	assert_int_equal(fdt_setprop(board, node, "reg", reg, sizeof(reg)), 0);
	assert_string_equal(
	    start(0x80200000, 0),
	    "host tree: /reserved-memory: video@100000000: 0x81f00000 lies in Tally "
	    "or its tables");
	/* Behind the tables it is in nobody's way. */
	fdt32_st((char *)fdt_getprop_w(board, node, "reg", NULL) + 4, 0x82000000);
	assert_string_equal(start(0x80200000, 0), "");
}

/* Memory is the machine's, whatever the node says of addresses: a tree that is wrong there keeps
 * what it names all the same. */
static void what_is_kept_without_ranges(void **state)
{
	const fdt32_t both[] = {cpu_to_fdt32(0x81f00000), cpu_to_fdt32(0x100000)};
	struct host_reserved kept;

	(void)state;
	use_board("p550");
	assert_int_equal(fdt_delprop(board, find("/reserved-memory"), "ranges"), 0);
	assert_string_equal(start(0x80200000, 0), "");
	assert_ram(0x80000000, 0x480000000, 0);
	assert_true(host_reserved_find(board, 0x100000000, 1, &kept));
	/* Of one cell each, though the machine's have two. */
	use_board("p550");
	set_u32("/reserved-memory", "#address-cells", 1);
	set_u32("/reserved-memory", "#size-cells", 1);
	for (int node; (node = fdt_first_subnode(board, find("/reserved-memory"))) >= 0;)
		assert_int_equal(fdt_del_node(board, node), 0);
	assert_int_equal(fdt_setprop(board,
	                             fdt_add_subnode(board, find("/reserved-memory"), "video"),
	                             "reg", both, sizeof(both)),
	                 0);
	assert_string_equal(start(0x80200000, 0),
	                    "host tree: /reserved-memory: video: 0x81f00000 lies in Tally or its "
	                    "tables");
}

static void add_broken(const char *name)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, "%s\n", name);
}

static void set_cells(const char *path, uint32_t a, uint32_t b, uint32_t c, uint32_t d, int n)
{
	const fdt32_t cells[] = {cpu_to_fdt32(a), cpu_to_fdt32(b), cpu_to_fdt32(c),
	                         cpu_to_fdt32(d)};

	assert_int_equal(fdt_setprop(board, find(path), "reg", cells, 4 * n), 0);
}

/* Each node once, in boot and in vm-check. One without reg, or that is disabled, is not wrong. */
static void memory_that_cannot_be_read(void **state)
{
	(void)state;
	use_board("p550");
	said[0] = 0;
	tree_broken_memory(board, add_broken);
	assert_string_equal(said, "");
	set_cells("/memory@80000000", 4, 0x80000000, 0, 0, 3);
	set_cells("/reserved-memory/video@100000000", UINT32_MAX, UINT32_MAX, 0, 1, 4);
	fdt_delprop(board, find("/reserved-memory/frames@47fc00000"), "reg");
	tree_broken_memory(board, add_broken);
	assert_string_equal(said, "memory@80000000\nvideo@100000000\n");
	set_text("/memory@80000000", "status", "disabled");
	set_u32("/reserved-memory", "#address-cells", 3);
	set_cells("/reserved-memory/video@100000000", 0, 0, 0, 0, 0);
	said[0] = 0;
	tree_broken_memory(board, add_broken);
	assert_non_null(strstr(said, "coprocessor@47ff00000\n"));
	assert_null(strstr(said, "memory@80000000"));
	set_u32("/reserved-memory", "#size-cells", 1);
	said[0] = 0;
	tree_broken_memory(board, add_broken);
	assert_non_null(strstr(said, "coprocessor@47ff00000\n"));
}

/* Ranges that touch are one bank, in whatever nodes they are. */
static void a_bank_of_several_nodes(void **state)
{
	(void)state;
	assert_string_equal(start_board("k3", 0x100200000, 0), "");
	assert_banks("20000000-30000000 100000000-200000000 900000000-980000000", 0x100000000, 0);
	/* The second range of a node. */
	assert_string_equal(start(0x900200000, 0), "");
	assert_banks("20000000-30000000 100000000-200000000 900000000-980000000", 0x900000000, 0);
	/* High in its bank: the tables are behind it. */
	assert_string_equal(start(0x180200000, 0), "");
	assert_banks("20000000-30000000 100000000-200000000 900000000-980000000", 0x180200000, 0);
}

/* Kept memory says where the firmware is only at the start of the bank, or by no-map. */
static void kept_memory_before_tally(void **state)
{
	const char *const kept = "/reserved-memory/mmode_resv0@100000000";
	const char *const with = "20000000-30000000 100000000-200000000 900000000-980000000";
	const char *const without = "20000000-30000000 180200000-200000000 900000000-980000000";

	(void)state;
	start_board("k3", 0x180200000, 0);
	assert_banks(with, 0x180200000, 0);
	fdt_delprop(board, find(kept), "no-map");
	start(0x180200000, 0);
	assert_banks(with, 0x180200000, 0);
	/* A device's. */
	fdt32_st((char *)fdt_getprop_w(board, find(kept), "reg", NULL) + 4, 0x40000000);
	start(0x180200000, 0);
	assert_banks(without, 0x180200000, 0x80200000);
	assert_int_equal(fdt_setprop(board, find(kept), "no-map", "", 0), 0);
	start(0x180200000, 0);
	assert_banks(with, 0x180200000, 0);
}

/* Tally's tables for 64 harts have room behind its image, if that is up to 8 MiB into the bank. */
static void an_image_that_is_not_at_the_start(void **state)
{
	(void)state;
	use_board("k3");
	start(0x100800000 - IMAGE_SIZE, 0);
	assert_int_equal(platform.ram.tally, 0x100000000);
	start(0x100800000, 0);
	assert_int_equal(platform.ram.tally, 0x100800000);
}

static void memory_that_is_not_there(void **state)
{
	(void)state;
	assert_string_equal(start_board("k3", 0xa00200000, 0),
	                    "host tree: no memory node holds Tally's own address");
	assert_string_equal(start(0x1fff80000, 0),
	                    "host tree: no memory node holds Tally's own address");
}

static void addresses_of_one_cell(void **state)
{
	(void)state;
	assert_string_equal(start_board("narrow", 0x80200000, 4), "");
	assert_banks("80000000-90000000 a0000000-b0000000", 0x80000000, 0);
	assert_int_equal(platform.tree_base, 0x88000000);
	assert_int_equal(platform.tree_size, 0x200000);
	assert_string_equal(start(0xa0200000, 4), "");
	assert_banks("80000000-90000000 a0000000-b0000000", 0xa0000000, 0);
}

/* --- harts ----------------------------------------------------------------------------- */

static void assert_hart(uint32_t i, uint64_t hartid, uint32_t place, uint64_t isa)
{
	assert_true(i < platform.n_harts);
	assert_int_equal(platform.harts[i].hartid, hartid);
	assert_int_equal(platform.harts[i].irq_place, place);
	assert_int_equal(platform.harts[i].isa & isa, isa);
}

static void harts_of_a_plic(void **state)
{
	(void)state;
	start_board("p550", 0x80200000, 1);
	assert_int_equal(platform.n_harts, 2);
	assert_hart(0, 0, 1, BIT(ISA_H) | BIT(ISA_SSCOFPMF) | isa_named("zba"));
	assert_hart(1, 1, 3, BIT(ISA_H));
	assert_int_equal(platform.harts[0].isa & BIT(ISA_SSTC), 0);
	assert_int_equal(platform.timebase, 1000000);
	assert_string_equal(platform.mmu_type, "riscv,sv48");
	assert_int_equal(platform.irqchip.kind, IRQCHIP_PLIC);
}

/* One is disabled, and one lacks H. */
static void harts_that_are_not_used(void **state)
{
	(void)state;
	start_board("k3", 0x100200000, 0);
	assert_int_equal(platform.n_harts, 2);
	assert_hart(0, 0, 0, BIT(ISA_H) | BIT(ISA_V) | BIT(ISA_SSAIA) | isa_named("svinval"));
	assert_int_equal(platform.harts[0].blocks.zicboz, 64);
	assert_hart(1, 2, 2, BIT(ISA_SSTC));
	assert_null(unusable(0));
	assert_string_equal(unusable(1), "it has no H extension");
	assert_int_equal(platform.timebase, 24000000);
	assert_int_equal(platform.irqchip.kind, IRQCHIP_IMSIC);
	assert_int_equal(platform.imsic.base, 0xe0400000);
	assert_int_equal(platform.imsic.ids, 127);
	assert_string_equal(start(0x100200000, 2),
	                    "no guest can run on boot hart 2: it has no H extension");
	assert_int_equal(asked, 1);
	assert_string_equal(start(0x100200000, 1),
	                    "host tree: /cpus has no node of boot hart 1, or it is disabled");
}

#define IMSIC "/soc/imsics@e0400000"

/* Two groups, of two harts and of one. Each hart has 8 pages. */
static void harts_in_groups(void **state)
{
	const uint64_t reg[] = {cpu_to_fdt64(0xe0400000), cpu_to_fdt64(0x10000),
	                        cpu_to_fdt64(0xe1400000), cpu_to_fdt64(0x8000)};
	int imsic;

	(void)state;
	use_board("k3");
	imsic = find(IMSIC);
	fdt_setprop_u32(board, imsic, "riscv,group-index-bits", 1);
	fdt_setprop_u32(board, imsic, "riscv,hart-index-bits", 3);
	assert_int_equal(fdt_setprop(board, imsic, "reg", reg, sizeof(reg)), 0);
	assert_string_equal(start(0x100200000, 0), "");
	assert_hart(0, 0, 0, BIT(ISA_H));
	assert_hart(1, 2, 1 << 3, BIT(ISA_SSTC));
	assert_int_equal(platform.imsic.base, 0xe0400000);
	assert_int_equal(platform.imsic.hart_bits, 3);
	assert_int_equal(platform.imsic.group_shift, 24);
	assert_int_equal(platform.imsic.ids, 127);
	/* So many bits as the harts need. */
	fdt_delprop(board, find(IMSIC), "riscv,hart-index-bits");
	assert_string_equal(start(0x100200000, 0), "");
	assert_hart(1, 2, 1 << 2, BIT(ISA_SSTC));
	assert_int_equal(platform.imsic.hart_bits, 2);
	/* The second group is not where its number is in the address. */
	fdt_setprop_u32(board, find(IMSIC), "riscv,group-index-shift", 25);
	assert_string_equal(start(0x100200000, 0), "");
	assert_int_equal(platform.irqchip.kind, IRQCHIP_NONE);
	assert_int_equal(platform.imsic.ids, 0);
	/* No group may be among the harts. */
	fdt_setprop_u32(board, find(IMSIC), "riscv,group-index-shift", 16);
	assert_string_equal(start(0x100200000, 0), "");
	assert_int_equal(platform.irqchip.kind, IRQCHIP_NONE);
}

/* Three groups of one hart: no bit is the hart's. The first hart has not all of its pages. */
static void groups_of_one_hart(void **state)
{
	const uint64_t reg[] = {cpu_to_fdt64(0xe0400000), cpu_to_fdt64(0x7000),
	                        cpu_to_fdt64(0xe1400000), cpu_to_fdt64(0x8000),
	                        cpu_to_fdt64(0xe2400000), cpu_to_fdt64(0x8000)};
	int imsic;

	(void)state;
	use_board("k3");
	imsic = find(IMSIC);
	fdt_setprop_u32(board, imsic, "riscv,group-index-bits", 2);
	fdt_setprop_u32(board, imsic, "riscv,hart-index-bits", 0);
	assert_int_equal(fdt_setprop(board, imsic, "reg", reg, sizeof(reg)), 0);
	assert_string_equal(start(0x100200000, 0), "");
	assert_hart(0, 0, 0, BIT(ISA_H));
	assert_hart(1, 2, 2, BIT(ISA_SSTC));
	assert_int_equal(platform.imsic.base, 0xe0400000);
	assert_int_equal(platform.imsic.hart_bits, 0);
	assert_int_equal(platform.imsic.group_shift, 24);
}

static void a_board_without_h(void **state)
{
	(void)state;
	assert_string_equal(start_board("jh7110", 0x40200000, 1),
	                    "no guest can run on boot hart 1: it has no H extension");
	assert_int_equal(asked, 0);
	assert_int_equal(platform.n_harts, 1);
}

static void isa_strings(void **state)
{
	uint64_t first = BIT(ISA_H) | BIT(ISA_V) | BIT(ISA_SSCOFPMF) | BIT(ISA_SSTC) |
	                 BIT(ISA_ZICBOZ) | isa_named("svinval") | isa_named("zic64b");

	(void)state;
	assert_string_equal(start_board("kunminghu", 0x80200000, 0), "");
	assert_int_equal(platform.harts[0].isa, first);
	assert_int_equal(platform.harts[1].isa, isa_named("zihintpause") | BIT(ISA_ZICBOM));
	assert_string_equal(platform.mmu_type, "riscv,sv57");
	assert_int_equal(platform.irqchip.kind, IRQCHIP_NONE);
}

/* B stands for three extensions, in a string and in a list. */
static void isa_with_b(void **state)
{
	const uint64_t b = isa_named("zba") | isa_named("zbb") | isa_named("zbs");

	(void)state;
	use_board("kunminghu");
	fdt_delprop(board, find("/cpus/cpu@1"), "riscv,isa-extensions");
	set_text("/cpus/cpu@1", "riscv,isa", "rv64imafdcbvh_zbc_zfh");
	assert_string_equal(start(0x80200000, 0), "");
	assert_int_equal(platform.harts[1].isa,
	                 b | BIT(ISA_H) | BIT(ISA_V) | isa_named("zbc") | isa_named("zfh"));
	assert_int_equal(fdt_setprop(board, find("/cpus/cpu@1"), "riscv,isa-extensions", "h\0B", 4),
	                 0);
	assert_string_equal(start(0x80200000, 0), "");
	assert_int_equal(platform.harts[1].isa, b | BIT(ISA_H));
}

static void ids_and_places_in_another_order(void **state)
{
	(void)state;
	start_board("narrow", 0x80200000, 4);
	assert_int_equal(platform.n_harts, 3);
	assert_hart(0, 4, 3, BIT(ISA_H));
	assert_hart(1, 5, 0, BIT(ISA_H));
	assert_hart(2, 0x50, IRQCHIP_NOWHERE, BIT(ISA_H));
	for (uint32_t i = 0; i < 3; i++)
		assert_null(unusable(i));
	assert_int_equal(platform.irqchip.base, 0x14000000);
	assert_string_equal(start(0x80200000, 0x50), "");
	assert_int_equal(asked, 0);
}

static void set_id(const char *path, uint64_t id)
{
	assert_int_equal(fdt_setprop_u64(board, find(path), "reg", id), 0);
}

/* Any that a VM tree can name. */
static void ids_of_clusters(void **state)
{
	(void)state;
	use_board("narrow");
	fdt_setprop_u32(board, find("/cpus"), "#address-cells", 2);
	set_id("/cpus/cpu@4", 0x100);
	set_id("/cpus/cpu@5", 0x100000000);
	set_id("/cpus/cpu@50", UINT32_MAX);
	assert_string_equal(start(0x80200000, 0x100), "");
	assert_hart(0, 0x100, 3, BIT(ISA_H));
	assert_hart(1, 0x100000000, 0, BIT(ISA_H));
	assert_hart(2, UINT32_MAX, IRQCHIP_NOWHERE, BIT(ISA_H));
	assert_null(unusable(0));
	assert_null(unusable(2));
	assert_string_equal(unusable(1), "a VM tree cannot name an id of more than 32 bits");
	assert_string_equal(start(0x80200000, 0x100000000),
	                    "no guest can run on boot hart 4294967296: a VM tree cannot name an id "
	                    "of more than 32 bits");
	assert_int_equal(asked, (0x100 + 1) * 100 + (uint64_t)UINT32_MAX + 1);
}

/* Each is put in front of those before. */
static void add_hart(uint32_t hart, const char *isa)
{
	char name[16];
	int cpu;

	snprintf(name, sizeof(name), "cpu@%x", hart);
	cpu = fdt_add_subnode(board, find("/cpus"), name);
	assert_true(cpu >= 0);
	fdt_setprop_u32(board, cpu, "reg", hart);
	fdt_setprop_string(board, cpu, "riscv,isa", isa);
	fdt_setprop_string(board, cpu, "device_type", "cpu");
}

/* The boot hart is among those that are used. */
static void more_harts_than_tally_runs_on(void **state)
{
	(void)state;
	use_board("narrow");
	for (uint32_t i = 0; i < MAX_HARTS + 20; i++)
		add_hart(0x1000 - i, "rv64imafdch");
	assert_string_equal(start(0x80200000, 5), "");
	assert_int_equal(platform.n_harts, MAX_HARTS);
	assert_int_equal(platform.harts_unused, 23);
	platform.host_tree = board;
	assert_string_equal(hart_why_unused(4), "Tally runs on 64 harts at most");
	for (uint32_t i = 0; i < MAX_HARTS - 1; i++)
		assert_hart(i, 0x1000 - MAX_HARTS - 19 + i, IRQCHIP_NOWHERE, BIT(ISA_H));
	assert_hart(MAX_HARTS - 1, 5, 0, BIT(ISA_H));
}

/* SpacemiT's K3: two clusters of either kind. Those without H are left out by name. */
static void sixteen_harts_of_two_kinds(void **state)
{
	(void)state;
	use_board("narrow");
	for (uint32_t i = 0; i < 16; i++)
		add_hart(0x1f - i, i < 8 ? "rv64imafdcv" : "rv64imafdcvh_sstc");
	assert_string_equal(start(0x80200000, 0x10), "");
	assert_int_equal(platform.n_harts, 16 + 3);
	assert_int_equal(platform.harts_unused, 0);
	for (uint32_t i = 0; i < 16; i++) {
		assert_hart(i, 0x10 + i, IRQCHIP_NOWHERE, BIT(ISA_V));
		if (i < 8)
			assert_null(unusable(i));
		else
			assert_string_equal(unusable(i), "it has no H extension");
	}
}

/* Harts that cannot run guests, and come first, take no place from those that can. */
static void harts_without_h_before_the_others(void **state)
{
	(void)state;
	use_board("narrow");
	for (uint32_t i = 0; i < MAX_HARTS - 1; i++)
		add_hart(0x12f - i, "rv64imafdch");
	for (uint32_t i = 0; i < 8; i++)
		add_hart(0x20 - i, "rv64imafdc");
	assert_string_equal(start(0x80200000, 4), "");
	assert_int_equal(platform.n_harts, MAX_HARTS);
	assert_int_equal(platform.harts_unused, 8 + 2);
	for (uint32_t i = 0; i < MAX_HARTS - 1; i++)
		assert_hart(i, 0x12f - MAX_HARTS + 2 + i, IRQCHIP_NOWHERE, BIT(ISA_H));
	assert_hart(MAX_HARTS - 1, 4, 3, BIT(ISA_H));
	/* A hart without a place has its own reason. */
	platform.host_tree = board;
	assert_string_equal(hart_why_unused(0x19), "it has no H extension");
	assert_null(hart_why_unused(0x18));
	/* If the firmware begins on one of them, it has its place as well. */
	assert_string_equal(start(0x80200000, 0x20),
	                    "no guest can run on boot hart 32: it has no H extension");
	assert_hart(0, 0x20, IRQCHIP_NOWHERE, 0);
	assert_hart(MAX_HARTS - 1, 0x12f, IRQCHIP_NOWHERE, BIT(ISA_H));
	/* Places that nobody needs are theirs, and the report names them. */
	for (uint32_t i = 0; i < 7; i++) {
		char name[16];

		snprintf(name, sizeof(name), "/cpus/cpu@%x", 0x129 + i);
		set_text(name, "status", "disabled");
	}
	assert_string_equal(start(0x80200000, 4), "");
	assert_int_equal(platform.n_harts, MAX_HARTS);
	assert_int_equal(platform.harts_unused, 3);
	assert_hart(0, 0x19, IRQCHIP_NOWHERE, 0);
	assert_hart(4, 0x1d, IRQCHIP_NOWHERE, 0);
	assert_hart(5, 0xf1, IRQCHIP_NOWHERE, BIT(ISA_H));
	assert_hart(MAX_HARTS - 3, 4, 3, BIT(ISA_H));
	assert_hart(MAX_HARTS - 2, 5, 0, BIT(ISA_H));
}

/* Caches may be there, too, with numbers of their own. */
static void what_else_is_among_the_harts(void **state)
{
	(void)state;
	use_board("narrow");
	add_hart(0, "rv64imafdch");
	set_text("/cpus/cpu@0", "device_type", "cache");
	add_hart(1, "rv64imafdch");
	assert_int_equal(fdt_delprop(board, find("/cpus/cpu@1"), "device_type"), 0);
	assert_string_equal(start(0x80200000, 4), "");
	assert_int_equal(platform.n_harts, 3);
	assert_hart(0, 4, 3, BIT(ISA_H));
}

/* The tree that tools/run gives the machine. */
static void prototype_of_kunminghu(void **state)
{
	(void)state;
	assert_string_equal(start_board("../../../dts/boards/xiangshan-kunminghu", 0x80200000, 0),
	                    "");
	assert_true(platform.harts[0].isa & BIT(ISA_H) && platform.harts[0].isa & BIT(ISA_SSAIA));
	assert_int_equal(platform.harts[0].isa, platform.harts[7].isa);
	assert_int_equal(platform.timebase, 1000000);
	assert_int_equal(platform.uart_base, 0x310b0000);
	assert_int_equal(platform.uart_shift, 2);
	assert_int_equal(platform.uart_width, 4);
	assert_int_equal(platform.uart_irq, 10);
	assert_int_equal(platform.irqchip.kind, IRQCHIP_IMSIC);
	assert_int_equal(platform.irqchip.base, 0x31120000);
	assert_int_equal(platform.imsic.base, 0x3b000000);
	assert_int_equal(platform.imsic.file_bits, 3);
	assert_int_equal(platform.imsic.ids, 255);
}

/* --- the clock ------------------------------------------------------------------------- */

static void clocks(void **state)
{
	(void)state;
	/* Of two cells in one node, and one in the other. */
	start_board("kunminghu", 0x80200000, 0);
	assert_int_equal(platform.timebase, 1000000);
	set_u32("/cpus/cpu@1", "timebase-frequency", 2000000);
	assert_string_equal(start(0x80200000, 0), "host tree: cpu@1: its timebase-frequency is not "
	                                          "that of others");
	set_u32("/cpus/cpu@1", "timebase-frequency", 0);
	assert_string_equal(start(0x80200000, 0),
	                    "host tree: cpu@1: timebase-frequency is no clock "
	                    "that Tally knows");
	fdt_setprop_u64(board, find("/cpus/cpu@1"), "timebase-frequency", UINT64_C(5000000000));
	assert_string_equal(start(0x80200000, 0),
	                    "host tree: cpu@1: timebase-frequency is no clock "
	                    "that Tally knows");
	fdt_delprop(board, find("/cpus/cpu@0"), "timebase-frequency");
	fdt_delprop(board, find("/cpus/cpu@1"), "timebase-frequency");
	assert_string_equal(start(0x80200000, 0),
	                    "host tree: no timebase-frequency in /cpus or a hart's node");
	start_board("narrow", 0x80200000, 4);
	assert_int_equal(platform.timebase, 32768);
}

/* --- the console ----------------------------------------------------------------------- */

/* By an alias with options, beside an ns16550a that is disabled. Clock and speed are the
 * firmware's. */
static void a_designware_uart(void **state)
{
	(void)state;
	start_board("p550", 0x80200000, 0);
	assert_uart(0x50900000, 2, 4, 100);
	set_u32("/soc/serial@50900000", "clock-frequency", 1843200);
	set_u32("/soc/serial@50900000", "current-speed", 1500000);
	start(0x80200000, 0);
	assert_uart(0x50900000, 2, 4, 100);
	/* Of an interrupt that the controller does not have there is none. */
	set_u32("/soc/serial@50900000", "interrupts", 521);
	start(0x80200000, 0);
	assert_uart(0x50900000, 2, 4, 0);
	/* Without a stdout-path, the first. */
	fdt_delprop(board, find("/chosen"), "stdout-path");
	start(0x80200000, 0);
	assert_uart(0x50900000, 2, 4, 0);
}

/* Tally does not write to another UART than the board's own console. */
static void the_firmwares_console(void **state)
{
	(void)state;
	start_board("kunminghu", 0x80200000, 0);
	assert_uart(0, 0, 0, 0);
	fdt_delprop(board, find("/chosen"), "stdout-path");
	start(0x80200000, 0);
	assert_uart(0x310b0000, 0, 1, 0);
	set_u32("/soc/serial@310b0000", "reg-io-width", 2);
	start(0x80200000, 0);
	assert_uart(0, 0, 0, 0);
}

static void an_xscale_uart(void **state)
{
	(void)state;
	start_board("k3", 0x100200000, 0);
	assert_uart(0xd4017000, 2, 4, 42);
	/* One that the firmware keeps to itself. */
	set_text("/soc/serial@d4017000", "status", "reserved");
	start(0x100200000, 0);
	assert_uart(0, 0, 0, 0);
}

static void a_uart_behind_a_bus(void **state)
{
	(void)state;
	start_board("narrow", 0x80200000, 4);
	assert_uart(0x10002040, 0, 1, 7);
	/* Its interrupt goes elsewhere. */
	set_u32("/bus/serial@2000", "interrupts-extended", 77);
	start(0x80200000, 4);
	assert_uart(0x10002040, 0, 1, 0);
	/* The harts do not see it. */
	fdt_delprop(board, find("/bus"), "ranges");
	start(0x80200000, 4);
	assert_uart(0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_ram_is_used),
	    cmocka_unit_test(what_is_kept_may_be_off),
	    cmocka_unit_test(what_is_kept_without_ranges),
	    cmocka_unit_test(no_memory_is_kept_from_tally),
	    cmocka_unit_test(memory_that_cannot_be_read),
	    cmocka_unit_test(a_bank_of_several_nodes),
	    cmocka_unit_test(kept_memory_before_tally),
	    cmocka_unit_test(an_image_that_is_not_at_the_start),
	    cmocka_unit_test(memory_that_is_not_there),
	    cmocka_unit_test(addresses_of_one_cell),
	    cmocka_unit_test(harts_of_a_plic),
	    cmocka_unit_test(harts_that_are_not_used),
	    cmocka_unit_test(a_board_without_h),
	    cmocka_unit_test(isa_strings),
	    cmocka_unit_test(isa_with_b),
	    cmocka_unit_test(ids_and_places_in_another_order),
	    cmocka_unit_test(ids_of_clusters),
	    cmocka_unit_test(harts_in_groups),
	    cmocka_unit_test(groups_of_one_hart),
	    cmocka_unit_test(more_harts_than_tally_runs_on),
	    cmocka_unit_test(sixteen_harts_of_two_kinds),
	    cmocka_unit_test(harts_without_h_before_the_others),
	    cmocka_unit_test(what_else_is_among_the_harts),
	    cmocka_unit_test(prototype_of_kunminghu),
	    cmocka_unit_test(clocks),
	    cmocka_unit_test(a_designware_uart),
	    cmocka_unit_test(the_firmwares_console),
	    cmocka_unit_test(an_xscale_uart),
	    cmocka_unit_test(a_uart_behind_a_bus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) + test_host_boards();
}
