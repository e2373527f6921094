/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `trace`: the exits that came last, the oldest first. */
#include "arch/riscv/csr.h"
#include "core/platform.h"
#include "core/printf.h"
#include "core/prompt.h"
#include "core/trace.h"

static const char *cause_name(uint64_t scause)
{
	switch (scause) {
	case CAUSE_ECALL_VS:
		return "ecall";
	case CAUSE_VIRTUAL_INSN:
		return "virtual-instruction";
	case CAUSE_LOAD_GUEST_PAGE:
		return "load";
	case CAUSE_STORE_GUEST_PAGE:
		return "store";
	case CAUSE_INSN_GUEST_PAGE:
		return "fetch";
	case CAUSE_INTERRUPT | IRQ_STI:
		return "timer";
	case CAUSE_INTERRUPT | IRQ_SSI:
		return "ipi";
	case CAUSE_INTERRUPT | IRQ_SEI:
		return "irq";
	case CAUSE_INTERRUPT | IRQ_LCOFI:
		return "lcofi";
	default:
		return "exception";
	}
}

/* What is known of it: two names and two numbers. */
static void details(const struct trace_entry *e, const char *name[2], uint64_t value[2])
{
	name[0] = "stval";
	name[1] = "scause";
	value[0] = e->value[0];
	value[1] = e->scause & ~CAUSE_INTERRUPT;
	if (e->scause == CAUSE_ECALL_VS) {
		name[0] = "extension";
		name[1] = "function";
		value[1] = e->value[1];
	} else if (e->scause == CAUSE_LOAD_GUEST_PAGE || e->scause == CAUSE_STORE_GUEST_PAGE ||
	           e->scause == CAUSE_INSN_GUEST_PAGE) {
		name[1] = "address";
		value[1] = e->value[1] | (e->value[0] & 3);
	}
}

static void entry_text(const struct trace_entry *e, bool json, char *line)
{
	uint64_t us = e->time / (platform.timebase / 1000000);
	const char *name[2];
	uint64_t value[2];

	details(e, name, value);
	if (json)
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "{\"vm\":\"%s\",\"vcpu\":%u,\"time_us\":%lu,\"cause\":\"%s\","
		                     "\"pc\":\"0x%lx\",\"%s\":\"0x%lx\",\"%s\":\"0x%lx\"}",
		                     e->vcpu->vm->config->name, e->vcpu->id, us,
		                     cause_name(e->scause), e->pc, name[0], value[0], name[1],
		                     value[1]);
	else
		(void)tally_snprintf(
		    line, PROMPT_LINE_BYTES, "%lu.%06lu vm %s: vcpu %u: %s at %lx, %s %lx, %s %lx",
		    us / 1000000, us % 1000000, e->vcpu->vm->config->name, e->vcpu->id,
		    cause_name(e->scause), e->pc, name[0], value[0], name[1], value[1]);
}

void prompt_trace(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	/* Of the moment at which it was asked for: guests go on meanwhile. */
	static struct trace_entry shown[PROMPT_ASKERS][TRACE_SHOWN];
	static uint32_t n[PROMPT_ASKERS];
	enum prompt_asker asker = walk->asker;

	if (!walk->line)
		n[asker] = trace_newest(shown[asker]);
	if (n[asker])
		entry_text(&shown[asker][n[asker] - 1 - walk->line], walk->json, line);
	else
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     walk->json ? "" : "no exit was noted");
	if (++walk->line >= n[asker])
		walk->vm = n_vms;
}
