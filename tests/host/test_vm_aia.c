/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser: `interrupts`, and who can have a guest interrupt file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/host/board.h"
#include "tests/host/vm_tree.h"
#include "tools/vm_check/tree.h"

#define ALPHA "/vms/alpha"
#define BETA  "/vms/beta"

static uint32_t files;

static uint32_t guest_files(uint32_t hart)
{
	return hart == 2 ? 0 : files;
}

/* Alpha's first vcpu may be on two harts in the good tree; here both are on hart 2. */
static void *aia_tree(void)
{
	void *t = good_tree();

	set_string(t, ALPHA, "interrupts", "aia");
	set_u32(t, ALPHA "/vcpu0", "harts", 2);
	return t;
}

static struct vm_limits boot(uint32_t n)
{
	struct vm_limits limits = test_limits;

	files = n;
	limits.guest_files = guest_files;
	return limits;
}

static void words(void **state)
{
	void *t = good_tree();

	(void)state;
	test_host = NULL;
	assert_false(accepted(t)->vms[0].aia);
	set_string(t, BETA, "interrupts", "plic");
	assert_false(accepted(t)->vms[1].aia);
	set_string(t, BETA, "interrupts", "aia");
	assert_true(accepted(t)->vms[1].aia);
	assert_false(accepted(t)->vms[0].aia);
	set_string(t, BETA, "interrupts", "imsic");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: interrupts: is not \"plic\" or \"aia\"");
	set_string(t, BETA, "interrupts", "AIA");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: interrupts: is not \"plic\" or \"aia\"");
}

static void one_hart_each(void **state)
{
	void *t = good_tree();

	(void)state;
	set_string(t, ALPHA, "interrupts", "aia");
	refused(t, VM_REFUSED_GUEST_FILES,
	        "/vms/alpha: interrupts: \"aia\" keeps each vcpu on one hart, and vcpu0 may be on "
	        "several");
	set_string(t, ALPHA, "interrupts", "plic");
	assert_true(accepted(t));
}

static void files_of_a_hart(void **state)
{
	struct vm_limits limits = boot(2);
	void *t = aia_tree();

	(void)state;
	assert_true(accepted_on(&limits, t)->vms[0].aia);
	limits = boot(1);
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/alpha: interrupts: \"aia\": hart 2 has 1 guest interrupt file, and vcpu1 "
	           "would be number 2 there");
	limits = boot(0);
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/alpha: interrupts: \"aia\": hart 2 has no guest interrupt files");
	/* Those of the VMs before count; vcpus with a PLIC do not. */
	set_string(t, BETA, "interrupts", "aia");
	set_u32(t, BETA "/vcpu0", "harts", 2);
	limits = boot(2);
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/beta: interrupts: \"aia\": hart 2 has 2 guest interrupt files, and vcpu0 "
	           "would be number 3 there");
	limits = boot(3);
	assert_true(accepted_on(&limits, t)->vms[1].aia);
	limits = boot(1);
	set_string(t, ALPHA, "interrupts", "plic");
	assert_true(accepted_on(&limits, t)->vms[1].aia);
	set_u32(t, BETA "/vcpu0", "harts", 63);
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/beta: interrupts: \"aia\": hart 63 has no guest interrupt files");
}

static uint32_t files_of_board(uint32_t hart)
{
	return tree_guest_files(board, test_limits.harts.ids[hart]);
}

/* Offline the host's tree tells: guest-index-bits; nothing without an IMSIC. */
static void files_by_the_tree(void **state)
{
	static const char imsic[] = "/soc/interrupt-controller@28000000";
	struct vm_limits limits = test_limits;
	void *t = aia_tree();

	(void)state;
	limits.guest_files = files_of_board;
	use_board("plic");
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/alpha: interrupts: \"aia\": hart 2 has no guest interrupt files");
	use_board("aplic");
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/alpha: interrupts: \"aia\": hart 2 has no guest interrupt files");
	/* Hart 2 is none of those whose S-mode it interrupts. */
	set_u32(board, imsic, "riscv,guest-index-bits", 1);
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/alpha: interrupts: \"aia\": hart 2 has no guest interrupt files");
	set_u32(board, "/cpus/cpu@0", "reg", 2);
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/alpha: interrupts: \"aia\": hart 2 has 1 guest interrupt file, and vcpu1 "
	           "would be number 2 there");
	set_u32(board, imsic, "riscv,guest-index-bits", 2);
	assert_true(accepted_on(&limits, t)->vms[0].aia);
	/* Of M-mode's nobody has one. */
	set_u32(board, imsic, "riscv,guest-index-bits", 0);
	set_u32(board, "/soc/interrupt-controller@24000000", "riscv,guest-index-bits", 2);
	refused_on(&limits, t, VM_REFUSED_GUEST_FILES,
	           "/vms/alpha: interrupts: \"aia\": hart 2 has no guest interrupt files");
	test_host = NULL;
	assert_true(accepted(t)->vms[0].aia);
}

int test_vm_aia(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words),
	    cmocka_unit_test(one_hart_each),
	    cmocka_unit_test(files_of_a_hart),
	    cmocka_unit_test(files_by_the_tree),
	};

	return cmocka_run_group_tests_name("vm_aia", tests, NULL, NULL);
}
