/* SPDX-License-Identifier: Apache-2.0 */
/* Random machines whose harts combine events, with the event table of Kunminghu, on both back
 * ends. */
#include <string.h>

#include "tests/host/combining_events.h"
#include "tests/host/random_guest.h"

const uint64_t random_hctrs = COMBINING_COUNTERS;
const uint32_t random_fw_bases[] = {32, 32, 36, 39};
const unsigned long random_steps = 800000;

/* There are no fixed counters, and every counter interrupts, so nothing is polled, and no event is
 * one that cannot be sampled for want of an interrupt; counters have 64 bits; the other kind of
 * hart has homes. Eight observers have room in every group but one. The guest's counters are those
 * of the event's group, as many as the hart's. So each has one of the hart's behind it, and no
 * other has to lose its configuration. */
bool random_may_miss(const char *what)
{
	static const char *const missed[] = {
	    "polling",
	    "looks_put_off",
	    "sampling_silent",
	    "observe_others",
	    "epochs_homes",
	    "epochs_pairs",
	    "epochs_homes_collide",
	    "epochs_free",
	    "epochs_fixed",
	    "epochs_all_events",
	    "epochs_narrow",
	    "config_on_fixed",
	    "config_instret_taken",
	    "start_snapshot_cut",
	    "config_not_home",
	    "config_second_filter",
	    "skip_infeasible",
	    "epochs_overlap",
	    "config_dropped",
	    "config_stays",
	};

	for (uint32_t i = 0; i < sizeof(missed) / sizeof(missed[0]); i++)
		if (!strcmp(what, missed[i]))
			return true;
	return false;
}

uint32_t random_work(struct chance *c)
{
	return below(c, COMBINING_PERIOD);
}

void random_hart(struct chance *c, uint32_t switches, struct fake_hart_config *config)
{
	*config = (struct fake_hart_config){
	    .raw_v1_only = switches & 1,
	    .delegated = switches & 2,
	    .skid = percent(c, 25) ? 1 + below(c, 40) : 0,
	    .hs_work = 1 + below(c, percent(c, 50) ? 3 : 60),
	    .nothing_is_ram = percent(c, 50),
	    .asking_evicts = true,
	    .width = 64,
	    .misuse = world_misused,
	    .choice = chance(c),
	    .narrow = percent(c, 50),
	    .start_sets_flag = percent(c, 50),
	};
	config->hides_flags = !config->delegated && percent(c, 60);
	random_count.epochs_late += config->skid != 0;
}

/* Standard events, and sometimes all raw ones. */
uint32_t random_allowed(struct chance *c, uint32_t *allowed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < combining_node.n_events; i++)
		if (percent(c, 70))
			allowed[n++] = combining_node.events[i].event_idx;
	if (percent(c, 20))
		allowed[n++] = SBI_PMU_TYPE_RAW << 16;
	if (percent(c, 20))
		allowed[n++] = SBI_PMU_TYPE_RAW_V2 << 16;
	for (uint32_t code = 0; code < 22; code++)
		if (percent(c, 50))
			allowed[n++] = 0xf0000 | code;
	return n;
}

/* Groups, and single events. */
static uint32_t pick_raw_allowed(struct chance *c, struct selector_allowed *allowed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < combining_node.n_raws; i++)
		if (percent(c, 50))
			allowed[n++] = (struct selector_allowed){combining_node.raws[i].value,
			                                         ~(uint64_t)0xff};
	while (n < WORLD_ALLOWED && percent(c, 95))
		allowed[n++] =
		    (struct selector_allowed){combining_single(below(c, COMBINING_EVENTS)), ~0ULL};
	return n;
}

void random_table(struct chance *c, struct machine *machine, uint32_t vcpu)
{
	struct vpmu_table *table = &machine->table[vcpu];

	table->selectors = combining_selectors();
	if (machine->policy[vcpu].events)
		table->n_allowed = pick_raw_allowed(c, machine->raw_allowed[vcpu]);
	machine->policy[vcpu].table = table;
	/* The sbi back end has no steps. */
	machine->policy[vcpu].steps &= machine->hart.delegated;
	machine->policy[vcpu].moves = !machine->policy[vcpu].count_hs && percent(c, 85);
	/* Few counters, of some groups only one. */
	if (percent(c, 15))
		machine->policy[vcpu].hctrs &= chance(c) & chance(c);
}
