/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/last_words.h"

#include "core/vcpu/vm.h"

void last_words_begin(struct vm *vm)
{
	struct last_words *last = &vm->last;

	last->printed[last->live] = 0;
	for (uint32_t i = 0; i < vm->config->n_vcpus && vm->config->crash_exits; i++)
		last->exits[last->live][i]->n = 0;
}

/* Readers see the change before vm->crash changes and before the next life gets the buffers
 * (docs/memory-order.md, "Last words"). */
void last_words_change(struct vm *vm)
{
	atomic_fetch_add_explicit(&vm->last.changes, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

void last_words_keep(struct vm *vm)
{
	struct last_words *last = &vm->last;

	for (uint32_t i = 0; i < vm->config->n_vcpus && vm->config->crash_exits; i++)
		last->exits[last->live][i]->hs_insns = vcpu_hs_insns(vm->vcpus[i]);
	last->live ^= 1;
	atomic_fetch_add_explicit(&last->changes, 1, memory_order_release);
}

void last_words_add_output(struct vm *vm, const char *bytes, size_t n)
{
	struct last_words *last = &vm->last;
	char *text = last->text[last->live];
	uint64_t printed = last->printed[last->live];

	if (!text)
		return;
	for (size_t i = 0; i < n; i++)
		text[printed++ % LAST_BYTES] = bytes[i];
	last->printed[last->live] = printed;
}

void last_words_add_exit(const struct exit_record *exit)
{
	const struct vcpu *vcpu = exit->vcpu;
	const struct last_words *last = &vcpu->vm->last;
	struct last_exits *exits = last->exits[last->live][vcpu->id];
	struct last_exit *e = &exits->entries[exits->n++ % LAST_EXITS];

	e->exit = *exit;
	e->hs_insns = vcpu_hs_insns(vcpu);
}

unsigned long last_words_state(const struct vm *vm)
{
	return atomic_load_explicit(&vm->last.changes, memory_order_acquire);
}

bool last_words_same(const struct vm *vm, unsigned long from)
{
	atomic_thread_fence(memory_order_acquire);
	return !(from & 1) && atomic_load_explicit(&vm->last.changes, memory_order_relaxed) == from;
}
