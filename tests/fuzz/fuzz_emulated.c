/* SPDX-License-Identifier: Apache-2.0 */
/* Machines with the emulator's defects, of bytes. */
#include "tests/fuzz/fuzz_vpmu.h"

void fuzz_event(struct input *in, uint64_t *a)
{
	uint32_t b = fuzz_byte(in);

	if (b < 128)
		a[0] = fake_hart_event_idx((enum fake_event)(b % FAKE_EVENTS), &a[1]);
	else
		fuzz_any_event(in, b, a);
}

static void decode_hart(struct input *in, struct fake_hart_config *hart)
{
	uint32_t defects = fuzz_byte(in), liberties = fuzz_byte(in);

	*hart = liberties & 1 ? fake_hart_free() : fake_hart_homes();
	hart->one_counter_per_event = (defects & 1) && !(liberties & 1);
	hart->sticky_map = (defects & 2) && !(liberties & 1);
	hart->stale_irq = defects & 4;
	hart->boot_of = defects & 8;
	hart->pending_keeps_of = defects & 16;
	hart->no_armed_cache_events = defects & 32;
	hart->take_without_pending = defects & 64;
	hart->skid = defects & 128 ? 1 + fuzz_byte(in) % 40 : 0;
	hart->hs_work = 1 + (liberties >> 1 & 7);
	hart->knows_all_events = liberties & 16;
	hart->nothing_is_ram = liberties & 32;
	hart->misuse = world_misused;
	if ((liberties & 64) && !hart->skid && !hart->no_armed_cache_events)
		hart->width = 48;
	/* Two events that share a home counter, or fixed counters with filters. */
	if ((liberties & 128) && !(liberties & 1)) {
		hart->hctrs[FAKE_DTLB_LOAD] = hart->hctrs[FAKE_INSNS];
	} else {
		hart->hctrs[FAKE_CYCLES] |= 1;
		hart->hctrs[FAKE_INSNS] |= 4;
	}
}

void fuzz_machine(struct input *in, struct machine *machine)
{
	decode_hart(in, &machine->hart);
	for (uint32_t i = 0; i < VCPUS; i++) {
		uint32_t flags = fuzz_byte(in), more = fuzz_byte(in);

		machine->policy[i] = (struct vpmu_policy){
		    .hctrs = FAKE_PROGRAMMABLE | (more & 1 ? 5 : 0),
		    .fw_base = more & 2 ? 32 : 19,
		    .width = machine->hart.width,
		    .polled_cache = machine->hart.no_armed_cache_events,
		};
		fuzz_policy(in, flags, more, &machine->policy[i], machine->allowed[i]);
	}
}
