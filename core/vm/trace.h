/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exits of vcpus that the operator looks at, the last ones of each hart in a ring. Off, it
 * costs a long exit a look at one byte and a short one nothing: SBI calls are noted by a table of
 * extensions that stands in the true one's place while it is on. Trapped counter reads and
 * overflows that are served on the short way are not noted; `exits` counts them.
 */
#ifndef CORE_VM_TRACE_H
#define CORE_VM_TRACE_H

#include "core/lib/types.h"
#include "core/vm/vm.h"

#define TRACE_SHOWN 64U

struct trace_entry {
	uint64_t time; /* of the host; */
	const struct vcpu *vcpu;
	uint64_t scause;
	uint64_t pc;
	uint64_t value[2]; /* ecall: extension and function; others: stval, htval */
};

/* Off for all. At boot, when their extensions are known. */
void trace_init(void);

/* For the vcpus of vm, NULL: of all. Off is off for all. Boot hart. */
void trace_switch(const struct vm *vm, bool on);

/* A long exit. Home hart, resident. */
void trace_exit(const struct vcpu *vcpu, uint64_t scause);

/* The newest entries of all harts, the newest first; returns how many there are. Boot hart. */
uint32_t trace_newest(struct trace_entry entries[TRACE_SHOWN]);

#endif
