/* SPDX-License-Identifier: Apache-2.0 */
/* Machines whose harts combine events, with the event table of Kunminghu, of bytes. */
#include "tests/fuzz/fuzz_vpmu.h"
#include "tests/host/combining_events.h"

/* A code takes eight bits, and an operator, with one more that there is not, three. */
static uint64_t selector(struct input *in, uint64_t group)
{
	static const uint64_t operators[] = {COMBINING_OR, COMBINING_AND, COMBINING_XOR,
	                                     COMBINING_ADD, 3};
	uint64_t codes = fuzz_take(in, 4), bits = fuzz_take(in, 2);
	uint64_t made = 0;

	for (uint32_t i = 0; i < 4; i++)
		made |= (group << COMBINING_GROUP_SHIFT | (codes >> 8 * i & 0xff))
		        << COMBINING_EVENT_SHIFT(i);
	for (uint32_t i = 0; i < 3; i++)
		made |= operators[(bits >> 3 * i & 7) % 5] << COMBINING_OP_SHIFT(i);
	return made ^ (bits >> 15) << (bits >> 9 & 0x3f);
}

/* One that random guests may choose, too, or any of a group. */
void fuzz_event(struct input *in, uint64_t *a)
{
	uint32_t b = fuzz_byte(in);

	if (b < 96) {
		a[0] = fake_hart_event_idx((enum fake_event)(b % fake_hart_events()), &a[1]);
	} else if (b < 128) {
		a[0] = (b & 4 ? SBI_PMU_TYPE_RAW_V2 : SBI_PMU_TYPE_RAW) << 16;
		a[1] = selector(in, b & 3);
	} else {
		fuzz_any_event(in, b, a);
	}
}

static void raw_allowed(struct input *in, struct machine *machine, uint32_t vcpu)
{
	uint32_t b = fuzz_byte(in);
	uint32_t n = 0;

	for (uint32_t i = 0; i < combining_node.n_raws; i++)
		if (b >> i & 1)
			machine->raw_allowed[vcpu][n++] = (struct selector_allowed){
			    combining_node.raws[i].value, ~(uint64_t)0xff};
	for (uint32_t i = 0; i < b >> 4; i++)
		machine->raw_allowed[vcpu][n++] = (struct selector_allowed){
		    combining_single((uint32_t)fuzz_take(in, 2) % COMBINING_EVENTS), ~0ULL};
	machine->table[vcpu].n_allowed = n;
}

void fuzz_machine(struct input *in, struct machine *machine)
{
	struct fake_hart_config *hart = &machine->hart;
	uint32_t b = fuzz_byte(in);

	*hart = (struct fake_hart_config){
	    .raw_v1_only = b & 1,
	    .nothing_is_ram = b & 2,
	    .skid = b & 4 ? 1 + fuzz_byte(in) % 40 : 0,
	    .hs_work = 1 + (b >> 3 & 3),
	    .asking_evicts = true,
	    .width = 64,
	    .misuse = world_misused,
	    .delegated = b & 0x20,
	    .choice = b >> 6,
	};
	/* What fuzz_event() takes from it. */
	fake_hart_reset(hart);
	for (uint32_t i = 0; i < VCPUS; i++) {
		uint32_t flags = fuzz_byte(in), more = fuzz_byte(in);
		struct vpmu_policy *policy = &machine->policy[i];

		*policy = (struct vpmu_policy){
		    .hctrs = COMBINING_COUNTERS | (more & 1 ? 5 : 0),
		    .fw_base = more & 2 ? 32 : 39,
		    .width = 64,
		    .table = &machine->table[i],
		};
		fuzz_policy(in, flags, more, policy, machine->allowed[i]);
		policy->steps = false;
		machine->table[i].selectors = combining_selectors();
		if (policy->events)
			raw_allowed(in, machine, i);
	}
}
