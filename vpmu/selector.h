/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a core's selector, which are the bits of mhpmevent that choose the event, and the
 * counters that can count it. It works for any core: the numbers come from a table (node /pmu of
 * dts/README.md).
 */
#ifndef VPMU_SELECTOR_H
#define VPMU_SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

#define SELECTOR_BITS      56U /* as in raw events v2; OF and the filters are above them */
#define SELECTOR_FIELDS    4U
#define SELECTOR_JOINS     3U
#define SELECTOR_OPERATORS 8U
#define SELECTOR_RUNS      32U
#define SELECTOR_STANDARD  64U
#define SELECTOR_CORE_MAX  15U /* characters */

struct selector_field {
	uint32_t low;
	uint32_t width;
};

/* Events first to last, which the same counters can count. */
struct selector_run {
	uint64_t base; /* the selector of these events, with no event in its fields */
	uint32_t first;
	uint32_t last;
	uint32_t hctrs;
};

/* Work that makes an event happen; boot does it to try the event. The numbers are those of the VM
 * tree. */
enum selector_stimulus {
	STIMULUS_NONE,
	STIMULUS_INSTRUCTIONS, /* instructions retire */
	STIMULUS_BRANCHES,     /* and some of them are jumps that are taken */
	STIMULUS_TRANSLATIONS, /* the TLBs are empty, and something is fetched, loaded and stored */
	STIMULI,
};

/* A general or cache event of the SBI. selector 0: the fixed counter counts it. */
struct selector_standard {
	uint32_t event_idx;
	uint32_t hctrs;
	uint64_t selector;
	enum selector_stimulus stimulus;
};

/*
 * With `numbers`, each field has the number of an event, or the number in the base, which stands
 * for no event; operators combine the fields. Without `numbers` there is one field, in which bit n
 * stands for event n.
 */
struct selectors {
	char core[SELECTOR_CORE_MAX + 1];
	bool numbers;
	uint32_t n_fields;
	uint32_t n_joins;
	uint32_t n_operators;
	uint32_t n_runs;
	uint32_t n_standard;
	struct selector_field fields[SELECTOR_FIELDS];
	struct selector_field joins[SELECTOR_JOINS];
	uint32_t operators[SELECTOR_OPERATORS];
	struct selector_run runs[SELECTOR_RUNS];
	struct selector_standard standard[SELECTOR_STANDARD];
};

/* A set of single events: those whose selector, with the event alone in the first field, equals
 * `selector` in the bits of the mask. */
struct selector_allowed {
	uint64_t selector;
	uint64_t mask;
};

static inline uint64_t selector_bits(const struct selector_field *field)
{
	return ((UINT64_C(1) << field->width) - 1) << field->low;
}

/* Returns all bits of fields and operators. */
uint64_t selector_variable(const struct selectors *s);

/* Returns the selector of one event of a run, alone in the first field. */
uint64_t selector_single(const struct selectors *s, const struct selector_run *run,
                         uint32_t number);

/* Returns the counters that can count all of its events. 0: this core has no such selector. */
uint32_t selector_hctrs(const struct selectors *s, uint64_t selector);

/* Whether each event of a selector of this core is allowed. */
bool selector_is_allowed(const struct selectors *s, uint64_t selector,
                         const struct selector_allowed *allowed, uint32_t n);

/* Returns the table's entry of a general or cache event. NULL: this core does not count it. */
const struct selector_standard *selector_of_standard(const struct selectors *s, uint32_t event_idx);

#endif
