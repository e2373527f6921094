/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `move VM VCPU HART`. */
#include "core/printf.h"
#include "core/prompt.h"
#include "core/vcpu_move.h"

/* A decimal number of at most three digits, which is more than there are of anything; else ~0. */
static uint64_t number(const char *text)
{
	uint64_t n = 0;
	uint32_t digits = 0;

	for (; *text >= '0' && *text <= '9'; text++, digits++)
		n = n * 10 + (uint64_t)(*text - '0');
	return digits - 1U < 3 && *text == '\0' ? n : ~0UL;
}

enum prompt_status prompt_move(struct vm *vm, const char *vcpu, const char *hart,
                               char line[PROMPT_LINE_BYTES])
{
	uint64_t v = number(vcpu), h = number(hart);

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
