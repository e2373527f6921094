/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `vms` and `exits`. Counts are since power-on: for rates, a program sends the command
 * twice. */
#include "arch/riscv/hart/csr.h"
#include "core/operator/prompt.h"
#include "core/sched/vcpu_budget.h"
#include "core/vcpu/vm_end.h"

#define US_PER_S 1000000U
#define NS_PER_S 1000000000U

static void add_windows(struct prompt *p, uint64_t late, uint64_t latest, uint64_t missed)
{
	text_add(&p->out, ",'windows':{'late':%lu,'latest_ns':%lu,'missed':%lu}", late,
	         prompt_time(latest, NS_PER_S), missed);
}

void prompt_vms(struct prompt *p)
{
	const struct vm *vm = &vms[p->vm];
	const struct vm_config *config = vm->config;
	/* Since the VM's last start; 0 while it is off. */
	bool runs = atomic_load(&vm->state) == VM_RUNNING;
	uint64_t up_ms = runs ? prompt_time(csr_read(CSR_TIME) - vm->life.begun, 1000) : 0;
	uint64_t late = 0, latest = 0, missed = 0;

	text_add(&p->out, "{'vm':'%s','state':'%s','uptime_ms':%lu,'vcpus':%u,'harts':[",
	         config->name, vm_state_name(vm), up_ms, config->n_vcpus);
	for (uint32_t i = 0; i < config->n_vcpus; i++) {
		const struct vcpu *vcpu = vm->vcpus[i];

		text_add(&p->out, "%s%lu", i ? "," : "", vcpu_home(vcpu)->hartid);
		late += vcpu->windows_late;
		missed += vcpu->windows_missed;
		if (latest < vcpu->windows_latest)
			latest = vcpu->windows_latest;
	}
	text_add(&p->out, "],'memory':%lu", config->memory);
	for (uint32_t i = 0; i < config->n_pieces; i++)
		text_add(&p->out, "%s[%lu,%lu]%s", i ? "," : ",'memory_at':[",
		         config->pieces[i].base, config->pieces[i].size,
		         i + 1 == config->n_pieces ? "]" : "");
	if (config->deferred && !vm->life.number)
		text_add(&p->out, ",'waits_for_first_start':true");
	if (vm_has_trusted_dma(config))
		text_add(&p->out, ",'dma':'trusted'");
	if (late | missed)
		add_windows(p, late, latest, missed);
	prompt_tell(p);
	prompt_next_vm(p);
}

static uint64_t steal_ticks(const struct vcpu *vcpu, uint64_t now)
{
	uint64_t since = *(const volatile uint64_t *)&vcpu->stats.steal_since;

	return vcpu->stats.steal_ticks + (since && now > since ? now - since : 0);
}

static void add_causes(struct prompt *p, const uint64_t *n)
{
	text_add(&p->out,
	         "'ecall':%lu,'timer':%lu,'irq':%lu,'lcofi':%lu,'mmio':%lu,'csr':%lu,'wfi':%lu,"
	         "'other':%lu",
	         n[EXIT_ECALL], n[EXIT_TIMER], n[EXIT_IRQ], n[EXIT_LCOFI], n[EXIT_MMIO],
	         n[EXIT_CSR], n[EXIT_WFI], n[EXIT_OTHER]);
}

void prompt_exits(struct prompt *p)
{
	const struct vcpu *vcpu = prompt_vcpu(p);
	uint64_t now, cpu_ticks = vcpu_cpu_time(&vcpu->stats, &now);

	prompt_vcpu_names(p, vcpu);
	text_add(&p->out, ",'time_us':%lu,'cpu_us':%lu,'steal_us':%lu,", prompt_time(now, US_PER_S),
	         prompt_time(cpu_ticks, US_PER_S), prompt_time(steal_ticks(vcpu, now), US_PER_S));
	add_causes(p, vcpu->ctx.exits);
	text_add(&p->out, ",'hs_instructions':%lu,'hs_instructions_by':{", vcpu_hs_insns(vcpu));
	add_causes(p, vcpu->ctx.hs_insns);
	text_add(&p->out, ",'loading':%lu},'longest_stay':%lu", vcpu->ctx.hs_insns[EXIT_LOADING],
	         vcpu_longest_stay(vcpu));
	if (vcpu->budget.count)
		text_add(&p->out,
		         ",'budget':{'event':'0x%x','count':%lu,'period_us':%u,'spent':%lu,"
		         "'exceeded_by':%lu,'throttled_us':%lu}",
		         vcpu->vm->config->budget.event_idx, vcpu->budget.count,
		         vcpu->vm->config->budget.period_us, vcpu->budget.periods_spent,
		         vcpu->budget.max_excess,
		         prompt_time(vcpu_budget_throttled(vcpu, now), US_PER_S));
	if (vcpu_home(vcpu)->has_schedule)
		add_windows(p, vcpu->windows_late, vcpu->windows_latest, vcpu->windows_missed);
	prompt_tell(p);
	prompt_next_vcpu(p);
}
