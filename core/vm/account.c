/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/account.h"

#include "core/vm/account_class.h"
#include "core/vm/vcpu.h"
#include "core/vm/vm.h"

/* A hart changes an account while the vcpu that has it is there. Which are free is changed while one
 * request of the operator's is served, so by one hart at a time. */
static struct account *accounts;
static uint32_t n_accounts;
static struct account told;

void account_init(void *(*alloc)(size_t size))
{
	for (uint32_t i = 0; i < n_vms; i++)
		n_accounts += vms[i].config->n_vcpus;
	if (n_accounts > ACCOUNTS)
		n_accounts = ACCOUNTS;
	accounts = alloc(n_accounts * sizeof(accounts[0]));
	account_class_init();
}

static void add(struct account_row *row, uint64_t insns)
{
	if (insns < row->least)
		row->least = insns;
	if (insns > row->most)
		row->most = insns;
}

/* ctx.entered_hs is where the noting of the last exit has ended. */
static uint64_t settle_noting(struct vcpu *vcpu, struct account *a)
{
	struct account_row *row = &a->rows[ACCOUNT_NOTING];
	uint64_t insns = vcpu->ctx.entered_hs - a->noted_at;

	if (!a->noted)
		return 0;
	a->noted = false;
	row->exits++;
	row->insns += insns;
	add(row, insns);
	return insns;
}

/* The last exit was a WFI or WRS.NTO, which is known only now. */
static void was_wait(struct account *a)
{
	a->rows[ACCOUNT_INSN_MUTE].exits--;
	a->rows[ACCOUNT_WAIT_MUTE].exits++;
	a->last = ACCOUNT_WAIT_MUTE;
	a->kind = EXIT_WFI;
	a->of_kind = a->of_waits;
}

/* Not inlined, so that exit_noted() of a vcpu without an account is short. */
static __attribute__((noinline)) void settle(struct vcpu *vcpu, struct account *a)
{
	uint64_t noting = settle_noting(vcpu, a);
	uint64_t more = all_causes(vcpu->ctx.hs_insns) - a->total;
	uint64_t own;

	if (a->last == ACCOUNT_INSN_MUTE && vcpu->ctx.exits[EXIT_WFI] != a->waits)
		was_wait(a);
	own = a->last == ACCOUNT_NO_EXIT ? more : vcpu->ctx.hs_insns[a->kind] - a->of_kind;
	a->so_far += own;
	a->rows[a->last].insns += own;
	a->rows[ACCOUNT_NO_EXIT].insns += more - own;
	/* A kind of which nobody asks how long its exits are. */
	vcpu->ctx.hs_insns[EXIT_OTHER] += noting;
	a->total += more + noting;
	a->of_kind = vcpu->ctx.hs_insns[a->kind];
}

/* Whether to begin the exit anew: if it was noted. */
bool exit_noted(uint64_t began)
{
	struct vcpu *vcpu = this_vcpu();
	struct account *a = vcpu->observers.account;

	if (!account_counts(vcpu)) {
		vcpu->ctx.entered_hs = began;
		return false;
	}
	settle(vcpu, a);
	if (a->last != ACCOUNT_NO_EXIT)
		add(&a->rows[a->last], a->so_far);
	a->last = account_class_now(vcpu, &a->kind);
	a->rows[a->last].exits++;
	a->so_far = 0;
	a->of_kind = vcpu->ctx.hs_insns[a->kind];
	a->waits = vcpu->ctx.exits[EXIT_WFI];
	a->of_waits = vcpu->ctx.hs_insns[EXIT_WFI];
	a->noted_at = began;
	a->noted = true;
	return true;
}

/* Not by an assignment of the whole, which would be put together on the stack. */
static void clear(struct account *a)
{
	for (uint32_t i = 0; i < ACCOUNT_CLASSES; i++)
		a->rows[i] = (struct account_row){.least = ~0UL};
	a->last = ACCOUNT_NO_EXIT;
	a->so_far = 0;
	a->noted = false;
}

const char *account_begin(struct vcpu *vcpu, uint32_t number)
{
	struct account *a = accounts;

	if (vcpu->vm->pmu_policy.count_hs)
		return "its counters count HS as well";
	if (vcpu->observers.account)
		return "its exits are accounted already";
	while (a < accounts + n_accounts && a->number)
		a++;
	if (a == accounts + n_accounts)
		return "too many vcpus have an account";
	clear(a);
	a->number = number;
	a->counts = true;
	a->total = all_causes(vcpu->ctx.hs_insns);
	__atomic_store_n(&vcpu->observers.account, a, __ATOMIC_RELEASE);
	pcpu_notes_more(vcpu->home, 0, 1);
	return NULL;
}

void account_settle(struct vcpu *vcpu)
{
	if (account_counts(vcpu))
		settle(vcpu, vcpu->observers.account);
}

void account_stop(struct vcpu *vcpu)
{
	if (!account_counts(vcpu))
		return;
	settle(vcpu, vcpu->observers.account);
	vcpu->observers.account->counts = false;
	pcpu_notes_more(vcpu->home, 0, -1U);
}

void account_end(struct vcpu *vcpu, uint32_t number)
{
	struct account *a = vcpu->observers.account;

	if (!a || a->number != number)
		return;
	account_stop(vcpu);
	__atomic_store_n(&vcpu->observers.account, NULL, __ATOMIC_RELAXED);
	a->number = 0;
}

uint32_t account_counts(const struct vcpu *vcpu)
{
	return vcpu->observers.account && vcpu->observers.account->counts;
}

void account_tell(const struct vcpu *vcpu)
{
	if (vcpu->observers.account)
		told = *vcpu->observers.account;
}

const struct account *account_told(void)
{
	return &told;
}

uint32_t account_of(const struct vcpu *vcpu)
{
	const struct account *a = __atomic_load_n(&vcpu->observers.account, __ATOMIC_ACQUIRE);

	return a ? a->number : 0;
}
