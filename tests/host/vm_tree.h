/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VM trees for tests. A test takes the good tree, changes one thing with libfdt's editing
 * functions, and checks what the parser says.
 */
#ifndef TESTS_HOST_VM_TREE_H
#define TESTS_HOST_VM_TREE_H

#include "core/host/vm_config.h"

/* The machine of the tests: harts 0, 2 and 63, counters 0, 2 to 5, room for 128 MiB of guests from
 * 0x82000000 on. */
extern const struct vm_limits test_limits;

/* Divides RAM, with a VM tree in whole steps at the end of Tally's bank. */
void tree_at_the_end(const struct vm_ram *ram, uint64_t tree_size, struct vm_guests *guests);
/* The hart that is not as the node /pmu says; at first none. */
extern uint32_t contradicting_hart;

/* The host's tree that the parser is given; NULL at first. */
extern const void *test_host;

/* Images of the good tree, and their phandles. */
#define RAW_SIZE     100U
#define RAW_PHANDLE  1U
#define LINUX_SIZE   4096U
#define LINUX_HANDLE 2U
#define CPIO_SIZE    5000U
#define CPIO_PHANDLE 3U
/* What the Image header of "linux" says. */
#define LINUX_TEXT_OFFSET 0x200000U
#define LINUX_SPAN        0x800000U

#define TREE_BUFFER 65536U

/*
 * Returns the good tree: VM "alpha" with 64 MiB, "linux", the initrd and two vcpus; VM "beta" with
 * 2 MiB, "raw" and one vcpu. It is in a static buffer of TREE_BUFFER bytes, with room to add
 * things, and valid until the next call.
 */
void *good_tree(void);

/* Editing functions. All fail the test if libfdt refuses. node() creates the last part of a path
 * that does not exist. */
int node(void *tree, const char *path);
void set_u32(void *tree, const char *path, const char *name, uint32_t value);
void set_u64(void *tree, const char *path, const char *name, uint64_t value);
void set_bytes(void *tree, const char *path, const char *name, const void *data, int size);
void set_string(void *tree, const char *path, const char *name, const char *value);
void delete_prop(void *tree, const char *path, const char *name);
void delete_node(void *tree, const char *path);

/* "text_offset", "image_size" or "flags" in the Image header of "linux". */
void set_image_field(void *tree, const char *field, uint64_t value);

/* Parses, and fails the test unless the tree is accepted. */
const struct vm_tree *accepted(const void *tree);

/* Parses, and fails the test unless the tree is refused with this code and this text, and for
 * nothing else. */
void refused(const void *tree, enum vm_refusal_code code, const char *text);

/* test_vm_pmu.c: the number of failed tests. */
int test_vm_pmu(void);
/* test_vm_life.c: the same. */
int test_vm_life(void);
/* test_vm_devices.c: the same. */
int test_vm_devices(void);
/* test_vm_functions.c: the same. */
int test_vm_functions(void);
/* test_vm_aia.c: the same. */
int test_vm_aia(void);
/* test_vm_machine.c: the same. */
int test_vm_machine(void);
/* test_vm_memory.c: the same. */
int test_vm_memory(void);
/* test_vm_harts.c: the same. */
int test_vm_harts(void);
/* test_vm_turns.c: the same. */
int test_vm_turns(void);
/* test_vm_schedule.c: the same. */
int test_vm_schedule(void);
/* test_vm_budget.c: the same. */
int test_vm_budget(void);
/* test_vm_shared.c, test_vm_bell.c, test_vm_networks.c: the same. */
int test_vm_shared(void);
int test_vm_bell(void);
int test_vm_networks(void);
/* test_vm_operator.c: the same. */
int test_vm_operator(void);
/* test_pmu_node.c: the same. */
int test_pmu_node(void);

/* The same for another machine. */
const struct vm_tree *accepted_on(const struct vm_limits *limits, const void *tree);
void refused_on(const struct vm_limits *limits, const void *tree, enum vm_refusal_code code,
                const char *text);
/* What else is refused does not matter. */
void refused_first(const void *tree, enum vm_refusal_code code, const char *text);
void refused_first_on(const struct vm_limits *limits, const void *tree, enum vm_refusal_code code,
                      const char *text);

/* Returns how many lines tell what is refused; *them is where they are until the next call. */
uint32_t all_refused_on(const struct vm_limits *limits, const void *tree,
                        char (**them)[VM_REFUSAL_TEXT]);

/* Whether refused() succeeded with that code. */
bool was_refused(enum vm_refusal_code code);

/* Fails the test if the result breaks a promise of core/host/vm_config.h, whatever the blob
 * was. */
void check_promises(bool ok, const struct vm_limits *limits, const struct vm_tree *tree,
                    const struct vm_refusal *why, const void *blob, uint64_t size);

#endif
