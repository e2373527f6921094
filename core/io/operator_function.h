/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI function of a VM that is an operator (docs/operator.md): a page of registers, which
 * traps, memory with rings, and an interrupt. core/operator/operator_rings.c serves the rings.
 */
#ifndef CORE_IO_OPERATOR_FUNCTION_H
#define CORE_IO_OPERATOR_FUNCTION_H

#include "core/host/vm_config.h"
#include "core/vcpu/vm.h"

/* Registers in its page, of 32 bits. */
#define OPERATOR_DOORBELL    0x00U
#define OPERATOR_STATE       0x04U
#define OPERATOR_MASK        0x08U
#define OPERATOR_VERSION     0x0cU
#define OPERATOR_ACCESS      0x10U
#define OPERATOR_SOURCE      0x14U
#define OPERATOR_IDENTITY    0x18U
#define OPERATOR_REQUESTS_HZ 0x1cU
#define OPERATOR_TIME        0x20U /* 64 bits */

/* Bits of OPERATOR_STATE and OPERATOR_MASK. */
#define OPERATOR_ANSWERED 1U

#define OPERATOR_LAYOUT 1U /* OPERATOR_VERSION: the layout of the rings */

/*
 * The rings. Each index counts all that there ever was, modulo 2^32, and has one writer. The guest
 * may write its own page and requests, and should not write the rest.
 */
#define OPERATOR_REQUESTS 64U
#define OPERATOR_ANSWERS  16U

struct operator_request {
	uint64_t tag; /* the guest's; its answers have it */
	char text[120];
};

enum { OPERATOR_LINE, OPERATOR_END };
struct operator_answer {
	uint64_t tag;
	uint32_t kind;
	uint32_t status; /* enum prompt_status; of OPERATOR_END */
	uint32_t length; /* of the text, without the NUL behind it; 0 of OPERATOR_END */
	uint32_t unused;
	char text[1000];
};

struct operator_memory {
	union {
		struct {
			uint32_t requests_taken, answers_written;
		};
		uint8_t page[PAGE_SIZE];
	} tally; /* Tally writes it */
	union {
		struct {
			uint32_t requests_written, answers_taken;
		};
		uint8_t page[PAGE_SIZE];
	} guest; /* the guest writes it */
	struct operator_request requests[OPERATOR_REQUESTS];
	struct operator_answer answers[OPERATOR_ANSWERS];
};
_Static_assert(sizeof(struct operator_memory) == GUEST_OPERATOR_BYTES, "BAR 2");

static inline bool operator_is(const struct vm *vm)
{
	return vm->config->operator.access != VM_OPERATOR_NONE;
}

/* Makes the function of an operator; `memory` is cleared. alloc() returns zeroed memory. At boot
 * only. */
void operator_function_make(struct vm *vm, struct operator_memory *memory,
                            void *(*alloc)(size_t size));

/* The rings of an operator. */
struct operator_memory *operator_function_memory(const struct vm *vm);

/* Tells the guest that there are answers. Any hart may call it. */
void operator_function_tell(struct vm *vm);

/* A life begins, or is over. No effect for other VMs. */
void operator_function_begin(struct vm *vm);
void operator_function_end(struct vm *vm);

/* Accesses to its page: a row of core/dispatch/mmio.c. Accesses that are misaligned or of another
 * width than 32 bits read 0 and write nothing. */
uint64_t operator_function_read(struct vm *vm, uint64_t offset, uint32_t width);
void operator_function_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
