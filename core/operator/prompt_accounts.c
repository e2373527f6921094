/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `accounts`: for each vcpu with an account (core/watch/account.h), the exits on which
 * HS has spent its instructions. The first line of a vcpu is its observation's, read in the same
 * stay in HS as the rows in the next lines, which add up to its value.
 */
#include <string.h>

#include "core/dispatch/account_class.h"
#include "core/dispatch/mmio.h"
#include "core/lib/words.h"
#include "core/operator/prompt.h"
#include "core/watch/observe.h"

/* Names of the rows from ACCOUNT_CALLS on, without those of loads and stores: the cause, and its
 * details. One text without pointers, which would take twice as much room. */
static const char others[] =
    "csr cycle;csr time;csr instret;csr hpmcounter;csr scountovf;csr sie;csr sip;csr stimecmp;"
    "csr sireg;csr another;wfi ;wrs.nto ;virtual-instruction another;virtual-instruction untold;"
    "wait ;timer ;irq ipi;irq external;lcofi ;irq another;"
    "fetch ;exception ;none ecall;none timer;none irq;none lcofi;none mmio;none csr;none wfi;"
    "none other;none loading;";

static void add_call(struct prompt *p, uint32_t row)
{
	uint64_t fid, eid = account_call(row, &fid);

	text_add(&p->out, ",'cause':'ecall','what':'");
	if (!eid)
		text_add(&p->out, "unknown extension'");
	else
		text_add(&p->out, "%s %s'", sbi_extension_name(eid),
		         ~fid ? sbi_function_name(eid, fid) : "unknown function");
}

static void add_other(struct prompt *p, uint32_t n)
{
	const char *cause = others, *what;

	while (n--)
		cause = strchr(cause, ';') + 1;
	what = strchr(cause, ' ') + 1;
	text_add(&p->out, ",'cause':'%.*s','what':'%.*s'", (int)(what - 1 - cause), cause,
	         (int)(strchr(what, ';') - what), what);
}

static void add_name(struct prompt *p, uint32_t row)
{
	uint32_t access = row - ACCOUNT_LOAD;

	if (row < ACCOUNT_CALLS)
		add_call(p, row);
	else if (row < ACCOUNT_LOAD)
		add_other(p, row - ACCOUNT_CALLS);
	else if (row < ACCOUNT_FETCH)
		text_add(&p->out, ",'cause':'%s','what':'%s'", access & 1 ? "store" : "load",
		         mmio_device_name(access / 2));
	else
		add_other(p, row - ACCOUNT_FETCH + (ACCOUNT_LOAD - ACCOUNT_CALLS));
}

static void tell_row(struct prompt *p, uint32_t n)
{
	const struct account_row *row = &account_told.rows[n];

	if (!p->part) {
		prompt_vcpu_names(p, prompt_vcpu(p));
		add_name(p, n);
		p->row--; /* the same row again */
		p->part++;
		return;
	}
	text_add(&p->out, ",'exits':%lu,'instructions':%lu", row->exits, row->insns);
	if (row->least <= row->most)
		text_add(&p->out, ",'least':%u,'most':%u", row->least, row->most);
	prompt_tell(p);
}

static void tell_observer(struct prompt *p)
{
	const struct observer *o = prompt_vcpu(p)->observers.copies;

	for (uint32_t n = 1; n < VPMU_OBSERVERS && o->number != account_told.number; n++)
		o++;
	prompt_vcpu_names(p, prompt_vcpu(p));
	text_add(&p->out, ",'observation':%u,'value':%lu,'ns':%lu,'at_ns':%lu", o->number, o->value,
	         prompt_time(o->until - o->since, NS_PER_S), prompt_time(o->until, NS_PER_S));
	text_add(&p->out, o->ended ? ",'ended':'%s'" : ",'ended':null", o->ended);
	prompt_tell(p);
}

static bool is_empty(const struct account_row *row)
{
	return !row->exits && !row->insns;
}

/* p->row is 0 before the request for a vcpu, 1 after it, and n + 2 if the rows from n on have not
 * been printed. */
static void tell_next(struct prompt *p)
{
	if (p->row++ == 1) {
		tell_observer(p);
		return;
	}
	while (p->row - 3 < ACCOUNT_CLASSES && is_empty(&account_told.rows[p->row - 3]))
		p->row++;
	if (p->row - 3 < ACCOUNT_CLASSES)
		tell_row(p, p->row - 3);
	else
		prompt_next_vcpu(p);
}

/* Returns the number of the vcpu's account, or 0: a VM is told of its own only. */
static uint32_t number_of(const struct prompt *p)
{
	uint32_t number = account_of(prompt_vcpu(p));

	return p->rights && number >> OBSERVE_CLIENT_SHIFT != p->client ? 0 : number;
}

static void accounted(struct prompt *p)
{
	if (p->row) {
		tell_next(p);
		return;
	}
	while (p->vm < n_vms && !number_of(p))
		prompt_next_vcpu(p);
	if (p->vm == n_vms)
		return;
	p->row = 1;
	observe_request.number = number_of(p);
	observe_post(OBSERVE_ROWS, BIT(prompt_vcpu(p)->index));
}

void prompt_accounts(struct prompt *p)
{
	p->next = accounted;
	accounted(p);
}
