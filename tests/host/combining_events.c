/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/combining_events.h"

#include <libfdt.h>
#include <stdlib.h>

#include "core/host/vm_config.h"
#include "core/lib/types.h"
#include "core/tree/pmu_node.h"
#include "tests/host/fake_state.h"

struct table_event {
	uint64_t selector;
	uint32_t hctrs;
	const char *name;
};
#include "kunminghu_table.h"

#define PLACES    4U
#define OPERATORS 3U
#define CODE_BITS 8U
#define RAW_V1    ((uint32_t)SBI_PMU_TYPE_RAW << 16)
#define RAW_V2    ((uint32_t)SBI_PMU_TYPE_RAW_V2 << 16)
#define V1_LIMIT  (UINT64_C(1) << 48)
/* With fake.config.narrow: so many events of a group in a row have the same counters. */
#define ALIKE 24U
/* Events of a machine that random guests choose from. */
#define CHOICE 24U

_Static_assert(ARRAY_SIZE(table_events) == COMBINING_EVENTS, "the table has other events");

struct combining_cycle combining_cycles[COMBINING_PERIOD];

const struct opensbi_node combining_node = {table_standard, ARRAY_SIZE(table_standard), table_raw,
                                            ARRAY_SIZE(table_raw)};

static const enum combining_op operators[] = {COMBINING_OR, COMBINING_AND, COMBINING_XOR,
                                              COMBINING_ADD};

/* --- selectors ----------------------------------------------------------------------- */

struct reading {
	uint32_t group;
	uint32_t codes[PLACES]; /* 0: none */
	enum combining_op ops[OPERATORS];
};

static uint64_t bits_of(uint64_t selector, uint32_t low, uint32_t width)
{
	return selector >> low & ((UINT64_C(1) << width) - 1);
}

/* For groups and codes. Searching the table would take most of a random test's time. */
static bool has_code(uint32_t group, uint32_t code)
{
	static bool codes[1U << (CODE_BITS + 2)], filled;

	for (uint32_t n = 0; !filled && n < COMBINING_EVENTS; n++)
		codes[bits_of(table_events[n].selector, 0, CODE_BITS + 2)] = true;
	filled = true;
	return codes[group << CODE_BITS | code];
}

static bool is_operator(uint64_t value)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i] == value)
			return true;
	return false;
}

/* Returns false if a selector has an event or operator that there is not, events of two groups, or
 * none. */
static bool read(uint64_t selector, struct reading *r)
{
	bool any = false;

	r->group = (uint32_t)bits_of(selector, CODE_BITS, 2);
	for (uint32_t i = 0; i < PLACES; i++) {
		r->codes[i] = (uint32_t)bits_of(selector, 10 * i, CODE_BITS);
		if (bits_of(selector, 10 * i + CODE_BITS, 2) != r->group ||
		    (r->codes[i] && !has_code(r->group, r->codes[i])))
			return false;
		any = any || r->codes[i];
	}
	for (uint32_t i = 0; i < OPERATORS; i++) {
		uint64_t op = bits_of(selector, 40 + 5 * i, 5);

		if (!is_operator(op))
			return false;
		r->ops[i] = (enum combining_op)op;
	}
	return any && !(selector >> 55);
}

/* Returns the counters that can count one event. */
static uint32_t counters_of(uint32_t group, uint32_t code)
{
	static const uint32_t hctrs[] = {0x7f8, 0x7f800, 0x7f80000, 0xf8000000};
	struct chance c = {fake.config.choice ^ (group << CODE_BITS | code / ALIKE)};
	uint32_t some = hctrs[group] & (uint32_t)chance(&c);

	some &= percent(&c, 50) ? (uint32_t)chance(&c) : UINT32_MAX;
	return fake.config.narrow && some ? some : hctrs[group];
}

uint32_t combining_hctrs(uint64_t selector)
{
	uint32_t hctrs = UINT32_MAX;
	struct reading r;

	if (!read(selector, &r))
		return 0;
	for (uint32_t i = 0; i < PLACES; i++)
		if (r.codes[i])
			hctrs &= counters_of(r.group, r.codes[i]);
	return hctrs;
}

