/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser: the properties that concern a VM's PMU, good and refused. */
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
#define VCPU0 "/vms/beta/vcpu0"

/* In the good tree alpha is on harts 0 and 63, and 2; beta is on hart 0. */

static void set_events(void *t, const uint32_t *events, uint32_t n)
{
	fdt32_t cells[80];

	assert_true(n <= 80);
	for (uint32_t i = 0; i < n; i++)
		cells[i] = cpu_to_fdt32(events[i]);
	set_bytes(t, BETA, "pmu-events", cells, (int)(n * sizeof(cells[0])));
}

static void set_cells(void *t, const char *path, const char *name, uint32_t first, uint32_t second)
{
	fdt32_t cells[] = {cpu_to_fdt32(first), cpu_to_fdt32(second)};

	set_bytes(t, path, name, cells, sizeof(cells));
}

/* Beta alone on hart 0. */
static void *apart(void)
{
	void *t = good_tree();

	set_u32(t, ALPHA "/vcpu0", "harts", 63);
	return t;
}

static void defaults(void **state)
{
	const struct vm_config *b = &accepted(good_tree())->vms[1];

	(void)state;
	assert_false(b->pmu_snapshot);
	assert_false(b->pmu_freeze_vcpu);
	assert_false(b->pmu_idle_cycles);
	assert_true(b->pmu_overflow);
	assert_false(b->pmu_events_given);
	assert_int_equal(b->n_pmu_events, 0);
}

static void choices_are_read(void **state)
{
	void *t = apart();
	const struct vm_config *b;

	(void)state;
	set_string(t, BETA, "pmu-snapshot", "on");
	set_string(t, BETA, "pmu-freeze", "vcpu");
	set_string(t, BETA, "pmu-idle-cycles", "on");
	b = &accepted(t)->vms[1];
	assert_true(b->pmu_snapshot);
	assert_true(b->pmu_freeze_vcpu);
	assert_true(b->pmu_idle_cycles);
	b = &accepted(t)->vms[0];
	assert_false(b->pmu_snapshot);
	assert_false(b->pmu_freeze_vcpu);
	assert_false(b->pmu_idle_cycles);
	set_string(t, BETA, "pmu-snapshot", "off");
	set_string(t, BETA, "pmu-freeze", "guest");
	set_string(t, BETA, "pmu-idle-cycles", "off");
	b = &accepted(t)->vms[1];
	assert_false(b->pmu_snapshot);
	assert_false(b->pmu_freeze_vcpu);
	assert_false(b->pmu_idle_cycles);
}

static void events_are_read(void **state)
{
	static const uint32_t events[] = {0x1,     0xa,     0x10000, 0x10035, 0x20000,
	                                  0x30000, 0xf0000, 0xf0015, 0xf0100, 0xfffff};
	void *t = good_tree();
	const struct vm_config *b;

	(void)state;
	set_events(t, events, 10);
	b = &accepted(t)->vms[1];
	assert_true(b->pmu_events_given);
	assert_int_equal(b->n_pmu_events, 10);
	assert_memory_equal(b->pmu_events, events, sizeof(events));
	assert_false(accepted(t)->vms[0].pmu_events_given);
	/* None at all is a list, too. */
	set_events(t, events, 0);
	b = &accepted(t)->vms[1];
	assert_true(b->pmu_events_given);
	assert_int_equal(b->n_pmu_events, 0);
}

static void as_many_events_as_possible(void **state)
{
	uint32_t events[65];
	void *t = good_tree();

	(void)state;
	for (uint32_t i = 0; i < 65; i++)
		events[i] = 0xf0100 + i;
	set_events(t, events, 64);
	assert_int_equal(accepted(t)->vms[1].n_pmu_events, 64);
	assert_int_equal(accepted(t)->vms[1].pmu_events[63], 0xf013f);
	set_events(t, events, 65);
	refused(t, VM_REFUSED_TOO_MANY, "/vms/beta: pmu-events: names 65 events, more than 64");
}

static void overflow_limits(void **state)
{
	static const uint32_t two[] = {1, 2};
	void *t = good_tree();

	(void)state;
	assert_int_equal(accepted(t)->vms[1].pmu_overflow_limit, 0);
	set_u32(t, BETA, "pmu-overflow-limit", 1);
	assert_int_equal(accepted(t)->vms[1].pmu_overflow_limit, 1);
	set_u32(t, BETA, "pmu-overflow-limit", UINT32_MAX);
	assert_int_equal(accepted(t)->vms[1].pmu_overflow_limit, UINT32_MAX);
	set_u32(t, BETA, "pmu-overflow-limit", 0);
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: pmu-overflow-limit: is 0, with which none would ever come; leave it "
	        "out for no limit");
	/* It is a mistake even where it has no effect. */
	set_string(t, BETA, "pmu", "off");
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: pmu-overflow-limit: is 0, with which none would ever come; leave it "
	        "out for no limit");
	set_bytes(t, BETA, "pmu-overflow-limit", two, sizeof(two));
	refused(t, VM_REFUSED_SIZE,
	        "/vms/beta: pmu-overflow-limit: is 8 bytes long, not 4: one cell");
}

static void events_that_do_not_exist(void **state)
{
	static const uint32_t events[] = {0x0,     0xb,      0xffff,    0x10006, 0x10038,
	                                  0x20001, 0x30001,  0x40000,   0xe0000, 0xf0016,
	                                  0xf00ff, 0x100001, 0x80000001};
	void *t = good_tree();
	char text[VM_REFUSAL_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		uint32_t pair[] = {1, events[i]};

		set_events(t, pair, 2);
		snprintf(text, sizeof(text), "/vms/beta: pmu-events: SBI 3.0 has no event_idx %u",
		         events[i]);
		refused(t, VM_REFUSED_EVENT, text);
	}
}

