/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "tests/host/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/vm_tree.h"

_Alignas(8) uint8_t board[65536];

void use_tree(const char *path)
{
	char command[128];
	FILE *dtc;

	snprintf(command, sizeof(command), "dtc -q -I dts -O dtb %s", path);
	dtc = popen(command, "r");
	assert_non_null(dtc);
	memset(board, 0, sizeof(board));
	assert_true(fread(board, 1, sizeof(board), dtc) > sizeof(struct fdt_header));
	assert_int_equal(pclose(dtc), 0);
	assert_int_equal(fdt_open_into(board, board, sizeof(board)), 0);
	assert_int_equal(fdt_check_full(board, sizeof(board)), 0);
	test_host = board;
}

void use_board(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "tests/host/boards/%s.dts", name);
	use_tree(path);
}

const char *give(void *tree, const char *vm, const char *name, const char *host, const char *dma)
{
	static char at[128];

	snprintf(at, sizeof(at), "%s/devices", vm);
	node(tree, at);
	snprintf(at, sizeof(at), "%s/devices/%s", vm, name);
	set_string(tree, at, "host", host);
	set_string(tree, at, "dma", dma);
	return at;
}

void *one_device(const char *host)
{
	void *tree = good_tree();

	set_bytes(tree, give(tree, "/vms/beta", "clock", host, "none"), "dma-unchecked", "", 0);
	/* No reset is known of most. */
	set_u32(tree, "/vms/beta", "restart-limit", 0);
	return tree;
}
