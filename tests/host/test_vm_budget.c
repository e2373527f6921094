/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser: budgets of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/vm_tree.h"

#define ALPHA "/vms/alpha"
#define BETA  "/vms/beta"

static void set_budget(void *t, const char *vm, uint32_t event, uint32_t count, uint32_t us)
{
	fdt32_t cells[3] = {cpu_to_fdt32(event), cpu_to_fdt32(count), cpu_to_fdt32(us)};

	set_bytes(t, vm, "budget", cells, sizeof(cells));
}

static void good_budgets(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree = accepted(t);

	(void)state;
	assert_int_equal(tree->vms[0].budget.count, 0);
	set_budget(t, BETA, 2, 1000, 100);
	tree = accepted(t);
	assert_int_equal(tree->vms[0].budget.count, 0);
	assert_int_equal(tree->vms[1].budget.event_idx, 2);
	assert_int_equal(tree->vms[1].budget.count, 1000);
	assert_int_equal(tree->vms[1].budget.period_us, 100);
	set_budget(t, BETA, 0x10019, 0xffffffff, 1000000);
	tree = accepted(t);
	assert_int_equal(tree->vms[1].budget.event_idx, 0x10019);
	assert_int_equal(tree->vms[1].budget.count, 0xffffffff);
	assert_int_equal(tree->vms[1].budget.period_us, 1000000);
	/* Without a PMU of its own, and with one that is made to trap. */
	set_string(t, BETA, "pmu", "off");
	accepted(t);
	set_string(t, BETA, "pmu", "on");
	set_string(t, BETA, "pmu-reads", "trap");
	accepted(t);
}

static void bad_events(void **state)
{
	static const uint32_t none[] = {0,       11,      0x10100, 0x20000,
	                                0x30000, 0xf0005, 0xf0100, 0x100002};
	void *t = good_tree();
	char text[120];

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		snprintf(text, sizeof(text),
		         "/vms/beta: budget: event_idx %u is no general or cache event of SBI 3.0",
		         none[i]);
		set_budget(t, BETA, none[i], 1000000, 1000);
		refused(t, VM_REFUSED_EVENT, text);
	}
}

static void bad_numbers(void **state)
{
	void *t = good_tree();

	(void)state;
	set_budget(t, BETA, 2, 999, 1000);
	refused(t, VM_REFUSED_VALUE, "/vms/beta: budget: of 999 events is less than 1000 events");
	set_budget(t, BETA, 2, 0, 1000);
	refused(t, VM_REFUSED_VALUE, "/vms/beta: budget: of 0 events is less than 1000 events");
	set_budget(t, BETA, 2, 1000, 99);
	refused(t, VM_REFUSED_VALUE, "/vms/beta: budget: for 99 us is for less than 100 us");
	set_budget(t, BETA, 2, 1000, 1000001);
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: budget: for 1000001 us is for more than 1000000 us");
	set_u64(t, BETA, "budget", 2);
	refused(t, VM_REFUSED_SIZE,
	        "/vms/beta: budget: is 8 bytes long, not 12: event, count, period in us");
	set_string(t, BETA, "budget", "");
	refused(t, VM_REFUSED_SIZE,
	        "/vms/beta: budget: is 1 bytes long, not 12: event, count, period in us");
}

static void what_does_not_go_with_it(void **state)
{
	static const char both[] = {0, 0, 0, 0, 0, 0, 0, 63};
	void *t = good_tree();

	(void)state;
	/* Its first vcpu is on harts 0 and 63. */
	set_budget(t, ALPHA, 2, 1000, 1000);
	refused(t, VM_REFUSED_HARTS,
	        "/vms/alpha: budget: is for vcpus of one hart, and vcpu0 has several");
	set_u32(t, ALPHA "/vcpu0", "harts", 63);
	accepted(t);

	set_budget(t, BETA, 2, 1000, 1000);
	set_string(t, BETA, "pmu-freeze", "vcpu");
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: budget: counts the guest alone, and pmu-freeze is \"vcpu\"");
	set_string(t, BETA, "pmu-freeze", "guest");
	set_string(t, BETA, "pmu-idle-cycles", "on");
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: budget: would be spent asleep: pmu-idle-cycles is \"on\"");
	set_string(t, BETA, "pmu-idle-cycles", "off");
	set_string(t, BETA, "look", "off");
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: budget: has an exit at the end of each period, and look is \"off\"");
	set_string(t, BETA, "look", "on");
	accepted(t);
	set_bytes(t, BETA "/vcpu0", "harts", both, sizeof(both));
	refused(t, VM_REFUSED_HARTS,
	        "/vms/beta: budget: is for vcpus of one hart, and vcpu0 has several");
}

static uint64_t asked_harts;

static const char *no_budget(uint64_t harts, uint32_t event_idx)
{
	asked_harts = harts;
	return event_idx == 1 ? NULL : "hart 2 cannot count the event";
}

static void harts_are_asked(void **state)
{
	struct vm_limits limits = test_limits;
	void *t = good_tree();

	(void)state;
	limits.no_budget = no_budget;
	accepted_on(&limits, t);
	assert_int_equal(asked_harts, 0);
	set_u32(t, ALPHA "/vcpu0", "harts", 63);
	set_budget(t, ALPHA, 1, 1000, 1000);
	accepted_on(&limits, t);
	assert_int_equal(asked_harts, 1UL << 2 | 1UL << 1);
	set_budget(t, ALPHA, 2, 1000, 1000);
	refused_on(&limits, t, VM_REFUSED_EVENT,
	           "/vms/alpha: budget: hart 2 cannot count the event");
}

int test_vm_budget(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_budgets),    cmocka_unit_test(bad_events),
	    cmocka_unit_test(bad_numbers),     cmocka_unit_test(what_does_not_go_with_it),
	    cmocka_unit_test(harts_are_asked),
	};

	return cmocka_run_group_tests_name("vm_budget", tests, NULL, NULL);
}
