/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/combining_hart.h"

#include <string.h>

#include "arch/riscv/ssccfg.h"
#include "core/lib/types.h"

#define OPS    3U
#define EVENTS 4U

static uint64_t selectors[COMBINING_LAST + 1], counters[COMBINING_LAST + 1];
static uint64_t inhibit;

unsigned int combining_group(unsigned int counter)
{
	return (counter - COMBINING_FIRST) / 8;
}

/* The bits of a selector that cannot be written. */
static uint64_t group_bits(uint64_t group)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < EVENTS; i++)
		bits |= group << (COMBINING_EVENT_SHIFT(i) + COMBINING_GROUP_SHIFT);
	return bits;
}

void combining_reset(void)
{
	memset(counters, 0, sizeof(counters));
	for (unsigned int i = COMBINING_FIRST; i <= COMBINING_LAST; i++)
		selectors[i] = group_bits(combining_group(i));
	inhibit = COMBINING_COUNTERS;
}

static unsigned int op_of(uint64_t selector, unsigned int i)
{
	return selector >> COMBINING_OP_SHIFT(i) & 31U;
}

static bool is_op(unsigned int op)
{
	return op == COMBINING_OR || op == COMBINING_AND || op == COMBINING_XOR ||
	       op == COMBINING_ADD;
}

void combining_write_event(unsigned int counter, uint64_t value)
{
	value &= ~group_bits(3);
	for (unsigned int i = 0; i < OPS; i++) {
		if (!is_op(op_of(value, i)))
			value &= ~(UINT64_C(31) << COMBINING_OP_SHIFT(i));
	}
	selectors[counter] = value | group_bits(combining_group(counter));
}

uint64_t combining_event(unsigned int counter)
{
	return selectors[counter];
}

void combining_write_counter(unsigned int counter, uint64_t value)
{
	counters[counter] = value;
}

uint64_t combining_counter(unsigned int counter)
{
	return counters[counter];
}

void combining_write_inhibit(uint64_t value)
{
	inhibit = value & COMBINING_COUNTERS;
}

uint64_t combining_inhibit(void)
{
	return inhibit;
}

uint64_t combining_overflows(void)
{
	uint64_t flags = 0;

	for (unsigned int i = COMBINING_FIRST; i <= COMBINING_LAST; i++)
		flags |= selectors[i] & MHPMEVENT_OF ? BIT(i) : 0;
	return flags;
}

static unsigned int join(unsigned int op, unsigned int a, unsigned int b)
{
	switch (op) {
	case COMBINING_AND:
		return a & b;
	case COMBINING_XOR:
		return a ^ b;
	case COMBINING_ADD:
		return a + b;
	default:
		return a | b;
	}
}

static bool counts_in(uint64_t selector, enum combining_mode mode)
{
	static const uint64_t filters[] = {
	    [COMBINING_M] = MHPMEVENT_MINH,   [COMBINING_HS] = MHPMEVENT_SINH,
	    [COMBINING_U] = MHPMEVENT_UINH,   [COMBINING_VS] = MHPMEVENT_VSINH,
	    [COMBINING_VU] = MHPMEVENT_VUINH,
	};

	return !(selector & filters[mode]);
}

/* Returns by how much a counter advances in a cycle. */
static unsigned int advance(unsigned int counter, const uint8_t times[COMBINING_CODES])
{
	uint64_t selector = selectors[counter];
	unsigned int n[EVENTS];

	for (unsigned int i = 0; i < EVENTS; i++)
		n[i] = times[selector >> COMBINING_EVENT_SHIFT(i) & (COMBINING_CODES - 1)];
	return join(op_of(selector, 2), join(op_of(selector, 0), n[0], n[1]),
	            join(op_of(selector, 1), n[2], n[3]));
}

bool combining_step(const struct combining_cycle *cycle)
{
	bool lcofi = false;

	for (unsigned int i = COMBINING_FIRST; i <= COMBINING_LAST; i++) {
		uint64_t before = counters[i];

		if (inhibit >> i & 1 || !counts_in(selectors[i], cycle->mode))
			continue;
		counters[i] += advance(i, cycle->times[combining_group(i)]);
		if (counters[i] >= before)
			continue;
		lcofi = lcofi || !(selectors[i] & MHPMEVENT_OF);
		selectors[i] |= MHPMEVENT_OF;
	}
	return lcofi;
}
