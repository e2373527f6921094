/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware: counters, the map from each event to the one counter that counts it, OF and LCOFIP,
 * with their defects; and its control by tests. The port above it is fake_port.c.
 */
#include "tests/host/fake_hart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/fake_mem.h"
#include "tests/host/fake_state.h"

struct fake_hart fake;
struct fake_hart_trace fake_trace;

static const struct {
	uint32_t idx;
	uint64_t data;
} event_codes[FAKE_EVENTS] = {
    [FAKE_CYCLES] = {0x00001, 0},
    [FAKE_INSNS] = {0x00002, 0},
    [FAKE_DTLB_LOAD] = {0x10019, 0},
    [FAKE_DTLB_ST] = {0x1001b, 0},
    [FAKE_ITLB] = {0x10021, 0},
    [FAKE_RAW] = {0x20000, FAKE_RAW_DATA},
    [FAKE_RAW_V2] = {0x30000, FAKE_RAW_V2_DATA},
};

static void misuse(const char *what)
{
	if (fake.config.misuse)
		fake.config.misuse(what);
	else
		fail_msg("misuse of the port: %s", what);
}

void fake_require(bool claim, const char *what)
{
	if (!claim)
		misuse(what);
}

enum fake_event fake_hart_event(uint32_t event_idx, uint64_t event_data)
{
	uint32_t e;

	for (e = 0; e < FAKE_EVENTS; e++)
		if (event_codes[e].idx == event_idx && event_codes[e].data == event_data)
			break;
	return (enum fake_event)e;
}

uint32_t fake_hart_event_idx(enum fake_event event, uint64_t *event_data)
{
	if (event_data)
		*event_data = event_codes[event].data;
	return event_codes[event].idx;
}

uint64_t fake_value_mask(void)
{
	return fake.config.width == 64 ? ~0ULL : (1ULL << fake.config.width) - 1;
}

/* --- hardware ------------------------------------------------------------------------ */

void fake_unmap(uint32_t idx)
{
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		if (fake.map[e] == idx)
			fake.map[e] = UNMAPPED;
}

/* A write to the event selector: the map takes the first counter of an event and keeps it. */
void fake_write_event(uint32_t idx, const struct hw_event *config)
{
	enum fake_event event = fake_hart_event(config->event_idx, config->event_data);
	struct fake_counter *c = &fake.counters[idx];

	if (!fake.config.sticky_map)
		fake_unmap(idx);
	if (event < FAKE_EVENTS && fake.map[event] == UNMAPPED)
		fake.map[event] = idx;
	c->config = *config;
	c->programmed = true;
	if (fake.config.boot_of)
		c->of = true;
	/* The contents after a new configuration are undefined. */
	c->value = 0xdeadULL << 40 & fake_value_mask();
}

/* What really advances the counter, according to the map. */
static uint32_t counted_events(uint32_t idx)
{
	const struct fake_counter *c = &fake.counters[idx];
	uint32_t events = 0;

	if ((HCTRS_FIXED >> idx & 1) ||
	    (!fake.config.one_counter_per_event && !fake.config.sticky_map))
		return FAKE_BIT(fake_hart_event(c->config.event_idx, c->config.event_data));
	if (fake.map[FAKE_CYCLES] == idx)
		return FAKE_BIT(FAKE_CYCLES);
	if (fake.map[FAKE_INSNS] == idx)
		return FAKE_BIT(FAKE_INSNS);
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		if (fake.map[e] == idx)
			events |= FAKE_BIT(e);
	return events;
}

static bool counts(uint32_t idx, enum fake_mode mode, uint32_t events)
{
	const struct fake_counter *c = &fake.counters[idx];
	uint32_t inhibit = mode == FAKE_VS ? HW_INH_VS : HW_INH_VU;

	return c->running && !(c->config.inhibit & inhibit) && (counted_events(idx) & events);
}

/* Advances the counters that count. An LCOFI is pending when an armed one has wrapped. */
static void advance(uint32_t counting, uint64_t units)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		struct fake_counter *c = &fake.counters[i];

		if (!(counting & 1U << i))
			continue;
		c->value = (c->value + units) & fake_value_mask();
		if (c->of || c->value || !units || (HCTRS_FIXED >> i & 1))
			continue;
		if (c->stale) {
			c->stale = false;
			fake_trace.swallowed++;
			continue;
		}
		c->of = true;
		/* The overflow of a counter that nobody armed need not be taken. */
		if (fake.runaway >> i & 1)
			fake.lcofip_by_hs = fake.lcofip_by_hs || !fake.lcofip;
		fake.lcofip = true;
		fake_trace.overflows++;
	}
}

