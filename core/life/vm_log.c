/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/vm_log.h"

#include <stdarg.h>
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/io/dma.h"
#include "core/io/ports.h"
#include "core/lib/printf.h"
#include "core/log.h"
#include "core/sched/sched.h"
#include "core/vcpu/terminal_port.h"

/* Maximum number of stays that serve the devices' last faults: enough for twice the fault queue. A
 * device that faults for ever must not delay the VM's end for ever. */
#define MAX_FAULT_STAYS 40U

/* How long the lines about an end wait for room, all together. A serial line of 115,200 baud takes
 * all that can be in front of them in 10 s. */
#define PATIENCE_S 60UL

/* Lines of registers after a failure. */
#define REGISTER_LINES 10U

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

/* Makes the line that the next piece of work prints. */
static __attribute__((format(printf, 2, 3))) void line(struct vm *vm, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)tally_vsnprintf(vm->life.line, sizeof(vm->life.line), format, args);
	va_end(args);
}

static void exits(struct vm *vm, uint32_t n)
{
	const struct vcpu *vcpu = vm->vcpus[n];
	const uint64_t *e = vcpu->ctx.exits;
	char moves[32] = "";

	if (vcpu->moves)
		(void)tally_snprintf(moves, sizeof(moves), " moves=%lu", vcpu->moves);
	line(vm,
	     "vm %s: vcpu %u: exits ecall=%lu timer=%lu irq=%lu lcofi=%lu mmio=%lu csr=%lu "
	     "wfi=%lu other=%lu hs-instructions=%lu longest-stay=%lu%s",
	     vm->config->name, vcpu->id, e[EXIT_ECALL], e[EXIT_TIMER], e[EXIT_IRQ], e[EXIT_LCOFI],
	     e[EXIT_MMIO], e[EXIT_CSR], e[EXIT_WFI], e[EXIT_OTHER], vcpu_hs_insns(vcpu),
	     vcpu_longest_stay(vcpu), moves);
}

static void windows(struct vm *vm, uint32_t n)
{
	const struct vcpu *vcpu = vm->vcpus[n];

	if (vcpu->windows_late || vcpu->windows_missed)
		line(vm, "vm %s: vcpu %u: %lu windows began late, by %lu ticks at most; %lu missed",
		     vm->config->name, vcpu->id, vcpu->windows_late, vcpu->windows_latest,
		     vcpu->windows_missed);
}

static void budget(struct vm *vm, uint32_t n)
{
	const struct vcpu *vcpu = vm->vcpus[n];

	line(vm,
	     "vm %s: vcpu %u: budget spent in %lu periods, exceeded by %lu at most, "
	     "throttled for %lu ticks",
	     vm->config->name, vcpu->id, vcpu->budget.periods_spent, vcpu->budget.max_excess,
	     vcpu->budget.throttled_ticks);
}

static void port(struct vm *vm, uint32_t n)
{
	struct port_counts c;

	port_counts_read(vm, n, &c);
	line(vm,
	     "vm %s: port %u: sent frames=%lu bytes=%lu refused=%lu, received frames=%lu "
	     "bytes=%lu lost=%lu",
	     vm->config->name, n, c.sent, c.sent_bytes, c.refused, c.received, c.received_bytes,
	     c.lost);
}

static void registers(struct vm *vm, uint32_t n)
{
	const struct vm_crash *crash = &vm->crash;
	const struct vs_state *vs = &crash->vs;
	const char *const *name = &vm_register_names[4UL * (n % 8)];
	const uint64_t *x = &crash->x[4UL * (n % 8)];

	if (n < 8)
		line(vm, "vm %s: vcpu %u: %s %016lx %s %016lx %s %016lx %s %016lx",
		     vm->config->name, crash->vcpu, name[0], x[0], name[1], x[1], name[2], x[2],
		     name[3], x[3]);
	else if (n == 8)
		line(vm, "vm %s: vcpu %u: sstatus %016lx scause %016lx sepc %016lx stval %016lx",
		     vm->config->name, crash->vcpu, vs->vsstatus, vs->vscause, vs->vsepc,
		     vs->vstval);
	else
		line(vm, "vm %s: vcpu %u: stvec %016lx satp %016lx sie %lx sscratch %016lx",
		     vm->config->name, crash->vcpu, vs->vstvec, vs->vsatp, vs->vsie, vs->vsscratch);
}

void vm_failure_text(const struct vm_failure *f, char *text, size_t size)
{
	if (f->unit)
		(void)tally_snprintf(text, size, "%s %lu %s", f->text, f->value, f->unit);
	else
		(void)tally_snprintf(text, size, "%s %lx", f->text, f->value);
}

static void end(struct vm *vm, uint32_t n)
{
	enum vm_end why = vm->end.why;
	const char *told = why == VM_END_SHUTDOWN      ? "ended"
	                   : why == VM_END_ALL_STOPPED ? "ended: all its vcpus have stopped"
	                   : why == VM_END_REBOOT      ? "asked for a restart"
	                                               : "stopped";
	char text[VM_FAILURE_BYTES];

	(void)n;
	if (why != VM_END_FAILED) {
		line(vm, "vm %s: %s", vm->config->name, told);
		return;
	}
	vm_failure_text(&vm->end.failure, text, sizeof(text));
	line(vm, "vm %s: failed: %s", vm->config->name, text);
}

static void limit(struct vm *vm, uint32_t n)
{
	(void)n;
	line(vm, "vm %s: stays off: restart-limit is %u", vm->config->name,
	     vm->config->restart_limit);
}

/* Makes line n, which may be empty. Returns false behind the last one. */
static bool make(struct vm *vm, uint32_t n)
{
	uint32_t vcpus = vm->config->n_vcpus;
	const struct {
		uint32_t lines;
		void (*make)(struct vm *vm, uint32_t n);
	} parts[] = {
	    {vcpus, exits},
	    {vcpus, windows},
	    {vm->config->n_ports, port},
	    {1, end},
	    {vm->life.too_often, limit},
	    {vm->end.why == VM_END_FAILED ? REGISTER_LINES : 0, registers},
	    {vm->config->budget.count ? vcpus : 0, budget},
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (n < parts[i].lines) {
			parts[i].make(vm, n);
			return true;
		}
		n -= parts[i].lines;
	}
	return false;
}

void vm_log_begin(struct vm *vm)
{
	vm->life.step = 0;
	vm->life.fault_stays = 0;
	vm->life.since = csr_read(CSR_TIME);
}

bool vm_log_piece(struct vm *vm)
{
	struct vm_life *life = &vm->life;

	if (*life->line != '\0') {
		/* It may say that the VM failed. */
		if (!terminal_log(life->line)) {
			if (csr_read(CSR_TIME) - life->since < platform.timebase * PATIENCE_S) {
				sched_yield();
				return true;
			}
			log_text(life->line);
		}
		*life->line = '\0';
		return true;
	}
	if (life->step == 0) {
		life->step = 1;
		terminal_vm_ended(vm->index, true);
		return true;
	}
	/* Faults of its devices are logged before its end. */
	if (life->step > vm->config->n_vcpus && life->fault_stays++ < MAX_FAULT_STAYS) {
		if (dma_log_remaining(vm))
			return true;
		life->fault_stays = MAX_FAULT_STAYS;
	}
	while (make(vm, life->step - 1)) {
		life->step++;
		if (*life->line != '\0')
			return true;
	}
	return false;
}
