/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/vm_life.h"

#include "arch/riscv/hart/csr.h"
#include "core/life/last_words.h"
#include "core/sched/port.h"
#include "core/sched/vcpu_budget.h"
#include "core/hart/platform.h"
#include "core/io/bells.h"
#include "core/io/dma.h"
#include "core/io/functions.h"
#include "core/io/operator_function.h"
#include "core/io/ports.h"
#include "core/io/power_key.h"
#include "core/io/port.h"
#include "core/io/vm_quiet.h"
#include "core/io/vm_rtc.h"
#include "core/io/vm_uart.h"
#include "core/io/wired.h"
#include "core/life/shutdown.h"
#include "core/life/vm_load.h"
#include "core/life/vm_log.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/sched/sched.h"
#include "core/vcpu/terminal_port.h"
#include "core/vcpu/vm.h"

/* After a life of this length the count of restarts begins at 0 again. */
#define GOOD_LIFE_S 60UL

static atomic_uint vms_on, vms_failed;

static enum vm_state state_of(const struct vm *vm)
{
	return (enum vm_state)atomic_load(&vm->state);
}

void vms_start_counting(uint32_t n)
{
	atomic_store(&vms_on, n);
}

void vm_vcpu_stopped(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;

	/* The lead hart does the rest (docs/memory-order.md, "Life"). */
	if (atomic_fetch_sub(&vm->vcpus_alive, 1) == 1)
		vcpu_request(vm->vcpus[0], REQ_LIFE);
}

/* Whether the guest has powered itself off because the user has asked for it. */
static bool has_obeyed(const struct vm *vm)
{
	return vm->end.why == VM_END_SHUTDOWN && atomic_load(&vm->shutdown.asked);
}

/* Whether another life follows this end, by the wish of guest or user, or by the VM tree. */
static bool wants_another(const struct vm *vm)
{
	switch (vm->end.why) {
	case VM_END_REBOOT:
	case VM_END_RESTART:
		return true;
	case VM_END_FAILED:
		return vm->config->restart != VM_RESTART_NEVER;
	case VM_END_STOP:
	case VM_END_POWER_OFF:
		return false;
	default:
		return vm->config->restart == VM_RESTART_ALWAYS && !has_obeyed(vm);
	}
}

static void note_crash(struct vm *vm)
{
	vm->crash.failure = vm->end.failure;
	vm->crash.age = vm->end.failure.at - vm->life.begun;
	vm->crash.life = vm->life.number;
	vm_crash_note(&vm->crash, vm->end.by);
}

static void note_end(struct vm *vm, bool failed)
{
	uint64_t at = vm->end.failure.at;

	last_words_change(&vm->last.ends);
	vm->ended = (struct vm_ended){vm->end.why, vm->life.number, at, at - vm->life.begun};
	last_words_keep(vm, failed);
	last_words_changed(&vm->last.ends);
}

/* All vcpus are off. Decides why the VM ended and whether it starts again. */
static void decide_end(struct vm *vm)
{
	struct vm_life *life = &vm->life;
	uint64_t age = csr_read(CSR_TIME) - life->begun;
	bool by_user = vm->end.why == VM_END_STOP || vm->end.why == VM_END_RESTART ||
	               vm->end.why == VM_END_POWER_OFF;

	if (by_user || age >= platform.timebase * GOOD_LIFE_S)
		life->restarts = 0;
	life->will_restart = wants_another(vm);
	life->too_often =
	    life->will_restart && !by_user && life->restarts >= vm->config->restart_limit;
	if (life->too_often) {
		life->will_restart = false;
		if (vm->end.why == VM_END_REBOOT) {
			vm->end.why = VM_END_FAILED;
			vm->end.failure.text = "asked for a restart once too often; reset type";
			vm->end.failure.unit = NULL;
		}
	} else if (life->will_restart && !by_user) {
		life->restarts++;
	}
	if (vm->end.why == VM_END_FAILED) {
		atomic_fetch_add(&vms_failed, 1);
		last_words_change(&vm->last.crashes);
		note_crash(vm);
		note_end(vm, true);
		last_words_changed(&vm->last.crashes);
	} else {
		note_end(vm, false);
	}
}

