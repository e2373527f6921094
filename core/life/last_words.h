/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The remains of a VM that has failed, until it fails again: registers (struct vm_crash), the end
 * of its output, and the last exits of each vcpu, if its VM tree has them recorded. The current
 * life and the last crash have a set of buffers each, which are swapped at a crash.
 */
#ifndef CORE_LIFE_LAST_WORDS_H
#define CORE_LIFE_LAST_WORDS_H

#include "core/vcpu/vm_state.h"
#include "core/vcpu/exit_record.h"

struct vm;

/* A life begins, with no output so far. Before the VM runs. */
void last_words_begin(struct vm *vm);

/* The VM has failed, and all its vcpus are off: vm->crash is written between these two calls. Lead
 * hart only. */
void last_words_change(struct vm *vm);
void last_words_keep(struct vm *vm);

/* The VM has printed these bytes. The caller holds the console's lock. */
void last_words_add_output(struct vm *vm, const char *bytes, size_t n);

/* Stores an exit of a vcpu whose VM has crash-exits. Home hart. */
void last_words_add_exit(const struct exit_record *exit);

/*
 * For the operator, while the VM runs: `from` is an earlier result of last_words_state(). If
 * last_words_same() returns true, all reads since then are of one crash. 0: the VM has not failed
 * yet.
 */
unsigned long last_words_state(const struct vm *vm);
bool last_words_same(const struct vm *vm, unsigned long from);

#endif
