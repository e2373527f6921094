/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_turns.h"

#define TURN_US_MIN 100U
#define TURN_US_MAX 1000000U /* of a share, and of all shares together */

bool vm_parse_turn(const struct vm_blob *b, int node, const struct vm_prop *turn,
                   struct vm_tree *tree)
{
	tree->turn_us = VM_TURN_US_DEFAULT;
	if (turn->data && !vm_read_u32(b, node, turn, &tree->turn_us))
		return false;
	if (tree->turn_us < TURN_US_MIN)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, turn->name,
		                         "# is less than # us", tree->turn_us, TURN_US_MIN);
	if (tree->turn_us > TURN_US_MAX)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, turn->name,
		                         "# is more than # us", tree->turn_us, TURN_US_MAX);
	return true;
}

bool vm_parse_turns(const struct vm_blob *b, int node, const struct vm_prop *props,
                    uint32_t turn_us, struct vm_config *vm)
{
	const struct vm_prop *share = &props[TURN_SHARE];
	uint64_t all;

	vm->share = 1;
	if (!vm_read_choice(b, node, &props[TURN_LOOK], "off", "on", "is not \"on\" or \"off\"",
	                    &vm->no_look) ||
	    (share->data && !vm_read_u32(b, node, share, &vm->share)))
		return false;
	if (!vm->share)
		return vm_refuse(b, VM_REFUSED_VALUE, node, share->name,
		                 "is 0: it would never run");
	all = (uint64_t)vm->share * turn_us;
	if (all > TURN_US_MAX)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, share->name,
		                         "makes turns of # us, longer than # us", all, TURN_US_MAX);
	vm->turn_us = (uint32_t)all;
	return true;
}