uint64_t combining_single(uint32_t n)
{
	return table_events[n].selector;
}

uint64_t combining_any(struct chance *c)
{
	uint64_t first = table_events[below(c, COMBINING_EVENTS)].selector;
	uint64_t selector = first;
	uint32_t group = (uint32_t)bits_of(first, CODE_BITS, 2);

	for (uint32_t i = 1; i < PLACES; i++) {
		uint32_t code = below(c, COMBINING_CODES);

		if (percent(c, 70) && has_code(group, code))
			selector |= (uint64_t)code << 10 * i;
	}
	for (uint32_t i = 0; i < OPERATORS; i++)
		selector |= (uint64_t)operators[below(c, 4)] << (40 + 5 * i);
	return selector;
}

/* --- standard events ----------------------------------------------------------------- */

static const struct opensbi_event *standard(uint32_t event_idx)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(table_standard); i++)
		if (table_standard[i].event_idx == event_idx)
			return &table_standard[i];
	return NULL;
}

/* Returns the selector of an event. 0: there is no such event. */
static uint64_t selector_of(uint32_t event_idx, uint64_t event_data)
{
	const struct opensbi_event *event = standard(event_idx);

	if (event)
		return event_data ? 0 : event->selector;
	if (event_idx == RAW_V1)
		return event_data < V1_LIMIT ? event_data : 0;
	/* A firmware that knows only version 1 can be given no others. HS writes them itself. */
	if (event_idx == RAW_V2)
		return event_data < V1_LIMIT || !fake.config.raw_v1_only || fake.config.delegated
		           ? event_data
		           : 0;
	return 0;
}

uint64_t fake_hart_hctrs(uint32_t event_idx, uint64_t event_data)
{
	return combining_hctrs(selector_of(event_idx, event_data));
}

bool fake_hart_has(uint32_t event_idx, uint64_t event_data)
{
	return fake_hart_hctrs(event_idx, event_data) != 0;
}

void fake_hart_name(uint32_t *event_idx, uint64_t *event_data)
{
	uint64_t selector = selector_of(*event_idx, *event_data);

	/* Boot asks the firmware for it. */
	if (selector >= V1_LIMIT && fake.config.raw_v1_only)
		return;
	for (uint32_t i = 0; i < ARRAY_SIZE(table_standard); i++) {
		if (table_standard[i].selector != selector)
			continue;
		*event_idx = table_standard[i].event_idx;
		*event_data = 0;
	}
}

/* Each event of a combination must be allowed by itself. */
bool fake_hart_allows(const struct vpmu_table *table, uint32_t event_idx, uint64_t event_data)
{
	struct reading r;

	if ((event_idx != RAW_V1 && event_idx != RAW_V2) || !read(event_data, &r))
		return false;
	for (uint32_t i = 0; i < PLACES; i++) {
		uint64_t single = r.group * UINT64_C(0x4010040100) | r.codes[i];
		bool allowed = !r.codes[i];

		for (uint32_t k = 0; k < table->n_allowed; k++)
			allowed = allowed ||
			          !((single ^ table->allowed[k].selector) & table->allowed[k].mask);
		if (!allowed)
			return false;
	}
	return true;
}

/* --- the table ----------------------------------------------------------------------- */

static struct selectors whole, now;

/* Splits a row of the table where the counters change. Its numbers contain the group. */
static void narrow(const struct selector_run *run)
{
	uint32_t group = run->first >> CODE_BITS;

	for (uint32_t first = run->first; first <= run->last;) {
		struct selector_run *part = &now.runs[now.n_runs++];
		uint32_t hctrs = counters_of(group, first % COMBINING_CODES);

		*part = (struct selector_run){run->base, first, first, hctrs};
		while (++first <= run->last && counters_of(group, first % COMBINING_CODES) == hctrs)
			part->last = first;
	}
}

static void parse(void)
{
	static struct vm_refusal why;
	const struct vm_node n = {
	    .blob = table_blob, .at = fdt_path_offset(table_blob, "/pmu"), .why = &why};

	if (!whole.n_runs && !pmu_node_parse(&n, &whole))
		abort();
}

