/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_life_config.h"

#include <libfdt.h>

#include "core/tree/vm_names.h"

#define RESTARTS_DEFAULT 5U

static bool parse_heartbeat(const struct vm_node *n, const struct vm_prop *prop)
{
	uint32_t *ms = &n->vm->heartbeat_ms;

	if (!vm_read_u32(n, prop, ms))
		return false;
	if (prop->data && !*ms)
		return vm_refuse(n, VM_REFUSED_VALUE, prop->name, "is 0: no guest rings so often");
	return *ms <= VM_HEARTBEAT_MS_MAX ||
	       vm_refuse(n, VM_REFUSED_VALUE, prop->name, "%u is more than %u ms", *ms,
	                 VM_HEARTBEAT_MS_MAX);
}

bool vm_parse_life(const struct vm_node *n, const struct vm_prop *props)
{
	static const char *const policies[] = {
	    [VM_RESTART_NEVER] = "never",
	    [VM_RESTART_ON_FAILURE] = "on-failure",
	    [VM_RESTART_ALWAYS] = "always",
	};
	struct vm_config *vm = n->vm;
	static const char *const ways[] = {
	    [VM_SHUTDOWN_NONE] = "none",
	    [VM_SHUTDOWN_SYSRQ] = "sysrq",
	    [VM_SHUTDOWN_KEY] = "key",
	};
	uint32_t restart = VM_RESTART_NEVER, shutdown = VM_SHUTDOWN_NONE;

	vm->restart_limit = RESTARTS_DEFAULT;
	if (!vm_read_word(n, &props[LIFE_RESTART], policies, 3, &restart) ||
	    !vm_read_choice(n, &props[LIFE_BAD_ACCESS], "fault", "stop", &vm->bad_access_stops) ||
	    !vm_read_on(n, &props[LIFE_CRASH_EXITS], &vm->crash_exits) ||
	    !vm_read_choice(n, &props[LIFE_BOOT], "now", "defer", &vm->deferred) ||
	    !vm_read_word(n, &props[LIFE_SHUTDOWN], ways, 3, &shutdown) ||
	    !vm_read_on(n, &props[LIFE_SUSPEND], &vm->suspend) ||
	    !parse_heartbeat(n, &props[LIFE_HEARTBEAT]) ||
	    !vm_read_u32(n, &props[LIFE_RESTART_LIMIT], &vm->restart_limit))
		return false;
	vm->restart = (enum vm_restart)restart;
	vm->shutdown = (enum vm_shutdown_by)shutdown;
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
	int size = 0;
	const void *data = fdt_getprop(n->blob, n->at, "controls", &size);
	const struct vm_prop prop = {"controls", data, (uint32_t)size};

	if (!vm_read_names(n, &prop, &n->vm->controls))
		return false;
	return !(n->vm->controls >> (n->vm - n->tree->vms) & 1) ||
	       vm_refuse(n, VM_REFUSED_NAME, prop.name, "names the VM itself");
}
