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
/* 2000 of a stay in which a piece of work still begins, 600 of the turn itself, and a switch. */
#define SBI    (2000U + 600U + 2450U)
#define SSCCFG (2000U + 600U + 740U)
#define PIECE  13000U

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

/* stay: all but a piece of work, which no stay of so many vcpus has; guard: all of it. */
static void bounds(bool ssccfg, uint64_t hctrs, uint32_t stay, uint32_t guard)
{
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
	bounds(false, 0, SBI + 200, SBI + 200 + PIECE);
	assert_int_equal(s.least_guard_us, 19);
	bounds(true, 0, SSCCFG + 200, SSCCFG + 200 + PIECE);
	assert_int_equal(s.least_guard_us, 17);
}

/* 200 of the first eight vcpus, which are woken. No vcpu costs anything else. */
static void test_vcpus(void **state)
{
	(void)state;
	for (uint32_t beside = 0; beside <= 60; beside++) {
		uint32_t all = 3 + beside, woken = all < 8 ? all : 8, left = beside;

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
		bounds(true, 0, SSCCFG + 200 * woken, SSCCFG + 200 * woken + PIECE);
	}
	assert_int_equal(s.longest_stay, 5000);
	assert_int_equal(s.least_guard_us, 18);
}

/* Wires of VMs with a vcpu on that hart and a PLIC; one of a device whose interrupts nobody knows.
 */
static void test_wires(void **state)
{
	uint32_t base = SBI + 200 * 2, guard = SBI + 200 * 2 + PIECE;
	struct vm_config *alpha = vm(1, HART), *beta = vm(1, HART), *away = vm(1, OTHER);

	(void)state;
	window(1);
	bounds(false, 0, base, guard);
	alpha->n_devices = 3;
	alpha->devices[0].n_irqs = 4;
	alpha->devices[2].n_irqs = 1;
	bounds(false, 0, base + 6 * 40, guard + 6 * 40);
	beta->n_devices = 1;
	beta->devices[0].n_irqs = 2;
	bounds(false, 0, base + 8 * 40, guard + 8 * 40);
	away->n_devices = 16;
	bounds(false, 0, base + 8 * 40, guard + 8 * 40);
	alpha->aia = true;
	bounds(false, 0, base + 2 * 40, guard + 2 * 40);
}

/* Those of the VM with the most, as far as the harts have them, and no more than five. */
static void test_counters(void **state)
{
	uint32_t stay = 200 * 2, guard = 200 * 2 + PIECE;
	struct vm_config *alpha = vm(1, HART), *beta = vm(1, HART), *away = vm(1, OTHER);

	(void)state;
	window(1);
	alpha->pmu_counters = 0x5;
	beta->pmu_counters = 0x38;
	away->pmu_counters = VM_ALL_COUNTERS;
	bounds(false, 0, SBI + 3 * 2280 + stay, SBI + 3 * 2280 + guard);
	bounds(true, 0, SSCCFG + 3 * 280 + stay, SSCCFG + 3 * 280 + guard);
	bounds(true, 0x1d, SSCCFG + 2 * 280 + stay, SSCCFG + 2 * 280 + guard);
	beta->pmu_counters = VM_ALL_COUNTERS;
	bounds(false, 0, SBI + 5 * 2280 + stay, SBI + 5 * 2280 + guard);
	bounds(false, 0x1d, SBI + 4 * 2280 + stay, SBI + 4 * 2280 + guard);
	/* A budget takes one of the hart's, whether or not its VM has some. */
	alpha->pmu_counters = beta->pmu_counters = 0;
	bounds(false, 0, SBI + stay, SBI + guard);
	beta->budget.count = 1;
	bounds(false, 0, SBI + 2280 + stay, SBI + 2280 + guard);
	beta->pmu_counters = 0x5;
	bounds(false, 0, SBI + 2 * 2280 + stay, SBI + 2 * 2280 + guard);
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
	/* A device of a VM has four at most, and all VMs together 62. */
	for (uint32_t i = 0; i < VM_MAX_DEVICES; i++)
		tree.vms[0].devices[i].n_irqs = i < 14 ? 4 : 3;
	bounds(true, 0, SSCCFG + 5 * 280 + 8 * 200 + 62 * 40,
	       SSCCFG + 5 * 280 + 8 * 200 + 62 * 40 + PIECE);
	assert_int_equal(s.longest_stay, 8820);
	assert_int_equal(s.least_guard_us, 22);
	bounds(false, 0, SBI + 5 * 2280 + 8 * 200 + 62 * 40,
	       SBI + 5 * 2280 + 8 * 200 + 62 * 40 + PIECE);
	assert_int_equal(s.longest_stay, 20530);
	assert_int_equal(s.least_guard_us, 34);
}

/* A vcpu that may run on several harts counts on each. */
static void test_vcpus_that_move(void **state)
{
	struct vm_config *alpha = vm(4, OTHER);

	(void)state;
	(void)vm(1, HART);
	window(1);
	bounds(true, 0, SSCCFG + 200, SSCCFG + 200 + PIECE);
	alpha->vcpus[1].harts |= UINT64_C(1) << HART;
	alpha->vcpus[3].harts |= UINT64_C(1) << HART;
	bounds(true, 0, SSCCFG + 600, SSCCFG + 600 + PIECE);
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
