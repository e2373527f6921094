/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake hart as the guest and the tests see it. Its counters are in fake_emulated.c or
 * fake_combining.c, the port above it is fake_port.c.
 */
#include "tests/host/fake_hart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/fake_hardware.h"
#include "tests/host/fake_mem.h"
#include "tests/host/fake_state.h"

struct fake_hart fake;
struct fake_hart_trace fake_trace;

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

uint64_t fake_value_mask(void)
{
	return fake.config.width == 64 ? ~0ULL : (1ULL << fake.config.width) - 1;
}

/* --- the guest ------------------------------------------------------------------------ */

uint64_t fake_hart_step(enum fake_mode mode, uint32_t work, uint64_t units)
{
	uint64_t done = 0;
	uint32_t skid = fake.lcofip ? 0 : fake.config.skid;

	fake_require(fake.resident != NOBODY, "guest runs while no vcpu is resident");
	fake_require(!(fake.direct & fake.runaway), "a counter that ran away is direct");
	for (uint32_t i = 0; i < COUNTERS; i++)
		if (fake.direct & 1ULL << i)
			fake_require(fake.counters[i].owner == fake.resident,
			             "guest entered with another's counter direct");
	while (done < units && !fake.lcofip && !fake_hart_poll_is_due())
		done += hardware_work(mode, fake_hart_work_after(work, done), units - done);
	while (fake.lcofip && done < units && skid && !fake_hart_poll_is_due()) {
		uint64_t part = units - done < skid ? units - done : skid;

		part = hardware_work(mode, fake_hart_work_after(work, done), part);
		done += part;
		skid -= (uint32_t)part;
	}
	fake.now += done;
	return done;
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
	hardware_reset();
	fake_mem_reset();
}

void fake_hart_policy(uint32_t vcpu, const struct vpmu_policy *policy)
{
	struct fake_world *world = &fake.world[vcpu];

	world->known = true;
	world->count_hs = policy->count_hs;
	world->steps = policy->steps;
	world->wfi_traps = true;
	world->shows_flags = policy->shows_flags;
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
	if (fake.lcofip_by_hs) {
		fake.lcofip = false;
		hardware_drop_lcofi();
	}
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
	*value = hardware_csr(idx);
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

void fake_hart_fail_set(uint32_t n)
{
	fake.fail_set = n;
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
	fake.unstarted &= ~hctrs;
}
