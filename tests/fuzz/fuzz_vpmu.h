/* SPDX-License-Identifier: Apache-2.0 */
/* What fuzz_vpmu.c has for fuzz_emulated.c and fuzz_combining.c, one of which makes machines with
 * its kind of harts. */
#ifndef TESTS_FUZZ_FUZZ_VPMU_H
#define TESTS_FUZZ_FUZZ_VPMU_H

#include <stddef.h>
#include <stdint.h>

#include "tests/host/world.h"

struct input {
	const uint8_t *data;
	size_t left;
};

/* Takes n bytes as a number, of fewer bytes at the end. */
uint64_t fuzz_take(struct input *in, size_t n);
uint32_t fuzz_byte(struct input *in);

/* Decodes what all kinds of harts have. The policy has counters, fw_base, width and polled_cache;
 * polled_cache and steps may need to be changed afterwards. */
void fuzz_policy(struct input *in, uint32_t flags, uint32_t more, struct vpmu_policy *policy,
                 uint32_t *allowed);
/* Decodes an event_idx and event_data: firmware events, and any numbers. */
void fuzz_any_event(struct input *in, uint32_t b, uint64_t *a);

/* --- the kind of harts --------------------------------------------------------------- */

void fuzz_machine(struct input *in, struct machine *machine);
/* Decodes an event_idx and event_data. */
void fuzz_event(struct input *in, uint64_t *a);

#endif
