/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `vms`, `exits` and `link`. Counts are since power-on: for rates, a program sends the
 * command twice. */
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/io/ports.h"
#include "core/operator/prompt.h"
#include "core/operator/prompt_server.h"
#include "core/sched/vcpu_budget.h"
#include "core/vcpu/vm.h"

static void add_windows(struct prompt *p, uint64_t late, uint64_t latest, uint64_t missed)
{
	text_add(&p->out, ",'windows':{'late':%lu,'latest_ns':%lu,'missed':%lu}", late,
	         prompt_time(latest, NS_PER_S), missed);
}

static void add_harts(struct prompt *p, const struct vm *vm)
{
	text_add(&p->out, ",'harts':[");
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++)
		text_add(&p->out, "%s%lu", i ? "," : "", vcpu_home(vm->vcpus[i])->hartid);
	text_add(&p->out, "]");
}

static void add_memory(struct prompt *p, const struct vm_config *config)
{
	text_add(&p->out, ",'memory':%lu", config->memory);
	for (uint32_t i = 0; i < config->n_pieces; i++)
		text_add(&p->out, "%s[%lu,%lu]%s", i ? "," : ",'memory_at':[",
		         config->pieces[i].base, config->pieces[i].size,
		         i + 1 == config->n_pieces ? "]" : "");
}

static void add_rest(struct prompt *p, const struct vm *vm)
{
	uint64_t late = 0, latest = 0, missed = 0;
	uint32_t asked = atomic_load(&vm->shutdown.asked);

	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		const struct vcpu *vcpu = vm->vcpus[i];

		late += vcpu->windows_late;
		missed += vcpu->windows_missed;
		if (latest < vcpu->windows_latest)
			latest = vcpu->windows_latest;
	}
	if (vm->config->deferred && !vm->life.number)
		text_add(&p->out, ",'waits_for_first_start':true");
	if (atomic_load(&vm->state) == VM_RUNNING && vm_is_asleep(vm))
		text_add(&p->out, ",'asleep':true");
	if (asked)
		text_add(&p->out, ",'shutdown':'%s'", asked & SHUTDOWN_LATE ? "late" : "asked");
	if (p->client == prompt_client(vm))
		text_add(&p->out, ",'operator':'%s'",
		         p->access == VM_OPERATOR_WATCH     ? "watch"
		         : p->access == VM_OPERATOR_CONTROL ? "control"
		                                            : "all");
	if (vm_has_trusted_dma(vm->config))
		text_add(&p->out, ",'dma':'trusted'");
	if (late | missed)
		add_windows(p, late, latest, missed);
}

/* To the VM's next port, which `row` counts from 1 on, or to the next VM. */
static void next_port(struct prompt *p)
{
	if (p->row++ == vms[p->vm].config->n_ports)
		prompt_next_vm(p);
}

/* Counts are of the VM's last life. */
static void tell_port(struct prompt *p)
{
	const struct vm *vm = &vms[p->vm];
	uint32_t n = p->row - 1;
	struct port_counts c;

	port_counts_read(vm, n, &c);
	text_add(&p->out,
	         "{'vm':'%s','port':%u,'network':'%s','link':'%s','sent':%lu,'sent_bytes':%lu,"
	         "'refused':%lu,'received':%lu,'received_bytes':%lu,'lost':%lu",
	         vm->config->name, n, port_network(vm, n), port_is_up(vm, n) ? "up" : "down",
	         c.sent, c.sent_bytes, c.refused, c.received, c.received_bytes, c.lost);
	prompt_tell(p);
	next_port(p);
}

void prompt_vms(struct prompt *p)
{
	const struct vm *vm = &vms[p->vm];
	/* Since the VM's last start; 0 while it is off. */
	bool runs = atomic_load(&vm->state) == VM_RUNNING;
	uint64_t up_ms = runs ? prompt_time(csr_read(CSR_TIME) - vm->life.begun, 1000) : 0;

	if (p->row) {
		tell_port(p);
		return;
	}
	if (p->part < 2) {
		if (!p->part)
			text_add(&p->out, "{'vm':'%s','state':'%s','uptime_ms':%lu,'vcpus':%u",
			         vm->config->name, vm_state_name(vm), up_ms, vm->config->n_vcpus);
		else
			add_harts(p, vm);
		p->part++;
		return;
	}
	add_memory(p, vm->config);
	add_rest(p, vm);
	prompt_tell(p);
	next_port(p);
}

