/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vpmu/port.h on the fake hart: what a correct port does, and checks that the vPMU follows the
 * rules. This file has the counters; fake_port_*.c and fake_mem.c have the other groups.
 */
#include "tests/host/fake_hardware.h"

void fake_called(void)
{
	fake_require(fake.resident != NOBODY, "port called with no vcpu resident");
	hardware_work_in_hs();
}

uint32_t fake_checked(hctr_t hctr)
{
	fake_called();
	fake_require(hctr.idx < COUNTERS, "no such hardware counter");
	return hctr.idx % COUNTERS;
}

bool fake_pending_in_vain(void)
{
	return fake.lcofip && !fake.lcofip_by_hs;
}

struct fake_world *fake_resident_world(void)
{
	return &fake.world[fake.resident <= FAKE_VCPUS ? fake.resident : NOBODY];
}

static void program(uint32_t idx, const struct hw_event *config)
{
	struct fake_counter *c = &fake.counters[idx];

	fake_require(fake_hart_hctrs(config->event_idx, config->event_data) & 1ULL << idx,
	             "counter cannot count the event");
	fake_require(!(config->inhibit & ~(HW_INH_VS | HW_INH_VU | HW_COUNT_HS)),
	             "unknown inhibit bits");
	fake_require(!(config->inhibit & HW_COUNT_HS) ==
	                 (!fake_resident_world()->count_hs || (config->inhibit & HW_INH_VS)),
	             "HS is counted where VS is and the policy says so, and only there");
	if (!c->programmed || !hw_event_equal(&c->config, config))
		hardware_program(idx, config);
}

static void note_failure(uint32_t idx)
{
	fake_trace.late |= 1ULL << idx;
	fake.failed |= 1ULL << idx;
}

static void note_fault(uint32_t idx)
{
	fake_trace.faults++;
	fake_trace.refused |= 1ULL << idx;
}

void fake_disown(uint32_t idx)
{
	uint32_t owner = fake.counters[idx].owner;

	if (owner != NOBODY && owner <= FAKE_VCPUS && fake.world[owner].vpmu)
		vpmu_evict(fake.world[owner].vpmu, (hctr_t){idx});
	fake.counters[idx].owner = NOBODY;
}

static void evict(uint32_t idx)
{
	if (fake.counters[idx].owner != fake.resident)
		fake_disown(idx);
}

void fake_catch_runaway(uint32_t idx)
{
	if (!(fake.runaway >> idx & 1))
		return;
	fake.runaway &= ~(1ULL << idx);
	hardware_stop(1ULL << idx);
	fake.counters[idx].running = false;
}

bool vpmu_port_prepare(hctr_t hctr, const struct hw_event *config)
{
	uint32_t idx = fake_checked(hctr);

	fake_trace.prepares++;
	fake_require(!(HCTRS_FIXED >> idx & 1), "prepare of a fixed counter");
	fake_require(!(fake_hart_running() >> idx & 1), "prepare of a running counter");
	evict(idx);
	if (fake.fail_prepare && !--fake.fail_prepare) {
		note_fault(idx);
		return false;
	}
	fake_catch_runaway(idx);
	program(idx, config);
	fake.counters[idx].owner = fake.resident;
	return true;
}

static void check_set(uint32_t idx, uint64_t value)
{
	fake_catch_runaway(idx);
	fake_require(!fake.counters[idx].running, "set of a running counter");
	fake_require(fake.counters[idx].owner == fake.resident,
	             "set of a counter that its vcpu did not prepare");
	fake_require(value == (value & fake_value_mask()), "value wider than the counter");
}

/* Whether the hardware takes the value. Nobody is told before the guest goes on. */
static bool takes(uint32_t idx)
{
	if (!fake.fail_set || --fake.fail_set)
		return true;
	note_failure(idx);
	fake.unstarted |= 1ULL << idx;
	fake_trace.failed_sets++;
	fake.unset |= 1ULL << idx;
	return false;
}

void vpmu_port_set(uint64_t hctr_mask, uint64_t value, bool armed)
{
	fake_called();
	fake_require(hctr_mask && !(hctr_mask >> COUNTERS), "set of counters that do not exist");
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hctr_mask & 1ULL << i))
			continue;
		fake_trace.started++;
		check_set(i, value);
		if (takes(i))
			hardware_set(i, value, armed);
		fake.ready |= 1ULL << i;
	}
}

static bool runs(uint32_t idx)
{
	if (fake.unset >> idx & 1)
		return false;
	if (!fake.fail_run || --fake.fail_run)
		return true;
	note_failure(idx);
	fake.unstarted |= 1ULL << idx;
	fake_trace.failed_runs++;
	return false;
}

