/* SPDX-License-Identifier: Apache-2.0 */
/* The node /schedules: what the VM tree's parser makes of it, and what it refuses. */
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
#define HART  "/schedules/hart0"
#define FIRST HART "/first"
#define LAST  HART "/last"

/* libfdt adds subnodes in front of the others, so the last one comes first. */
static void window(void *t, const char *path, const char *vm, uint32_t start, uint32_t length)
{
	set_string(t, path, "vm", vm);
	set_u32(t, path, "start-us", start);
	set_u32(t, path, "length-us", length);
}

/* Hart 0 has vcpu0 of alpha and of beta; hart 2 has vcpu1 of alpha, and no schedule. */
static void *two_windows(void)
{
	void *t = good_tree();

	set_u32(t, ALPHA "/vcpu0", "harts", 0);
	node(t, "/schedules");
	set_u32(t, HART, "major-frame-us", 10000);
	window(t, LAST, "beta", 5000, 2000);
	window(t, FIRST, "alpha", 1000, 3000);
	return t;
}

static void what_is_parsed(void **state)
{
	void *t = two_windows();
	const struct vm_tree *tree;
	const struct vm_schedule *s;

	(void)state;
	set_u32(t, FIRST, "guard-us", 1000);
	set_u32(t, LAST, "guard-us", 100);
	set_u32(t, LAST, "vcpu", 0);
	set_string(t, HART, "slack", "beta");
	tree = accepted(t);
	s = &tree->schedules[0];
	assert_int_equal(tree->n_schedules, 1);
	assert_int_equal(s->hart, 0);
	assert_int_equal(s->frame_us, 10000);
	assert_int_equal(s->slack, 2);
	assert_int_equal(s->n_windows, 2);
	assert_int_equal(s->windows[0].start_us, 1000);
	assert_int_equal(s->windows[0].length_us, 3000);
	assert_int_equal(s->windows[0].guard_us, 1000);
	assert_int_equal(s->windows[0].vm, 0);
	assert_int_equal(s->windows[0].vcpus, 1);
	assert_int_equal(s->windows[1].vm, 1);
	assert_int_equal(s->windows[1].vcpus, 1);
	assert_int_equal(vm_vcpus_on(&tree->vms[0], 0), 1);
	assert_int_equal(vm_vcpus_on(&tree->vms[0], 1), 2);
	assert_int_equal(vm_vcpus_on(&tree->vms[1], 1), 0);
	delete_node(t, "/schedules");
	assert_int_equal(accepted(t)->n_schedules, 0);
	node(t, "/schedules");
	assert_int_equal(accepted(t)->n_schedules, 0);
}

static void bad_harts(void **state)
{
	static const char *const names[] = {"hart",  "hart00", "hart0x",
	                                    "harts", "cpu0",   "hart0000"};
	void *t;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[64], words[128];

		t = two_windows();
		snprintf(path, sizeof(path), "/schedules/%s", names[i]);
		set_u32(t, path, "major-frame-us", 10000);
		snprintf(words, sizeof(words),
		         "%s: schedules are hart0, hart1 and so on, by the hart's id", path);
		refused(t, VM_REFUSED_NAME, words);
	}
	t = two_windows();
	node(t, "/schedules/hart1");
	refused(t, VM_REFUSED_HART, "/schedules/hart1: this machine has no hart 1");
	t = two_windows();
	node(t, "/schedules/hart999");
	refused(t, VM_REFUSED_HART, "/schedules/hart999: this machine has no hart 999");
	t = two_windows();
	set_u32(t, "/schedules", "frame", 1);
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY,
	        "/schedules: frame: is not a property of this node");
}

