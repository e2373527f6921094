/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the budgets of the vcpus with ideal ones: what is left of each, and that it is told once
 * that a budget is spent, neither early nor late. What a budget takes from the guest, model_event.c
 * knows; nothing else of the guest's PMU may differ.
 */
#include "tests/host/world.h"

#include "tests/host/fake_harts.h"
#include "vpmu/budget.h"
#include "vpmu/show.h"

static bool has(const struct vcpu *vc)
{
	return vc->model.policy.budget_hctr != 0;
}

void world_budget_place(const struct fake_hart_config *hart, struct vpmu_policy *policy)
{
	uint64_t hctrs = fake_hart_hctrs(policy->budget_event, 0) & ~HCTRS_FIXED;

	policy->budget_hctr = 0;
	if (!policy->budget_event || !hctrs ||
	    (hart->no_armed_cache_events && policy->budget_event >> 16 == 1))
		return;
	/* Guests get the lowest one first. */
	policy->budget_hctr = (uint8_t)(63 - __builtin_clzll(hctrs));
}

static struct world_budget of(uint64_t left)
{
	return (struct world_budget){.left = left % 5000 + 1};
}

void world_budget_begin(struct vcpu *vc)
{
	if (!has(vc))
		return;
	vc->budget = of(4999);
	(void)vpmu_budget_set(&vc->vpmu, false, (int64_t)vc->budget.left);
}

static void spend(struct world_budget *b, uint64_t amount)
{
	b->circles += b->spent && -b->left + amount < amount;
	b->spent = b->spent || amount >= b->left;
	b->left -= amount;
}

void world_budget_step(struct vcpu *vc, uint32_t work, uint64_t units)
{
	if (has(vc))
		spend(&vc->budget, fake_hart_amount(vc->model.policy.budget_event, 0, work, units));
}

void world_budget_retired(struct vcpu *vc)
{
	if (has(vc) && model_counts_insns(vc->model.policy.budget_event))
		spend(&vc->budget, 1);
}

static bool is_what_is_left(const struct vcpu *vc, uint64_t left)
{
	return ((left ^ vc->budget.left) & vc->vpmu.value_mask) == 0;
}

void world_budget_renew(struct vcpu *vc, const struct op *op)
{
	struct world_budget next = of(op->a[1]);
	bool was_lost = vc->budget.lost;
	int64_t left;

	if (!has(vc))
		return;
	world_count.budgets_renewed_away += !world_is_resident(vc);
	left = vpmu_budget_set(&vc->vpmu, world_is_resident(vc), (int64_t)next.left);
	if (was_lost ? left != 0 : !is_what_is_left(vc, (uint64_t)left))
		world_differ("of the budget %lld were left, not %lld", (long long)left,
		             (long long)vc->budget.left);
	/* It may have been told just now, of the one before. */
	fake_trace.budgets_spent[vc->model.vcpu] = 0;
	vc->budget = next;
}

/* How often the counter has wrapped since its budget was spent. Nobody throttles the vcpu here, and
 * runs are long, so it may go round. */
static uint64_t rounds(const struct vcpu *vc)
{
	const struct world_budget *b = &vc->budget;

	if (!b->spent)
		return 0;
	return (uint64_t)(((unsigned __int128)b->circles << 64 | -b->left) /
	                  ((unsigned __int128)vc->vpmu.value_mask + 1));
}

static void check_told(struct vcpu *vc)
{
	uint32_t told = fake_trace.budgets_spent[vc->model.vcpu];

	fake_trace.budgets_spent[vc->model.vcpu] = 0;
	world_count.budgets_spent += told;
	vc->budget.told += told;
	if (vc->budget.told > 1 + rounds(vc))
		world_differ("a spent budget is told again");
	if (told && !vc->budget.spent)
		world_differ("%llu are left of a budget that is told as spent",
		             (unsigned long long)vc->budget.left);
	/* It is due when the vPMU had a chance to see it. */
	if (vc->budget.spent && !vc->budget.lost && !vc->budget.told && !fake_hart_pending())
		world_differ("a budget was spent %llu ago, and nobody knows",
		             (unsigned long long)-vc->budget.left);
}

void world_budget_saved(struct vcpu *vc)
{
	if (has(vc))
		check_told(vc);
}

/* Its owner would end the VM. Here it has another one. */
static void again(struct vcpu *vc, const struct op *op)
{
	if (!op->fail_prepare && !op->fail_set && !op->fail_run && !op->fail_stop)
		world_differ("the budget's counter is lost without a reason");
	world_count.budgets_lost++;
	vc->budget = of(4000);
	(void)vpmu_budget_set(&vc->vpmu, true, (int64_t)vc->budget.left);
	fake_trace.budgets_lost[vc->model.vcpu] = 0;
}

void world_budget_check(struct vcpu *vc, const struct op *op)
{
	struct vpmu_view view;

	if (!has(vc))
		return;
	vc->budget.lost = fake_trace.budgets_lost[vc->model.vcpu] != 0;
	if (!vpmu_describe(&vc->vpmu, VPMU_BUDGET, true, &view)) {
		world_differ("the budget's counter is gone");
		return;
	}
	if ((view.state == VPMU_LOST) != vc->budget.lost)
		world_differ("the budget's counter is lost, and nobody knows, or is not");
	if (view.state == VPMU_LOST) {
		fake_trace.budgets_spent[vc->model.vcpu] = 0;
		again(vc, op);
		return;
	}
	if (view.state != VPMU_RUNNING || !is_what_is_left(vc, -view.value))
		world_differ("the budget's counter is at %#llx, and %lld are left",
		             (unsigned long long)view.value, (long long)vc->budget.left);
	world_count.budget_reads++;
	check_told(vc);
}
