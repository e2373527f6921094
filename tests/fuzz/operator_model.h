/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bytes on the serial line mean, from docs/console.md and docs/frames.md alone: which VM gets
 * which of them, what is done to VMs, and which requests are answered how.
 */
#ifndef TESTS_FUZZ_OPERATOR_MODEL_H
#define TESTS_FUZZ_OPERATOR_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPERATOR_VMS   3U
#define OPERATOR_VCPUS 2U /* of each VM */

extern const char *const operator_vms[OPERATOR_VMS];

enum effect_kind {
	TO_VM,  /* a: VM, b: byte */
	ACT,    /* a: VM, b: the first letter of start, stop, restart, poweroff: g, s, r, p */
	MOVED,  /* a: VM, b: its vcpu << 8 | hart */
	LINKED, /* a: VM, b: whether up */
	TRACED, /* a: VM or ~0, b: on */
	ANSWER, /* id; b: status, ~0: any */
};

struct effect {
	enum effect_kind kind;
	uint32_t a, b;
	char id[9];
};

/* Forgets all. */
void operator_model_begin(unsigned int n_vms, bool frames);

/* A byte was typed; tell() is called with what follows, in order. */
void operator_model_type(uint8_t byte, void (*tell)(struct effect effect));

/* Whether the line at the prompt was edited by no key that the model does not know: Tab, and those
 * that send ESC. What follows may be another command than the model says. */
bool operator_model_knows(void);

#endif
