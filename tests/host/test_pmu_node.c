/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node /pmu of a VM tree, good and refused, and what vpmu/selector.c makes of it: beside a
 * reading of Kunminghu's chapter that knows nothing of tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/parse.h"

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/chance.h"
#include "tests/host/vm_tree.h"

#define BETA   "/vms/beta"
#define ROUNDS 300000U
#define CELLS  80U
/* Of these, by the seeds below. */
#define LEGAL   252304U
#define ALLOWED 95077U

/* As tools/pmu-events makes them: test_vm_node_of_kunminghu() of test_event_outputs.py. */
#define FRONTEND 0x0, 0x0, 0x1, 0x36, 0x7f8
#define BACKEND  0x40, 0x10040100, 0x101, 0x18e, 0x7f800
#define MEMORY   0x80, 0x20080200, 0x201, 0x27d, 0x7f80000
#define CACHE    0xc0, 0x300c0300, 0x301, 0x319, 0xf8000000
#define ALL      0xffffffff

static void set_cells(void *t, const char *path, const char *name, const uint32_t *values,
                      uint32_t n)
{
	fdt32_t cells[CELLS];

	assert_true(n <= CELLS);
	for (uint32_t i = 0; i < n; i++)
		cells[i] = cpu_to_fdt32(values[i]);
	set_bytes(t, path, name, cells, (int)(n * sizeof(cells[0])));
}

#define SET(t, path, name, ...)                                                                    \
	set_cells(t, path, name, (const uint32_t[]){__VA_ARGS__},                                  \
	          (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))

static void *kunminghu(void)
{
	void *t = good_tree();

	node(t, "/pmu");
	set_string(t, "/pmu", "core", "kunminghu");
	set_string(t, "/pmu", "selector", "numbers");
	SET(t, "/pmu", "event-fields", 0, 10, 10, 10, 20, 10, 30, 10);
	SET(t, "/pmu", "operator-fields", 40, 5, 45, 5, 50, 5);
	SET(t, "/pmu", "operators", 0, 1, 2, 4);
	SET(t, "/pmu", "events", FRONTEND, BACKEND, MEMORY, CACHE);
	SET(t, "/pmu", "sbi-events", 1, 0, 0, 1, 2, 0, 0, 4, 5, 0, 0x20, 0x7f8, 0x10001, 0x100480,
	    0x21583a07, 0x7f80000);
	SET(t, "/pmu", "sbi-stimuli", 5, STIMULUS_BRANCHES);
	return t;
}

static void *u74(void)
{
	void *t = good_tree();

	node(t, "/pmu");
	set_string(t, "/pmu", "core", "u74");
	set_string(t, "/pmu", "selector", "bits");
	SET(t, "/pmu", "event-fields", 8, 48);
	SET(t, "/pmu", "events", 0, 0, 8, 25, 0x18, 0, 1, 8, 18, 0x18, 0, 2, 8, 13, 0x18);
	return t;
}

/* --- the chapter, read by itself ------------------------------------------------------------- */

static const uint32_t last_event[4] = {54, 142, 125, 25};
static const uint32_t chapter_hctrs[4] = {0x7f8, 0x7f800, 0x7f80000, 0xf8000000};

/* The group of a legal selector, -1 of any other. */
static int chapter_group(uint64_t selector)
{
	uint32_t group = selector >> 8 & 3;
	bool any = false;

	if (selector >> 55)
		return -1;
	for (uint32_t low = 0; low < 40; low += 10) {
		uint32_t event = selector >> low & 0xff;

		if ((selector >> (low + 8) & 3) != group || event > last_event[group])
			return -1;
		any |= event != 0;
	}
	for (uint32_t low = 40; low < 55; low += 5) {
		uint32_t join = selector >> low & 31;

		if (join != 0 && join != 1 && join != 2 && join != 4)
			return -1;
	}
	return any ? (int)group : -1;
}

