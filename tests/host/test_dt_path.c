/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and aliases in a device tree; libfdt's own function must say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/host/dt_path.h"

static _Alignas(8) uint8_t dt[4096];

static int build(void **state)
{
	(void)state;
	fdt_create(dt, sizeof(dt));
	fdt_finish_reservemap(dt);
	fdt_begin_node(dt, "");
	fdt_property(dt, "compatible", "board\0any", 10);
	fdt_begin_node(dt, "soc");
	fdt_begin_node(dt, "serial@10");
	fdt_property(dt, "reg", "uart", 5);
	fdt_property(dt, "compatible", "ns16550\0uart", 13);
	fdt_begin_node(dt, "child");
	fdt_end_node(dt);
	fdt_end_node(dt);
	fdt_begin_node(dt, "serial@20");
	fdt_property(dt, "compatible", "uart", 5);
	fdt_property(dt, "compatible-not", "ns16550", 8);
	fdt_end_node(dt);
	fdt_end_node(dt);
	fdt_begin_node(dt, "memory@0");
	fdt_property_string(dt, "device_type", "memory");
	fdt_begin_node(dt, "below");
	fdt_property_string(dt, "device_type", "memory");
	fdt_end_node(dt);
	fdt_end_node(dt);
	fdt_begin_node(dt, "aliases");
	fdt_property_string(dt, "device_type", "memoryless");
	fdt_property_string(dt, "serial1", "/soc/serial@20");
	fdt_property_string(dt, "serial0", "/soc/serial@10");
	fdt_property_string(dt, "gone", "/soc/no");
	fdt_property_string(dt, "itself", "itself");
	fdt_property_string(dt, "other", "serial0");
	fdt_property(dt, "open", "/soc", 4);
	fdt_end_node(dt);
	fdt_begin_node(dt, "memory@1");
	fdt_property_string(dt, "device_type", "memory");
	fdt_end_node(dt);
	fdt_end_node(dt);
	return fdt_finish(dt);
}

static void assert_node(const char *path, const char *name)
{
	int node = dt_path(dt, path, strlen(path));

	assert_true(node >= 0);
	assert_string_equal(fdt_get_name(dt, node, NULL), name);
	assert_int_equal(node, fdt_path_offset(dt, path));
}

static void paths(void **state)
{
	(void)state;
	assert_node("/", "");
	assert_node("/soc", "soc");
	assert_node("/soc/serial@20", "serial@20");
	assert_node("/soc//serial@10/child", "child");
	assert_node("/soc/serial", "serial@10");
}

static void aliases(void **state)
{
	(void)state;
	assert_node("serial0", "serial@10");
	assert_node("serial1", "serial@20");
	assert_node("serial0/child", "child");
}

static void part_of_the_text(void **state)
{
	(void)state;
	assert_int_equal(dt_path(dt, "serial1:115200n8", 7), fdt_path_offset(dt, "serial1"));
	assert_int_equal(dt_path(dt, "/soc/serial@20:9600", 14),
	                 fdt_path_offset(dt, "/soc/serial@20"));
}

/* An alias of an alias leads nowhere, so none can lead to itself. */
static void nowhere(void **state)
{
	static const char *const none[] = {
	    "",       "no",    "serial", "/no",        "/soc/no/child",
	    "itself", "other", "gone",   "serial0/no", "open"};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_true(dt_path(dt, none[i], strlen(none[i])) < 0);
}

/* Not those that are deeper. */
static void memory(void **state)
{
	int node = dt_memory(dt, -1);

	(void)state;
	assert_string_equal(fdt_get_name(dt, node, NULL), "memory@0");
	node = dt_memory(dt, node);
	assert_string_equal(fdt_get_name(dt, node, NULL), "memory@1");
	assert_int_equal(dt_memory(dt, node), -FDT_ERR_NOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paths),
	    cmocka_unit_test(aliases),
	    cmocka_unit_test(part_of_the_text),
	    cmocka_unit_test(nowhere),
	    cmocka_unit_test(memory),
	};

	return cmocka_run_group_tests(tests, build, NULL);
}