static _Noreturn void power_off(void)
{
	uint64_t reason = atomic_load(&vms_failed) ? SBI_SRST_REASON_SYSFAIL : SBI_SRST_REASON_NONE;

	log_flush();
	log_line("all VMs ended");
	machine_off(reason);
}

/* A VM that the user stopped keeps the machine on, because the user may start it again. */
static void leave_for_good(struct vm *vm)
{
	if (vm->end.why == VM_END_STOP || has_obeyed(vm) || vm->life.off_for_good)
		return;
	vm->life.off_for_good = true;
	if (atomic_fetch_sub(&vms_on, 1) == 1)
		power_off();
}

/* Before the first life: whatever booted Tally may have used the devices and the memory. */
static void prepare_first(struct vm *vm)
{
	vm_quiet_begin(vm);
	vm_load_begin(vm);
	sched_start_life_work(vm->vcpus[0]);
}

void vm_prepare(struct vm *vm, uint64_t now)
{
	vm->htimedelta = -now;
	vm->life.will_restart = !vm->config->deferred;
	vm->life.off_for_good = vm->config->deferred;
	if (vm->config->deferred)
		terminal_vm_ended(vm->index, true);
	atomic_store(&vm->state, VM_CLEARING);
	vcpu_request(vm->vcpus[0], REQ_LIFE);
}

static enum vm_end end_of_stop(enum vm_command c)
{
	return c == VM_COMMAND_STOP ? VM_END_STOP : VM_END_POWER_OFF;
}

/* Takes up a command that came while the VM was not running. */
static enum vm_command take_command(struct vm *vm)
{
	enum vm_command c = vm_command_take(vm);

	if (c == VM_COMMAND_NONE)
		return c;
	vm->life.will_restart = c == VM_COMMAND_START || c == VM_COMMAND_RESTART;
	vm->life.restarts = 0;
	if (!vm->life.will_restart)
		vm->end.why = end_of_stop(c);
	return c;
}

/* The log has all lines of this life. */
static void told(struct vm *vm)
{
	(void)take_command(vm);
	if (!vm->life.will_restart)
		leave_for_good(vm);
	vm_load_begin(vm);
	atomic_store(&vm->state, VM_CLEARING);
}

static void count_in(struct vm *vm)
{
	if (vm->life.off_for_good)
		atomic_fetch_add(&vms_on, 1);
	vm->life.off_for_good = false;
}

/* Returns false if the VM cannot start any more. */
static bool start_loading(struct vm *vm)
{
	if (!vm_is_quiet(vm)) {
		atomic_store(&vm->cannot_start, true);
		vm->life.will_restart = false;
		return false;
	}
	count_in(vm);
	vm->life.will_restart = false;
	vm_load_begin(vm);
	atomic_store(&vm->state, VM_LOADING);
	return true;
}

/* The images may be loaded in part. */
static void unload(struct vm *vm, bool will_restart)
{
	vm->life.will_restart = will_restart;
	vm->life.waiting = false;
	vm_load_begin(vm);
	atomic_store(&vm->state, VM_CLEARING);
}

