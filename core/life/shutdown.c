/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/shutdown.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/io/power_key.h"
#include "core/io/vm_uart.h"
#include "core/log.h"
#include "core/sched/sched.h"

/* Linux syncs and remounts in the background, and nothing tells when it has done so. In 4 s a disk
 * of 100 MB/s writes more than a guest of 1 GiB may have left to write. */
#define PAUSE_S 2UL
/* How often it is tried again if the UART has no room. */
#define TRIES_HZ 100UL

static const char keys[] = {'s', 'u', 'o'};
_Static_assert(SHUTDOWN_S_MIN > (sizeof(keys) - 1) * PAUSE_S, "the last key is in time");

/* Whether the guest would get the request. */
static bool is_open(struct vm *vm)
{
	return vm->key ? power_key_is_live(vm) : *(const volatile bool *)&vm->uart.opened;
}

enum vm_answer shutdown_ask(struct vm *vm, uint32_t seconds)
{
	unsigned int asked = atomic_load(&vm->shutdown.asked), state = atomic_load(&vm->state);

	if (vm->config->shutdown == VM_SHUTDOWN_NONE)
		return VM_ANSWER_NO_WAY;
	if (state == VM_OFF)
		return VM_ANSWER_ALREADY;
	if (state != VM_RUNNING || (asked && !(asked & SHUTDOWN_LATE)))
		return VM_ANSWER_BUSY;
	if (!is_open(vm))
		return VM_ANSWER_CLOSED;
	if (!atomic_compare_exchange_strong(&vm->shutdown.asked, &asked, seconds))
		return VM_ANSWER_BUSY;
	vcpu_request(vm->vcpus[0], REQ_LIFE);
	return VM_ANSWER_TAKEN;
}

bool shutdown_begin(struct vm *vm)
{
	struct vm_shutdown *s = &vm->shutdown;
	uint32_t asked = atomic_load(&s->asked);

	if (!asked || asked & SHUTDOWN_LATE || s->at != ~0UL)
		return false;
	s->step = 0;
	s->at = csr_read(CSR_TIME);
	s->deadline = s->at + (uint64_t)asked * platform.timebase;
	return true;
}

static void is_late(struct vm *vm)
{
	uint32_t asked = atomic_fetch_or(&vm->shutdown.asked, SHUTDOWN_LATE);

	log_line("vm %s: did not end in %u s: stop pulls the plug", vm->config->name, asked);
}

/* Returns false if the guest has no room for it now. */
static bool ask(struct vm *vm, uint32_t step)
{
	return vm->key ? power_key_press(vm) : vm_break(vm, (uint8_t)keys[step]);
}

void shutdown_step(struct vm *vm, uint64_t now)
{
	struct vm_shutdown *s = &vm->shutdown;
	uint64_t next = s->deadline;

	sched_account_rest_to(vm->vcpus[0]);
	if (now >= s->deadline || atomic_load(&vm->state) != VM_RUNNING) {
		s->at = ~0UL;
		if (atomic_load(&vm->state) == VM_RUNNING)
			is_late(vm);
		return;
	}
	if (!ask(vm, s->step))
		next = now + platform.timebase / TRIES_HZ;
	else if (++s->step < (vm->key ? 1 : sizeof(keys)))
		next = now + platform.timebase * PAUSE_S;
	s->at = next < s->deadline ? next : s->deadline;
}
