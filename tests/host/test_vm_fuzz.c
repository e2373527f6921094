/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged VM trees: each is refused or keeps every promise, and no byte behind its end is read,
 * neither by the parser nor by libfdt: there the memory ends.
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/tree/parse.h"

#include <cmocka.h>
#include <libfdt.h>

#include "tests/fuzz/fuzz_vm_config.h"
#include "tests/host/vm_tree.h"

#define ROOM 65536U

static uint8_t *room_end; /* the page behind it cannot be read */

static int map_room(void **state)
{
	uint8_t *room =
	    mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (room == MAP_FAILED || mprotect(room + ROOM, 4096, PROT_NONE))
		return -1;
	room_end = room + ROOM;
	return 0;
}

/* The good tree with small images and all optional properties, ending where the memory ends. */
static uint8_t *small_tree(uint32_t *size)
{
	static const uint8_t counters[] = {0, 0, 0, 2, 0, 0, 0, 3};
	static const uint8_t events[] = {0, 0, 0, 2, 0, 1, 0, 0x19, 0, 0xf, 1, 0};
	/* 0x84000000 and 0x88000000, 32 MiB each. */
	static const uint8_t memory[32] = {[4] = 0x84, [12] = 2, [20] = 0x88, [28] = 2};
	uint8_t image[64] = {0};
	void *t = good_tree();
	uint8_t *copy;

	image[18] = 0x80;
	memcpy(image + 56, "RSC\x05", 4);
	set_bytes(t, "/images/linux", "data", image, sizeof(image));
	set_bytes(t, "/images/raw", "data", "xyz", 3);
	set_bytes(t, "/images/cpio", "data", "xyz", 3);
	set_bytes(t, "/vms/alpha", "memory-at", memory, sizeof(memory));
	set_string(t, "/vms/beta", "console", "off");
	set_string(t, "/vms/beta", "pmu", "on");
	set_string(t, "/vms/beta", "pmu-reads", "trap");
	set_u64(t, "/vms/beta", "load-offset", 4096);
	set_bytes(t, "/vms/beta", "pmu-counters", counters, sizeof(counters));
	set_bytes(t, "/vms/beta", "pmu-events", events, sizeof(events));
	set_string(t, "/vms/beta", "pmu-snapshot", "on");
	set_u32(t, "/vms/alpha/vcpu0", "harts", 63);
	set_string(t, "/vms/beta", "pmu-freeze", "vcpu");
	set_string(t, "/vms/beta", "pmu-idle-cycles", "on");
	assert_int_equal(fdt_pack(t), 0);
	accepted(t);
	/* The parser wants 8-byte alignment, so the tree is lengthened to a multiple of 8. */
	*size = (fdt_totalsize(t) + 7) & ~7U;
	fdt_set_totalsize(t, *size);
	copy = room_end - *size;
	memcpy(copy, t, *size);
	return copy;
}

/* Every byte, every value. */
static void each_byte(void **state)
{
	uint32_t size;
	uint8_t *t = small_tree(&size);

	(void)state;
	for (uint32_t i = 0; i < size; i++) {
		uint8_t good = t[i];

		for (unsigned int value = 0; value < 256; value++) {
			t[i] = (uint8_t)value;
			LLVMFuzzerTestOneInput(t, size);
		}
		t[i] = good;
	}
	assert_true(accepted(t)->n_vms == 2);
}

/* Every word becomes one of those that mean something to a device tree. */
static void each_word(void **state)
{
	static const uint32_t words[] = {
	    0,          1,          2,          3,       4,      9,  0xd00dfeed, 0xffffffff,
	    0x7fffffff, 0x80000000, 0xfffffffc, 0x10000, 0x1000, 40, 0x7ffffffc};
	uint32_t size;
	uint8_t *t = small_tree(&size);

	(void)state;
	for (uint32_t i = 0; i + 4 <= size; i += 4) {
		uint8_t good[4];

		memcpy(good, t + i, 4);
		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
			fdt32_t word = cpu_to_fdt32(words[w]);

			memcpy(t + i, &word, 4);
			LLVMFuzzerTestOneInput(t, size);
		}
		memcpy(t + i, good, 4);
	}
	assert_true(accepted(t)->n_vms == 2);
}

/* Cut at every length: behind the cut the memory ends, and only the whole tree is accepted. */
static void each_length(void **state)
{
	static struct vm_tree tree;
	struct vm_refusal why;
	uint32_t size;
	uint8_t *t = small_tree(&size);
	uint8_t *whole = malloc(size);

	(void)state;
	memcpy(whole, t, size);
	for (uint32_t length = 0; length < size; length++) {
		uint8_t *cut = room_end - ((length + 7) & ~7U);

		memcpy(cut, whole, length);
		assert_false(vm_config_parse(cut, length, &test_limits, &tree, &why));
		assert_int_equal(why.code, VM_REFUSED_BLOB);
	}
	free(whole);
}

/* Up to four places at once, by a fixed sequence of numbers. */
static void many_bytes(void **state)
{
	uint32_t size;
	uint8_t *t = small_tree(&size);
	uint8_t *good = malloc(size);
	uint64_t random = 1;

	(void)state;
	memcpy(good, t, size);
	for (unsigned int round = 0; round < 200000; round++) {
		for (unsigned int n = 0; n < 4; n++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			t[(random >> 33) % size] =
			    n & 1 ? (uint8_t)(random >> 20 & 15) : (uint8_t)(random >> 20);
			if (random >> 62 == 0)
				break;
		}
		LLVMFuzzerTestOneInput(t, size);
		memcpy(t, good, size);
	}
	free(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_byte),
	    cmocka_unit_test(each_word),
	    cmocka_unit_test(each_length),
	    cmocka_unit_test(many_bytes),
	};

	return cmocka_run_group_tests(tests, map_room, NULL);
}