static void bad_frames(void **state)
{
	void *t = two_windows();

	(void)state;
	set_u32(t, HART, "major-frame-us", 199);
	refused(t, VM_REFUSED_VALUE, HART ": major-frame-us: 199 is less than 200 us");
	set_u32(t, HART, "major-frame-us", 1000001);
	refused(t, VM_REFUSED_VALUE, HART ": major-frame-us: 1000001 is more than 1000000 us");
	set_u64(t, HART, "major-frame-us", 1);
	refused(t, VM_REFUSED_SIZE, HART ": major-frame-us: is 8 bytes long, not 4: one cell");
	delete_prop(t, HART, "major-frame-us");
	refused(t, VM_REFUSED_MISSING_PROPERTY, HART ": major-frame-us: is missing");
	t = two_windows();
	delete_node(t, FIRST);
	delete_node(t, LAST);
	refused(t, VM_REFUSED_MISSING_NODE, HART ": has no window");
}

static void bad_windows(void **state)
{
	static const char *const needed[] = {"vm", "start-us", "length-us"};
	void *t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char words[80];

		t = two_windows();
		delete_prop(t, FIRST, needed[i]);
		snprintf(words, sizeof(words), FIRST ": %s: is missing", needed[i]);
		refused(t, VM_REFUSED_MISSING_PROPERTY, words);
	}
	t = two_windows();
	set_u32(t, FIRST, "length-us", 0);
	refused(t, VM_REFUSED_VALUE, FIRST ": length-us: 0 is less than 100 us");
	set_u32(t, FIRST, "length-us", 99);
	refused(t, VM_REFUSED_VALUE, FIRST ": length-us: 99 is less than 100 us");
	set_u32(t, FIRST, "length-us", 9001);
	refused(t, VM_REFUSED_VALUE,
	        FIRST ": length-us: the window ends at 10001 us, behind the frame of 10000 us");
	set_u32(t, FIRST, "start-us", 0xffffffff);
	refused(t, VM_REFUSED_VALUE,
	        FIRST
	        ": length-us: the window ends at 4294976296 us, behind the frame of 10000 us");
	t = two_windows();
	node(t, FIRST "/inner");
	refused(t, VM_REFUSED_UNKNOWN_NODE, FIRST "/inner: no node belongs here");
	t = two_windows();
	set_u32(t, FIRST, "period-us", 1);
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY,
	        FIRST ": period-us: is not a property of this node");
}

static void overlaps(void **state)
{
	void *t = two_windows();

	(void)state;
	set_u32(t, FIRST, "length-us", 4001);
	refused(t, VM_REFUSED_OVERLAP,
	        LAST ": start-us: 5000 us is before the end of the window before it, 5001 us");
	set_u32(t, FIRST, "length-us", 4000);
	accepted(t);
	set_u32(t, LAST, "guard-us", 1);
	refused(t, VM_REFUSED_OVERLAP,
	        LAST ": guard-us: 1 us are more than the 0 us since the window before it");
	/* The other way round, they are not in the order of time. */
	t = two_windows();
	window(t, FIRST, "alpha", 8000, 1000);
	refused(t, VM_REFUSED_OVERLAP,
	        LAST ": start-us: 5000 us is before the end of the window before it, 9000 us");
	/* A guard of the first window reaches back into the frame before. */
	t = two_windows();
	set_u32(t, FIRST, "guard-us", 4000);
	accepted(t);
	set_u32(t, FIRST, "guard-us", 4001);
	refused(t, VM_REFUSED_OVERLAP,
	        FIRST ": guard-us: 4001 us are more than the 4000 us since the last window of the "
	              "frame before");
	set_u32(t, FIRST, "guard-us", 0xffffffff);
	refused(t, VM_REFUSED_OVERLAP,
	        FIRST ": guard-us: 4294967295 us are more than the 4000 us since the last window "
	              "of the frame before");
}

