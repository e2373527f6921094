/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/vm_life_config.h"

#define RESTARTS_DEFAULT 5U

bool vm_parse_life(const struct vm_blob *b, int node, const struct vm_prop *props,
                   struct vm_config *vm)
{
	static const char *const policies[] = {
	    [VM_RESTART_NEVER] = "never",
	    [VM_RESTART_ON_FAILURE] = "on-failure",
	    [VM_RESTART_ALWAYS] = "always",
	};
	const struct vm_prop *limit = &props[LIFE_RESTART_LIMIT];
	uint32_t restart = VM_RESTART_NEVER;

	vm->restart_limit = RESTARTS_DEFAULT;
	if (!vm_read_word(b, node, &props[LIFE_RESTART], policies, 3,
	                  "is not \"never\", \"on-failure\" or \"always\"", &restart) ||
	    !vm_read_choice(b, node, &props[LIFE_BAD_ACCESS], "stop", "fault",
	                    "is not \"fault\" or \"stop\"", &vm->bad_access_stops) ||
	    (limit->data && !vm_read_u32(b, node, limit, &vm->restart_limit)))
		return false;
	vm->restart = (enum vm_restart)restart;
	if (vm->restart_limit > VM_RESTARTS_MAX)
		return vm_refuse_numbers(b, VM_REFUSED_RESTARTS, node, limit->name,
		                         "# is more than #", vm->restart_limit, VM_RESTARTS_MAX);
	return true;
}
