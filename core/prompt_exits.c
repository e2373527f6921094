/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `exits`: counts since power-on, and how many a second since they were asked for last. */
#include "arch/riscv/csr.h"
#include "core/platform.h"
#include "core/printf.h"
#include "core/prompt.h"
#include "core/vm_tell.h"

/* What each asker was told last. */
static struct told {
	uint64_t time;
	uint64_t exits[VCPU_EXITS];
	uint64_t hs_insns;
} told[PROMPT_ASKERS][VM_MAX_VMS][VM_MAX_VCPUS];

/* Between the two lines of a vcpu. */
static struct prompt_rates rates_of[PROMPT_ASKERS];

static struct told now(const struct vcpu *vcpu)
{
	struct told t = {.time = csr_read(CSR_TIME), .hs_insns = vcpu->ctx.hs_insns};

	for (uint32_t i = 0; i < VCPU_EXITS; i++)
		t.exits[i] = vcpu->exits[i];
	t.exits[EXIT_ECALL] += vcpu->ctx.ecalls;
	return t;
}

void prompt_rates(enum prompt_asker asker, const struct vcpu *vcpu, struct prompt_rates *rates)
{
	struct told *last = &told[asker][vcpu->vm->index][vcpu->id];
	struct told t = now(vcpu);
	uint64_t ms = (t.time - last->time) / (platform.timebase / 1000);

	/* Less than a millisecond: as if it had been one. */
	if (!ms)
		ms = 1;
	rates->ms = ms;
	rates->all = 0;
	for (uint32_t i = 0; i < VCPU_EXITS; i++) {
		rates->exits[i] = (t.exits[i] - last->exits[i]) * 1000 / ms;
		rates->all += rates->exits[i];
	}
	rates->hs_insns = (t.hs_insns - last->hs_insns) * 1000 / ms;
	*last = t;
}

static void rates_text(const struct prompt_rates *r, char *line)
{
	const uint64_t *e = r->exits;

	(void)tally_snprintf(line, PROMPT_LINE_BYTES,
	                     "  per second, for %lu.%03lu s: ecall=%lu timer=%lu irq=%lu lcofi=%lu "
	                     "mmio=%lu csr=%lu wfi=%lu other=%lu hs-instructions=%lu",
	                     r->ms / 1000, r->ms % 1000, e[EXIT_ECALL], e[EXIT_TIMER], e[EXIT_IRQ],
	                     e[EXIT_LCOFI], e[EXIT_MMIO], e[EXIT_CSR], e[EXIT_WFI], e[EXIT_OTHER],
	                     r->hs_insns);
}

static size_t causes_json(const uint64_t *e, uint64_t hs_insns, char *text, size_t size)
{
	return (size_t)tally_snprintf(
	    text, size,
	    "\"ecall\":%lu,\"timer\":%lu,\"irq\":%lu,\"lcofi\":%lu,\"mmio\":%lu,\"csr\":%lu,"
	    "\"wfi\":%lu,\"other\":%lu,\"hs_instructions\":%lu",
	    e[EXIT_ECALL], e[EXIT_TIMER], e[EXIT_IRQ], e[EXIT_LCOFI], e[EXIT_MMIO], e[EXIT_CSR],
	    e[EXIT_WFI], e[EXIT_OTHER], hs_insns);
}

static void exits_json(enum prompt_asker asker, const struct vcpu *vcpu, char *line)
{
	struct prompt_rates rates;
	struct told t;
	size_t at;

	prompt_rates(asker, vcpu, &rates);
	t = told[asker][vcpu->vm->index][vcpu->id];
	at = (size_t)tally_snprintf(line, PROMPT_LINE_BYTES, "{\"vm\":\"%s\",\"vcpu\":%u,",
	                            vcpu->vm->config->name, vcpu->id);
	at += causes_json(t.exits, t.hs_insns, line + at, PROMPT_LINE_BYTES - at);
	at += (size_t)tally_snprintf(line + at, PROMPT_LINE_BYTES - at,
	                             ",\"longest_stay\":%lu,\"interval_ms\":%lu,\"per_second\":{",
	                             vcpu->ctx.hs_longest, rates.ms);
	at += causes_json(rates.exits, rates.hs_insns, line + at, PROMPT_LINE_BYTES - at);
	(void)tally_snprintf(line + at, PROMPT_LINE_BYTES - at, "}}");
}

void prompt_exits(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	const struct vcpu *vcpu = prompt_vcpu(walk);

	if (walk->json) {
		exits_json(walk->asker, vcpu, line);
		prompt_next_vcpu(walk);
	} else if (!walk->line) {
		vm_exits_text(vcpu, line, PROMPT_LINE_BYTES);
		prompt_rates(walk->asker, vcpu, &rates_of[walk->asker]);
		walk->line++;
	} else {
		rates_text(&rates_of[walk->asker], line);
		prompt_next_vcpu(walk);
	}
}
