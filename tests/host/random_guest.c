/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/random_guest.h"

#include <string.h>

/* The longest time without an exit; the nearest start beyond 2^62 can wrap in it. */
#define FAR ((1ULL << 62) + 1)
/* No machine counts an HFENCE of a guest that has no H extension: codes 14..21. */
#define FW_EVENTS 0x3fffU

struct random_count random_count;

static const struct model *model(void)
{
	return &world_vcpus[world_resident].model;
}

/* --- operations ---------------------------------------------------------------------- */

/* Returns running counters whose overflow must be reported. */
static uint64_t near_counters(void)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (model()->c[i].running && model()->c[i].near)
			set |= 1ULL << i;
	return set;
}

/* Chooses a time to run that often ends at a wrap, or just before or after it. */
static uint64_t pick_units(struct chance *c)
{
	uint32_t idx = any_of(c, percent(c, 80) ? near_counters() : random_in_use(true));

	if (percent(c, 2))
		return chance(c) >> (2 + below(c, 3));
	if (percent(c, 20))
		return below(c, 6);
	if (idx < VPMU_COUNTERS && percent(c, 70)) {
		uint64_t left = model_left(model(), idx);

		if (left && (left <= 1ULL << 20 || (left <= FAR && percent(c, 10))))
			return left + below(c, 3) - 1;
	}
	return 1 + below(c, percent(c, 50) ? 100 : 3000);
}

static void pick_run(struct chance *c, struct op *op)
{
	op->kind = OP_RUN;
	op->a[0] = percent(c, 60) ? FAKE_VS : FAKE_VU;
	op->a[1] = random_work(c);
	op->a[2] = pick_units(c);
	/* Narrow counters would have too many periods in the longest ones. */
	if (world_sampled_hctrs(&world_vcpus[world_resident]))
		op->a[2] &= world_vcpus[world_resident].vpmu.value_mask;
	op->a[3] = percent(c, 30) ? below(c, 3) : ~0ULL;
}

/* Chooses mostly a code that is counted. */
static uint32_t pick_code(struct chance *c, uint32_t which)
{
	const struct model *m = &world_vcpus[which].model;
	uint64_t running = 0;

	for (uint32_t i = m->policy.fw_base; i < VPMU_COUNTERS && model_is_fw(m, i); i++)
		if (m->c[i].running)
			running |= 1ULL << i;
	if (running && percent(c, 80))
		return m->c[any_of(c, running)].event_idx & 0xffff;
	if (percent(c, 50))
		return 256 + below(c, FAKE_TALLY_EVENTS);
	return percent(c, 95) ? below(c, VPMU_FW_EVENTS + 2) : (uint32_t)chance(c);
}

static void pick_fw_event(struct chance *c, struct op *op)
{
	uint32_t code;

	op->a[0] = percent(c, 50) ? world_resident : below(c, VCPUS);
	code = pick_code(c, (uint32_t)op->a[0]);
	op->a[1] = code;
	op->kind = OP_FW_EVENT;
	if ((code >= 256 && code < 256 + FAKE_TALLY_EVENTS) ||
	    (code < 32 && (world_vcpus[op->a[0]].model.policy.fw_port_events >> code & 1))) {
		op->kind = OP_PORT_EVENT;
		op->a[2] = percent(c, 90) ? 1 + below(c, 100) : chance(c);
	}
}

/* Chooses slots of the snapshot, and entries for event_get_info. */
static void pick_write(struct chance *c, struct op *op)
{
	const struct model *m = model();

	if (m->shmem_set && percent(c, 50)) {
		op->kind = OP_POKE;
		op->a[0] = m->shmem + 8 * (percent(c, 90) ? below(c, 65) : below(c, 512));
		op->a[1] = percent(c, 70) ? 0 - (uint64_t)(1 + below(c, 3000)) : chance(c);
		return;
	}
	op->kind = OP_ENTRIES;
	op->a[0] = FAKE_RAM + 16 * below(c, percent(c, 50) ? 64 : FAKE_RAM_SIZE / 16);
	op->a[1] = 1 + below(c, 100);
	op->a[2] = chance(c) & ~1ULL;
	if (percent(c, 30))
		op->a[2] |= 1;
}

