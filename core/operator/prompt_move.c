/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `move VM VCPU HART`. */
#include "core/lib/printf.h"
#include "core/operator/prompt.h"
#include "core/vm/vcpu_move.h"

enum prompt_status prompt_move(struct vm *vm, const char *vcpu, const char *hart,
                               char line[PROMPT_LINE_BYTES])
{
	uint64_t v = prompt_number(vcpu), h = prompt_number(hart);

	if (v >= vm->config->n_vcpus) {
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "move: %s has no vcpu \"%s\"",
		                     vm->config->name, vcpu);
		return PROMPT_FAILED;
	}
	if (h >= VM_MAX_HARTS || !vcpu_move(vm->vcpus[v], h)) {
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "move: hart \"%s\" is not among the harts of %s vcpu %lu",
		                     hart, vm->config->name, v);
		return PROMPT_FAILED;
	}
	(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s vcpu %lu moves to hart %lu",
	                     vm->config->name, v, h);
	return PROMPT_OK;
}
