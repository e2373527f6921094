/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `accounts`: to which exits the instructions in HS of each vcpu went that has an
 * account (core/vm/account.h). Of each vcpu the first line is that of its observer, read in the
 * same stay in HS as the rows in the lines behind it, which add up to its value.
 */
#include "core/lib/words.h"
#include "core/operator/prompt.h"
#include "core/vm/account.h"
#include "core/vm/mmio.h"

static const char *const counters[] = {"cycle", "time", "instret"};
static const char *const devices[MMIO_DEVICES] = {"nothing", "PLIC", "UART", "APLIC", "PCI", "bell"};

static const struct {
	const char *cause, *what;
} others[] = {
    [ACCOUNT_CSR_SCOUNTOVF] = {"csr", "scountovf"},
    [ACCOUNT_CSR_SIE] = {"csr", "sie"},
    [ACCOUNT_CSR_SIP] = {"csr", "sip"},
    [ACCOUNT_CSR_STIMECMP] = {"csr", "stimecmp"},
    [ACCOUNT_CSR_SIREG] = {"csr", "sireg"},
    [ACCOUNT_CSR_OTHER] = {"csr", "another"},
    [ACCOUNT_WFI] = {"wfi", ""},
    [ACCOUNT_WRS_NTO] = {"wrs.nto", ""},
    [ACCOUNT_INSN] = {"virtual-instruction", "another"},
    [ACCOUNT_INSN_MUTE] = {"virtual-instruction", "not told"},
    [ACCOUNT_WAIT_MUTE] = {"wfi or wrs.nto", ""},
    [ACCOUNT_TIMER] = {"timer", ""},
    [ACCOUNT_IPI] = {"irq", "ipi"},
    [ACCOUNT_EXTERNAL] = {"irq", "external"},
    [ACCOUNT_LCOFI] = {"lcofi", ""},
    [ACCOUNT_INTERRUPT] = {"irq", "another"},
    [ACCOUNT_FETCH] = {"fetch", ""},
    [ACCOUNT_EXCEPTION] = {"exception", ""},
    [ACCOUNT_NO_EXIT] = {"no exit", ""},
    [ACCOUNT_NOTING] = {"noting", ""},
};

static void add_call(struct prompt *p, uint32_t row)
{
	uint64_t eid = account_extension(row / ACCOUNT_FUNCTIONS);
	uint32_t fid = row % ACCOUNT_FUNCTIONS;
	const char *name = sbi_extension_name(eid);

	text_add(&p->out, ",'cause':'ecall','what':'");
	if (!eid)
		text_add(&p->out, "unknown extension'");
	else if (fid == ACCOUNT_FUNCTIONS - 1)
		text_add(&p->out, "%s unknown function'", name);
	else
		text_add(&p->out, "%s %s'", name, sbi_function_name(eid, fid));
}

static void add_name(struct prompt *p, uint32_t row)
{
	uint32_t counter = row - ACCOUNT_CSR_COUNTER, access = row - ACCOUNT_LOAD;

	if (row < ACCOUNT_CSR_COUNTER)
		add_call(p, row);
	else if (counter < sizeof(counters) / sizeof(counters[0]))
		text_add(&p->out, ",'cause':'csr','what':'%s'", counters[counter]);
	else if (counter < ACCOUNT_COUNTERS)
		text_add(&p->out, ",'cause':'csr','what':'hpmcounter%u'", counter);
	else if (access < 2 * MMIO_DEVICES)
		text_add(&p->out, ",'cause':'%s','what':'%s'", access & 1 ? "store" : "load",
		         devices[access / 2]);
	else
		text_add(&p->out, ",'cause':'%s','what':'%s'", others[row].cause,
		         others[row].what);
}

static void tell_row(struct prompt *p, uint32_t n)
{
	const struct account_row *row = &account_told()->rows[n];

	prompt_vcpu_names(p, prompt_vcpu(p));
	add_name(p, n);
	text_add(&p->out, ",'exits':%lu,'instructions':%lu", row->exits, row->insns);
	if (row->least <= row->most)
		text_add(&p->out, ",'least':%lu,'most':%lu", row->least, row->most);
	prompt_tell(p);
}

static void tell_observer(struct prompt *p)
{
	const struct observer *o = prompt_vcpu(p)->observers.told;

	for (uint32_t n = 1; n < VPMU_OBSERVERS && o->number != account_told()->number; n++)
		o++;
	prompt_vcpu_names(p, prompt_vcpu(p));
	text_add(&p->out, ",'observation':%u,'value':%lu,'ns':%lu,'at_ns':%lu", o->number, o->value,
	         prompt_time(o->until - o->since, 1000000000), prompt_time(o->until, 1000000000));
	text_add(&p->out, o->ended ? ",'ended':'%s'" : ",'ended':null", o->ended);
	prompt_tell(p);
}

static bool is_empty(const struct account_row *row)
{
	return !row->exits && !row->insns;
}

/* p->row is 0 before a vcpu is asked, 1 when it was, and n + 2 if the rows from n on have not been
 * told. */
static void tell_next(struct prompt *p)
{
	if (p->row++ == 1) {
		tell_observer(p);
		return;
	}
	while (p->row - 3 < ACCOUNT_CLASSES && is_empty(&account_told()->rows[p->row - 3]))
		p->row++;
	if (p->row - 3 < ACCOUNT_CLASSES)
		tell_row(p, p->row - 3);
	else
		prompt_next_vcpu(p);
}

static void accounted(struct prompt *p)
{
	if (atomic_load(&observe_request.vcpus))
		return;
	if (p->row) {
		tell_next(p);
		return;
	}
	while (p->vm < n_vms && !account_of(prompt_vcpu(p)))
		prompt_next_vcpu(p);
	if (p->vm == n_vms)
		return;
	p->row = 1;
	observe_request.number = account_of(prompt_vcpu(p));
	observe_post(OBSERVE_ROWS, BIT(prompt_vcpu(p)->index));
}

void prompt_accounts(struct prompt *p)
{
	p->next = accounted;
	accounted(p);
}
