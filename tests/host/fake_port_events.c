/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware and firmware events of the fake hart. */
#include "tests/host/fake_hardware.h"

static void disown_idle_counters(void)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hardware_counters() >> i & 1) || (fake_hart_running() >> i & 1))
			continue;
		fake_disown(i);
		fake_catch_runaway(i);
	}
	if (fake.resident != NOBODY && fake.resident <= FAKE_VCPUS &&
	    fake.world[fake.resident].vpmu) {
		vpmu_finish_evict(fake.world[fake.resident].vpmu);
		fake_flags_raised();
	}
}

uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data)
{
	uint32_t type = event_idx >> 16;

	if (fake.config.asking_evicts && (type == SBI_PMU_TYPE_RAW || type == SBI_PMU_TYPE_RAW_V2))
		disown_idle_counters();
	return hardware_ask(event_idx, event_data);
}

void vpmu_port_event_of_raw(uint32_t *event_idx, uint64_t *event_data)
{
	hardware_event_of_raw(event_idx, event_data);
}

void vpmu_port_fw_watch(uint32_t codes)
{
	struct fake_world *world = fake_resident_world();

	fake_trace.watches++;
	fake_called();
	fake_require(!(codes & ~world->fw_port_events), "watch of what the port does not count");
	fake_require(codes != world->watched, "watch of what is watched already");
	world->watched = fake.config.port_loses_watch ? 0 : codes;
}

uint64_t vpmu_port_fw_total(uint32_t code)
{
	const struct fake_world *world = fake_resident_world();

	fake_trace.totals++;
	fake_called();
	if (code >= 256 && code - 256 < world->n_tally_events)
		return code - 256 < FAKE_TALLY_EVENTS ? world->tally_total[code - 256] : 0;
	fake_require(code < 22 && (world->fw_port_events >> code & 1),
	             "total of an event that the port does not count");
	return world->total[code % 22];
}
