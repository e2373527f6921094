/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/pmu_node.h"

#include <libfdt.h>
#include <string.h>

#include "core/tree/vm_names.h"
#include "vpmu/hw_event.h"

enum {
	CORE,
	SELECTOR,
	EVENT_FIELDS,
	OPERATOR_FIELDS,
	OPERATORS,
	EVENTS,
	SBI_EVENTS,
	SBI_STIMULI,
	PROPS
};
static const char *const names[PROPS] = {"core",      "selector", "event-fields", "operator-fields",
                                         "operators", "events",   "sbi-events",   "sbi-stimuli"};

/* Cells of a row. */
#define FIELD_CELLS    2U
#define RUN_CELLS      5U
#define STANDARD_CELLS 4U
#define STIMULUS_CELLS 2U
#define ALLOWED_CELLS  4U
/* Event numbers are stored in 32 bits; no core has numbers of more than a handful. */
#define MAX_NUMBER_WIDTH 31U

/* A property, of which most are lists of rows, and its node. */
struct list {
	const struct vm_blob *b;
	int node;
	const struct vm_prop *prop;
};

static bool refuse(const struct list *l, enum vm_refusal_code code, const char *reason,
                   uint64_t first, uint64_t second)
{
	return vm_refuse_numbers(l->b, code, l->node, l->prop->name, reason, first, second);
}

static uint32_t cell(const struct list *l, uint32_t i)
{
	return fdt32_ld((const fdt32_t *)l->prop->data + i);
}

static uint64_t two_cells(const struct list *l, uint32_t i)
{
	return (uint64_t)cell(l, i) << 32 | cell(l, i + 1);
}

/* Counts the rows of a list, of `cells` cells each, and refuses more than `most`. */
static bool count_rows(const struct list *l, uint32_t cells, uint32_t most, uint32_t *n)
{
	uint32_t size = cells * (uint32_t)sizeof(fdt32_t);

	*n = l->prop->data ? l->prop->size / size : 0;
	if (l->prop->data && l->prop->size % size)
		return refuse(l, VM_REFUSED_SIZE, "is # bytes long, not rows of # cells",
		              l->prop->size, cells);
	return *n <= most || refuse(l, VM_REFUSED_TOO_MANY, "has # rows, more than #", *n, most);
}

/* Parses fields that overlap neither each other nor those in *seen. */
static bool parse_fields(const struct list *l, struct selector_field *fields, uint32_t most,
                         uint32_t *n, uint64_t *seen)
{
	if (!count_rows(l, FIELD_CELLS, most, n))
		return false;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t low = cell(l, i * FIELD_CELLS);
		uint32_t width = cell(l, i * FIELD_CELLS + 1);

		if (low >= SELECTOR_BITS || !width || width > SELECTOR_BITS - low)
			return refuse(l, VM_REFUSED_VALUE, "row # is no field within bits 55:0", i,
			              0);
		fields[i] = (struct selector_field){low, width};
		if (*seen & selector_bits(&fields[i]))
			return refuse(l, VM_REFUSED_DUPLICATE, "row # has bits of another field", i,
			              0);
		*seen |= selector_bits(&fields[i]);
	}
	return true;
}

static bool check_fields(const struct vm_blob *b, int node, const struct selectors *s)
{
	uint32_t joins = s->n_fields == 4 ? 3 : s->n_fields == 2 ? 1 : 0;

	if (s->n_fields == 0 || s->n_fields == 3 || (!s->numbers && s->n_fields != 1))
		return vm_refuse(b, VM_REFUSED_VALUE, node, names[EVENT_FIELDS],
		                 s->numbers ? "are not 1, 2 or 4" : "are not the one of all bits");
	if (s->n_joins != joins)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, names[OPERATOR_FIELDS],
		                         "are #, and the events want #", s->n_joins, joins);
	for (uint32_t i = 0; i < s->n_fields && s->numbers; i++)
		if (s->fields[i].width != s->fields[0].width ||
		    s->fields[i].width > MAX_NUMBER_WIDTH)
			return vm_refuse_numbers(
			    b, VM_REFUSED_VALUE, node, names[EVENT_FIELDS],
			    "row # is not as wide as the first, or over # bits", i,
			    MAX_NUMBER_WIDTH);
	return true;
}

static bool parse_operators(const struct list *l, struct selectors *s)
{
	if (!count_rows(l, 1, SELECTOR_OPERATORS, &s->n_operators))
		return false;
	if ((s->n_operators == 0) != (s->n_joins == 0))
		return refuse(l, VM_REFUSED_VALUE, "and operator-fields go together", 0, 0);
	for (uint32_t i = 0; i < s->n_operators; i++) {
		s->operators[i] = cell(l, i);
		for (uint32_t k = 0; k < s->n_joins; k++)
			if (s->operators[i] > selector_bits(&s->joins[k]) >> s->joins[k].low)
				return refuse(l, VM_REFUSED_VALUE,
				              "# does not fit into operator field #",
				              s->operators[i], k);
		for (uint32_t k = 0; k < i; k++)
			if (s->operators[k] == s->operators[i])
				return refuse(l, VM_REFUSED_DUPLICATE, "names # twice",
				              s->operators[i], 0);
	}
	return true;
}

