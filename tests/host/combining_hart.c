/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/combining_hart.h"

#include <string.h>

#include "arch/riscv/counters/ssccfg.h"
#include "core/lib/types.h"

#define OPS    3U
#define EVENTS 4U

static struct hart {
	uint64_t selectors[COMBINING_LAST + 1], counters[COMBINING_LAST + 1];
	uint64_t inhibit;
	uint64_t overflows; /* of the selectors: they are asked for at each step */
} harts[COMBINING_HARTS], *hart = harts;

void combining_select(unsigned int which)
{
	hart = &harts[which];
}

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
	memset(hart->counters, 0, sizeof(hart->counters));
	for (unsigned int i = COMBINING_FIRST; i <= COMBINING_LAST; i++)
		hart->selectors[i] = group_bits(combining_group(i));
	hart->inhibit = COMBINING_COUNTERS;
	hart->overflows = 0;
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
	hart->selectors[counter] = value | group_bits(combining_group(counter));
	hart->overflows &= ~BIT(counter);
	hart->overflows |= value & MHPMEVENT_OF ? BIT(counter) : 0;
}

uint64_t combining_event(unsigned int counter)
{
	return hart->selectors[counter];
}

void combining_write_counter(unsigned int counter, uint64_t value)
{
	hart->counters[counter] = value;
}

uint64_t combining_counter(unsigned int counter)
{
	return hart->counters[counter];
}

void combining_write_inhibit(uint64_t value)
{
	hart->inhibit = value & COMBINING_COUNTERS;
}

uint64_t combining_inhibit(void)
{
	return hart->inhibit;
}

uint64_t combining_overflows(void)
{
	return hart->overflows;
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
	uint64_t selector = hart->selectors[counter];
	unsigned int n[EVENTS];

	for (unsigned int i = 0; i < EVENTS; i++)
		n[i] = times[selector >> COMBINING_EVENT_SHIFT(i) & (COMBINING_CODES - 1)];
	return join(op_of(selector, 2), join(op_of(selector, 0), n[0], n[1]),
	            join(op_of(selector, 1), n[2], n[3]));
}

bool combining_step(enum combining_mode mode, const struct combining_cycle *cycle)
{
	bool lcofi = false;

	for (uint64_t left = COMBINING_COUNTERS & ~hart->inhibit; left; left &= left - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(left);
		uint64_t before = hart->counters[i];

		if (!counts_in(hart->selectors[i], mode))
			continue;
		hart->counters[i] += advance(i, cycle->times[combining_group(i)]);
		if (hart->counters[i] >= before)
			continue;
		lcofi = lcofi || !(hart->selectors[i] & MHPMEVENT_OF);
		hart->selectors[i] |= MHPMEVENT_OF;
		hart->overflows |= BIT(i);
	}
	return lcofi;
}

uint64_t combining_repeat(enum combining_mode mode, const struct combining_cycle *cycles,
                          unsigned int n, uint64_t times)
{
	uint64_t sums[COMBINING_LAST + 1] = {0};

	for (unsigned int i = COMBINING_FIRST; i <= COMBINING_LAST; i++) {
		if (hart->inhibit >> i & 1 || !counts_in(hart->selectors[i], mode))
			continue;
		for (unsigned int k = 0; k < n; k++)
			sums[i] += advance(i, cycles[k].times[combining_group(i)]);
		if (sums[i] && !(hart->selectors[i] & MHPMEVENT_OF) &&
		    times > (UINT64_MAX - hart->counters[i]) / sums[i])
			times = (UINT64_MAX - hart->counters[i]) / sums[i];
	}
	for (unsigned int i = COMBINING_FIRST; i <= COMBINING_LAST; i++)
		hart->counters[i] += sums[i] * times;
	return times;
}