static void bad_lists_of_events(void **state)
{
	static const uint32_t twice[] = {2, 0xf0005, 1, 0xf0005};
	void *t = good_tree();

	(void)state;
	set_events(t, twice, 4);
	refused(t, VM_REFUSED_DUPLICATE, "/vms/beta: pmu-events: names 983045 twice");
	set_bytes(t, BETA, "pmu-events", twice, 7);
	refused(t, VM_REFUSED_SIZE,
	        "/vms/beta: pmu-events: is 7 bytes long, not a list of cells of 4");
}

/* With the snapshot only if it is said. */
static void overflow_or_snapshot(void **state)
{
	static const struct {
		const char *snapshot, *overflow;
		bool is_on;
	} cases[] = {
	    {"off", NULL, true}, {"on", NULL, false},  {"off", "off", false},
	    {"on", "on", true},  {"on", "off", false}, {"off", "on", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *t = apart();

		set_string(t, BETA, "pmu-snapshot", cases[i].snapshot);
		if (cases[i].overflow)
			set_string(t, BETA, "pmu-overflow", cases[i].overflow);
		assert_int_equal(accepted(t)->vms[1].pmu_overflow, cases[i].is_on);
	}
}

static void bad_words(void **state)
{
	static const struct {
		const char *name;
		const char *word;
		const char *text;
	} cases[] = {
	    {"pmu-snapshot", "yes", "/vms/beta: pmu-snapshot: is not \"on\" or \"off\""},
	    {"pmu-freeze", "vm", "/vms/beta: pmu-freeze: is not \"guest\" or \"vcpu\""},
	    {"pmu-overflow", "yes", "/vms/beta: pmu-overflow: is not \"on\" or \"off\""},
	    {"pmu-idle-cycles", "", "/vms/beta: pmu-idle-cycles: is not \"on\" or \"off\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *t = apart();

		set_string(t, BETA, cases[i].name, cases[i].word);
		refused(t, VM_REFUSED_VALUE, cases[i].text);
	}
}

static void freeze_mode_wants_no_other_vm(void **state)
{
	void *t = good_tree();

	(void)state;
	set_string(t, BETA, "pmu-freeze", "vcpu");
	refused(t, VM_REFUSED_SHARED,
	        "/vms/beta: pmu-freeze: \"vcpu\" is for a VM alone on its harts, and another may "
	        "run on hart 0");
	/* Whoever comes first in the tree: the one that asks is named. */
	t = good_tree();
	set_string(t, ALPHA, "pmu-freeze", "vcpu");
	refused(t, VM_REFUSED_SHARED,
	        "/vms/alpha: pmu-freeze: \"vcpu\" is for a VM alone on its harts, and another may "
	        "run on hart 0");
	/* Its second vcpu is where they may meet. */
	t = apart();
	set_string(t, ALPHA, "pmu-freeze", "vcpu");
	accepted(t);
	set_cells(t, VCPU0, "harts", 0, 2);
	refused(t, VM_REFUSED_SHARED,
	        "/vms/alpha: pmu-freeze: \"vcpu\" is for a VM alone on its harts, and another may "
	        "run on hart 2");
	/* Its own vcpus may share one: the counters of one stand still while the other runs. */
	t = apart();
	set_u32(t, ALPHA "/vcpu1", "harts", 63);
	set_string(t, ALPHA, "pmu-freeze", "vcpu");
	assert_true(accepted(t)->vms[0].pmu_freeze_vcpu);
	/* Where there is no PMU, nothing is asked for. */
	t = good_tree();
	set_string(t, BETA, "pmu-freeze", "vcpu");
	set_string(t, BETA, "pmu", "off");
	assert_false(accepted(t)->vms[1].pmu_freeze_vcpu);
}

static void idle_cycles_want_no_other_vcpu(void **state)
{
	void *t = good_tree();

	(void)state;
	set_string(t, BETA, "pmu-idle-cycles", "on");
	refused(t, VM_REFUSED_SHARED,
	        "/vms/beta: pmu-idle-cycles: \"on\" is for vcpus alone on their harts, and two may "
	        "run on hart 0");
	t = apart();
	set_string(t, ALPHA, "pmu-idle-cycles", "on");
	assert_true(accepted(t)->vms[0].pmu_idle_cycles);
	/* Two vcpus of one VM: one gives the hart away when it idles. */
	set_u32(t, ALPHA "/vcpu1", "harts", 63);
	refused(t, VM_REFUSED_SHARED,
	        "/vms/alpha: pmu-idle-cycles: \"on\" is for vcpus alone on their harts, and two "
	        "may run on hart 63");
	t = good_tree();
	set_string(t, BETA, "pmu-idle-cycles", "on");
	set_string(t, BETA, "pmu", "off");
	assert_false(accepted(t)->vms[1].pmu_idle_cycles);
}

int test_vm_pmu(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(choices_are_read),
	    cmocka_unit_test(events_are_read),
	    cmocka_unit_test(as_many_events_as_possible),
	    cmocka_unit_test(overflow_limits),
	    cmocka_unit_test(events_that_do_not_exist),
	    cmocka_unit_test(bad_lists_of_events),
	    cmocka_unit_test(overflow_or_snapshot),
	    cmocka_unit_test(bad_words),
	    cmocka_unit_test(freeze_mode_wants_no_other_vm),
	    cmocka_unit_test(idle_cycles_want_no_other_vcpu),
	};

	return cmocka_run_group_tests_name("vm tree: pmu", tests, NULL, NULL);
}