static void whose_windows(void **state)
{
	void *t = two_windows();

	(void)state;
	set_string(t, FIRST, "vm", "gamma");
	refused(t, VM_REFUSED_NAME, FIRST ": vm: no VM has the name \"gamma\"");
	set_string(t, FIRST, "vm", "beta");
	refused(t, VM_REFUSED_MISSING_NODE,
	        HART ": vcpu0 of alpha has no window, and slack does not name alpha");
	set_string(t, HART, "slack", "alpha");
	accepted(t);
	t = two_windows();
	set_u32(t, FIRST, "vcpu", 1);
	refused(t, VM_REFUSED_NAME, FIRST ": vcpu: vcpu1 of alpha is not on hart 0");
	set_u32(t, FIRST, "vcpu", 32);
	refused(t, VM_REFUSED_NAME, FIRST ": vcpu: vcpu32 of alpha is not on hart 0");
	t = two_windows();
	set_u32(t, BETA "/vcpu0", "harts", 2);
	refused(t, VM_REFUSED_NAME, LAST ": vm: no vcpu of beta is on hart 0");
	t = two_windows();
	set_u32(t, ALPHA "/vcpu1", "harts", 0);
	assert_int_equal(accepted(t)->schedules[0].windows[0].vcpus, 3);
	set_u32(t, FIRST, "vcpu", 1);
	refused(t, VM_REFUSED_MISSING_NODE,
	        HART ": vcpu0 of alpha has no window, and slack does not name alpha");
}

/* Nobody can ring while it has no window: 8 ms of each frame. */
static void heartbeats(void **state)
{
	void *t = two_windows();

	(void)state;
	set_u32(t, BETA, "heartbeat-ms", 8);
	refused(t, VM_REFUSED_VALUE,
	        HART ": heartbeat-ms of beta is not longer than the time between two of its "
	             "windows");
	set_u32(t, BETA, "heartbeat-ms", 9);
	accepted(t);
	/* Slack is time as well, but for alpha's window of 3 ms, with its guard. */
	set_string(t, HART, "slack", "beta");
	set_u32(t, BETA, "heartbeat-ms", 3);
	refused(t, VM_REFUSED_VALUE,
	        HART ": heartbeat-ms of beta is not longer than the time between two of its "
	             "windows and pieces of slack");
	set_u32(t, BETA, "heartbeat-ms", 4);
	accepted(t);
	set_u32(t, FIRST, "guard-us", 1000);
	refused(t, VM_REFUSED_VALUE,
	        HART ": heartbeat-ms of beta is not longer than the time between two of its "
	             "windows and pieces of slack");
	/* Alpha's would reach from its own window to the end of the frame, but for the slack. */
	delete_prop(t, BETA, "heartbeat-ms");
	set_u32(t, ALPHA, "heartbeat-ms", 2);
	delete_node(t, ALPHA "/vcpu1");
	set_bytes(t, HART, "slack", "beta\0alpha", 11);
	refused(t, VM_REFUSED_VALUE,
	        HART ": heartbeat-ms of alpha is not longer than the time between two of its "
	             "windows and pieces of slack");
	set_u32(t, ALPHA, "heartbeat-ms", 3);
	accepted(t);
	/* Without a window of its own. */
	delete_node(t, FIRST);
	accepted(t);
	set_u32(t, LAST, "length-us", 3000);
	refused(t, VM_REFUSED_VALUE,
	        HART ": heartbeat-ms of alpha is not longer than the time between two of its "
	             "windows and pieces of slack");
}