/* Counters that must be polled, because their wraps raise no interrupt. */
static uint32_t polled(void)
{
	uint32_t mask = HCTRS_FIXED;

	for (uint32_t i = 0; i < COUNTERS; i++)
		mask |= (uint32_t)fake.counters[i].left_out << i;
	return mask;
}

/* Advances all of them together up to the next armed wrap. Returns the units done. */
static uint64_t run_to_wrap(uint32_t counting, uint64_t units)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		uint64_t left = (0 - fake.counters[i].value) & fake_value_mask();

		/* left is 0 for the full range, which at 64 bits is too long for one step. */
		if (!left && fake.config.width < 64)
			left = 1ULL << fake.config.width;
		if ((counting & 1U << i) && !fake.counters[i].of && left && left < units)
			units = left;
	}
	if (fake.polling && (counting & polled())) {
		/* A poll that is due does not interrupt HS. */
		if (fake.poll_left && fake.poll_left < units)
			units = fake.poll_left;
		fake.poll_left -= fake.poll_left ? units : 0;
	}
	advance(counting, units);
	return units;
}

uint64_t fake_hart_step(enum fake_mode mode, uint32_t events, uint64_t units)
{
	uint64_t done = 0;
	uint32_t counting = 0;
	uint32_t skid = fake.lcofip ? 0 : fake.config.skid;

	fake_require(fake.resident != NOBODY, "guest runs while no vcpu is resident");
	fake_require(!(fake.direct & fake.runaway), "a counter that ran away is direct");
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (counts(i, mode, events))
			counting |= 1U << i;
		if (fake.direct & 1ULL << i)
			fake_require(fake.counters[i].owner == fake.resident,
			             "guest entered with another's counter direct");
	}
	while (done < units && !fake.lcofip && !fake_hart_poll_is_due())
		done += run_to_wrap(counting, units - done);
	while (fake.lcofip && done < units && skid && !fake_hart_poll_is_due()) {
		uint64_t part = units - done < skid ? units - done : skid;

		part = run_to_wrap(counting, part);
		done += part;
		skid -= (uint32_t)part;
	}
	fake.now += done;
	return done;
}

void fake_work_in_hs(void)
{
	uint32_t counting = 0;
	uint64_t units, done = 0;
	bool pended = fake.lcofip;

	if (!fake.config.hs_work || fake.others_work)
		return;
	for (uint32_t i = 0; i < COUNTERS; i++)
		if (fake.counters[i].running && (fake.counters[i].config.inhibit & HW_COUNT_HS))
			counting |= 1U << i;
	if (!counting)
		return;
	fake.chance = fake.chance * 6364136223846793005ULL + 1442695040888963407ULL;
	units = 1 + (fake.chance >> 33) % fake.config.hs_work;
	while (done < units)
		done += run_to_wrap(counting, units - done);
	fake_trace.hs_units += units;
	if (fake.lcofip && !pended) {
		fake.lcofip_by_hs = true;
		fake_trace.hs_wraps++;
	}
}

/* --- control by tests ---------------------------------------------------------------- */

uint64_t fake_hart_run_guest(uint64_t vs_insns, uint64_t vu_insns)
{
	uint64_t done = fake_hart_step(FAKE_VS, FAKE_ON_INSN, vs_insns);

	if (done == vs_insns)
		done += fake_hart_step(FAKE_VU, FAKE_ON_INSN, vu_insns);
	return done;
}

struct fake_hart_config fake_hart_homes(void)
{
	struct fake_hart_config config = {
	    .one_counter_per_event = true,
	    .sticky_map = true,
	    .stale_irq = true,
	    .boot_of = true,
	    .pending_keeps_of = true,
	    .width = 64,
	};

	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		config.hctrs[e] = 1ULL << (3 + e);
	return config;
}

struct fake_hart_config fake_hart_free(void)
{
	struct fake_hart_config config = {.width = 64};

	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		config.hctrs[e] = FAKE_PROGRAMMABLE;
	return config;
}

void fake_hart_reset(const struct fake_hart_config *config)
{
	memset(&fake, 0, sizeof(fake));
	memset(&fake_trace, 0, sizeof(fake_trace));
	fake.config = *config;
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		fake.map[e] = UNMAPPED;
	for (uint32_t i = 0; i < COUNTERS; i++)
		fake.counters[i].of = config->boot_of;
	fake_mem_reset();
}

