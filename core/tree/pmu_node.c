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

static uint32_t cell(const struct vm_prop *prop, uint32_t i)
{
	return fdt32_ld((const fdt32_t *)prop->data + i);
}

static uint64_t two_cells(const struct vm_prop *prop, uint32_t i)
{
	return (uint64_t)cell(prop, i) << 32 | cell(prop, i + 1);
}

/* Counts the rows of a list, of `cells` cells each, and refuses more than `most`. */
static bool count_rows(const struct vm_node *n, const struct vm_prop *prop, uint32_t cells,
                       uint32_t most, uint32_t *rows)
{
	uint32_t size = cells * (uint32_t)sizeof(fdt32_t);

	*rows = prop->size / size;
	if (prop->size % size)
		return vm_refuse(n, VM_REFUSED_SIZE, prop->name,
		                 "is %u bytes long, not rows of %u cells", prop->size, cells);
	return *rows <= most || vm_refuse(n, VM_REFUSED_TOO_MANY, prop->name,
	                                  "has %u rows, more than %u", *rows, most);
}

/* Parses fields that overlap neither each other nor those in *seen. */
static bool parse_fields(const struct vm_node *n, const struct vm_prop *prop,
                         struct selector_field *fields, uint32_t most, uint32_t *rows,
                         uint64_t *seen)
{
	if (!count_rows(n, prop, FIELD_CELLS, most, rows))
		return false;
	for (uint32_t i = 0; i < *rows; i++) {
		uint32_t low = cell(prop, i * FIELD_CELLS);
		uint32_t width = cell(prop, i * FIELD_CELLS + 1);

		if (low >= SELECTOR_BITS || !width || width > SELECTOR_BITS - low)
			return vm_refuse(n, VM_REFUSED_VALUE, prop->name,
			                 "row %u is no field within bits 55:0", i);
		fields[i] = (struct selector_field){low, width};
		if (*seen & selector_bits(&fields[i]))
			return vm_refuse(n, VM_REFUSED_DUPLICATE, prop->name,
			                 "row %u has bits of another field", i);
		*seen |= selector_bits(&fields[i]);
	}
	return true;
}

static bool check_fields(const struct vm_node *n, const struct selectors *s)
{
	uint32_t joins = s->n_fields == 4 ? 3 : s->n_fields == 2 ? 1 : 0;

	if (s->n_fields == 0 || s->n_fields == 3 || (!s->numbers && s->n_fields != 1))
		return vm_refuse(n, VM_REFUSED_VALUE, "event-fields", "are not %s",
		                 s->numbers ? "1, 2 or 4" : "the one of all bits");
	if (s->n_joins != joins)
		return vm_refuse(n, VM_REFUSED_VALUE, "operator-fields",
		                 "are %u, and the events want %u", s->n_joins, joins);
	for (uint32_t i = 0; i < s->n_fields && s->numbers; i++)
		if (s->fields[i].width != s->fields[0].width ||
		    s->fields[i].width > MAX_NUMBER_WIDTH)
			return vm_refuse(n, VM_REFUSED_VALUE, "event-fields",
			                 "row %u is not as wide as the first, or over %u bits", i,
			                 MAX_NUMBER_WIDTH);
	return true;
}