static void slack(void **state)
{
	void *t = two_windows();

	(void)state;
	set_string(t, HART, "slack", "gamma");
	refused(t, VM_REFUSED_NAME, HART ": slack: no VM has the name \"gamma\"");
	set_bytes(t, HART, "slack", "beta\0beta", 10);
	refused(t, VM_REFUSED_DUPLICATE, HART ": slack: names \"beta\" twice");
	set_bytes(t, HART, "slack", "beta", 4);
	refused(t, VM_REFUSED_STRING, HART ": slack: is not a list of strings");
	set_bytes(t, HART, "slack", "", 0);
	refused(t, VM_REFUSED_STRING, HART ": slack: is not a list of strings");
	set_bytes(t, HART, "slack", "beta\0alpha", 11);
	assert_int_equal(accepted(t)->schedules[0].slack, 3);
	set_u32(t, BETA "/vcpu0", "harts", 2);
	delete_node(t, LAST);
	refused(t, VM_REFUSED_NAME, HART ": slack: no vcpu of beta is on hart 0");
	/* There is none. */
	t = two_windows();
	window(t, FIRST, "alpha", 99, 4901);
	window(t, LAST, "beta", 5000, 5000);
	set_string(t, HART, "slack", "beta");
	refused(t, VM_REFUSED_VALUE,
	        HART ": slack: nowhere between the windows and guards are 100 us free");
	set_u32(t, FIRST, "start-us", 100);
	set_u32(t, FIRST, "length-us", 4900);
	accepted(t);
	set_u32(t, FIRST, "guard-us", 1);
	refused(t, VM_REFUSED_VALUE,
	        HART ": slack: nowhere between the windows and guards are 100 us free");
}

static void contradictions(void **state)
{
	static const char both[] = {0, 0, 0, 0, 0, 0, 0, 63};
	void *t = two_windows();

	(void)state;
	set_bytes(t, ALPHA "/vcpu0", "harts", both, sizeof(both));
	refused(t, VM_REFUSED_SHARED,
	        ALPHA "/vcpu0: harts: are several, but hart 0 has a schedule, whose vcpus stay");
	/* Alone on their harts, as these need it. */
	t = two_windows();
	set_u32(t, ALPHA "/vcpu0", "harts", 63);
	delete_node(t, FIRST);
	accepted(t);
	set_string(t, BETA, "look", "off");
	refused(t, VM_REFUSED_SHARED,
	        BETA ": look: \"off\" is for a hart without interruptions, but hart 0 has a "
	             "schedule");
	delete_prop(t, BETA, "look");
	set_string(t, BETA, "pmu-freeze", "vcpu");
	refused(t, VM_REFUSED_SHARED,
	        BETA ": pmu-freeze: \"vcpu\" counts what others' windows and guards take, and hart "
	             "0 has a schedule");
	delete_prop(t, BETA, "pmu-freeze");
	set_string(t, BETA, "pmu-idle-cycles", "on");
	refused(t, VM_REFUSED_SHARED,
	        BETA ": pmu-idle-cycles: \"on\" is for a hart that is the vcpu's alone, but hart 0 "
	             "has a schedule");
}

static void too_many(void **state)
{
	void *t = two_windows();
	char path[64];

	(void)state;
	delete_node(t, "/schedules");
	node(t, "/schedules");
	set_u32(t, HART, "major-frame-us", 10000);
	for (uint32_t i = 0; i <= VM_MAX_HART_WINDOWS; i++) {
		/* Backwards, see window(). */
		snprintf(path, sizeof(path), HART "/w%u", VM_MAX_HART_WINDOWS - i);
		window(t, path, i % 2 ? "alpha" : "beta", (VM_MAX_HART_WINDOWS - i) * 100, 100);
	}
	refused(t, VM_REFUSED_TOO_MANY, HART "/w16: is one window more than 16");
	delete_node(t, HART "/w16");
	assert_int_equal(accepted(t)->schedules[0].n_windows, VM_MAX_HART_WINDOWS);
}

int test_vm_schedule(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_parsed), cmocka_unit_test(bad_harts),
	    cmocka_unit_test(bad_frames),     cmocka_unit_test(bad_windows),
	    cmocka_unit_test(overlaps),       cmocka_unit_test(whose_windows),
	    cmocka_unit_test(slack),          cmocka_unit_test(contradictions),
	    cmocka_unit_test(heartbeats),     cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests_name("vm_schedule", tests, NULL, NULL);
}
