/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/vm_log.h"

#include <string.h>

#include "core/lib/printf.h"
#include "core/log.h"

/* x0 is always 0, so pc takes its place. */
const char *const vm_register_names[32] = {"pc", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                           "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                           "a6", "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                           "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

void vm_crash_note(struct vm_crash *crash, const struct vcpu *vcpu)
{
	crash->vcpu = vcpu->id;
	memcpy(crash->x, vcpu->ctx.x, sizeof(crash->x));
	crash->x[0] = vcpu->vs.sepc;
	crash->vs = vcpu->vs;
}

void vm_log_registers(const struct vm *vm, uint32_t n)
{
	const struct vm_crash *crash = &vm->crash;
	const struct vs_state *vs = &crash->vs;
	const char *const *name = &vm_register_names[4UL * (n % 8)];
	const uint64_t *x = &crash->x[4UL * (n % 8)];

	if (n < 8)
		log_line("vm %s: vcpu %u: %s %016lx %s %016lx %s %016lx %s %016lx",
		         vm->config->name, crash->vcpu, name[0], x[0], name[1], x[1], name[2], x[2],
		         name[3], x[3]);
	else if (n == 8)
		log_line("vm %s: vcpu %u: sstatus %016lx scause %016lx sepc %016lx stval %016lx",
		         vm->config->name, crash->vcpu, vs->vsstatus, vs->vscause, vs->vsepc,
		         vs->vstval);
	else
		log_line("vm %s: vcpu %u: stvec %016lx satp %016lx sie %lx sscratch %016lx",
		         vm->config->name, crash->vcpu, vs->vstvec, vs->vsatp, vs->vsie,
		         vs->vsscratch);
}

void vm_exits_text(const struct vcpu *vcpu, char *text, size_t size)
{
	const uint64_t *e = vcpu->ctx.exits;

	(void)tally_snprintf(
	    text, size,
	    "vm %s: vcpu %u: exits ecall=%lu timer=%lu irq=%lu lcofi=%lu mmio=%lu csr=%lu "
	    "wfi=%lu other=%lu hs-instructions=%lu longest-stay=%lu",
	    vcpu->vm->config->name, vcpu->id, e[EXIT_ECALL], e[EXIT_TIMER], e[EXIT_IRQ],
	    e[EXIT_LCOFI], e[EXIT_MMIO], e[EXIT_CSR], e[EXIT_WFI], e[EXIT_OTHER],
	    vcpu_hs_insns(vcpu), vcpu_longest_stay(vcpu));
}

void vm_log_exits(const struct vcpu *vcpu)
{
	char text[256];

	vm_exits_text(vcpu, text, sizeof(text));
	log_line(vcpu->moves ? "%s moves=%lu" : "%s", text, vcpu->moves);
}

void vm_log_budget(const struct vcpu *vcpu)
{
	log_line("vm %s: vcpu %u: budget spent in %lu periods, exceeded by %lu at most, "
	         "throttled for %lu ticks",
	         vcpu->vm->config->name, vcpu->id, vcpu->budget.periods_spent,
	         vcpu->budget.max_excess, vcpu->budget.throttled_ticks);
}

void vm_log_windows(const struct vcpu *vcpu)
{
	if (vcpu->windows_late || vcpu->windows_missed)
		log_line("vm %s: vcpu %u: %lu windows began late, by %lu ticks at most; %lu missed",
		         vcpu->vm->config->name, vcpu->id, vcpu->windows_late, vcpu->windows_latest,
		         vcpu->windows_missed);
}

static void told(const struct vm *vm, const char *what)
{
	log_line("vm %s: %s", vm->config->name, what);
}

void vm_failure_text(const char *failure, uint64_t value, const char *unit, char *text, size_t size)
{
	if (unit)
		(void)tally_snprintf(text, size, "%s %lu %s", failure, value, unit);
	else
		(void)tally_snprintf(text, size, "%s %lx", failure, value);
}

void vm_log_end(const struct vm *vm)
{
	char text[VM_FAILURE_BYTES];

	switch (vm->end.why) {
	case VM_END_SHUTDOWN:
		told(vm, "ended");
		break;
	case VM_END_ALL_STOPPED:
		told(vm, "ended: all its vcpus have stopped");
		break;
	case VM_END_REBOOT:
		told(vm, "asked for a restart");
		break;
	case VM_END_FAILED:
		vm_failure_text(vm->end.failure, vm->end.value, vm->end.unit, text, sizeof(text));
		log_line("vm %s: failed: %s", vm->config->name, text);
		break;
	default:
		told(vm, "stopped");
		break;
	}
	if (vm->life.too_often)
		log_line("vm %s: stays off: restart-limit is %u", vm->config->name,
		         vm->config->restart_limit);
}
