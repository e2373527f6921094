/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `trace`: the exits that came last, the oldest first. */
#include "arch/riscv/csr.h"
#include "core/vm/platform.h"
#include "core/lib/printf.h"
#include "core/operator/prompt.h"
#include "core/vm/trace.h"
#include "core/lib/words.h"

static const char *cause_name(uint64_t scause)
{
	switch (scause) {
	case CAUSE_ECALL_VS:
		return "ecall";
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
	default:
		return "exception";
	}
}

/* In a virtual-instruction trap stval is the instruction. */
#define INSN_WFI     0x10500073UL
#define INSN_WRS_NTO 0x00d00073UL
#define INSN_WRS_STO 0x01d00073UL
#define IS_CSR(insn) (((insn)&0x7f) == 0x73 && ((insn) >> 12 & 3))

static bool is_named(uint64_t insn)
{
	return insn == INSN_WFI || insn == INSN_WRS_NTO || insn == INSN_WRS_STO;
}

static bool is_guest_page(const struct trace_entry *e)
{
	return e->scause == CAUSE_LOAD_GUEST_PAGE || e->scause == CAUSE_STORE_GUEST_PAGE ||
	       e->scause == CAUSE_INSN_GUEST_PAGE;
}

static const char *cause_of(const struct trace_entry *e)
{
	if (e->scause != CAUSE_VIRTUAL_INSN)
		return cause_name(e->scause);
	switch (e->value[0]) {
	case INSN_WFI:
		return "wfi";
	case INSN_WRS_NTO:
		return "wrs.nto";
	case INSN_WRS_STO:
		return "wrs.sto";
	default:
		return IS_CSR(e->value[0]) ? "csr" : "virtual-instruction";
	}
}

static uint64_t address(const struct trace_entry *e)
{
	return e->value[1] | (e->value[0] & 3);
}

#define DETAILS_BYTES 80U

/* What else is to be known of it; begins with a blank, or is empty. */
static void details_text(const struct trace_entry *e, char text[DETAILS_BYTES])
{
	const char *name = sbi_extension_name(e->value[0]);

	text[0] = '\0';
	if (e->scause == CAUSE_ECALL_VS && name && *sbi_function_name(e->value[0], e->value[1]))
		(void)tally_snprintf(text, DETAILS_BYTES, " %s %s", name,
		                     sbi_function_name(e->value[0], e->value[1]));
	else if (e->scause == CAUSE_ECALL_VS)
		(void)tally_snprintf(text, DETAILS_BYTES, " extension %lx function %lx",
		                     e->value[0], e->value[1]);
	else if (is_guest_page(e))
		(void)tally_snprintf(text, DETAILS_BYTES, " %lx", address(e));
	else if (e->scause == CAUSE_VIRTUAL_INSN && IS_CSR(e->value[0]))
		(void)tally_snprintf(text, DETAILS_BYTES, " %lx", e->value[0] >> 20);
	else if (e->scause == CAUSE_VIRTUAL_INSN && !is_named(e->value[0]))
		(void)tally_snprintf(text, DETAILS_BYTES, " %lx", e->value[0]);
	else if (!(e->scause & CAUSE_INTERRUPT) && e->scause != CAUSE_VIRTUAL_INSN)
		(void)tally_snprintf(text, DETAILS_BYTES, " %lu, stval %lx", e->scause,
		                     e->value[0]);
}

/* For programs: two names and two numbers. */
static void details_json(const struct trace_entry *e, const char *name[2], uint64_t value[2])
{
	name[0] = "stval";
	name[1] = "scause";
	value[0] = e->value[0];
	value[1] = e->scause & ~CAUSE_INTERRUPT;
	if (e->scause == CAUSE_ECALL_VS) {
		name[0] = "extension";
		name[1] = "function";
		value[1] = e->value[1];
	} else if (is_guest_page(e)) {
		name[1] = "address";
		value[1] = address(e);
	}
}

static void entry_text(const struct trace_entry *e, bool json, char *line)
{
	uint64_t us = e->time / (platform.timebase / 1000000);
	char text[DETAILS_BYTES];
	const char *name[2];
	uint64_t value[2];

	details_json(e, name, value);
	details_text(e, text);
	if (json)
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "{\"vm\":\"%s\",\"vcpu\":%u,\"time_us\":%lu,\"cause\":\"%s\","
		                     "\"pc\":\"0x%lx\",\"%s\":\"0x%lx\",\"%s\":\"0x%lx\"}",
		                     e->vcpu->vm->config->name, e->vcpu->id, us, cause_of(e), e->pc,
		                     name[0], value[0], name[1], value[1]);
	else
		(void)tally_snprintf(
		    line, PROMPT_LINE_BYTES, "%lu.%06lu vm %s: vcpu %u: %s%s at %lx", us / 1000000,
		    us % 1000000, e->vcpu->vm->config->name, e->vcpu->id, cause_of(e), text, e->pc);
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