/* Mostly legal, sometimes by a bit not. */
static uint64_t random_selector(struct chance *c)
{
	static const uint32_t operators[] = {0, 1, 2, 4};
	uint64_t group = below(c, 4);
	uint64_t selector = 0;

	for (uint32_t low = 0; low < 40; low += 10) {
		uint64_t event = percent(c, 30) ? 0 : below(c, last_event[group] + 2);

		selector |= (group << 8 | event) << low;
	}
	for (uint32_t low = 40; low < 55; low += 5)
		selector |= (uint64_t)operators[below(c, 4)] << low;
	return percent(c, 20) ? selector ^ UINT64_C(1) << below(c, 64) : selector;
}

static void selectors_are_the_chapters(void **state)
{
	const struct selectors *s = &accepted(kunminghu())->selectors;
	struct chance c = {.state = 1};
	uint32_t legal = 0;

	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t selector = random_selector(&c);
		int group = chapter_group(selector);

		assert_int_equal(selector_hctrs(s, selector), group < 0 ? 0 : chapter_hctrs[group]);
		legal += group >= 0;
	}
	assert_int_equal(legal, LEGAL);
}

/* Allowed: the front end, event 3 of the back end. */
static bool chapter_allows(uint64_t selector)
{
	int group = chapter_group(selector);

	if (group == 0)
		return true;
	for (uint32_t low = 0; low < 40 && group == 1; low += 10)
		if ((selector >> low & 0xff) != 0 && (selector >> low & 0xff) != 3)
			return false;
	return group == 1;
}

static void allowed_one_by_one(void **state)
{
	void *t = kunminghu();
	struct chance c = {.state = 2};
	const struct vm_tree *tree;
	uint32_t allowed = 0;

	(void)state;
	SET(t, BETA, "pmu-events", 1);
	SET(t, BETA, "pmu-raw-events", 0, 0, ALL, 0xffffff00, 0x40, 0x10040103, ALL, ALL);
	tree = accepted(t);
	assert_int_equal(tree->vms[1].n_pmu_raw_events, 2);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t selector = random_selector(&c);

		if (percent(&c, 20)) /* the back end's event 3, which is rare */
			selector = UINT64_C(0x4010040100) | 3U * below(&c, 2) |
			           (3U * below(&c, 2)) << 10 | (uint64_t)below(&c, 3) << 40;
		assert_int_equal(
		    selector_is_allowed(&tree->selectors, selector, tree->vms[1].pmu_raw_events, 2),
		    chapter_allows(selector));
		allowed += chapter_allows(selector);
	}
	assert_int_equal(allowed, ALLOWED);
}

static void bits_are_events(void **state)
{
	static const struct selector_allowed tlbs[] = {{0x1002, UINT64_MAX}, {0x802, UINT64_MAX}};
	const struct vm_tree *tree = accepted(u74());
	const struct selectors *s = &tree->selectors;

	(void)state;
	assert_false(s->numbers);
	for (uint64_t group = 0; group < 4; group++) {
		static const uint64_t events[] = {0x3ffff00, 0x7ff00, 0x3f00, 0};

		for (uint32_t low = 8; low < 64; low++)
			assert_int_equal(selector_hctrs(s, group | UINT64_C(1) << low),
			                 events[group] >> low & 1 ? 0x18 : 0);
		assert_int_equal(selector_hctrs(s, group | events[group]), group < 3 ? 0x18 : 0);
		assert_int_equal(selector_hctrs(s, group), 0);
	}
	assert_true(selector_is_allowed(s, 0x1802, tlbs, 2));
	assert_true(selector_is_allowed(s, 0x802, tlbs, 2));
	assert_false(selector_is_allowed(s, 0x3802, tlbs, 2));
	assert_false(selector_is_allowed(s, 0x801, tlbs, 2));
	assert_false(selector_is_allowed(s, 0x2, tlbs, 2));
}

static void standard_events(void **state)
{
	const struct selectors *s = &accepted(kunminghu())->selectors;

	(void)state;
	assert_string_equal(s->core, "kunminghu");
	assert_true(s->numbers);
	assert_int_equal(s->n_standard, 4);
	assert_int_equal(selector_of_standard(s, 1)->hctrs, 1);
	assert_int_equal(selector_of_standard(s, 1)->selector, 0);
	assert_int_equal(selector_of_standard(s, 0x10001)->selector, 0x10048021583a07);
	assert_null(selector_of_standard(s, 6));
	assert_false(accepted(good_tree())->has_selectors);
}

/* --- what is refused ------------------------------------------------------------------------- */