/* The base must have the same number in each field, one that no event has. */
static bool base_is_sound(const struct selectors *s, const struct selector_run *run)
{
	uint64_t bits = 0;

	if (run->base >> SELECTOR_BITS)
		return false;
	for (uint32_t i = 0; i < s->n_joins; i++)
		bits |= selector_bits(&s->joins[i]);
	if (!s->numbers)
		return (run->base & selector_bits(&s->fields[0])) == 0;
	for (uint32_t i = 0; i < s->n_fields; i++) {
		uint64_t number = (run->base & selector_bits(&s->fields[i])) >> s->fields[i].low;
		uint64_t first = (run->base & selector_bits(&s->fields[0])) >> s->fields[0].low;

		if (number != first || (run->first <= number && number <= run->last))
			return false;
	}
	return (run->base & bits) == 0;
}

static bool run_is_sound(const struct selectors *s, const struct selector_run *run)
{
	const struct selector_field *field = &s->fields[0];

	if (run->first > run->last)
		return false;
	if (s->numbers)
		return run->last <= selector_bits(field) >> field->low;
	return run->first >= field->low && run->last < field->low + field->width;
}

/* Whether a selector could belong to both runs. */
static bool runs_meet(const struct selectors *s, const struct selector_run *a,
                      const struct selector_run *b)
{
	if ((a->base ^ b->base) & ~selector_variable(s))
		return false;
	return a->first <= b->last && b->first <= a->last;
}

static bool parse_runs(const struct list *l, struct selectors *s)
{
	if (!count_rows(l, RUN_CELLS, SELECTOR_RUNS, &s->n_runs))
		return false;
	if (!s->n_runs)
		return refuse(l, VM_REFUSED_SIZE, "names no event", 0, 0);
	for (uint32_t i = 0; i < s->n_runs; i++) {
		uint32_t at = i * RUN_CELLS;
		struct selector_run *run = &s->runs[i];

		*run = (struct selector_run){two_cells(l, at), cell(l, at + 2), cell(l, at + 3),
		                             cell(l, at + 4)};
		if (!run_is_sound(s, run))
			return refuse(l, VM_REFUSED_EVENT,
			              "row #: its numbers are none of event-fields", i, 0);
		if (!base_is_sound(s, run))
			return refuse(l, VM_REFUSED_EVENT,
			              "row #: its selector without events has one", i, 0);
		if (!run->hctrs || run->hctrs & ~VM_ALL_COUNTERS)
			return refuse(l, VM_REFUSED_COUNTER,
			              "row #: counter mask # has none, or bit 1", i, run->hctrs);
		for (uint32_t k = 0; k < i; k++)
			if (runs_meet(s, run, &s->runs[k]))
				return refuse(l, VM_REFUSED_DUPLICATE,
				              "rows # and # have a number in common", k, i);
	}
	return true;
}

static bool standard_exists(uint32_t event_idx)
{
	return !hw_event_is_raw(event_idx) && hw_event_exists(event_idx);
}

/* Returns the counters that can count it, including those without a selector. */
static uint32_t standard_hctrs(const struct selectors *s, const struct selector_standard *event)
{
	uint32_t hctrs = event->selector ? selector_hctrs(s, event->selector) : 0;

	if (event->event_idx == SBI_PMU_HW_CPU_CYCLES)
		hctrs |= (uint32_t)HCTRS_CYCLE;
	if (event->event_idx == SBI_PMU_HW_INSTRUCTIONS)
		hctrs |= (uint32_t)HCTRS_INSTRET;
	return hctrs;
}

static bool parse_standard(const struct list *l, struct selectors *s)
{
	if (!count_rows(l, STANDARD_CELLS, SELECTOR_STANDARD, &s->n_standard))
		return false;
	for (uint32_t i = 0; i < s->n_standard; i++) {
		uint32_t at = i * STANDARD_CELLS;
		struct selector_standard *event = &s->standard[i];

		*event = (struct selector_standard){
		    .event_idx = cell(l, at),
		    .selector = two_cells(l, at + 1),
		    .hctrs = cell(l, at + 3),
		};
		if (!standard_exists(event->event_idx))
			return refuse(l, VM_REFUSED_EVENT,
			              "SBI 3.0 has no general or cache event #", event->event_idx,
			              0);
		if (selector_of_standard(s, event->event_idx) != event)
			return refuse(l, VM_REFUSED_DUPLICATE, "names # twice", event->event_idx,
			              0);
		if (event->selector && !selector_hctrs(s, event->selector))
			return refuse(l, VM_REFUSED_EVENT, "row #: # is no selector of this core",
			              i, event->selector);
		if (!event->hctrs || event->hctrs & ~standard_hctrs(s, event))
			return refuse(l, VM_REFUSED_COUNTER,
			              "row #: counter mask # has others than count it", i,
			              event->hctrs);
	}
	return true;
}