void fake_hart_policy(uint32_t vcpu, const struct vpmu_policy *policy)
{
	struct fake_world *world = &fake.world[vcpu];

	world->known = true;
	world->count_hs = policy->count_hs;
	world->steps = policy->steps;
	world->wfi_traps = true;
	world->fw_port_events = policy->fw_port_events;
	world->n_tally_events = policy->n_tally_events;
	/* Only differences have a meaning, and some of these wrap soon. */
	for (uint32_t i = 0; i < 22; i++)
		world->total[i] = 0 - (uint64_t)(vcpu * i);
	for (uint32_t i = 0; i < FAKE_TALLY_EVENTS; i++)
		world->tally_total[i] = 1000 * vcpu - 77 * i;
}

void fake_hart_fw_event(uint32_t vcpu, uint32_t code, uint64_t n)
{
	struct fake_world *world = &fake.world[vcpu];

	if (code >= 256 && code - 256 < world->n_tally_events && code - 256 < FAKE_TALLY_EVENTS)
		world->tally_total[code - 256] += n;
	else if (code < 22 && vcpu == fake.resident && (world->watched >> code & 1))
		world->total[code] += n;
}

void fake_hart_vpmu(uint32_t vcpu, struct vpmu *vpmu)
{
	fake.world[vcpu].vpmu = vpmu;
}

uint32_t fake_hart_watched(uint32_t vcpu)
{
	return fake.world[vcpu].watched;
}

bool fake_hart_wfi_traps(uint32_t vcpu)
{
	return fake.world[vcpu].wfi_traps;
}

void fake_hart_free_wfi(uint32_t vcpu)
{
	fake.world[vcpu].wfi_traps = false;
}

void fake_hart_enter(uint32_t vcpu)
{
	fake_require(fake.resident == NOBODY, "two vcpus resident at once");
	fake_require(!fake_hart_running(), "counters run before their vcpu is resident");
	fake.resident = vcpu;
}

void fake_hart_leave(void)
{
	fake_require(fake.resident != NOBODY, "no vcpu to leave");
	fake_require(!fake_hart_running(), "vcpu left with a counter running");
	fake_require(!fake.direct, "vcpu left with a counter direct");
	fake_require(!fake.lent, "vcpu left with a counter lent");
	fake_require(!fake.polling, "vcpu left with a look asked for");
	fake_require(!fake.lcofip || fake.lcofip_by_hs, "vcpu left with an overflow pending");
	/* So that the next vcpu does not find it. */
	if (fake.lcofip_by_hs)
		fake.lcofip = false;
	fake.lcofip_by_hs = false;
	fake.resident = NOBODY;
}

bool fake_hart_poll_is_due(void)
{
	return fake.polling && !fake.poll_left;
}

bool fake_hart_take_poll(void)
{
	bool due = fake_hart_poll_is_due();

	fake.polling = fake.polling && !due;
	return due;
}

bool fake_hart_pending(void)
{
	return fake.lcofip;
}

bool fake_hart_guest_read(uint32_t csr, uint64_t *value)
{
	uint32_t idx = csr - 0xc00;

	if (idx >= COUNTERS || !(fake.direct & 1ULL << idx))
		return false;
	fake_require(fake.counters[idx].owner == fake.resident, "guest reads another's counter");
	*value = fake.counters[idx].value;
	return true;
}

uint64_t fake_hart_direct(void)
{
	return fake.direct;
}

uint64_t fake_hart_running(void)
{
	uint64_t running = 0;

	for (uint32_t i = 0; i < COUNTERS; i++)
		if (fake.counters[i].running)
			running |= 1ULL << i;
	return running & ~fake.runaway;
}

void fake_hart_fail_prepare(uint32_t n)
{
	fake.fail_prepare = n;
}

void fake_hart_refuse_start(uint32_t n)
{
	fake.refuse_start = n;
}

void fake_hart_fail_run(uint32_t n)
{
	fake.fail_run = n;
}

void fake_hart_fail_stop(uint32_t n)
{
	fake.fail_stop = n;
}

uint64_t fake_hart_failed(void)
{
	return fake.failed;
}

void fake_hart_settled(uint64_t hctrs)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hctrs & fake.failed & 1ULL << i))
			continue;
		fake.counters[i].owner = NOBODY;
		if (fake.counters[i].running)
			fake.runaway |= 1ULL << i;
	}
	fake.failed &= ~hctrs;
}
