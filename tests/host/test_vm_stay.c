/* SPDX-License-Identifier: Apache-2.0 */
/* The longest stay on a hart with a schedule, and its least guard (core/tree/vm_stay.h): what
 * each part of a tree adds, and trees at the limits. The sums are written out, as somebody would
 * who has the table of vm_stay.c and a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/vm_stay.h"

#define HART  3U
#define OTHER 4U
/* The turn itself, and a switch. */
#define SBI    (540U + 2510U)
#define SSCCFG (540U + 800U)
/* The longest stay before a turn, unless 2000 and a switch are more. */
#define SBI_PIECE    13000U
#define SSCCFG_PIECE 5000U

static struct vm_tree tree;
static struct vm_schedule s;

/* One more VM with so many vcpus on that hart, without a PMU. */
static struct vm_config *vm(uint32_t vcpus, uint32_t hart)
{
	struct vm_config *vm = &tree.vms[tree.n_vms++];

	assert_in_range(tree.n_vms, 1, VM_MAX_VMS);
	vm->n_vcpus = vcpus;
	for (uint32_t i = 0; i < vcpus; i++)
		vm->vcpus[i].harts = UINT64_C(1) << hart;
	return vm;
}

static void window(uint32_t vcpus)
{
	s.windows[s.n_windows++].vcpus = vcpus;
}

static int setup(void **state)
{
	(void)state;
	memset(&tree, 0, sizeof(tree));
	s = (struct vm_schedule){.hart = HART};
	return 0;
}

/* turn: to the window, with those that are woken; before: the stay that precedes it. */
static void bounds(bool ssccfg, uint64_t hctrs, uint32_t turn, uint32_t before)
{
	uint32_t stay = 2000 + turn, guard = before + turn;

	vm_stay_bounds(&tree, &s, ssccfg, hctrs);
	assert_int_equal(s.longest_stay, stay < 5000 ? 5000 : stay);
	assert_int_equal(s.least_guard_us, guard / 1000 + !!(guard % 1000));
}

/* One vcpu that has a window, which leaves or comes with any turn. */
static void test_one_vcpu(void **state)
{
	(void)state;
	(void)vm(1, HART);
	window(1);
	bounds(false, 0, SBI + 200, SBI_PIECE);
	assert_int_equal(s.least_guard_us, 17);
	bounds(true, 0, SSCCFG + 200, SSCCFG_PIECE);
	assert_int_equal(s.least_guard_us, 7);
}

/* 200 of each vcpu of the window with the most, which the turn wakes. No vcpu costs
 * anything else. */
static void test_vcpus(void **state)
{
	(void)state;
	for (uint32_t beside = 0; beside <= 60; beside++) {
		uint32_t left = beside;

		setup(NULL);
		(void)vm(3, HART);
		while (left) {
			uint32_t n = left < 8 ? left : 8;

			(void)vm(n, HART);
			left -= n;
		}
		window(2);
		window(7);
		window(1);
		bounds(true, 0, SSCCFG + 200 * 3, SSCCFG_PIECE);
	}
	assert_int_equal(s.longest_stay, 5000);
	assert_int_equal(s.least_guard_us, 7);
	window(0xff);
	bounds(true, 0, SSCCFG + 200 * 8, SSCCFG_PIECE);
	assert_int_equal(s.least_guard_us, 8);
}

/* Wires of VMs with a vcpu on that hart and a PLIC; one of a device whose interrupts nobody knows.
 */
static void test_wires(void **state)
{
	uint32_t turn = SBI + 200;
	struct vm_config *alpha = vm(1, HART), *beta = vm(1, HART), *away = vm(1, OTHER);

	(void)state;
	window(1);
	bounds(false, 0, turn, SBI_PIECE);
	alpha->n_devices = 3;
	alpha->devices[0].n_irqs = 4;
	alpha->devices[2].n_irqs = 1;
	bounds(false, 0, turn + 6 * 40, SBI_PIECE);
	beta->n_devices = 1;
	beta->devices[0].n_irqs = 2;
	bounds(false, 0, turn + 8 * 40, SBI_PIECE);
	away->n_devices = 16;
	bounds(false, 0, turn + 8 * 40, SBI_PIECE);
	alpha->aia = true;
	bounds(false, 0, turn + 2 * 40, SBI_PIECE);
}

