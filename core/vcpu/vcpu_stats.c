/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/vcpu.h"
#include "vpmu/bits.h"
#include "vpmu/tally_events.h"

static uint64_t since_base(const struct vcpu *vcpu, uint32_t code)
{
	return fw_events_read(&vcpu->home->fw_events, code) - vcpu->stats.fw_base[code];
}

void vcpu_fw_load(struct vcpu *vcpu, uint32_t codes)
{
	uint32_t code;

	for_each_bit (code, codes)
		vcpu->stats.fw_base[code] = fw_events_read(&vcpu->home->fw_events, code);
}

void vcpu_fw_put(struct vcpu *vcpu, uint32_t codes)
{
	uint32_t code;

	for_each_bit (code, codes)
		vcpu->stats.fw_total[code] += since_base(vcpu, code);
}

void vcpu_fw_watch(struct vcpu *vcpu, uint32_t codes)
{
	vcpu_fw_put(vcpu, vcpu->stats.fw_watched & ~codes);
	vcpu_fw_load(vcpu, codes & ~vcpu->stats.fw_watched);
	vcpu->stats.fw_watched = codes;
}

void vcpu_fw_count(struct vcpu *vcpu, uint32_t code)
{
	vcpu->stats.fw_total[code]++;
}

uint64_t vcpu_fw_total(const struct vcpu *vcpu, uint32_t code)
{
	if (code < FW_EVENTS_M)
		return vcpu->stats.fw_total[code] +
		       (vcpu->stats.fw_watched & 1U << code ? since_base(vcpu, code) : 0);
	switch (code) {
	case TALLY_EVENT_EXITS:
		return vcpu_sum(vcpu->ctx.exits, VCPU_EXITS);
	case TALLY_EVENT_HS_INSTRUCTIONS:
		return vcpu_hs_insns(vcpu);
	case TALLY_EVENT_STEAL_TICKS:
		return vcpu->stats.steal_ticks;
	case TALLY_EVENT_LCOFI_INJECTED:
		return vcpu->stats.lcofis;
	case TALLY_EVENT_LCOFI_HELD:
		return vcpu->lcofi.held_back;
	case TALLY_EVENT_THROTTLED_TICKS:
		return vcpu->budget.throttled_ticks;
	case TALLY_EVENT_REFUSALS:
		return vcpu->stats.refusals;
	case TALLY_EVENT_LONGEST_STAY:
		return vcpu_longest_stay(vcpu);
	default:
		return vcpu->ctx.exits[code - TALLY_EVENT_EXITS_ECALL + EXIT_ECALL];
	}
}