/* Returns those that will run. */
static uint64_t check_run(uint64_t hctr_mask)
{
	uint64_t running = 0;

	fake_trace.start_calls++;
	fake_called();
	fake_require(!fake_pending_in_vain(), "start while an overflow pends");
	fake_require(hctr_mask && !(fake.ready & ~hctr_mask), "those that were set are not run");
	fake.ready = 0;
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hctr_mask & 1ULL << i))
			continue;
		fake_catch_runaway(i);
		fake_require(!fake.counters[i].running, "run of a running counter");
		fake_require(fake.counters[i].owner == fake.resident,
		             "run of a counter that its vcpu did not leave so");
		fake.counters[i].running = runs(i);
		if (fake.counters[i].running)
			running |= 1ULL << i;
	}
	fake.unset = 0;
	return running;
}

void vpmu_port_run(uint64_t hctr_mask)
{
	hardware_run(check_run(hctr_mask));
}

/* What vpmu_port_set() and vpmu_port_run() check. Returns those that will run. */
static uint64_t check_start(uint64_t hctr_mask, uint64_t value)
{
	fake_called();
	fake_require(hctr_mask && !(hctr_mask >> COUNTERS), "start of counters that do not exist");
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hctr_mask & 1ULL << i))
			continue;
		fake_trace.started++;
		check_set(i, value);
		(void)takes(i);
	}
	fake.ready |= hctr_mask;
	return check_run(hctr_mask);
}

void vpmu_port_start(uint64_t hctr_mask, uint64_t value)
{
	hardware_start(check_start(hctr_mask, value), value);
}

void vpmu_port_start_armed(hctr_t hctr, uint64_t value)
{
	uint32_t idx = fake_checked(hctr);

	if (check_start(1ULL << idx, value))
		hardware_start_armed(idx, value);
}

uint64_t fake_hart_start(const struct fake_start *starts, uint32_t n)
{
	uint64_t refused = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit = 1ULL << starts[i].hctr.idx;

		if (!vpmu_port_prepare(starts[i].hctr, &starts[i].config))
			refused |= bit;
		else
			vpmu_port_set(bit, starts[i].value, starts[i].armed);
	}
	if (fake.ready)
		vpmu_port_run(fake.ready);
	return refused;
}

void vpmu_port_stop(uint64_t hctr_mask)
{
	uint64_t stopped = 0;

	fake_trace.stop_calls++;
	fake_called();
	fake_require(!fake_pending_in_vain(), "stop while an overflow pends");
	fake_require(!(hctr_mask & ~(fake_hart_running() | fake.failed)),
	             "stop of a counter that does not run");
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hctr_mask & 1ULL << i))
			continue;
		fake_trace.stopped++;
		if (fake.fail_stop && fake.counters[i].running && !--fake.fail_stop) {
			note_failure(i);
			fake_trace.failed_stops++;
			fake.runaway |= 1ULL << i;
			continue;
		}
		fake_catch_runaway(i);
		fake.counters[i].running = false;
		stopped |= 1ULL << i;
	}
	hardware_stop(stopped);
}

uint64_t vpmu_port_read(hctr_t hctr)
{
	uint32_t idx = fake_checked(hctr);
	uint32_t owner = fake.counters[idx].owner;

	fake_trace.reads++;
	/* It belongs to another vcpu while it is being evicted. */
	fake_require(owner == fake.resident || (owner != NOBODY && !fake.counters[idx].running),
	             "read of a counter that somebody has touched");
	return hardware_value(idx);
}

bool vpmu_port_is_unstarted(hctr_t hctr)
{
	return fake.unstarted >> fake_checked(hctr) & 1;
}

uint64_t vpmu_port_step(hctr_t hctr, uint64_t last, uint64_t *value)
{
	const struct fake_counter *c = &fake.counters[hctr.idx];
	uint64_t left;

	fake_called();
	fake_trace.steps++;
	fake_require(hctr.idx < COUNTERS, "step of a counter that does not exist");
	/* It took the guest at least as long as others. */
	if ((1ULL << hctr.idx & HCTRS_FIXED) && fake.poll_left)
		fake.poll_left--;
	fake_require(fake_resident_world()->steps, "step where that is not to be had");
	fake_require(c->running && c->owner == fake.resident,
	             "step of a counter that does not run");
	left = hardware_step(hctr.idx, last);
	*value = vpmu_port_read(hctr);
	return left;
}

void vpmu_port_set_direct(uint64_t hctr_mask)
{
	fake_trace.direct_sets++;
	fake_called();
	fake_require(!(hctr_mask >> COUNTERS), "direct counters that do not exist");
	fake.direct = hctr_mask;
}

uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs)
{
	fake_trace.takes++;
	fake_called();
	if (!fake.lcofip && !fake.config.take_without_pending)
		return 0;
	fake.lcofip = false;
	fake.lcofip_by_hs = false;
	return hardware_take_overflow(armed_hctrs) & ~fake.failed;
}

bool vpmu_port_is_quiet(void)
{
	fake_called();
	return !fake.lcofip;
}