void combining_events_begin(void)
{
	struct chance c = {1};

	for (uint32_t k = 0; k < COMBINING_PERIOD; k++)
		for (uint32_t g = 0; g < COMBINING_GROUPS; g++)
			for (uint32_t i = 1; i < COMBINING_CODES; i++)
				combining_cycles[k].times[g][i] = (uint8_t)below(&c, 8);
	parse();
	now = whole;
	if (!fake.config.narrow)
		return;
	now.n_runs = 0;
	for (uint32_t i = 0; i < whole.n_runs; i++)
		narrow(&whole.runs[i]);
	for (uint32_t i = 0; i < now.n_standard; i++)
		now.standard[i].hctrs = combining_hctrs(now.standard[i].selector);
}

const struct selectors *combining_selectors(void)
{
	return &now;
}

/* --- what happens -------------------------------------------------------------------- */

/* Joins two numbers bit by bit; ADD has a carry. Above the highest bit of both is none of it. */
static uint32_t joined(enum combining_op op, uint32_t a, uint32_t b)
{
	uint32_t sum = 0, carry = 0;

	for (uint32_t i = 0; (a | b) >> i || carry; i++) {
		uint32_t x = a >> i & 1, y = b >> i & 1, bit = x | y;

		if (op == COMBINING_AND)
			bit = x && y;
		else if (op == COMBINING_XOR)
			bit = x != y;
		else if (op == COMBINING_ADD)
			bit = (x + y + carry) & 1;
		carry = (x + y + carry) / 2;
		sum |= bit << i;
	}
	return sum;
}

static uint32_t in_cycle(const struct reading *r, const struct combining_cycle *cycle)
{
	const uint8_t *times = cycle->times[r->group];

	return joined(r->ops[2], joined(r->ops[0], times[r->codes[0]], times[r->codes[1]]),
	              joined(r->ops[1], times[r->codes[2]], times[r->codes[3]]));
}

/* The n-th cycle, and those after it. */
uint32_t fake_hart_work(uint64_t number)
{
	return number % COMBINING_PERIOD;
}

uint32_t fake_hart_work_after(uint32_t work, uint64_t units)
{
	return fake_hart_work(work + units % COMBINING_PERIOD);
}

uint64_t fake_hart_amount(uint32_t event_idx, uint64_t event_data, uint32_t work, uint64_t units)
{
	uint64_t periods = units / COMBINING_PERIOD, rest = units % COMBINING_PERIOD, amount = 0;
	struct reading r;

	if (!read(selector_of(event_idx, event_data), &r))
		return 0;
	for (uint32_t k = 0; k < COMBINING_PERIOD; k++)
		if (periods || k < rest)
			amount += in_cycle(&r, &combining_cycles[fake_hart_work_after(work, k)]) *
			          (periods + (k < rest));
	return amount;
}

/* --- what guests choose -------------------------------------------------------------- */

uint32_t fake_hart_events(void)
{
	return CHOICE;
}

/* Each machine has its own choice. Some differ from their neighbours in one bit, so that many of
 * these do not exist, and some are standard events under another name. */
static uint64_t chosen(uint32_t n)
{
	struct chance c = {fake.config.choice + n};

	if (n % 8 == 3)
		return table_standard[n / 8 % ARRAY_SIZE(table_standard)].selector;
	if (n % 8 > 5)
		return chosen(n - 2) ^ UINT64_C(1) << below(&c, SELECTOR_BITS);
	return percent(&c, 25) ? combining_single(below(&c, COMBINING_EVENTS)) : combining_any(&c);
}

/* The first ones are chosen most often. */
uint32_t fake_hart_event_idx(enum fake_event event, uint64_t *event_data)
{
	uint64_t selector = chosen(event);
	uint32_t n = event / 4;

	if (event_data)
		*event_data = event % 4 == 1 ? 0 : selector;
	if (event % 4 == 1)
		return n < ARRAY_SIZE(table_standard) ? table_standard[n].event_idx
		                                      : SBI_PMU_HW_CPU_CYCLES;
	return selector < V1_LIMIT && event % 2 ? RAW_V1 : RAW_V2;
}
