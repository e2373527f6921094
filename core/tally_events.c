/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tally_events.h"

#include "vpmu/tally_events.h"

/* The codes are known to guests, enum vcpu_exit is not: whoever adds a cause decides here. */
_Static_assert(TALLY_EVENT_EXIT_ECALL + EXIT_ECALL == 257 &&
                   TALLY_EVENT_EXIT_ECALL + EXIT_OTHER == TALLY_EVENT_EXIT_OTHER &&
                   EXIT_OTHER + 1 == VCPU_EXITS,
               "each cause has its own code");
_Static_assert(TALLY_EVENT_FIRST + TALLY_EVENTS == TALLY_EVENT_LONGEST_STAY + 1, "no code is left");

static uint64_t exits_by(const struct vcpu *vcpu, enum vcpu_exit cause)
{
	return vcpu->exits[cause] + (cause == EXIT_ECALL ? vcpu->ctx.ecalls : 0);
}

static uint64_t exits(const struct vcpu *vcpu)
{
	uint64_t sum = 0;

	for (uint32_t cause = 0; cause < VCPU_EXITS; cause++)
		sum += exits_by(vcpu, (enum vcpu_exit)cause);
	return sum;
}

uint64_t tally_event_total(const struct vcpu *vcpu, uint32_t code)
{
	switch (code) {
	case TALLY_EVENT_EXITS:
		return exits(vcpu);
	case TALLY_EVENT_HS_INSTRUCTIONS:
		return vcpu->ctx.hs_insns;
	case TALLY_EVENT_STEAL:
		return vcpu->stolen;
	case TALLY_EVENT_LCOFI:
		return vcpu->lcofis;
	case TALLY_EVENT_REFUSED:
		return vcpu->pmu_refusals;
	case TALLY_EVENT_LONGEST_STAY:
		return vcpu->ctx.hs_longest;
	default:
		if (code >= TALLY_EVENT_EXIT_ECALL && code <= TALLY_EVENT_EXIT_OTHER)
			return exits_by(vcpu, (enum vcpu_exit)(code - TALLY_EVENT_EXIT_ECALL));
		return 0;
	}
}
