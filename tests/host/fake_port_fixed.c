/* SPDX-License-Identifier: Apache-2.0 */
/* The fixed counters of the fake hart, which HS lends. */
#include "tests/host/fake_state.h"

void vpmu_port_fixed_take(hctr_t hctr, const struct hw_event *config, uint64_t value)
{
	uint32_t idx = fake_checked(hctr);
	struct fake_counter *c = &fake.counters[idx];

	fake_require(HCTRS_FIXED >> idx & 1, "take of a programmable counter");
	fake_require(!(fake.lent >> idx & 1), "take of what is taken");
	fake_require(fake_hart_hctrs(config->event_idx, config->event_data) & 1ULL << idx,
	             "counter cannot count the event");
	fake_require(!(config->inhibit & ~(HW_INH_VS | HW_INH_VU)), "unknown inhibit bits");
	fake_trace.lent++;
	fake.lent |= 1ULL << idx;
	c->config = *config;
	c->programmed = true;
	/* The value need not be valid before it is set. */
	c->value = ~value & fake_value_mask();
	c->owner = fake.resident;
}

/* HS, or another vcpu, uses it afterwards. */
void vpmu_port_fixed_release(uint64_t hctr_mask)
{
	fake_called();
	fake_require(hctr_mask && !(hctr_mask & ~fake.lent), "release of what was not taken");
	fake.lent &= ~hctr_mask;
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hctr_mask & 1ULL << i))
			continue;
		fake_catch_runaway(i);
		/* A counter that failed has no known state. */
		fake_require(!fake.counters[i].running || (fake.failed >> i & 1),
		             "release of a running counter");
		fake.counters[i] = (struct fake_counter){.value = 0x5eed};
	}
}
