/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that are likelier to matter than any. */
#include "guests/bare/fuzz/fuzz.h"

static uint64_t edge(struct fuzz_vcpu *v)
{
	static const uint64_t edges[] = {
	    0x0,           0x1000,           0x100000,           0x2000000,          0x2004000,
	    0xbffffff,     0x10000000,       0x10000005,         0x10000100,         0x40000000,
	    0x7fffffff,    0x80000000,       0x80200000,         0x807ffff8,         0x807fffff,
	    0x80800000,    0x80ffffff,       0x81000000,         0xfffffff8,         0x3ffffffffff8,
	    0x20000000000, 0x80000000000000, 0x8000000080200000, 0xffffffff80200000,
	};

	return PICK(v, edges) + (fuzz_once_in(v, 2) ? 0 : fuzz_below(v, 17) - 8);
}

uint64_t fuzz_value(struct fuzz_vcpu *v)
{
	switch (fuzz_below(v, 12)) {
	case 0:
		return fuzz_below(v, 4);
	case 1:
		return fuzz_below(v, 64);
	case 2:
		return -fuzz_below(v, 5000);
	case 3:
		return 1UL << fuzz_below(v, 64);
	case 4:
		return (1UL << fuzz_below(v, 64)) - 1;
	case 5:
		return edge(v);
	case 6:
	case 7:
		return SCRATCH + (fuzz_below(v, SCRATCH_BYTES) & ~7UL);
	case 8:
		return SCRATCH + (fuzz_below(v, SCRATCH_BYTES) & ~0xfffUL) +
		       (fuzz_below(v, 17) - 8);
	case 9:
		return fuzz_few_bits(v, 3);
	case 10:
		return fuzz_random(v) >> fuzz_below(v, 64);
	default:
		return fuzz_random(v);
	}
}

uint64_t fuzz_event(struct fuzz_vcpu *v)
{
	switch (fuzz_below(v, 8)) {
	case 0:
		return EVENT_CYCLES;
	case 1:
	case 2:
		return EVENT_INSTRUCTIONS;
	case 3:
		return fuzz_below(v, 12);
	case 4:
		return 0xf0000 + fuzz_below(v, 24);
	case 5:
		return 0xf0100 + fuzz_below(v, 17);
	case 6:
		return 0x10000 + fuzz_below(v, 64);
	default:
		return fuzz_once_in(v, 2) ? fuzz_value(v) : 0x20000 + 0x10000 * fuzz_below(v, 3);
	}
}