/* Without a network it concerns all ports of the VM. */
void prompt_link(struct prompt *p)
{
	const struct vm *vm = prompt_vm_named(p, p->word[1]);
	const char *network = p->n_words == 4 ? p->word[3] : NULL;
	bool up = strcmp(p->word[2], "up") == 0;
	uint32_t found = 0;

	if (!vm)
		return;
	if (!up && strcmp(p->word[2], "down") != 0) {
		prompt_wrong(p);
		return;
	}
	for (uint32_t n = 0; n < vm->config->n_ports; n++) {
		if (network && strcmp(network, port_network(vm, n)) != 0)
			continue;
		port_link(vm, n, up);
		found++;
	}
	if (!found)
		prompt_answer(p, PROMPT_FAILED, "link: %s has no port%s%s", vm->config->name,
		              network ? " of network " : "", network ? network : "");
	else
		prompt_answer(p, PROMPT_OK, "%s: %u link%s %s", vm->config->name, found,
		              found > 1 ? "s are" : " is", up ? "up" : "down");
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

/* The exits of the line, its instructions and its time are of the moment of its first part. */
static struct {
	uint64_t exits[VCPU_EXITS], insns[VCPU_KINDS];
	uint64_t now, longest_stay;
} seen;

static void add_budget(struct prompt *p, const struct vcpu *vcpu)
{
	text_add(&p->out,
	         ",'budget':{'event':'0x%x','count':%lu,'period_us':%u,'spent':%lu,"
	         "'exceeded_by':%lu,'throttled_us':%lu}",
	         vcpu->vm->config->budget.event_idx, vcpu->budget.count,
	         vcpu->vm->config->budget.period_us, vcpu->budget.periods_spent,
	         vcpu->budget.max_excess,
	         prompt_time(vcpu_budget_throttled(vcpu, seen.now), US_PER_S));
}

static void add_times(struct prompt *p, const struct vcpu *vcpu)
{
	uint64_t cpu_ticks;

	memcpy(seen.exits, vcpu->ctx.exits, sizeof(seen.exits));
	memcpy(seen.insns, vcpu->ctx.hs_insns, sizeof(seen.insns));
	seen.longest_stay = vcpu_longest_stay(vcpu);
	cpu_ticks = vcpu_cpu_time(&vcpu->stats, &seen.now);
	prompt_vcpu_names(p, vcpu);
	text_add(&p->out, ",'time_us':%lu,'cpu_us':%lu,'steal_us':%lu,",
	         prompt_time(seen.now, US_PER_S), prompt_time(cpu_ticks, US_PER_S),
	         prompt_time(steal_ticks(vcpu, seen.now), US_PER_S));
}

void prompt_exits(struct prompt *p)
{
	const struct vcpu *vcpu = prompt_vcpu(p);

	if (p->part < 3) {
		if (p->part == 0)
			add_times(p, vcpu);
		else
			add_causes(p, p->part == 1 ? seen.exits : seen.insns);
		if (p->part == 1)
			text_add(&p->out, ",'hs_instructions':%lu,'hs_instructions_by':{",
			         vcpu_sum(seen.insns, VCPU_KINDS));
		p->part++;
		return;
	}
	text_add(&p->out, ",'loading':%lu},'longest_stay':%lu", seen.insns[EXIT_LOADING],
	         seen.longest_stay);
	if (vcpu->budget.count)
		add_budget(p, vcpu);
	if (vcpu_home(vcpu)->has_schedule)
		add_windows(p, vcpu->windows_late, vcpu->windows_latest, vcpu->windows_missed);
	prompt_tell(p);
	prompt_next_vcpu(p);
}
