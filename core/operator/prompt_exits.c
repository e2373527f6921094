/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `exits`: counts since power-on, and how many a second since they were asked for
 * last. */
#include "arch/riscv/csr.h"
#include "core/vm/platform.h"
#include "core/lib/printf.h"
#include "core/operator/prompt.h"
#include "core/lib/text.h"
#include "core/vm/vm_tell.h"

/* What each asker was told last. */
static struct told {
	uint64_t time;
	uint64_t exits[VCPU_EXITS];
	uint64_t hs_insns[VCPU_EXITS];
} told[PROMPT_ASKERS][VM_MAX_VMS][VM_MAX_VCPUS];

void prompt_rates(enum prompt_asker asker, const struct vcpu *vcpu, struct prompt_rates *rates)
{
	struct told *last = &told[asker][vcpu->vm->index][vcpu->id];
	struct told now = {.time = csr_read(CSR_TIME)};
	uint64_t ms = (now.time - last->time) / (platform.timebase / 1000);

	/* Less than a millisecond: as if it had been one. */
	if (!ms)
		ms = 1;
	rates->ms = ms;
	for (uint32_t i = 0; i < VCPU_EXITS; i++) {
		now.exits[i] = vcpu->ctx.exits[i];
		now.hs_insns[i] = vcpu->ctx.hs_insns[i];
		rates->exits[i] = (now.exits[i] - last->exits[i]) * 1000 / ms;
		rates->hs_insns[i] = (now.hs_insns[i] - last->hs_insns[i]) * 1000 / ms;
	}
	*last = now;
}

static void causes_json(struct text *t, const uint64_t *e)
{
	text_add(t,
	         "\"ecall\":%lu,\"timer\":%lu,\"irq\":%lu,\"lcofi\":%lu,\"mmio\":%lu,\"csr\":%lu,"
	         "\"wfi\":%lu,\"other\":%lu",
	         e[EXIT_ECALL], e[EXIT_TIMER], e[EXIT_IRQ], e[EXIT_LCOFI], e[EXIT_MMIO],
	         e[EXIT_CSR], e[EXIT_WFI], e[EXIT_OTHER]);
}

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

/* Rates of all causes together only: a line is made in one stay in HS, so it must not be long. */
static void exits_json(const struct vcpu *vcpu, const struct told *now,
                       const struct prompt_rates *rates, char *line)
{
	struct text t = text_begin(line, PROMPT_LINE_BYTES);

	text_add(&t, "{\"vm\":\"%s\",\"vcpu\":%u,\"time_us\":%lu,\"cpu_us\":%lu,\"steal_us\":%lu,",
	         vcpu->vm->config->name, vcpu->id, prompt_us(now->time),
	         prompt_us(cpu_ticks(vcpu, now->time)), prompt_us(steal_ticks(vcpu, now->time)));
	causes_json(&t, now->exits);
	text_add(&t, ",\"hs_instructions\":%lu,\"hs_instructions_by\":{",
	         all_causes(now->hs_insns));
	causes_json(&t, now->hs_insns);
	text_add(&t,
	         "},\"longest_stay\":%lu,\"interval_ms\":%lu,"
	         "\"per_second\":{\"exits\":%lu,\"hs_instructions\":%lu}}",
	         vcpu->ctx.hs_longest, rates->ms, all_causes(rates->exits),
	         all_causes(rates->hs_insns));
}

/* Of one cause, or of all. */
static void row(const char *cause, const uint64_t n[4], char *line)
{
	(void)tally_snprintf(line, PROMPT_LINE_BYTES, "  %-6s %12lu %9lu %16lu %15lu", cause, n[0],
	                     n[1], n[2], n[3]);
}

/* A line of a vcpu's table. A terminal of 80 columns has room for it, behind Tally's name. */
static void table_line(struct prompt_walk *walk, const struct vcpu *vcpu, const struct told *t,
                       const struct prompt_rates *r, char *line)
{
	static const char *const causes[] = {
	    [EXIT_ECALL] = "ecall", [EXIT_TIMER] = "timer", [EXIT_IRQ] = "irq",
	    [EXIT_LCOFI] = "lcofi", [EXIT_MMIO] = "mmio",   [EXIT_CSR] = "csr",
	    [EXIT_WFI] = "wfi",     [EXIT_OTHER] = "other"};
	uint32_t i = walk->line - 2;

	if (walk->line == 0) {
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "vm %s: vcpu %u: longest stay %lu; rates are of %lu.%03lu s",
		                     vcpu->vm->config->name, vcpu->id, vcpu->ctx.hs_longest,
		                     r->ms / 1000, r->ms % 1000);
		return;
	}
	if (walk->line == 1) {
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "  cause         exits   exits/s  HS instructions"
		                     "  instructions/s");
		return;
	}
	while (i < VCPU_EXITS && !t->exits[i] && !t->hs_insns[i])
		i++;
	walk->line = i + 2;
	if (i < VCPU_EXITS)
		row(causes[i],
		    (const uint64_t[]){t->exits[i], r->exits[i], t->hs_insns[i], r->hs_insns[i]},
		    line);
	else
		row("all",
		    (const uint64_t[]){all_causes(t->exits), all_causes(r->exits),
		                       all_causes(t->hs_insns), all_causes(r->hs_insns)},
		    line);
}

void prompt_exits(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	/* Between the lines of a vcpu: all of them are of one moment. */
	static struct prompt_rates rates_of[PROMPT_ASKERS];
	const struct vcpu *vcpu = prompt_vcpu(walk);
	const struct told *t = &told[walk->asker][vcpu->vm->index][vcpu->id];
	struct prompt_rates *rates = &rates_of[walk->asker];

	if (!walk->line)
		prompt_rates(walk->asker, vcpu, rates);
	if (walk->json) {
		exits_json(vcpu, t, rates, line);
		prompt_next_vcpu(walk);
		return;
	}
	table_line(walk, vcpu, t, rates, line);
	if (walk->line++ == VCPU_EXITS + 2)
		prompt_next_vcpu(walk);
}
