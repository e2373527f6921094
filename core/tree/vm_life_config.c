/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>

#include "core/tree/vm_names.h"

#define RESTARTS_DEFAULT 5U

static bool parse_heartbeat(const struct vm_node *n)
{
	uint32_t *ms = &n->vm->heartbeat_ms;

	if (!vm_read_u32(n, "heartbeat-ms", ms))
		return false;
	if (!*ms && vm_has(n, "heartbeat-ms"))
		return vm_refuse(n, VM_REFUSED_VALUE, "heartbeat-ms",
		                 "is 0: no guest rings so often");
	return *ms <= VM_HEARTBEAT_MS_MAX ||
	       vm_refuse(n, VM_REFUSED_VALUE, "heartbeat-ms", "%u is more than %u ms", *ms,
	                 VM_HEARTBEAT_MS_MAX);
}

bool vm_parse_life(const struct vm_node *n)
{
	static const char *const policies[] = {
	    [VM_RESTART_NEVER] = "never",
	    [VM_RESTART_ON_FAILURE] = "on-failure",
	    [VM_RESTART_ALWAYS] = "always",
	};
	struct vm_config *vm = n->vm;
	uint32_t restart = VM_RESTART_NEVER;

	vm->restart_limit = RESTARTS_DEFAULT;
	if (!vm_read_word(n, "restart", policies, 3, &restart) ||
	    !vm_read_choice(n, "bad-access", "fault", "stop", &vm->bad_access_stops) ||
	    !vm_read_on(n, "crash-exits", &vm->crash_exits) ||
	    !vm_read_choice(n, "boot", "now", "defer", &vm->deferred) || !parse_heartbeat(n) ||
	    !vm_read_u32(n, "restart-limit", &vm->restart_limit))
		return false;
	vm->restart = (enum vm_restart)restart;
	return vm->restart_limit <= VM_RESTARTS_MAX ||
	       vm_refuse(n, VM_REFUSED_RESTARTS, "restart-limit", "%u is more than %u",
	                 vm->restart_limit, VM_RESTARTS_MAX);
}

bool vm_check_started(const struct vm_node *vms)
{
	for (uint32_t i = 0; i < vms->tree->n_vms; i++) {
		if (!vms->tree->vms[i].deferred)
			return true;
	}
	return vm_refuse(vms, VM_REFUSED_NO_VM, "boot", "is \"defer\" in every VM: none starts");
}

bool vm_parse_controls(const struct vm_node *n)
{
	if (!vm_read_names(n, "controls", &n->vm->controls))
		return false;
	return !(n->vm->controls >> (n->vm - n->tree->vms) & 1) ||
	       vm_refuse(n, VM_REFUSED_NAME, "controls", "names the VM itself");
}
