/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that the guest executed and the hart did not count.
 *
 * An instruction that traps does not retire: where Tally does its work, a guest on a hart of its
 * own would have counted one more. Since all running counters of an hctr count the same, one more
 * in the hardware is one more for each of them, and no offset changes. Where that is dear, or the
 * hctr would wrap by it, one is added to their offsets instead. An armed hctr would then wrap one
 * too late, so it is moved at once; another is moved only where that is cheap, since all that it
 * loses by it is that it is read directly.
 */
#include "vpmu/internal.h"

static void add_to_offsets(struct vpmu *v, uint64_t hctrs)
{
	uint64_t moves = hctrs & (v->armed | (v->policy.cheap_moves ? v->shown : 0));
	uint64_t taken = 0;
	uint32_t i;

	if (moves != 0)
		taken = vpmu_take_overflows(v);
	for_each_bit (i, moves)
		vpmu_hctr_sync(v, (hctr_t){i});
	for_each_bit (i, hctrs)
		vpmu_hctr_step(v, (hctr_t){i});
	vpmu_apply(v, moves | taken, 0, 0);
}

void vpmu_retired(struct vpmu *v, bool user)
{
	uint64_t hctrs = v->active & v->retires[user];
	uint64_t dear = 0;
	uint32_t i;

	if (!v->policy.cheap_moves)
		dear = hctrs;
	else
		for_each_bit (i, hctrs)
			if (!vpmu_port_step((hctr_t){i}, v->value_mask))
				dear |= bit64(i);
	if (dear != 0)
		add_to_offsets(v, dear);
}
