/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The remains of a VM that has failed, until it fails again: registers (struct vm_crash), the end
 * of its output, and the last exits of each vcpu, if its VM tree has them recorded. Of each life
 * that has ended, until the next one ends: when and why (struct vm_ended), and the end of its
 * output. The buffers of a life become those of the last crash and the last end.
 */
#ifndef CORE_LIFE_LAST_WORDS_H
#define CORE_LIFE_LAST_WORDS_H

#include "core/vcpu/vm_state.h"
#include "core/vcpu/exit_record.h"

struct vm;

/* A life begins, with no output so far. Before the VM runs. */
void last_words_begin(struct vm *vm);

/* All vcpus of the VM are off. What a crash or an end leaves is written between these two calls.
 * Lead hart only. */
void last_words_change(atomic_ulong *changes);
void last_words_changed(atomic_ulong *changes);

/* Keeps text and exits of the life that has ended, and whether it has failed. Between these calls,
 * too. */
void last_words_keep(struct vm *vm, bool failed);

/* The VM has printed these bytes. The caller holds the console's lock. */
void last_words_add_output(struct vm *vm, const char *bytes, size_t n);

/* Stores an exit of a vcpu whose VM has crash-exits. Home hart. */
void last_words_add_exit(const struct exit_record *exit);

/*
 * For the operator, while the VM runs: `from` is an earlier result of last_words_state(). If
 * last_words_same() returns true, all reads since then are of one crash, or of one end. 0: there
 * has been none yet.
 */
unsigned long last_words_state(const atomic_ulong *changes);
bool last_words_same(const atomic_ulong *changes, unsigned long from);

#endif
