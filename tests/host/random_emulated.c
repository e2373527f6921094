/* SPDX-License-Identifier: Apache-2.0 */
/* Random machines whose harts have the emulator's defects. */
#include <string.h>

#include "tests/host/random_guest.h"

const uint64_t random_hctrs = FAKE_PROGRAMMABLE;
const uint32_t random_fw_bases[] = {19, 19, 32, 39};
const unsigned long random_steps = 2000000;

/* Without an event table there are no groups, and its raw events have no other names. */
bool random_may_miss(const char *what)
{
	return !strcmp(what, "config_other_group") || !strcmp(what, "config_other_name");
}

uint32_t random_work(struct chance *c)
{
	return percent(c, 75) ? FAKE_ON_INSN : FAKE_BIT(below(c, FAKE_EVENTS));
}

static void pick_hctrs(struct chance *c, struct fake_hart_config *config, bool homes)
{
	uint32_t order = below(c, 16);
	uint32_t kind = below(c, homes ? 2 : 7);

	for (uint32_t e = 0; e < FAKE_EVENTS; e++) {
		switch (kind) {
		case 0:
			config->hctrs[e] = 1ULL << (3 + (order + e * 5) % 16);
			break;
		case 1:
			/* Fewer counters than events: some share a home counter. */
			config->hctrs[e] = 1ULL << (3 + (order + e) % 4);
			break;
		case 2:
			config->hctrs[e] = 3ULL << (3 + 2 * e);
			break;
		case 3:
			/* Some counters are those of several events. */
			config->hctrs[e] = (1ULL << below(c, 5) | 1ULL << below(c, 7)) << 3;
			break;
		case 4:
		case 5:
			/* Those of neighbours; the first event has only one. */
			config->hctrs[e] = e == 0 ? 1ULL << 3 : 3ULL << (2 + e);
			break;
		default:
			config->hctrs[e] = FAKE_PROGRAMMABLE;
		}
	}
	if (kind != 1 && percent(c, 60)) {
		config->hctrs[FAKE_CYCLES] |= 1;
		config->hctrs[FAKE_INSNS] |= 4;
		random_count.epochs_fixed++;
	}
	random_count.epochs_homes += kind == 0;
	random_count.epochs_homes_collide += kind == 1;
	random_count.epochs_pairs += kind == 2;
	random_count.epochs_overlap += kind >= 3 && kind <= 5;
	random_count.epochs_free += kind == 6;
}

void random_hart(struct chance *c, uint32_t switches, struct fake_hart_config *config)
{
	static const uint32_t widths[] = {63, 62, 48, 40};

	*config = (struct fake_hart_config){
	    .one_counter_per_event = switches & 1,
	    .sticky_map = switches & 2,
	    .stale_irq = switches & 4,
	    .boot_of = switches & 8,
	    .pending_keeps_of = switches & 16,
	    .take_without_pending = switches & 32,
	    .no_armed_cache_events = switches & 64,
	    .skid = percent(c, 25) ? 1 + below(c, 40) : 0,
	    .hs_work = 1 + below(c, percent(c, 50) ? 3 : 60),
	    .hides_flags = percent(c, 30),
	    .start_sets_flag = percent(c, 50),
	    .knows_all_events = percent(c, 25),
	    .nothing_is_ram = percent(c, 50),
	    .asking_evicts = percent(c, 50),
	    .width = percent(c, 85) ? 64 : widths[below(c, 4)],
	    .misuse = world_misused,
	};
	/* Each firmware sets OF when it configures. */
	config->boot_of = config->boot_of || config->hides_flags;
	/* The full range without an exit and then a late one: more than a value can show. */
	if (config->width < 64) {
		config->skid = 0;
		config->no_armed_cache_events = false;
	}
	pick_hctrs(c, config, config->one_counter_per_event || config->sticky_map);
	random_count.epochs_narrow += config->width < 64;
	random_count.epochs_late += config->skid != 0;
	random_count.epochs_all_events += config->knows_all_events;
}

/* Each event with a probability of one half, the important ones with a higher one. */
uint32_t random_allowed(struct chance *c, uint32_t *allowed)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		if (percent(c, 70))
			allowed[n++] = fake_hart_event_idx((enum fake_event)e, NULL);
	for (uint32_t code = 0; code < 22; code++)
		if (percent(c, 50))
			allowed[n++] = 0xf0000 | code;
	while (n < WORLD_ALLOWED && percent(c, 90))
		allowed[n++] = 0xf0100 | below(c, FAKE_TALLY_EVENTS);
	return n;
}

/* These have no event table. */
void random_table(struct chance *c, struct machine *machine, uint32_t vcpu)
{
	struct vpmu_policy *policy = &machine->policy[vcpu];

	policy->moves = !machine->hart.one_counter_per_event && !policy->count_hs && percent(c, 80);
}
