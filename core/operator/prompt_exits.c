/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `exits`: since power-on. Whoever wants rates asks twice. */
#include "arch/riscv/csr.h"
#include "core/lib/printf.h"
#include "core/lib/text.h"
#include "core/operator/prompt.h"

/* On a hart until now, whichever hart that is. */
static uint64_t cpu_ticks(const struct vcpu *vcpu, uint64_t now)
{
	const volatile struct vcpu_fw *fw = &vcpu->fw;
	uint64_t before, ticks;

	/* Again if a turn ended meanwhile: else it would count twice, or not at all. */
	do {
		before = fw->cpu_ticks;
		ticks = before;
		if (*(struct vcpu *const volatile *)&vcpu->home->current == vcpu &&
		    now > fw->resident_since)
			ticks += now - fw->resident_since;
	} while (fw->cpu_ticks != before);
	return ticks;
}

static uint64_t steal_ticks(const struct vcpu *vcpu, uint64_t now)
{
	uint64_t since = *(const volatile uint64_t *)&vcpu->fw.ready_since;

	return vcpu->fw.steal_ticks + (since && now > since ? now - since : 0);
}

static void causes_json(struct text *t, const uint64_t *e)
{
	text_add(t,
	         "\"ecall\":%lu,\"timer\":%lu,\"irq\":%lu,\"lcofi\":%lu,\"mmio\":%lu,\"csr\":%lu,"
	         "\"wfi\":%lu,\"other\":%lu",
	         e[EXIT_ECALL], e[EXIT_TIMER], e[EXIT_IRQ], e[EXIT_LCOFI], e[EXIT_MMIO],
	         e[EXIT_CSR], e[EXIT_WFI], e[EXIT_OTHER]);
}

static void exits_json(const struct vcpu *vcpu, char *line)
{
	struct text t = text_begin(line, PROMPT_LINE_BYTES);
	uint64_t now = csr_read(CSR_TIME);

	text_add(&t, "{\"vm\":\"%s\",\"vcpu\":%u,\"time_us\":%lu,\"cpu_us\":%lu,\"steal_us\":%lu,",
	         vcpu->vm->config->name, vcpu->id, prompt_us(now), prompt_us(cpu_ticks(vcpu, now)),
	         prompt_us(steal_ticks(vcpu, now)));
	causes_json(&t, vcpu->ctx.exits);
	text_add(&t, ",\"hs_instructions\":%lu,\"hs_instructions_by\":{",
	         all_causes(vcpu->ctx.hs_insns));
	causes_json(&t, vcpu->ctx.hs_insns);
	text_add(&t, "},\"longest_stay\":%lu}", vcpu->ctx.hs_longest);
}

/* Two lines: a terminal of 80 columns has room for each. */
static void exits_text(uint32_t n, const struct vcpu *vcpu, char *line)
{
	const uint64_t *e = vcpu->ctx.exits;
	uint64_t now = csr_read(CSR_TIME), s = platform.timebase, ms = s / 1000;
	uint64_t cpu = cpu_ticks(vcpu, now), stolen = steal_ticks(vcpu, now);

	if (n)
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "  exits: ecall %lu, timer %lu, irq %lu, lcofi %lu, mmio %lu, "
		                     "csr %lu, wfi %lu, other %lu",
		                     e[EXIT_ECALL], e[EXIT_TIMER], e[EXIT_IRQ], e[EXIT_LCOFI],
		                     e[EXIT_MMIO], e[EXIT_CSR], e[EXIT_WFI], e[EXIT_OTHER]);
	else
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "vm %s: vcpu %u: ran %lu.%03lu s, stolen %lu.%03lu s, "
		                     "HS instructions %lu, longest stay %lu",
		                     vcpu->vm->config->name, vcpu->id, cpu / s, cpu % s / ms,
		                     stolen / s, stolen % s / ms, all_causes(vcpu->ctx.hs_insns),
		                     vcpu->ctx.hs_longest);
}

void prompt_exits(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	const struct vcpu *vcpu = prompt_vcpu(walk);

	if (walk->json)
		exits_json(vcpu, line);
	else
		exits_text(walk->line, vcpu, line);
	if (walk->json || walk->line++)
		prompt_next_vcpu(walk);
}