/* Chooses events that exist, and sometimes one that does not. */
static void pick_observer(struct chance *c, struct op *op)
{
	op->kind = percent(c, 65) ? OP_OBSERVE : OP_UNOBSERVE;
	op->a[0] = percent(c, 80) ? world_resident : below(c, VCPUS);
	op->a[1] = below(c, VPMU_OBSERVERS);
	op->a[2] = fake_hart_event_idx((enum fake_event)below(c, fake_hart_events()), &op->a[3]);
	if (percent(c, 3))
		op->a[2] = chance(c) & (percent(c, 50) ? 0xfffffU : ~0U);
	op->a[4] = chance(c) & (SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_SINH);
	if (percent(c, 50))
		op->a[4] &= chance(c);
	if (percent(c, 50))
		op->a[4] |= (uint64_t)(FAKE_LEAST_PERIOD + below(c, percent(c, 60) ? 100 : 3000))
		            << 32;
}

#define SAMPLED 5U /* FAKE_CYCLES .. FAKE_ITLB */

/*
 * Changes a call (other than a query) so that counters share, stay configured and start soon before
 * their wraps, many at once and few counts from each other.
 */
static void make_sampling(struct chance *c, struct op *op)
{
	uint64_t hw = model()->policy.hctrs;

	if (op->kind == OP_CONFIG && percent(c, 85)) {
		op->a[0] = 0;
		op->a[1] = hw;
		op->a[2] &= SBI_PMU_CFG_FLAG_CLEAR_VALUE | SBI_PMU_CFG_FLAG_AUTO_START;
		if (percent(c, 15))
			op->a[2] |=
			    percent(c, 50) ? SBI_PMU_CFG_FLAG_SET_UINH : SBI_PMU_CFG_FLAG_SET_SINH;
		op->a[3] = fake_hart_event_idx((enum fake_event)below(c, SAMPLED), &op->a[4]);
	}
	if (op->kind == OP_START && percent(c, 85)) {
		op->a[0] = 0;
		op->a[1] = random_in_use(false) & hw & ~random_in_use(true);
		if (percent(c, 70))
			op->a[1] &= chance(c);
		op->a[2] = SBI_PMU_START_SET_INIT_VALUE;
		op->a[3] = 0 - (uint64_t)(1 + below(c, percent(c, 80) ? 60 : 1000));
	}
	if (op->kind == OP_STOP && percent(c, 90))
		op->a[2] &= ~SBI_PMU_STOP_FLAG_RESET;
}

/* Small steps, and often something else comes before the interrupt is taken. */
static void run_sampling(struct chance *c, struct op *op)
{
	if (percent(c, 70))
		op->a[2] = 1 + below(c, 80);
	if (percent(c, 60))
		op->a[3] = 0;
}

struct random_manner random_manner(struct chance *c)
{
	struct random_manner manner = {
	    .refusals = percent(c, 25) ? 1 + below(c, 50) : 0,
	    .observers = percent(c, 50),
	    .sampling = percent(c, 40),
	};

	random_count.epochs_refusals += manner.refusals != 0;
	random_count.epochs_observers += manner.observers;
	random_count.epochs_sampling += manner.sampling;
	return manner;
}

void random_op(struct chance *c, const struct random_manner *manner, struct op *op)
{
	bool pending = fake_hart_pending();
	uint32_t which = below(c, 1000);

	memset(op, 0, sizeof(*op));
	if (manner->observers && percent(c, 6)) {
		pick_observer(c, op);
	} else if (percent(c, 3)) {
		op->kind = OP_BUDGET;
		op->a[0] = percent(c, 80) ? world_resident : below(c, VCPUS);
		op->a[1] = percent(c, 60) ? below(c, 100) : chance(c);
	} else if (which < 1 || (pending && percent(c, 3))) {
		op->kind = OP_RESET;
	} else if (pending && percent(c, manner->sampling ? 40 : 15)) {
		/* An emulated instruction must handle the pending overflow of any counter. */
		op->kind = OP_RETIRED;
		op->a[0] = below(c, 2);
	} else if (fake_hart_poll_is_due() && percent(c, 60)) {
		/* A wrap that was not reported yet. */
		op->kind = OP_STOP;
		op->a[1] = 1ULL << (any_of(c, near_counters()) % VPMU_COUNTERS);
	} else if (which < 570) {
		random_call(c, op);
		if (manner->sampling)
			make_sampling(c, op);
	} else if (which < 780) {
		pick_run(c, op);
		if (manner->sampling)
			run_sampling(c, op);
	} else if (which < 850) {
		pick_fw_event(c, op);
	} else if (which < 890) {
		op->kind = OP_RETIRED;
		op->a[0] = below(c, 2);
	} else if (which < 930) {
		pick_write(c, op);
	} else if (which < 980) {
		op->kind = which < 970 ? OP_SWITCH : OP_MOVE;
		op->a[0] = below(c, VCPUS);
		op->a[1] = percent(c, 60);
	} else if (which < 990) {
		op->kind = OP_OVERFLOW;
	} else {
		/* Not one of cycle .. hpmcounter31. */
		op->kind = OP_CSR_READ;
		op->a[0] = percent(c, 50) ? 0xc20 + below(c, 0x3e0) : chance(c) & 0xbffUL;
	}
	if (percent(c, manner->refusals)) {
		if (percent(c, 50)) {
			op->fail_prepare = (uint8_t)below(c, 3);
		} else {
			op->fail_set = (uint8_t)below(c, 4);
			op->fail_run = (uint8_t)below(c, 4);
			op->fail_stop = (uint8_t)below(c, 3);
		}
	}
}

