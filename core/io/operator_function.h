/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI function of a VM that is an operator (docs/operator.md): a page of registers, which
 * traps, memory with rings, and an interrupt. core/operator/operator_rings.c serves the rings.
 */
#ifndef CORE_IO_OPERATOR_FUNCTION_H
#define CORE_IO_OPERATOR_FUNCTION_H

#include "core/host/vm_config.h"
#include "core/io/notifier.h"
#include "core/vcpu/vm.h"

/* Registers in its page, of 32 bits. */
#define OPERATOR_DOORBELL    0x00U
#define OPERATOR_STATE       NOTIFIER_STATE
#define OPERATOR_MASK        NOTIFIER_MASK
#define OPERATOR_VERSION     0x0cU
#define OPERATOR_ACCESS      0x10U
#define OPERATOR_SOURCE      0x14U
#define OPERATOR_IDENTITY    0x18U
#define OPERATOR_REQUESTS_HZ 0x1cU
#define OPERATOR_TIME        0x20U /* 64 bits */
#define OPERATOR_RINGS       0x28U /* of samples; ring n is that of the hart at OPERATOR_HART */
#define OPERATOR_SAMPLES_HZ  0x2cU
#define OPERATOR_HART        0x100U /* + 4 n: its id */

/* Bits of OPERATOR_STATE and OPERATOR_MASK. */
#define OPERATOR_ANSWERED 1U

#define OPERATOR_LAYOUT 2U /* OPERATOR_VERSION: the layout of the rings */

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

/* An index of a ring of samples, in a cache line of its own. */
struct operator_index {
	uint64_t words;
	uint8_t rest[56];
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
	/* The rest is there only if the VM may sample. What is written is Tally's, what is taken is
	 * the guest's. */
	struct operator_index samples_written[VM_MAX_HARTS], samples_taken[VM_MAX_HARTS];
};
_Static_assert(offsetof(struct operator_memory, samples_written) == 0x8000 &&
                   offsetof(struct operator_memory, samples_taken) == 0x9000,
               "pages");

/* Behind it, after a gap: a ring of samples for each hart (core/watch/samples.h). */
#define OPERATOR_RINGS_AT   0x10000U
#define OPERATOR_RING_BYTES 0x8000U
_Static_assert(OPERATOR_RINGS_AT + VM_MAX_HARTS * OPERATOR_RING_BYTES <= GUEST_OPERATOR_BYTES &&
                   sizeof(struct operator_memory) <= OPERATOR_RINGS_AT,
               "BAR 2");

/* Bytes of struct operator_memory that the VM has. */
static inline uint32_t operator_bytes(const struct vm *vm)
{
	return vm->config->operator.samples_hz ? sizeof(struct operator_memory)
	                                       : offsetof(struct operator_memory, samples_written);
}

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

/* A life begins (`alive`), or is over. No effect for other VMs. */
void operator_function_reset(struct vm *vm, bool alive);

/* Accesses to its page: a row of core/dispatch/mmio.c. Accesses that are misaligned or of another
 * width than 32 bits read 0 and write nothing. */
uint64_t operator_function_read(struct vm *vm, uint64_t offset, uint32_t width);
void operator_function_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