/* A property of /pmu that is cells. */
#define BAD(code, text, name, ...)                                                                 \
	do {                                                                                       \
		void *bad = kunminghu();                                                           \
		SET(bad, "/pmu", name, __VA_ARGS__);                                               \
		refused(bad, code, "/pmu: " text);                                                 \
	} while (0)

static void wrong_fields(void **state)
{
	(void)state;
	BAD(VM_REFUSED_SIZE, "event-fields: is 12 bytes long, not rows of 2 cells", "event-fields",
	    0, 10, 10);
	BAD(VM_REFUSED_TOO_MANY, "event-fields: has 5 rows, more than 4", "event-fields", 0, 1, 1,
	    1, 2, 1, 3, 1, 4, 1);
	BAD(VM_REFUSED_VALUE, "event-fields: row 1 is no field within bits 55:0", "event-fields", 0,
	    10, 50, 10);
	BAD(VM_REFUSED_VALUE, "event-fields: row 0 is no field within bits 55:0", "event-fields", 0,
	    0);
	BAD(VM_REFUSED_DUPLICATE, "event-fields: row 1 has bits of another field", "event-fields",
	    0, 10, 9, 10);
	BAD(VM_REFUSED_DUPLICATE, "operator-fields: row 0 has bits of another field",
	    "operator-fields", 39, 5);
	BAD(VM_REFUSED_VALUE, "event-fields: are not 1, 2 or 4", "event-fields", 0, 10, 10, 10, 20,
	    10);
	BAD(VM_REFUSED_VALUE, "operator-fields: are 1, and the events want 3", "operator-fields",
	    40, 5);
	BAD(VM_REFUSED_VALUE, "event-fields: row 3 is not as wide as the first, or over 31 bits",
	    "event-fields", 0, 10, 10, 10, 20, 10, 30, 9);
	BAD(VM_REFUSED_VALUE, "operators: 32 does not fit into operator field 0", "operators", 0,
	    32);
	BAD(VM_REFUSED_DUPLICATE, "operators: names 4 twice", "operators", 0, 4, 4);
	BAD(VM_REFUSED_TOO_MANY, "operators: has 9 rows, more than 8", "operators", 0, 1, 2, 3, 4,
	    5, 6, 7, 8);
}

static void wrong_events(void **state)
{
	(void)state;
	BAD(VM_REFUSED_SIZE, "events: is 16 bytes long, not rows of 5 cells", "events", 0, 0, 1, 2);
	BAD(VM_REFUSED_EVENT, "events: row 1: its numbers are none of event-fields", "events",
	    FRONTEND, 0, 0, 0x400, 0x401, 8);
	BAD(VM_REFUSED_EVENT, "events: row 0: its numbers are none of event-fields", "events", 0, 0,
	    2, 1, 8);
	BAD(VM_REFUSED_EVENT, "events: row 0: its selector without events has one", "events", 0, 0,
	    0, 5, 8);
	BAD(VM_REFUSED_EVENT, "events: row 0: its selector without events has one", "events", 0,
	    0x100, 1, 5, 8);
	BAD(VM_REFUSED_EVENT, "events: row 0: its selector without events has one", "events", 0x100,
	    0, 1, 5, 8);
	BAD(VM_REFUSED_EVENT, "events: row 0: its selector without events has one", "events",
	    0x01000000, 0, 1, 5, 8);
	BAD(VM_REFUSED_COUNTER, "events: row 0: counter mask 0 has none, or bit 1", "events", 0, 0,
	    1, 5, 0);
	BAD(VM_REFUSED_COUNTER, "events: row 0: counter mask 10 has none, or bit 1", "events", 0, 0,
	    1, 5, 0xa);
	BAD(VM_REFUSED_DUPLICATE, "events: rows 0 and 1 have a number in common", "events",
	    FRONTEND, 0, 0, 0x36, 0x40, 8);
	BAD(VM_REFUSED_DUPLICATE, "events: rows 1 and 2 have a number in common", "events",
	    FRONTEND, BACKEND, 0x80, 0x20080200, 0x18e, 0x190, 8);
}

