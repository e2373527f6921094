/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_life_config.h"

#include <libfdt.h>
#include <string.h>

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
	    !vm_read_choice(b, node, &props[LIFE_BAD_ACCESS], "stop", "fault",
	                    "is not \"fault\" or \"stop\"", &vm->bad_access_stops) ||
	    !vm_read_choice(b, node, &props[LIFE_CRASH_EXITS], "on", "off",
	                    "is not \"on\" or \"off\"", &vm->crash_exits) ||
	    !vm_read_choice(b, node, &props[LIFE_BOOT], "defer", "now",
	                    "is not \"now\" or \"defer\"", &vm->deferred) ||
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

static uint32_t find(const struct vm_tree *tree, const char *name)
{
	uint32_t i = 0;

	while (i < tree->n_vms && strcmp(tree->vms[i].name, name) != 0)
		i++;
	return i;
}

/* Ends after at most VM_MAX_VMS names, because none may come twice. */
static bool parse_controls(const struct vm_blob *b, int node, const char *names, uint32_t size,
                           struct vm_tree *tree, uint32_t vm)
{
	uint32_t *controls = &tree->vms[vm].controls;

	if (!size || names[size - 1])
		return vm_refuse(b, VM_REFUSED_STRING, node, "controls",
		                 "is not a list of strings");
	for (const char *name = names; name < names + size; name += strlen(name) + 1) {
		uint32_t other = find(tree, name);

		if (other == tree->n_vms)
			return vm_refuse_text(b, VM_REFUSED_NAME, node, "controls",
			                      "no VM has the name \"%s\"", name);
		if (other == vm)
			return vm_refuse(b, VM_REFUSED_NAME, node, "controls",
			                 "names the VM itself");
		if (*controls >> other & 1)
			return vm_refuse_text(b, VM_REFUSED_DUPLICATE, node, "controls",
			                      "names \"%s\" twice", name);
		*controls |= UINT32_C(1) << other;
	}
	return true;
}

bool vm_parse_controls(const struct vm_blob *b, int vms, struct vm_tree *tree)
{
	uint32_t vm = 0;
	int node;

	fdt_for_each_subnode(node, b->blob, vms)
	{
		int size = 0;
		const char *names = fdt_getprop(b->blob, node, "controls", &size);

		if (names && !parse_controls(b, node, names, (uint32_t)size, tree, vm))
			return false;
		vm++;
	}
	return true;
}