static bool parse_operators(const struct vm_node *n, const struct vm_prop *prop,
                            struct selectors *s)
{
	if (!count_rows(n, prop, 1, SELECTOR_OPERATORS, &s->n_operators))
		return false;
	if ((s->n_operators == 0) != (s->n_joins == 0))
		return vm_refuse(n, VM_REFUSED_VALUE, "operators",
		                 "and operator-fields go together");
	for (uint32_t i = 0; i < s->n_operators; i++) {
		s->operators[i] = cell(prop, i);
		for (uint32_t k = 0; k < s->n_joins; k++)
			if (s->operators[i] > selector_bits(&s->joins[k]) >> s->joins[k].low)
				return vm_refuse(n, VM_REFUSED_VALUE, "operators",
				                 "%u does not fit into operator field %u",
				                 s->operators[i], k);
		for (uint32_t k = 0; k < i; k++)
			if (s->operators[k] == s->operators[i])
				return vm_refuse(n, VM_REFUSED_DUPLICATE, "operators",
				                 "names %u twice", s->operators[i]);
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

static bool parse_runs(const struct vm_node *n, const struct vm_prop *prop, struct selectors *s)
{
	if (!count_rows(n, prop, RUN_CELLS, SELECTOR_RUNS, &s->n_runs))
		return false;
	if (!s->n_runs)
		return vm_refuse(n, VM_REFUSED_SIZE, "events", "names no event");
	for (uint32_t i = 0; i < s->n_runs; i++) {
		uint32_t at = i * RUN_CELLS;
		struct selector_run *run = &s->runs[i];

		*run = (struct selector_run){two_cells(prop, at), cell(prop, at + 2),
		                             cell(prop, at + 3), cell(prop, at + 4)};
		if (!run_is_sound(s, run))
			return vm_refuse(n, VM_REFUSED_EVENT, "events",
			                 "row %u: its numbers are none of event-fields", i);
		if (!base_is_sound(s, run))
			return vm_refuse(n, VM_REFUSED_EVENT, "events",
			                 "row %u: its selector without events has one", i);
		if (!run->hctrs || run->hctrs & ~VM_ALL_COUNTERS)
			return vm_refuse(n, VM_REFUSED_COUNTER, "events",
			                 "row %u: counter mask %u has none, or bit 1", i,
			                 run->hctrs);
		for (uint32_t k = 0; k < i; k++)
			if (runs_meet(s, run, &s->runs[k]))
				return vm_refuse(n, VM_REFUSED_DUPLICATE, "events",
				                 "rows %u and %u have a number in common", k, i);
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

static bool parse_standard(const struct vm_node *n, const struct vm_prop *prop, struct selectors *s)
{
	if (!count_rows(n, prop, STANDARD_CELLS, SELECTOR_STANDARD, &s->n_standard))
		return false;
	for (uint32_t i = 0; i < s->n_standard; i++) {
		uint32_t at = i * STANDARD_CELLS;
		struct selector_standard *event = &s->standard[i];

		*event = (struct selector_standard){
		    .event_idx = cell(prop, at),
		    .selector = two_cells(prop, at + 1),
		    .hctrs = cell(prop, at + 3),
		};
		if (!standard_exists(event->event_idx))
			return vm_refuse(n, VM_REFUSED_EVENT, "sbi-events",
			                 "SBI 3.0 has no general or cache event %u",
			                 event->event_idx);
		if (selector_of_standard(s, event->event_idx) != event)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, "sbi-events", "names %u twice",
			                 event->event_idx);
		if (event->selector && !selector_hctrs(s, event->selector))
			return vm_refuse(n, VM_REFUSED_EVENT, "sbi-events",
			                 "row %u: %lu is no selector of this core", i,
			                 event->selector);
		if (!event->hctrs || event->hctrs & ~standard_hctrs(s, event))
			return vm_refuse(n, VM_REFUSED_COUNTER, "sbi-events",
			                 "row %u: counter mask %u has others than count it", i,
			                 event->hctrs);
	}
	return true;
}

static bool parse_stimuli(const struct vm_node *n, const struct vm_prop *prop, struct selectors *s)
{
	uint32_t rows;

	if (!count_rows(n, prop, STIMULUS_CELLS, SELECTOR_STANDARD, &rows))
		return false;
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t event_idx = cell(prop, i * STIMULUS_CELLS);
		uint32_t stimulus = cell(prop, i * STIMULUS_CELLS + 1);
		const struct selector_standard *event = selector_of_standard(s, event_idx);

		if (!event)
			return vm_refuse(n, VM_REFUSED_REFERENCE, "sbi-stimuli",
			                 "row %u: %u is none of sbi-events", i, event_idx);
		if (stimulus == STIMULUS_NONE || stimulus >= STIMULI)
			return vm_refuse(n, VM_REFUSED_VALUE, "sbi-stimuli",
			                 "row %u: boot knows no stimulus %u", i, stimulus);
		if (event->stimulus != STIMULUS_NONE)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, "sbi-stimuli", "names %u twice",
			                 event_idx);
		s->standard[event - s->standard].stimulus = (enum selector_stimulus)stimulus;
	}
	return true;
}

static bool parse_core(const struct vm_node *n, const struct vm_prop *prop, struct selectors *s)
{
	const char *core;

	if (!vm_read_string(n, prop, SELECTOR_CORE_MAX, &core))
		return false;
	if (!vm_is_name(core, SELECTOR_CORE_MAX))
		return vm_refuse(n, VM_REFUSED_NAME, "core",
		                 "is not 1 to %u characters of a-z, 0-9 and -", SELECTOR_CORE_MAX);
	memcpy(s->core, core, strlen(core));
	return true;
}

bool pmu_node_parse(const struct vm_node *n, struct selectors *s)
{
	static const char *const kinds[] = {"numbers", "bits"};
	struct vm_prop props[PROPS];
	uint64_t seen = 0;
	uint32_t kind = 0;

	if (!vm_read_props(n, names, PROPS, props) || !vm_refuse_children(n) ||
	    !vm_require(n, &props[CORE]) || !vm_require(n, &props[SELECTOR]) ||
	    !vm_require(n, &props[EVENT_FIELDS]) || !vm_require(n, &props[EVENTS]) ||
	    !parse_core(n, &props[CORE], s) || !vm_read_word(n, &props[SELECTOR], kinds, 2, &kind))
		return false;
	s->numbers = kind == 0;
	return parse_fields(n, &props[EVENT_FIELDS], s->fields, SELECTOR_FIELDS, &s->n_fields,
	                    &seen) &&
	       parse_fields(n, &props[OPERATOR_FIELDS], s->joins, SELECTOR_JOINS, &s->n_joins,
	                    &seen) &&
	       check_fields(n, s) && parse_operators(n, &props[OPERATORS], s) &&
	       parse_runs(n, &props[EVENTS], s) && parse_standard(n, &props[SBI_EVENTS], s) &&
	       parse_stimuli(n, &props[SBI_STIMULI], s);
}

bool pmu_node_parse_allowed(const struct vm_node *n, const struct vm_prop *prop)
{
	struct vm_config *vm = n->vm;
	uint32_t rows;

	if (!prop->data)
		return true;
	if (!n->tree->has_selectors)
		return vm_refuse(n, VM_REFUSED_MISSING_NODE, prop->name,
		                 "wants a node /pmu, which tools/pmu-events makes");
	if (!vm->pmu_events_given)
		return vm_refuse(n, VM_REFUSED_MISSING_PROPERTY, prop->name,
		                 "adds to pmu-events, without which all events are allowed");
	if (!count_rows(n, prop, ALLOWED_CELLS, VM_MAX_RAW_EVENTS, &rows))
		return false;
	for (uint32_t i = 0; i < rows; i++) {
		struct selector_allowed row = {two_cells(prop, i * ALLOWED_CELLS),
		                               two_cells(prop, i * ALLOWED_CELLS + 2)};

		if (row.selector & ~row.mask)
			return vm_refuse(n, VM_REFUSED_VALUE, prop->name,
			                 "row %u: has bits that its mask leaves out", i);
		if (row.mask == UINT64_MAX && !selector_hctrs(&n->tree->selectors, row.selector))
			return vm_refuse(n, VM_REFUSED_EVENT, prop->name,
			                 "row %u: %lu is no event of this core", i, row.selector);
		vm->pmu_raw_events[vm->n_pmu_raw_events++] = row;
	}
	return true;
}