/* Those of the VM with the most, as far as the harts have them, and no more than five. A switch
 * with five takes the firmware longer than its longest piece. */
static void test_counters(void **state)
{
	uint32_t sbi = SBI + 200, ssccfg = SSCCFG + 200;
	struct vm_config *alpha = vm(1, HART), *beta = vm(1, HART), *away = vm(1, OTHER);

	(void)state;
	window(1);
	alpha->pmu_counters = 0x5;
	beta->pmu_counters = 0x38;
	away->pmu_counters = VM_ALL_COUNTERS;
	bounds(false, 0, sbi + 3 * 2280, SBI_PIECE);
	bounds(true, 0, ssccfg + 3 * 280, SSCCFG_PIECE);
	bounds(true, 0x1d, ssccfg + 2 * 280, SSCCFG_PIECE);
	beta->pmu_counters = VM_ALL_COUNTERS;
	bounds(false, 0, sbi + 5 * 2280, 2000 + 2510 + 5 * 2280);
	bounds(true, 0, ssccfg + 5 * 280, SSCCFG_PIECE);
	bounds(false, 0x1d, sbi + 4 * 2280, 2000 + 2510 + 4 * 2280);
	/* A budget takes one of the hart's, whether or not its VM has some. */
	alpha->pmu_counters = beta->pmu_counters = 0;
	bounds(false, 0, sbi, SBI_PIECE);
	beta->budget.count = 1;
	bounds(false, 0, sbi + 2280, SBI_PIECE);
	beta->pmu_counters = 0x5;
	bounds(false, 0, sbi + 2 * 2280, SBI_PIECE);
}

/* Sixteen VMs with as many vcpus, windows and interrupts as a tree may have. */
static void test_sixteen_vms(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < VM_MAX_VMS; i++) {
		struct vm_config *each = vm(VM_MAX_ALL_VCPUS / VM_MAX_VMS, HART);

		each->n_devices = VM_MAX_DEVICES;
		each->aia = i > 0;
		each->pmu_counters = VM_ALL_COUNTERS;
		window(0xf);
	}
	bounds(true, 0, SSCCFG + 5 * 280 + 4 * 200 + 16 * 40, SSCCFG_PIECE);
	assert_int_equal(s.least_guard_us, 10);
	/* A device of a VM has four at most, and all VMs together 62. */
	for (uint32_t i = 0; i < VM_MAX_DEVICES; i++)
		tree.vms[0].devices[i].n_irqs = i < 14 ? 4 : 3;
	bounds(true, 0, SSCCFG + 5 * 280 + 4 * 200 + 62 * 40, SSCCFG_PIECE);
	assert_int_equal(s.longest_stay, 8020);
	assert_int_equal(s.least_guard_us, 12);
	bounds(false, 0, SBI + 5 * 2280 + 4 * 200 + 62 * 40, 2000 + 2510 + 5 * 2280);
	assert_int_equal(s.longest_stay, 19730);
	assert_int_equal(s.least_guard_us, 34);
}

/* A vcpu that may run on several harts counts on each. */
static void test_vcpus_that_move(void **state)
{
	struct vm_config *alpha = vm(4, OTHER);

	(void)state;
	(void)vm(1, HART);
	window(1);
	bounds(true, 0, SSCCFG + 200, SSCCFG_PIECE);
	alpha->vcpus[1].harts |= UINT64_C(1) << HART;
	alpha->vcpus[3].harts |= UINT64_C(1) << HART;
	bounds(true, 0, SSCCFG + 200, SSCCFG_PIECE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_one_vcpu, setup),
	    cmocka_unit_test_setup(test_vcpus, setup),
	    cmocka_unit_test_setup(test_wires, setup),
	    cmocka_unit_test_setup(test_counters, setup),
	    cmocka_unit_test_setup(test_sixteen_vms, setup),
	    cmocka_unit_test_setup(test_vcpus_that_move, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
