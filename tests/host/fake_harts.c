/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/fake_harts.h"

#include <string.h>

#include "tests/host/fake_state.h"

static struct fake_hart idle[FAKE_HARTS];
static uint32_t at_work;

void fake_harts_begin(void)
{
	for (uint32_t i = 0; i < FAKE_HARTS; i++)
		idle[i] = fake;
	at_work = 0;
}

/* HS itself, on a hart without a resident vcpu. */
#define SOMEBODY (FAKE_VCPUS + 1)

static void swap(uint32_t hart)
{
	struct fake_hart last = fake;

	if (hart == at_work)
		return;
	idle[at_work] = fake;
	fake = idle[hart];
	at_work = hart;
	/* What is the world's and not a hart's. */
	memcpy(fake.world, last.world, sizeof(fake.world));
	fake.now = last.now;
	fake.chance = last.chance;
	fake.fail_prepare = last.fail_prepare;
	fake.refuse_start = last.refuse_start;
}

void fake_harts_select(uint32_t hart)
{
	fake_require(fake.resident == NOBODY, "another hart at work with a vcpu resident here");
	swap(hart);
}

uint32_t fake_harts_visit(uint32_t hart)
{
	uint32_t before = at_work;

	swap(hart);
	if (hart != before)
		fake.resident = SOMEBODY;
	return before;
}

void fake_harts_return(uint32_t before)
{
	if (before != at_work)
		fake.resident = NOBODY;
	swap(before);
}

void fake_harts_abandon(uint32_t vcpu)
{
	fake_require(fake.resident == NOBODY, "a vcpu left its hart between two world switches");
	fake.resident = SOMEBODY;
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (fake.counters[i].owner != vcpu)
			continue;
		vpmu_evict(fake.world[vcpu].vpmu, (hctr_t){i});
		fake.counters[i].owner = NOBODY;
	}
	fake.resident = NOBODY;
}