/* --- machines ------------------------------------------------------------------------ */

static void pick_policy(struct chance *c, const struct fake_hart_config *hart,
                        struct vpmu_policy *policy, uint32_t *allowed)
{
	*policy = (struct vpmu_policy){
	    .hctrs = random_hctrs,
	    .fw_base = random_fw_bases[below(c, 4)],
	    .width = hart->width,
	    .n_tally_events = percent(c, 70) ? 1 + below(c, FAKE_TALLY_EVENTS) : 0,
	    .overflow = percent(c, 90),
	    .trap_reads = percent(c, 10),
	    .snapshot = percent(c, 75),
	    /* Otherwise wraps of narrow counters are too close to be told apart. */
	    .count_hs = hart->width == 64 && percent(c, 15),
	    .cheap_moves = percent(c, 50),
	    .polled_cache = hart->no_armed_cache_events,
	};
	/* So many that the last would have the code that the specification reserves for
	 * platforms. */
	if (percent(c, 5))
		policy->n_tally_events = 0x10000;
	policy->fw_events = (percent(c, 50) ? ~0U : (uint32_t)chance(c)) & FW_EVENTS;
	policy->fw_port_events = percent(c, 70) ? (uint32_t)chance(c) & FW_EVENTS : 0;
	policy->fw_events &= ~policy->fw_port_events;
	if (percent(c, 30))
		policy->hctrs &= chance(c) | chance(c);
	if (percent(c, 50))
		policy->hctrs |= 5;
	if (percent(c, 30)) {
		policy->events = allowed;
		policy->n_events = random_allowed(c, allowed);
	}
	policy->steps = policy->cheap_moves && percent(c, 80);
	/* Such a hart has no delegated counters. */
	if (hart->hides_flags) {
		policy->cheap_moves = policy->steps = false;
		policy->overflow &= !policy->trap_reads && !policy->count_hs;
		policy->shows_flags = policy->overflow;
	}
	policy->wfi_recounts = percent(c, 50);
	policy->idle_cycles = percent(c, 10);
	random_count.vcpus_no_overflow += !policy->overflow;
	random_count.vcpus_trap_reads += policy->trap_reads;
	random_count.vcpus_snapshot += policy->snapshot;
	random_count.vcpus_allowlist += policy->events != NULL;
	random_count.vcpus_count_hs += policy->count_hs;
	random_count.vcpus_cheap_moves += policy->cheap_moves;
	random_count.vcpus_steps += policy->steps;
	random_count.vcpus_shows_flags += policy->shows_flags;
}

/* An event; which counter, and whether there is one, the hart decides. */
static void pick_budget(struct chance *c, struct vpmu_policy *policy)
{
	uint32_t event_idx =
	    fake_hart_event_idx((enum fake_event)below(c, fake_hart_events()), NULL);

	if (percent(c, 75) || event_idx >> 16 > 1 || policy->count_hs || policy->idle_cycles)
		return;
	policy->budget_event = event_idx;
	random_count.vcpus_budget++;
}

void random_machine(struct chance *c, uint32_t switches, struct machine *machine)
{
	memset(machine, 0, sizeof(*machine));
	random_hart(c, switches, &machine->hart);
	for (uint32_t i = 0; i < VCPUS; i++) {
		pick_policy(c, &machine->hart, &machine->policy[i], machine->allowed[i]);
		random_table(c, machine, i);
		pick_budget(c, &machine->policy[i]);
	}
}
