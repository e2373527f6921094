/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts for tests, compiled by dtc when a test wants one: trees of tests/host/boards, which are odd
 * on purpose, and others. */
#ifndef TESTS_HOST_BOARD_H
#define TESTS_HOST_BOARD_H

#include <stdint.h>

extern _Alignas(8) uint8_t board[65536];

/* Makes a tree, of a .dts, the host of the next parse (test_host in vm_tree.h). It has room for
 * changes. */
void use_tree(const char *path);

/* The same for tests/host/boards/NAME.dts. */
void use_board(const char *name);

/* Gives a VM, /vms/NAME, a device, and returns its path in the VM tree until the next call. */
const char *give(void *tree, const char *vm, const char *name, const char *host, const char *dma);

/* The good tree of vm_tree.h whose VM "beta", with one life, has the device "clock" unchecked. */
void *one_device(const char *host);

#endif
