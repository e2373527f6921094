/* SPDX-License-Identifier: Apache-2.0 */
#include "core/watch/account.h"

#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "core/watch/port.h"
#include "core/watch/stays.h"

/* An account is changed only by the home hart of its vcpu. Accounts are allocated and freed while a
 * request of the operator is served, so by one hart at a time. */
static struct account *accounts;
static uint32_t n_accounts;
struct account account_told;

void account_init(void *(*alloc)(size_t size))
{
	for (uint32_t i = 0; i < n_vms; i++)
		n_accounts += vms[i].config->n_vcpus;
	if (n_accounts > ACCOUNTS)
		n_accounts = ACCOUNTS;
	accounts = alloc(n_accounts * sizeof(accounts[0]));
	account_class_init();
}

/* Ends the last exit: adds it to the least and most of its row. */
static void end_exit(struct account *a)
{
	struct account_row *row = &a->rows[a->last];
	uint32_t insns = a->so_far < UINT32_MAX ? (uint32_t)a->so_far : UINT32_MAX;

	if (a->kind == VCPU_KINDS)
		return;
	if (insns < row->least)
		row->least = insns;
	if (insns > row->most)
		row->most = insns;
}

void account_stay(struct vcpu *vcpu, const struct exit_record *exit, bool *accounted,
                  enum vcpu_exit why, uint64_t insns)
{
	struct account *a = vcpu->observers.account;
	bool own = exit->vcpu == vcpu;

	if (own && !*accounted) {
		end_exit(a);
		a->last = account_class(vcpu->vm, exit, why);
		a->kind = why;
		a->so_far = 0;
		a->rows[a->last].exits++;
		*accounted = true;
	} else if (why != a->kind || !(own || why == EXIT_ECALL)) {
		a->rows[ACCOUNT_NO_EXIT + why].insns += insns;
		return;
	}
	a->so_far += insns;
	a->rows[a->last].insns += insns;
}

/* Row by row: one assignment of the whole would build a copy on the stack. */
static void clear(struct account *a)
{
	for (uint32_t i = 0; i < ACCOUNT_CLASSES; i++)
		a->rows[i] = (struct account_row){.least = UINT32_MAX};
	a->kind = VCPU_KINDS;
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
	__atomic_store_n(&vcpu->observers.account, a, __ATOMIC_RELEASE);
	stays_start_recording(vcpu, STAYS_FOR_ACCOUNT);
	return NULL;
}

void account_end(struct vcpu *vcpu, uint32_t number)
{
	struct account *a = vcpu->observers.account;

	if (!a || a->number != number)
		return;
	stays_stop_recording(vcpu, STAYS_FOR_ACCOUNT);
	__atomic_store_n(&vcpu->observers.account, NULL, __ATOMIC_RELAXED);
	a->number = 0;
}

void account_copy(const struct vcpu *vcpu)
{
	if (!vcpu->observers.account)
		return;
	account_told = *vcpu->observers.account;
	end_exit(&account_told);
}

uint32_t account_of(const struct vcpu *vcpu)
{
	const struct account *a = __atomic_load_n(&vcpu->observers.account, __ATOMIC_ACQUIRE);

	return a ? a->number : 0;
}
