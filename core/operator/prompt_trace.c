/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's command `trace`: prints the last exits, the oldest first. */
#include "arch/riscv/hart/csr.h"
#include "core/lib/words.h"
#include "core/operator/prompt.h"
#include "core/watch/trace.h"

/* In a virtual-instruction trap, stval is the instruction. */
#define IS_CSR(insn) (((insn)&0x7f) == 0x73 && ((insn) >> 12 & 3))

static const struct {
	uint64_t number; /* scause, or the instruction */
	const char *name;
} causes[] = {
    {CAUSE_ECALL_VS, "ecall"},
    {CAUSE_LOAD_GUEST_PAGE, "load"},
    {CAUSE_STORE_GUEST_PAGE, "store"},
    {CAUSE_INSN_GUEST_PAGE, "fetch"},
    {CAUSE_INTERRUPT | IRQ_STI, "timer"},
    {CAUSE_INTERRUPT | IRQ_SSI, "ipi"},
    {CAUSE_INTERRUPT | IRQ_SEI, "irq"},
    {0x10500073, "wfi"},
    {0x00d00073, "wrs.nto"},
    {0x01d00073, "wrs.sto"},
};

static const char *cause_of(const struct exit_record *e)
{
	bool insn = e->scause == CAUSE_VIRTUAL_INSN;

	for (uint32_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i].number == (insn ? e->stval : e->scause))
			return causes[i].name;
	}
	return !insn ? "exception" : IS_CSR(e->stval) ? "csr" : "virtual-instruction";
}

static void add_call(struct prompt *p, const struct exit_record *e)
{
	const char *name = sbi_extension_name(e->eid);
	const char *function = name ? sbi_function_name(e->eid, e->fid) : "";

	text_add(&p->out, ",'extension':'0x%lx','function':'0x%lx'", e->eid, e->fid);
	if (*function)
		text_add(&p->out, ",'call':'%s %s'", name, function);
}

/* Adds the SBI call, the address, or the raw values. */
static void add_details(struct prompt *p, const struct exit_record *e)
{
	if (exit_is_ecall(e))
		add_call(p, e);
	else if (e->scause == CAUSE_LOAD_GUEST_PAGE || e->scause == CAUSE_STORE_GUEST_PAGE ||
	         e->scause == CAUSE_INSN_GUEST_PAGE)
		text_add(&p->out, ",'stval':'0x%lx','address':'0x%lx'", e->stval,
		         e->gpa | (e->stval & 3));
	else
		text_add(&p->out, ",'stval':'0x%lx','scause':'0x%lx'", e->stval,
		         e->scause & ~CAUSE_INTERRUPT);
}

void prompt_add_exit(struct prompt *p, const struct exit_record *e)
{
	prompt_vcpu_names(p, e->vcpu);
	text_add(&p->out, ",'time_us':%lu,'cause':'%s','pc':'0x%lx'",
	         prompt_time(e->time, US_PER_S), cause_of(e), e->sepc);
	add_details(p, e);
}

static uint32_t owner; /* see prompt_own_trace() */

void prompt_end_trace(uint32_t client)
{
	if (owner != client + 1)
		return;
	owner = 0;
	trace_switch(NULL, false);
}

static void switch_on_or_off(struct prompt *p)
{
	const struct vm *vm;
	bool on;

	if (p->json) {
		prompt_wrong(p);
	} else if (prompt_on_or_off(p, &on, &vm) && prompt_own_trace(p, &owner, on)) {
		trace_switch(vm, on);
		prompt_answer(p, PROMPT_OK, "trace is %s", on ? "on" : "off");
	}
}

void prompt_trace(struct prompt *p)
{
	/* Copied before the first line is printed, because guests continue between the lines. */
	static struct exit_record shown[TRACE_SHOWN];
	static uint32_t n;

	if (p->n_words > 1) {
		switch_on_or_off(p);
		return;
	}
	if (!p->row && !p->part)
		n = 0;
	if (!p->row && !trace_newest(shown, &n)) {
		p->part++;
		return;
	}
	if (!n) {
		prompt_answer(p, PROMPT_OK, p->json ? "" : "no exit was noted");
		return;
	}
	prompt_add_exit(p, &shown[n - 1 - p->row]);
	prompt_tell(p);
	if (++p->row == n)
		p->vm = n_vms;
}