static void wrong_standard(void **state)
{
	(void)state;
	BAD(VM_REFUSED_EVENT, "sbi-events: SBI 3.0 has no general or cache event 11", "sbi-events",
	    11, 0, 0x20, 8);
	BAD(VM_REFUSED_EVENT, "sbi-events: SBI 3.0 has no general or cache event 131072",
	    "sbi-events", 0x20000, 0, 0x20, 8);
	BAD(VM_REFUSED_DUPLICATE, "sbi-events: names 5 twice", "sbi-events", 5, 0, 0x20, 8, 5, 0,
	    0x20, 8);
	BAD(VM_REFUSED_EVENT, "sbi-events: row 0: 55 is no selector of this core", "sbi-events", 5,
	    0, 0x37, 8);
	BAD(VM_REFUSED_COUNTER, "sbi-events: row 0: counter mask 2048 has others than count it",
	    "sbi-events", 5, 0, 0x20, 0x800);
	BAD(VM_REFUSED_COUNTER, "sbi-events: row 0: counter mask 4 has others than count it",
	    "sbi-events", 1, 0, 0, 4);
	BAD(VM_REFUSED_COUNTER, "sbi-events: row 0: counter mask 0 has others than count it",
	    "sbi-events", 5, 0, 0, 0);
}

/* Boot can make an event of the SBI happen in these ways. */
static void stimuli(void **state)
{
	(void)state;
	for (uint32_t n = STIMULUS_INSTRUCTIONS; n < STIMULI; n++) {
		void *t = kunminghu();
		const struct selectors *s;

		SET(t, "/pmu", "sbi-stimuli", 0x10001, n);
		s = &accepted(t)->selectors;
		assert_int_equal(selector_of_standard(s, 5)->stimulus, STIMULUS_NONE);
		assert_int_equal(selector_of_standard(s, 0x10001)->stimulus, n);
	}
	BAD(VM_REFUSED_SIZE, "sbi-stimuli: is 12 bytes long, not rows of 2 cells", "sbi-stimuli", 5,
	    1, 1);
	BAD(VM_REFUSED_REFERENCE, "sbi-stimuli: row 1: 6 is none of sbi-events", "sbi-stimuli", 5,
	    1, 6, 1);
	BAD(VM_REFUSED_VALUE, "sbi-stimuli: row 0: boot knows no stimulus 0", "sbi-stimuli", 5, 0);
	BAD(VM_REFUSED_VALUE, "sbi-stimuli: row 0: boot knows no stimulus 4", "sbi-stimuli", 5, 4);
	BAD(VM_REFUSED_DUPLICATE, "sbi-stimuli: names 5 twice", "sbi-stimuli", 5, 1, 5, 1);
}

static void wrong_words(void **state)
{
	void *t = kunminghu();

	(void)state;
	set_string(t, "/pmu", "core", "Kunminghu");
	refused(t, VM_REFUSED_NAME, "/pmu: core: is not 1 to 15 characters of a-z, 0-9 and -");
	set_string(t, "/pmu", "core", "");
	refused(t, VM_REFUSED_NAME, "/pmu: core: is not 1 to 15 characters of a-z, 0-9 and -");
	set_string(t, "/pmu", "core", "a-name-of-16-chr");
	refused(t, VM_REFUSED_STRING, "/pmu: core: is 16 bytes long, more than 15");
	t = kunminghu();
	set_string(t, "/pmu", "selector", "letters");
	refused(t, VM_REFUSED_VALUE, "/pmu: selector: is not \"numbers\" or \"bits\"");
	set_string(t, "/pmu", "selector", "bits");
	refused(t, VM_REFUSED_VALUE, "/pmu: event-fields: are not the one of all bits");
	t = kunminghu();
	delete_prop(t, "/pmu", "operators");
	refused(t, VM_REFUSED_VALUE, "/pmu: operators: and operator-fields go together");
	t = kunminghu();
	delete_prop(t, "/pmu", "events");
	refused(t, VM_REFUSED_MISSING_PROPERTY, "/pmu: events: is missing");
	t = kunminghu();
	set_bytes(t, "/pmu", "events", "", 0);
	refused(t, VM_REFUSED_SIZE, "/pmu: events: names no event");
	t = kunminghu();
	SET(t, "/pmu", "event", 1);
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY,
	        "/pmu: event: is not a property of this node; did you mean events?");
	t = kunminghu();
	node(t, "/pmu/x");
	refused(t, VM_REFUSED_UNKNOWN_NODE, "/pmu/x: no node belongs here");
}

