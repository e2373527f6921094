/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/last_words.h"

#include "core/vcpu/vm.h"

/* One of three is neither of the last crash nor of the last end. */
static struct last_text *free_text(struct last_words *last)
{
	struct last_text *text = last->texts;

	while (text == last->crashed || text == last->ended)
		text++;
	return text;
}

void last_words_begin(struct vm *vm)
{
	struct last_words *last = &vm->last;

	last->now = free_text(last);
	last->now->printed = 0;
	for (uint32_t i = 0; i < vm->config->n_vcpus && vm->config->crash_exits; i++)
		last->exits[last->live][i]->n = 0;
}

/* Readers see the change before what is left changes and before the next life gets the buffers
 * (docs/memory-order.md, "Last words"). */
void last_words_change(atomic_ulong *changes)
{
	atomic_fetch_add_explicit(changes, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

void last_words_changed(atomic_ulong *changes)
{
	atomic_fetch_add_explicit(changes, 1, memory_order_release);
}

void last_words_keep(struct vm *vm, bool failed)
{
	struct last_words *last = &vm->last;

	last->ended = last->now;
	if (!failed)
		return;
	last->crashed = last->now;
	for (uint32_t i = 0; i < vm->config->n_vcpus && vm->config->crash_exits; i++)
		last->exits[last->live][i]->hs_insns = vcpu_hs_insns(vm->vcpus[i]);
	last->live ^= 1;
}

void last_words_add_output(struct vm *vm, const char *bytes, size_t n)
{
	struct last_text *text = vm->last.now;
	uint64_t printed;

	if (!text || !text->bytes)
		return;
	printed = text->printed;
	for (size_t i = 0; i < n; i++)
		text->bytes[printed++ % LAST_BYTES] = bytes[i];
	text->printed = printed;
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

unsigned long last_words_state(const atomic_ulong *changes)
{
	return atomic_load_explicit(changes, memory_order_acquire);
}

bool last_words_same(const atomic_ulong *changes, unsigned long from)
{
	atomic_thread_fence(memory_order_acquire);
	return !(from & 1) && atomic_load_explicit(changes, memory_order_relaxed) == from;
}
