/* SPDX-License-Identifier: Apache-2.0 */
/* Notices of the vPMU to the owner of a vcpu, on the fake hart. */
#include "tests/host/fake_state.h"

void vpmu_port_poll_after(uint64_t counts)
{
	fake_called();
	fake_trace.polling++;
	fake_require(counts, "a look at once");
	fake.polling = counts != ~0ULL;
	fake.poll_left = counts;
}

void vpmu_port_trap_wfi(void)
{
	struct fake_world *world = fake_resident_world();

	fake_called();
	fake_require(!world->wfi_traps, "WFI is to trap, and does");
	world->wfi_traps = true;
}

void vpmu_port_raise_lcofi(void)
{
	fake_called();
	fake_flags_raised();
	fake_trace.raises++;
}

void vpmu_port_budget_spent(void)
{
	fake_called();
	fake_trace.budgets_spent[fake.resident]++;
}

void vpmu_port_budget_lost(void)
{
	fake_called();
	fake_trace.budgets_lost[fake.resident]++;
}

void vpmu_port_observer_lost(uint32_t n, uint64_t value)
{
	fake_called();
	fake_require(n < VPMU_OBSERVERS, "no such observer ended");
	fake_trace.unobserved |= 1U << n;
	fake_trace.unobserved_value[n % VPMU_OBSERVERS] = value;
}

/* Periods change a little, and are short now and then. In the middle of a long run they grow, since
 * each ends a step of it. */
static uint64_t next_period(const struct fake_sampled *s, uint64_t period)
{
	uint32_t most = fake.config.width - 3;

	if (fake_trace.samples_in_run > FAKE_MANY_SAMPLES)
		return period >> most ? period : 2 * period;
	if (period > FAKE_LONG_PERIOD || s->samples % 5 == 0)
		return FAKE_LEAST_PERIOD + period % FAKE_LONG_PERIOD / 3;
	return period + (s->samples & 3);
}

uint64_t vpmu_port_sample(uint32_t n, uint64_t period, uint64_t missed)
{
	struct fake_sampled *s = &fake_trace.sampled[fake.resident][n % VPMU_OBSERVERS];

	fake_called();
	fake_require(n < VPMU_OBSERVERS && fake.resident, "nobody was sampled");
	s->samples++;
	fake_trace.samples_in_run++;
	s->missed += missed;
	s->events += period * (missed + 1);
	return next_period(s, period);
}