static void wrong_raw_events(void **state)
{
	void *t = good_tree();
	uint32_t many[260] = {0};

	(void)state;
	SET(t, BETA, "pmu-events", 1);
	SET(t, BETA, "pmu-raw-events", 0, 1, ALL, ALL);
	refused(t, VM_REFUSED_MISSING_NODE,
	        "/vms/beta: pmu-raw-events: wants a node /pmu, which tools/pmu-events makes");
	t = kunminghu();
	SET(t, BETA, "pmu-raw-events", 0, 1, ALL, ALL);
	refused(
	    t, VM_REFUSED_MISSING_PROPERTY,
	    "/vms/beta: pmu-raw-events: adds to pmu-events, without which all events are allowed");
	SET(t, BETA, "pmu-events", 1);
	accepted(t);
	SET(t, BETA, "pmu-raw-events", 0, 1, ALL);
	refused(t, VM_REFUSED_SIZE,
	        "/vms/beta: pmu-raw-events: is 12 bytes long, not rows of 4 cells");
	SET(t, BETA, "pmu-raw-events", 0, 1, ALL, ALL, 0, 3, ALL, 0xfffffffe);
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: pmu-raw-events: row 1: has bits that its mask leaves out");
	SET(t, BETA, "pmu-raw-events", 0, 55, ALL, ALL);
	refused(t, VM_REFUSED_EVENT,
	        "/vms/beta: pmu-raw-events: row 0: 55 is no event of this core");
	set_bytes(t, BETA, "pmu-raw-events", many, sizeof(many));
	refused(t, VM_REFUSED_TOO_MANY, "/vms/beta: pmu-raw-events: has 65 rows, more than 64");
}

/* --- what the harts say ---------------------------------------------------------------------- */

/* The table alone, as the harts get it before the rest of the tree is looked at. */
static void alone(void **state)
{
	static struct selectors s;
	void *t = kunminghu();
	bool inexact;

	(void)state;
	assert_true(vm_config_parse_early(t, fdt_totalsize(t), &s, &inexact));
	assert_memory_equal(&s, &accepted(t)->selectors, sizeof(s));
	set_string(t, "/pmu", "selector", "letters");
	assert_false(vm_config_parse_early(t, fdt_totalsize(t), &s, &inexact));
	t = good_tree();
	assert_false(vm_config_parse_early(t, fdt_totalsize(t), &s, &inexact));
	assert_false(vm_config_parse_early(t, 16, &s, &inexact));
}

/* Hart 2 is alpha's. It is refused where a guest counts on it, and where there is a table. */
static void a_hart_that_contradicts(void **state)
{
	static const char why[] = "/pmu: hart 2 contradicts it: it has no counter 19";
	void *t = good_tree();

	(void)state;
	contradicting_hart = 1; /* the second: its id is 2 */
	accepted(t);
	t = kunminghu();
	refused(t, VM_REFUSED_CONTRADICTED, why);
	set_string(t, "/vms/alpha", "pmu", "off");
	accepted(t);
	delete_prop(t, "/vms/alpha", "pmu");
	set_bytes(t, "/vms/alpha", "pmu-counters", "", 0);
	accepted(t);
	set_u32(t, "/vms/alpha", "pmu-counters", 3);
	refused(t, VM_REFUSED_CONTRADICTED, why);
	contradicting_hart = UINT32_MAX;
	accepted(t);
}

int test_pmu_node(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(selectors_are_the_chapters),
	    cmocka_unit_test(allowed_one_by_one),
	    cmocka_unit_test(bits_are_events),
	    cmocka_unit_test(standard_events),
	    cmocka_unit_test(wrong_fields),
	    cmocka_unit_test(wrong_events),
	    cmocka_unit_test(wrong_standard),
	    cmocka_unit_test(stimuli),
	    cmocka_unit_test(wrong_words),
	    cmocka_unit_test(wrong_raw_events),
	    cmocka_unit_test(alone),
	    cmocka_unit_test(a_hart_that_contradicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
