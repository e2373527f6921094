/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/threads.h"

#include <stdlib.h>
#include <string.h>

#include "core/life/vm_life.h"
#include "core/sched/port.h"
#include "core/sched/world_switch.h"
#include "core/hart/platform.h"
#include "core/io/bells.h"
#include "core/io/dma.h"
#include "core/life/heart.h"
#include "core/log.h"
#include "core/sched/run_state.h"
#include "core/sched/sched.h"
#include "core/sched/vcpu_move.h"
#include "core/sched/windows.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vm_state.h"
#include "core/watch/account.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"
#include "core/hart/pcpu.h"
#include "core/watch/stays.h"
#include "core/watch/trace.h"

uint64_t host_csrs[4096];
char host_locks;
struct platform platform = {.timebase = 1000};
static struct vm all_vms[VM_MAX_VMS];
struct vm *vms = all_vms;
uint32_t n_vms = 1, n_pcpus = 2;
union hart_stack hart_stacks[MAX_HARTS];
struct vcpu vcpus[2];
_Thread_local struct guest_context *threads_context;
_Thread_local uint64_t threads_now;
atomic_ulong threads_clock;
uint64_t threads_starts, threads_wrong_starts;
unsigned int threads_given;
atomic_uint threads_taken;
char threads_line[1 << 17];

static struct vm_config config = {.n_vcpus = 2};
static _Thread_local struct pcpu *mine;
static atomic_bool interrupts[2];
static size_t line_bytes;

struct pcpu *threads_hart(unsigned int number)
{
	mine = &hart_stacks[number].pcpu;
	return mine;
}

/* The same memory for each test. */
static _Alignas(64) char memory[1 << 16];
static size_t given;

static void *give(size_t size)
{
	given += size;
	if (given > sizeof(memory))
		abort();
	return memory + given - size;
}

void threads_begin(void)
{
	memset(vcpus, 0, sizeof(vcpus));
	vms[0].config = &config;
	atomic_store(&vms[0].state, VM_RUNNING);
	for (uint32_t i = 0; i < 2; i++) {
		struct pcpu *pcpu = threads_hart(i);

		pcpu->index = i;
		pcpu->current = &vcpus[i];
		pcpu->vcpus[i] = &vcpus[i];
		vcpus[i].vm = &vms[0];
		vcpus[i].id = vcpus[i].index = i;
		vcpus[i].bit = 1UL << i;
		vms[0].vcpus[i] = &vcpus[i];
		requests_init(&vcpus[i].requests);
		(void)requests_enable(&vcpus[i].requests, REQ_ALL);
		atomic_store(&vcpus[i].hsm_state, SBI_HSM_STATE_STOPPED);
		vcpu_set_home(&vcpus[i], pcpu);
	}
	given = 0;
	memset(memory, 0, sizeof(memory));
	trace_init(give);
}

struct pcpu *this_pcpu(void)
{
	return mine;
}

struct guest_context *this_context(void)
{
	return threads_context;
}

uint64_t host_csr_read(uint32_t csr)
{
	uint64_t now = threads_now ? threads_now : atomic_load(&threads_clock);

	switch (csr) {
	case CSR_TIME:
		return now;
	case CSR_SEPC:
		return 3 * now;
	case CSR_STVAL:
		return 5 * now;
	default:
		return now;
	}
}

void host_wfi(void)
{
}

/* --- mail ------------------------------------------------------------------------------------ */

void pcpu_notify(struct pcpu *pcpu, uint64_t bits)
{
	atomic_fetch_or(&pcpu->notified, bits);
	atomic_store(&interrupts[pcpu->index], true);
}

void pcpu_interrupt(struct pcpu *pcpu, uint64_t bits)
{
	pcpu_notify(pcpu, bits);
}

void threads_serve(struct pcpu *pcpu)
{
	if (!atomic_exchange(&interrupts[pcpu->index], false))
		return;
	if (atomic_exchange(&pcpu->notified, 0))
		vcpu_serve_notified(&vcpus[pcpu->index]);
}

/* --- what the requests do -------------------------------------------------------------------- */

void dma_serve(const struct vm *vm)
{
	(void)vm;
}

bool samples_go_on(struct vcpu *vcpu)
{
	(void)vcpu;
	return true;
}

void vm_life_serve(struct vm *vm)
{
	if (vm_command_take(vm) == VM_COMMAND_RESTART)
		atomic_store(&threads_taken, threads_given);
}

