/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_life_config.h"

#include <libfdt.h>

#include "core/tree/vm_names.h"

#define RESTARTS_DEFAULT 5U

static bool parse_heartbeat(const struct vm_blob *b, int node, const struct vm_prop *prop,
                            struct vm_config *vm)
{
	if (!prop->data)
		return true;
	if (!vm_read_u32(b, node, prop, &vm->heartbeat_ms))
		return false;
	if (!vm->heartbeat_ms)
		return vm_refuse(b, VM_REFUSED_VALUE, node, prop->name,
		                 "is 0: no guest rings so often");
	if (vm->heartbeat_ms > VM_HEARTBEAT_MS_MAX)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, prop->name,
		                         "# is more than # ms", vm->heartbeat_ms,
		                         VM_HEARTBEAT_MS_MAX);
	return true;
}

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
	    !vm_read_choice(b, node, &props[LIFE_BAD_ACCESS], "fault", "stop",
	                    &vm->bad_access_stops) ||
	    !vm_read_on(b, node, &props[LIFE_CRASH_EXITS], &vm->crash_exits) ||
	    !vm_read_choice(b, node, &props[LIFE_BOOT], "now", "defer", &vm->deferred) ||
	    !parse_heartbeat(b, node, &props[LIFE_HEARTBEAT], vm) ||
	    (limit->data && !vm_read_u32(b, node, limit, &vm->restart_limit)))
		return false;
	vm->restart = (enum vm_restart)restart;
	if (vm->restart_limit > VM_RESTARTS_MAX)
		return vm_refuse_numbers(b, VM_REFUSED_RESTARTS, node, limit->name,
		                         "# is more than #", vm->restart_limit, VM_RESTARTS_MAX);
	return true;
}

bool vm_check_started(const struct vm_blob *b, int vms, const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		if (!tree->vms[i].deferred)
			return true;
	}
	return vm_refuse(b, VM_REFUSED_NO_VM, vms, "boot", "is \"defer\" in every VM: none starts");
}

bool vm_parse_controls(const struct vm_blob *b, int vms, struct vm_tree *tree)
{
	uint32_t vm = 0;
	int node;

	fdt_for_each_subnode(node, b->blob, vms)
	{
		uint32_t *controls = &tree->vms[vm].controls;
		int size = 0;
		struct vm_prop prop = {.name = "controls"};

		prop.data = fdt_getprop(b->blob, node, prop.name, &size);
		prop.size = (uint32_t)size;
		if (prop.data && !vm_read_names(b, node, &prop, tree, controls))
			return false;
		if (*controls >> vm++ & 1)
			return vm_refuse(b, VM_REFUSED_NAME, node, prop.name,
			                 "names the VM itself");
	}
	return true;
}
