/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's start, stop, restart and poweroff, and the keys that do the same to the VM in focus.
 */
#include <string.h>

#include "core/lib/printf.h"
#include "core/operator/prompt.h"

struct life_act {
	const char *name;
	char key; /* behind Ctrl-T */
	bool (*act)(struct vm *vm);
	const char *done, *idle;
};

static const struct life_act acts[] = {
    {"start", 'g', vm_start, "is being started", "runs already"},
    {"stop", 's', vm_stop, "is being stopped", "is off already"},
    {"restart", 'r', vm_restart, "is being restarted", ""},
};

const struct life_act *prompt_life_named(const char *command)
{
	for (uint32_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, command) == 0)
			return &acts[i];
	}
	return NULL;
}

void prompt_life(const struct life_act *a, struct vm *vm, char line[PROMPT_LINE_BYTES])
{
	(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s %s", vm->config->name,
	                     a->act(vm) ? a->done : a->idle);
}

void prompt_life_key(struct vm *vm, char key, char line[PROMPT_LINE_BYTES])
{
	for (uint32_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (acts[i].key == key)
			prompt_life(&acts[i], vm, line);
	}
}

void prompt_power_off(void)
{
	for (uint32_t i = 0; i < n_vms; i++)
		vm_power_off(&vms[i]);
}
