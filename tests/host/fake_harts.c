/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/fake_harts.h"

#include <string.h>

#include "tests/host/fake_hardware.h"

static struct fake_hart idle[FAKE_HARTS];
static uint32_t at_work;

void fake_harts_begin(void)
{
	for (uint32_t i = 0; i < FAKE_HARTS; i++)
		idle[i] = fake;
	at_work = 0;
	hardware_select(0);
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
	hardware_select(hart);
	/* This belongs to the machine, not to a hart. */
	memcpy(fake.world, last.world, sizeof(fake.world));
	fake.now = last.now;
	fake.chance = last.chance;
	fake.fail_prepare = last.fail_prepare;
	fake.fail_set = last.fail_set;
	fake.fail_run = last.fail_run;
	fake.fail_stop = last.fail_stop;
}

void fake_harts_select(uint32_t hart)
{
	swap(hart);
}

/* HS works on a hart for a vcpu that is not resident there. */
static void begin_visit(void)
{
	if (fake.resident == NOBODY)
		fake.resident = SOMEBODY;
	fake.others_work = true;
}

static void end_visit(void)
{
	if (fake.resident == SOMEBODY)
		fake.resident = NOBODY;
	fake.others_work = false;
}

uint32_t fake_harts_visit(uint32_t hart)
{
	uint32_t before = at_work;

	swap(hart);
	if (hart != before)
		begin_visit();
	return before;
}

void fake_harts_return(uint32_t before)
{
	if (before != at_work)
		end_visit();
	swap(before);
}

void fake_harts_abandon(uint32_t vcpu)
{
	fake_require(fake.resident != vcpu, "a vcpu left its hart between two world switches");
	begin_visit();
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (fake.counters[i].owner != vcpu)
			continue;
		vpmu_evict(fake.world[vcpu].vpmu, (hctr_t){i});
		fake.counters[i].owner = NOBODY;
	}
	end_visit();
}
