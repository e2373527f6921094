/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/vcpu_budget.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/check.h"
#include "core/hart/platform.h"
#include "core/pmu/port.h"
#include "core/sched/run_state.h"
#include "core/sched/sched.h"
#include "core/sched/windows.h"
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/vm.h"
#include "vpmu/budget.h"

#define NEVER (~UINT64_C(0))

void vcpu_budget_make(struct vcpu *vcpu)
{
	const struct vm_config *config = vcpu->vm->config;
	struct vcpu_budget *b = &vcpu->budget;

	b->check_at = NEVER;
	b->count = config->budget.count;
	if (!b->count)
		return;
	/* Rounded up: on a slow clock, too, a period is no shorter than in the tree. */
	b->period = ((uint64_t)platform.timebase * config->budget.period_us + 999999) / 1000000;
	vcpu->has_deadlines = true;
	vcpu->run.has_budget = true;
}

void vcpu_budget_first(struct vcpu *vcpu)
{
	if (vcpu->budget.count)
		(void)vpmu_budget_set(&vcpu->pmu, false, (int64_t)vcpu->budget.count);
}

void vcpu_budget_begin(struct vcpu *vcpu, uint64_t now)
{
	struct vcpu_budget *b = &vcpu->budget;
	uint64_t since = vcpu->home->has_schedule ? windows_since(now) : 0;

	if (b->count)
		b->period_end = now + b->period - since % b->period;
}

/* Begins the period that `now` is in. */
static void renew(struct vcpu *vcpu, uint64_t now)
{
	struct vcpu_budget *b = &vcpu->budget;
	bool resident = vcpu_is_current(vcpu);
	int64_t left = vpmu_budget_set(&vcpu->pmu, resident, (int64_t)b->count);
	uint64_t over = left < 0 ? (uint64_t)-left : 0;

	if (over > b->max_excess)
		b->max_excess = over;
	b->period_end += ((now - b->period_end) / b->period + 1) * b->period;
	b->spent = false;
	if (!over)
		return;
	if (resident)
		hpm_failures_settle(vcpu);
	(void)vpmu_budget_set(&vcpu->pmu, resident,
	                      over < b->count ? (int64_t)(b->count - over) : 1);
}

bool vcpu_budget_check(struct vcpu *vcpu, uint64_t now)
{
	struct vcpu_budget *b = &vcpu->budget;
	struct pcpu *pcpu = vcpu->home;
	uint64_t since = vcpu->stats.steal_since;
	/* The vcpu may be loaded in the guard of its window, but runs only in the window. */
	uint64_t runs_at = pcpu->has_schedule ? windows_start_time(pcpu, now) : now;

	CHECK(!vcpu->run.blocked && b->count);
	if (vcpu->budget.throttled_since)
		vcpu_throttled_end(vcpu, since ? since : now);
	if (runs_at >= b->period_end) {
		/* It was ready with its budget spent: until the end of the period, throttled. */
		if (b->spent && since && since < b->period_end) {
			b->throttled_ticks += b->period_end - since;
			vcpu->stats.steal_since = b->period_end;
		}
		renew(vcpu, runs_at);
	}
	b->check_at = b->period_end;
	if (!b->spent) {
		vcpu_set_wake(vcpu);
		return true;
	}
	vcpu_steal_to_throttled(vcpu, now);
	vcpu_set_wake(vcpu);
	sched_enable_requests(vcpu);
	return false;
}

void vcpu_budget_spent(struct vcpu *vcpu)
{
	struct vcpu_budget *b = &vcpu->budget;
	struct pcpu *pcpu = vcpu->home;

	b->spent = true;
	b->periods_spent++;
	b->check_at = b->period_end;
	vcpu->budget.throttled_since = csr_read(CSR_TIME);
	vcpu_block(vcpu, BLOCK_BUDGET);
	vcpu_set_wake(vcpu);
	/* Makes sched_next() check the vcpu for trap loops, as at the end of a slice. */
	pcpu->slice_end = SLICE_OVER;
	pcpu_resched(pcpu);
}

/* The vcpu continues even if it has spent its budget in this stay, or renew() finds that now. */
static void renew_resident(struct vcpu *vcpu, uint64_t now)
{
	renew(vcpu, now);
	if (vcpu->budget.throttled_since) {
		vcpu->budget.throttled_since = 0;
		vcpu_unblock(vcpu, BLOCK_BUDGET);
	}
	vcpu->budget.check_at = vcpu->budget.period_end;
	vcpu_set_wake(vcpu);
}

void vcpu_budget_poll(struct vcpu *vcpu, uint64_t now)
{
	struct vcpu_budget *b = &vcpu->budget;

	if (vcpu->run.blocked & BLOCK_IDLE || b->check_at == NEVER)
		return;
	if (now < b->check_at) {
		vcpu_set_wake(vcpu);
		return;
	}
	/* A vcpu that waits for its turn gets its new period when its turn comes. */
	b->check_at = NEVER;
	if (vcpu_is_current(vcpu)) {
		renew_resident(vcpu, now);
	} else if (vcpu->budget.throttled_since) {
		uint64_t ended = b->period_end;

		renew(vcpu, now);
		/* Its requests are served in its time slice, and need not interrupt the hart. */
		requests_disable(&vcpu->requests);
		vcpu_throttled_released(vcpu, ended);
	}
}

uint64_t vcpu_budget_throttled(const struct vcpu *vcpu, uint64_t now)
{
	const struct vcpu_budget *b = &vcpu->budget;
	uint64_t since = *(const volatile uint64_t *)&vcpu->budget.throttled_since;

	if (*(const volatile uint8_t *)&vcpu->run.blocked & BLOCK_IDLE)
		since = 0;
	return b->throttled_ticks + (since && now > since ? now - since : 0);
}
