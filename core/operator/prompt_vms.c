/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `vms`. */
#include "arch/riscv/csr.h"
#include "core/vm/platform.h"
#include "core/lib/printf.h"
#include "core/operator/prompt.h"
#include "core/lib/text.h"
#include "core/vm/vm_tell.h"

#define ROOM_FOR_HARTS (3 * VM_MAX_VCPUS)

/* Each vcpu's hart, in order. */
static void harts_text(const struct vm *vm, char *text)
{
	struct text t = text_begin(text, ROOM_FOR_HARTS);

	for (uint32_t i = 0; i < vm->config->n_vcpus; i++)
		text_add(&t, "%s%lu", i ? "," : "", vm->vcpus[i]->home->hartid);
}

/* Of this life, in ms; 0 while it has none. */
static uint64_t uptime(const struct vm *vm)
{
	if (atomic_load(&vm->state) != VM_RUNNING)
		return 0;
	return (csr_read(CSR_TIME) - vm->life.begun) / (platform.timebase / 1000);
}

void prompt_vms(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	const struct vm *vm = &vms[walk->vm];
	const struct vm_config *config = vm->config;
	uint64_t up = uptime(vm);
	char harts[ROOM_FOR_HARTS];

	harts_text(vm, harts);
	if (walk->json)
		(void)tally_snprintf(
		    line, PROMPT_LINE_BYTES,
		    "{\"vm\":\"%s\",\"state\":\"%s\",\"uptime_ms\":%lu,\"vcpus\":%u,"
		    "\"harts\":[%s],\"memory\":%lu}",
		    config->name, vm_state_name(vm), up, config->n_vcpus, harts, config->memory);
	else
		(void)tally_snprintf(
		    line, PROMPT_LINE_BYTES,
		    "%-15s %-8s up %lu.%03lu s, vcpus %u, harts %s, memory %lu MiB", config->name,
		    vm_state_name(vm), up / 1000, up % 1000, config->n_vcpus, harts,
		    config->memory >> 20);
	prompt_next_vm(walk);
}