/* Starts vcpu 0; all images are in place. */
static void vm_begin(struct vm *vm, uint64_t now)
{
	struct vcpu *first = vm->vcpus[0];

	vm->life.number++;
	spin_lock(&vm->devices);
	vplic_init(&vm->plic, vm->config->n_vcpus);
	vaplic_init(&vm->aplic, vm->config->n_vcpus, vm->wired);
	vm_uart_begin(vm);
	vm->plic_outputs = 0;
	wired_begin(vm);
	functions_begin(vm);
	spin_unlock(&vm->devices);
	bells_begin(vm);
	operator_function_reset(vm, true);
	power_key_reset(vm, true);
	if (vm->config->n_ports)
		ports_reset(vm, true);
	dma_begin(vm);
	/* Its clock starts at 0. The VMs that boot starts have a common start instead. */
	if (vm->life.number > 1 || vm->config->deferred)
		vm->htimedelta = -now;
	vm->life.begun = now;
	atomic_store(&vm->last_ring, now);
	atomic_store(&vm->shutdown.asked, 0);
	vm->shutdown.at = ~0UL;
	last_words_begin(vm);
	atomic_store(&vm->vcpus_alive, vm->config->n_vcpus);
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		atomic_store(&vm->vcpus[i]->hsm_state, SBI_HSM_STATE_STOPPED);
		/* The vcpu's home does not use its budget before REQ_START. */
		if (vm->life.number == 1)
			vcpu_budget_begin(vm->vcpus[i], now);
	}
	terminal_vm_ended(vm->index, false);
	first->start_pc = vm->config->ram_base + vm->config->kernel_offset;
	first->start_opaque = vm->config->ram_base + vm->config->dtb_offset;
	atomic_store(&first->hsm_state, SBI_HSM_STATE_START_PENDING);
	atomic_store(&vm->state, VM_RUNNING);
	vcpu_request(first, REQ_START);
}

/* All but a slice that clears, which there are most of: with the rest, vm_life_work() would save
 * all registers in each. */
static __attribute__((noinline)) bool work(struct vm *vm)
{
	switch (state_of(vm)) {
	case VM_ENDING:
		if (!vm_log_piece(vm))
			told(vm);
		return true;
	case VM_CLEARING:
		if (vm->life.will_restart) {
			if (start_loading(vm))
				return true;
			atomic_fetch_add(&vms_failed, 1);
		}
		if (!vm->life.number)
			terminal_vm_ended(vm->index, true);
		atomic_store(&vm->state, VM_OFF);
		leave_for_good(vm);
		return false;
	case VM_LOADING:
		if (!vm_attach_slice(vm)) {
			/* Then start_loading() refuses. */
			if (vm->life.never_quiet)
				unload(vm, true);
			return true;
		}
		if (vm_load_slice(vm))
			return true;
		if (vm->life.number || vm->config->deferred)
			log_line("vm %s: starts%s", vm->config->name,
			         vm->life.number ? " again" : "");
		vm_begin(vm, csr_read(CSR_TIME));
		return false;
	default:
		return false;
	}
}

bool vm_life_work(struct vm *vm)
{
	if (state_of(vm) == VM_CLEARING &&
	    (vm_quiet_slice(vm) || (operator_is(vm) && operator_rest(vm)) || vm_clear_slice(vm)))
		return true;
	return work(vm);
}

/* Takes up a command to a running VM. */
static void end_by_command(struct vm *vm)
{
	enum vm_command c = vm_command_take(vm);

	if (c == VM_COMMAND_NONE || c == VM_COMMAND_START)
		return;
	vm_end(vm, NULL, c == VM_COMMAND_RESTART ? VM_END_RESTART : end_of_stop(c), NULL, 0);
}

void vm_life_serve(struct vm *vm)
{
	struct vcpu *lead = vm->vcpus[0];
	enum vm_command c;

	switch (state_of(vm)) {
	case VM_RUNNING:
		end_by_command(vm);
		if (shutdown_begin(vm))
			heart_watch(vm);
		break;
	case VM_ENDING:
		/* A command waits until the log has all lines of this life. */
		if (atomic_load(&vm->vcpus_alive) || sched_has_life_work(lead))
			break;
		heart_ignore(vm);
		vm_rtc_reset(vm);
		vm_quiet_begin(vm);
		decide_end(vm);
		vm_log_begin(vm);
		sched_start_life_work(lead);
		break;
	case VM_CLEARING:
		(void)take_command(vm);
		if (vm->life.will_restart)
			count_in(vm);
		if (!sched_has_life_work(lead))
			prepare_first(vm);
		break;
	case VM_LOADING:
		c = take_command(vm);
		if (c == VM_COMMAND_STOP || c == VM_COMMAND_POWER_OFF)
			unload(vm, false);
		break;
	case VM_OFF:
		(void)take_command(vm);
		if (vm->life.will_restart && start_loading(vm))
			sched_start_life_work(lead);
		else
			leave_for_good(vm);
		break;
	}
}