void observer_begin(struct vcpu *vcpu, uint32_t number, const struct observed_event *event)
{
	vcpu->observers.observer[0] = (struct observer){.number = number, .event = *event};
}

void observer_read(struct vcpu *vcpu, uint32_t n, uint64_t now)
{
	(void)now;
	vcpu->observers.observer[n].value = 3UL * vcpu->observers.observer[n].number;
}

void vcpu_take_samples(struct vcpu *vcpu)
{
	(void)vcpu;
}

void account_copy(const struct vcpu *vcpu)
{
	(void)vcpu;
}

void stays_begin(struct vcpu *vcpu)
{
	(void)vcpu;
}

void stays_end(struct vcpu *vcpu)
{
	(void)vcpu;
}

void vcpu_reset(struct vcpu *vcpu, uint64_t pc, uint64_t a1)
{
	(void)vcpu;
	threads_starts++;
	threads_wrong_starts += pc != 2 * ~a1;
}

size_t uart_put(struct uart *uart, const char *s, size_t n)
{
	uart_write(uart, s, n);
	return n;
}

void uart_write(struct uart *uart, const char *s, size_t n)
{
	(void)uart;
	if (line_bytes + n >= sizeof(threads_line))
		abort();
	memcpy(threads_line + line_bytes, s, n);
	line_bytes += n;
}

/* --- what does nothing here ------------------------------------------------------------------ */

void sched_has_output(struct vcpu *vcpu)
{
	(void)vcpu;
}

void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size)
{
	(void)gpa, (void)size;
	return (void *)(uintptr_t)vm;
}

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift, uint32_t io_width)
{
	(void)uart, (void)base, (void)reg_shift, (void)io_width;
}

void vm_end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
            uint64_t value)
{
	(void)vm, (void)by, (void)why, (void)failure, (void)value;
}

void heart_watch(struct vm *vm)
{
	(void)vm;
}

void vm_failed(struct vcpu *vcpu, const char *failure, uint64_t value)
{
	(void)vcpu, (void)failure, (void)value;
}

void observer_end(struct vcpu *vcpu, uint32_t n)
{
	(void)vcpu, (void)n;
}

void vcpu_end_observers(struct vcpu *vcpu)
{
	(void)vcpu;
}

void vpmu_reset(struct vpmu *v)
{
	(void)v;
}

void vcpu_put(struct pcpu *pcpu, struct vcpu *vcpu)
{
	(void)pcpu, (void)vcpu;
}

void vcpu_fence_vm(const struct vcpu *vcpu)
{
	(void)vcpu;
}

void vcpu_set_virq(struct vcpu *vcpu, uint64_t irq, bool level)
{
	(void)vcpu, (void)irq, (void)level;
}

void vcpu_arrive(struct vcpu *vcpu)
{
	(void)vcpu;
}

bool vcpu_hand_over(struct vcpu *vcpu)
{
	(void)vcpu;
	return false;
}

bool guest_file_begin(struct vcpu *vcpu)
{
	(void)vcpu;
	return true;
}

bool vcpu_is_away(const struct vcpu *vcpu)
{
	(void)vcpu;
	return false;
}

const struct vm_device *vm_device_without_reset(const struct vm_config *vm)
{
	(void)vm;
	return NULL;
}

void bells_started(struct vm *vm)
{
	(void)vm;
}

void hpm_show_flags(struct hpm *hpm)
{
	(void)hpm;
}

bool vplic_output(const struct vplic *p, unsigned int context)
{
	(void)p, (void)context;
	return false;
}

void vcpu_unblock(struct vcpu *vcpu, uint8_t why)
{
	(void)vcpu, (void)why;
}

VSBI_FN(vsbi_not_supported)
{
	return 0;
}

void vcpu_remove(struct vcpu *vcpu)
{
	(void)vcpu;
}

void sched_off(struct vcpu *vcpu)
{
	(void)vcpu;
}

void sched_wait(struct vcpu *vcpu)
{
	(void)vcpu;
}

void external_poll_at(enum external_kind what, uint64_t time)
{
	(void)what, (void)time;
}

void sched_enable_requests(struct vcpu *vcpu)
{
	(void)vcpu;
}

void sched_wake_if_interrupted(struct vcpu *vcpu)
{
	(void)vcpu;
}
