/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `top`: a line for each vcpu, short enough not to wrap on a terminal of 80 columns.
 */
#include "core/lib/printf.h"
#include "core/operator/prompt.h"
#include "core/vm/vm_tell.h"
#include "vpmu/bits.h"
#include "vpmu/show.h"

static unsigned int counters_of(const struct vcpu *vcpu)
{
	uint64_t configured = vpmu_configured(&vcpu->pmu);
	unsigned int n = 0;

	for (; configured; configured &= configured - 1)
		n++;
	return n;
}

void prompt_top(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	const struct vcpu *vcpu = prompt_vcpu(walk);
	struct prompt_rates rates;

	/* The heading is the line before the first vcpu's. */
	if (!walk->vm && !walk->vcpu && !walk->line) {
		(void)tally_snprintf(
		    line, PROMPT_LINE_BYTES,
		    "vm            vcpu state    exits/s ecall/s  mmio/s hs-insn/s pmu ovf/s");
		walk->line++;
		return;
	}
	prompt_rates(walk->asker, vcpu, &rates);
	(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%-15s %2u %-8s %7lu %7lu %7lu %9lu %3u %5lu",
	                     vcpu->vm->config->name, vcpu->id, vm_state_name(vcpu->vm),
	                     all_causes(rates.exits), rates.exits[EXIT_ECALL],
	                     rates.exits[EXIT_MMIO], all_causes(rates.hs_insns), counters_of(vcpu),
	                     rates.exits[EXIT_LCOFI]);
	prompt_next_vcpu(walk);
}