static bool parse_stimuli(const struct list *l, struct selectors *s)
{
	uint32_t n;

	if (!count_rows(l, STIMULUS_CELLS, SELECTOR_STANDARD, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t event_idx = cell(l, i * STIMULUS_CELLS);
		uint32_t stimulus = cell(l, i * STIMULUS_CELLS + 1);
		const struct selector_standard *event = selector_of_standard(s, event_idx);

		if (!event)
			return refuse(l, VM_REFUSED_REFERENCE, "row #: # is none of sbi-events", i,
			              event_idx);
		if (stimulus == STIMULUS_NONE || stimulus >= STIMULI)
			return refuse(l, VM_REFUSED_VALUE, "row #: boot knows no stimulus #", i,
			              stimulus);
		if (event->stimulus != STIMULUS_NONE)
			return refuse(l, VM_REFUSED_DUPLICATE, "names # twice", event_idx, 0);
		s->standard[event - s->standard].stimulus = (enum selector_stimulus)stimulus;
	}
	return true;
}

static bool parse_core(const struct list *l, struct selectors *s)
{
	const char *core;

	if (!vm_read_string(l->b, l->node, l->prop, SELECTOR_CORE_MAX, &core))
		return false;
	if (!vm_is_name(core, SELECTOR_CORE_MAX))
		return refuse(l, VM_REFUSED_NAME, "is not 1 to # characters of a-z, 0-9 and -",
		              SELECTOR_CORE_MAX, 0);
	memcpy(s->core, core, strlen(core));
	return true;
}

bool pmu_node_parse(const struct vm_blob *b, int node, struct selectors *s)
{
	static const char *const kinds[] = {"bits", "numbers"};
	struct vm_prop props[PROPS];
	struct list lists[PROPS];
	uint64_t seen = 0;
	uint32_t kind = 0;

	for (uint32_t i = 0; i < PROPS; i++)
		lists[i] = (struct list){b, node, &props[i]};
	if (!vm_read_props(b, node, names, PROPS, props) || !vm_refuse_children(b, node) ||
	    !vm_require(b, node, &props[CORE]) || !vm_require(b, node, &props[SELECTOR]) ||
	    !vm_require(b, node, &props[EVENT_FIELDS]) || !vm_require(b, node, &props[EVENTS]) ||
	    !parse_core(&lists[CORE], s) ||
	    !vm_read_word(b, node, &props[SELECTOR], kinds, 2, "is not \"numbers\" or \"bits\"",
	                  &kind))
		return false;
	s->numbers = kind == 1;
	return parse_fields(&lists[EVENT_FIELDS], s->fields, SELECTOR_FIELDS, &s->n_fields,
	                    &seen) &&
	       parse_fields(&lists[OPERATOR_FIELDS], s->joins, SELECTOR_JOINS, &s->n_joins,
	                    &seen) &&
	       check_fields(b, node, s) && parse_operators(&lists[OPERATORS], s) &&
	       parse_runs(&lists[EVENTS], s) && parse_standard(&lists[SBI_EVENTS], s) &&
	       parse_stimuli(&lists[SBI_STIMULI], s);
}

bool pmu_node_parse_allowed(const struct vm_blob *b, int node, const struct vm_prop *prop,
                            const struct selectors *s, struct vm_config *vm)
{
	struct list list = {b, node, prop}, *l = &list;
	uint32_t n;

	if (!prop->data)
		return true;
	if (!s)
		return refuse(l, VM_REFUSED_MISSING_NODE,
		              "wants a node /pmu, which tools/pmu-events makes", 0, 0);
	if (!vm->pmu_events_given)
		return refuse(l, VM_REFUSED_MISSING_PROPERTY,
		              "adds to pmu-events, without which all events are allowed", 0, 0);
	if (!count_rows(l, ALLOWED_CELLS, VM_MAX_RAW_EVENTS, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct selector_allowed row = {two_cells(l, i * ALLOWED_CELLS),
		                               two_cells(l, i * ALLOWED_CELLS + 2)};

		if (row.selector & ~row.mask)
			return refuse(l, VM_REFUSED_VALUE,
			              "row #: has bits that its mask leaves out", i, 0);
		if (row.mask == UINT64_MAX && !selector_hctrs(s, row.selector))
			return refuse(l, VM_REFUSED_EVENT, "row #: # is no event of this core", i,
			              row.selector);
		vm->pmu_raw_events[vm->n_pmu_raw_events++] = row;
	}
	return true;
}
