/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a VM that has failed, until it fails again: registers (struct vm_crash), the end
 * of what it printed, and the last exits of each vcpu, if its VM tree has them noted. The life that
 * goes on and the last crash have a set of buffers each, which change places at a crash.
 */
#ifndef CORE_LIFE_LAST_WORDS_H
#define CORE_LIFE_LAST_WORDS_H

#include <stdatomic.h>

#include "core/host/vm_config.h"
#include "core/vcpu/last_words_state.h"
#include "core/vcpu/trace_entry.h"

struct vm;

/* A life begins, and nothing was said in it. Before the VM runs. */
void last_words_begin(struct vm *vm);

/* The VM has failed, and all its vcpus are off: between these two vm->crash is written. Lead hart
 * only. */
void last_words_change(struct vm *vm);
void last_words_keep(struct vm *vm);

/* The VM has printed these bytes. The caller has the console. */
void last_words_printed(struct vm *vm, const char *bytes, size_t n);

/* Notes an exit of a vcpu whose exits are to be noted. Home hart, while the vcpu is resident. */
void last_words_exit(const struct vcpu *vcpu);

/*
 * For the operator, while the VM goes on: `from` is what last_words_state() returned. What was read
 * since is of one crash if last_words_same() says so. 0: the VM has not failed yet.
 */
unsigned long last_words_state(const struct vm *vm);
bool last_words_same(const struct vm *vm, unsigned long from);

#endif
