/* SPDX-License-Identifier: Apache-2.0 */
/* An exit, as stored in the trace and in a VM's last words. */
#ifndef CORE_VCPU_TRACE_ENTRY_H
#define CORE_VCPU_TRACE_ENTRY_H

#include "core/lib/types.h"

struct vcpu;

struct trace_entry {
	uint64_t time; /* host time */
	const struct vcpu *vcpu;
	uint64_t scause;
	uint64_t pc;
	uint64_t value[2]; /* ECALL: extension and function id; otherwise stval and htval */
};

#endif
