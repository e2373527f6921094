/* SPDX-License-Identifier: Apache-2.0 */
/* Each loop runs over the events of one selector, at most 56, times the rows of the table. */
#include "vpmu/selector.h"

#include <stddef.h>

uint64_t selector_variable(const struct selectors *s)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < s->n_fields; i++)
		bits |= selector_bits(&s->fields[i]);
	for (uint32_t i = 0; i < s->n_joins; i++)
		bits |= selector_bits(&s->joins[i]);
	return bits;
}

static uint32_t content(uint64_t selector, const struct selector_field *field)
{
	return (uint32_t)((selector & selector_bits(field)) >> field->low);
}

/* Returns how many events a selector can have. */
static uint32_t places(const struct selectors *s)
{
	return s->numbers ? s->n_fields : s->fields[0].width;
}

/* Finds the number of the event in this place of a selector with this base. Returns false if there
 * is none. */
static bool event_at(const struct selectors *s, uint64_t selector, uint64_t base, uint32_t place,
                     uint32_t *number)
{
	const struct selector_field *field = &s->fields[s->numbers ? place : 0];

	if (s->numbers) {
		*number = content(selector, field);
		return *number != content(base, field);
	}
	*number = field->low + place;
	return selector >> *number & 1;
}

/* Returns the counters that can count an event of the runs with this base; 0 if there is no such
 * event. */
static uint32_t event_hctrs(const struct selectors *s, uint64_t base, uint32_t number)
{
	for (uint32_t i = 0; i < s->n_runs; i++) {
		const struct selector_run *run = &s->runs[i];

		if (run->base == base && run->first <= number && number <= run->last)
			return run->hctrs;
	}
	return 0;
}

static bool operators_known(const struct selectors *s, uint64_t selector)
{
	for (uint32_t i = 0; i < s->n_joins; i++) {
		uint32_t k = 0;

		while (k < s->n_operators && s->operators[k] != content(selector, &s->joins[i]))
			k++;
		if (k == s->n_operators)
			return false;
	}
	return true;
}

/* Does the same as selector_hctrs(), for this base only. Returns 0 if the selector has another
 * one. */
static uint32_t hctrs_by_base(const struct selectors *s, uint64_t selector, uint64_t base)
{
	uint32_t hctrs = UINT32_MAX;
	bool any = false;
	uint32_t number;

	if ((selector ^ base) & ~selector_variable(s))
		return 0;
	for (uint32_t i = 0; i < places(s); i++) {
		if (!event_at(s, selector, base, i, &number))
			continue;
		hctrs &= event_hctrs(s, base, number);
		any = true;
	}
	return any ? hctrs : 0;
}

/* Returns a run with the base of the selector, or NULL. *hctrs becomes the counters that can count
 * all of its events. No two bases have selectors in common, so the first one that fits is the right
 * one. */
static const struct selector_run *run_of(const struct selectors *s, uint64_t selector,
                                         uint32_t *hctrs)
{
	if (!operators_known(s, selector))
		return NULL;
	for (uint32_t i = 0; i < s->n_runs; i++) {
		*hctrs = hctrs_by_base(s, selector, s->runs[i].base);
		if (*hctrs)
			return &s->runs[i];
	}
	return NULL;
}

uint32_t selector_hctrs(const struct selectors *s, uint64_t selector)
{
	uint32_t hctrs;

	return run_of(s, selector, &hctrs) ? hctrs : 0;
}

static bool single_allowed(uint64_t single, const struct selector_allowed *allowed, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if ((single & allowed[i].mask) == allowed[i].selector)
			return true;
	return false;
}

uint64_t selector_single(const struct selectors *s, const struct selector_run *run, uint32_t number)
{
	if (!s->numbers)
		return run->base | UINT64_C(1) << number;
	return (run->base & ~selector_bits(&s->fields[0])) | (uint64_t)number << s->fields[0].low;
}

bool selector_is_allowed(const struct selectors *s, uint64_t selector,
                         const struct selector_allowed *allowed, uint32_t n)
{
	uint32_t hctrs, number;
	const struct selector_run *run = run_of(s, selector, &hctrs);

	if (!run)
		return false;
	for (uint32_t i = 0; i < places(s); i++) {
		if (event_at(s, selector, run->base, i, &number) &&
		    !single_allowed(selector_single(s, run, number), allowed, n))
			return false;
	}
	return true;
}

const struct selector_standard *selector_of_standard(const struct selectors *s, uint32_t event_idx)
{
	for (uint32_t i = 0; i < s->n_standard; i++)
		if (s->standard[i].event_idx == event_idx)
			return &s->standard[i];
	return NULL;
}
