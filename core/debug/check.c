/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/check.h"

#include "core/debug/words.h"
#include "core/vcpu/ledger.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

_Noreturn void check_failed(const char *condition, const char *file, int line)
{
	panic("hart %lu: broken invariant: %s (%s:%d)", this_pcpu()->hartid, condition, file, line);
}

/* A vcpu is ready on its home hart only, and there if its run state says so. */
static void check_run_states(const struct pcpu *pcpu)
{
	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		const struct vcpu *vcpu = pcpu->vcpus[i];
		const struct run_state *run = &vcpu->run;
		bool ready = pcpu->willing & vcpu->bit;

		if (vcpu_home(vcpu) != pcpu) {
			CHECK(!ready);
			continue;
		}
		CHECK(ready == run_state_ready(run));
		CHECK(!(run->blocked & BLOCK_WAIT && run->blocked & BLOCK_OFF));
		CHECK(!(run->turns & TURN_REQUESTS) || run->blocked);
		CHECK(!(run->turns & TURN_WORK) || run->blocked & BLOCK_OFF);
		CHECK(!(run->blocked & BLOCK_BUDGET) || vcpu->budget.throttled_since);
		/* With windows, it keeps the steal time of a turn that it did not get, or has it
		 * from when its timer expired. In a move, it may get the turn at its new home. */
		CHECK(!(run->blocked & (BLOCK_WAIT | BLOCK_OUTPUT | BLOCK_OFF)) || run->turns ||
		      run->blocked & BLOCK_MOVE || pcpu->has_schedule || !vcpu->stats.steal_since);
	}
	CHECK(pcpu->ready == (pcpu->willing & pcpu->present));
	CHECK(!(pcpu->steal_at_load & ~pcpu->ready));
}

static void check_resident(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	uint32_t i;

	CHECK(pcpu->current == vcpu);
	CHECK(vcpu->home == pcpu);
	CHECK(vcpu->stats.cpu_ticks < 0);
	CHECK(vcpu->ctx.hs_sp == (uint64_t)pcpu + HART_STACK_TOP);
	for (i = 0; i < n_pcpus; i++)
		CHECK(i == pcpu->index || hart_stacks[i].pcpu.current != vcpu);
	for_each_bit (i, vpmu_active(&vcpu->pmu) & pcpu->hpm.hctrs)
		CHECK(pcpu->hctr_owner[i] == vcpu);
	CHECK(csr_read(CSR_HGATP) == vcpu->vm->gstage.hgatp);
	CHECK(vcpu->requests.enabled == REQ_ALL);
	CHECK(!vcpu->vm->no_adue || !(csr_read(CSR_HENVCFG) & HENVCFG_ADUE));
	CHECK(!pcpu->unmask_traps || !(csr_read(CSR_VSIE) & BIT(IRQ_LCOFI)));
}

void check_exit(void)
{
	CHECK(!debug_words.broken);
	check_resident(this_pcpu(), this_vcpu());
	check_run_states(this_pcpu());
}

void check_entry(void)
{
	const struct pcpu *pcpu = this_pcpu();
	const struct vcpu *vcpu = this_vcpu();

	check_resident(pcpu, vcpu);
	check_run_states(pcpu);
	ledger_enters(vcpu);
	CHECK(!vcpu->run.blocked);
	/* It exits before its first instruction. */
	CHECK(!vcpu->observers.chain.due || csr_read(CSR_SIP) & BIT(IRQ_SSI));
	CHECK(!vcpu->stats.steal_since);
	CHECK(atomic_load(&vcpu->hsm_state) == SBI_HSM_STATE_STARTED);
}
