/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that does what its seed says, hostile or not. Each vcpu takes numbered steps. All that a
 * step does comes from random numbers of its own, made from seed, life, vcpu and number, so it does
 * the same when the steps before it are left out.
 */
#ifndef GUESTS_FUZZ_H
#define GUESTS_FUZZ_H

/* Offsets in struct fuzz_vcpu, for fuzz.S. */
#define FUZZ_PC      256
#define FUZZ_STATUS  264
#define FUZZ_CAUSE   272
#define FUZZ_TVAL    280
#define FUZZ_STACK   288 /* of the trap handler */
#define FUZZ_BEGIN   296 /* the stack that a vcpu begins with */
#define FUZZ_RUN_SP  304
#define FUZZ_STEP_SP 312
#define FUZZ_SIZE    8192
#define FUZZ_VCPUS   4

#ifndef __ASSEMBLER__
#include "guests/bare/bare.h"

struct fuzz_vcpu {
	uint64_t x[32], pc, status, cause, tval; /* at the last trap */
	uint64_t stack, begin, run_sp, step_sp;
	uint64_t id, step, random, irq_random;
	uint64_t taken; /* steps, in this life */
	uint64_t life;  /* of the guest: a number that is another in each */
	uint64_t until; /* the guest's time at which the step is given up */
	uint64_t irqs, skipped;
	uint64_t seen[FUZZ_VCPUS], seen_at[FUZZ_VCPUS]; /* steps of the others, and when */
	uint64_t code, code_end; /* of fuzz_run(): exceptions here are stepped over */
	uint32_t words[32];
	uint64_t regs[32];
	uint64_t stacks[];
};
_Static_assert(__builtin_offsetof(struct fuzz_vcpu, pc) == FUZZ_PC, "fuzz.h");
_Static_assert(__builtin_offsetof(struct fuzz_vcpu, stack) == FUZZ_STACK, "fuzz.h");
_Static_assert(__builtin_offsetof(struct fuzz_vcpu, step_sp) == FUZZ_STEP_SP, "fuzz.h");

/* Memory that it may change as it likes, above the program. Each vcpu has tables of its own. */
#define SCRATCH       0x80400000UL
#define SCRATCH_BYTES 0x300000UL
#define TABLES        16U
#define TABLES_OF(v)  (SCRATCH + (v)*TABLES * 4096UL)
#define SHARED_CODE   (SCRATCH + FUZZ_VCPUS * TABLES * 4096UL)

#define UART  0x10000000UL
#define PLIC  0x0c000000UL
#define SLOTS 0x10001000UL
#define KEY   0x30109000UL

#define PICK(v, list) ((list)[fuzz_below(v, sizeof(list) / sizeof((list)[0]))])

static inline uint64_t fuzz_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebUL;
	return x ^ x >> 31;
}

static inline uint64_t fuzz_random(struct fuzz_vcpu *v)
{
	return fuzz_mix(v->random += 0x9e3779b97f4a7c15UL);
}

/* Each bit is 1 once in 2^n. */
static inline uint64_t fuzz_few_bits(struct fuzz_vcpu *v, uint32_t n)
{
	uint64_t bits = ~0UL;

	for (uint32_t i = 0; i < n; i++)
		bits &= fuzz_random(v);
	return bits;
}

static inline uint64_t fuzz_below(struct fuzz_vcpu *v, uint64_t n)
{
	return fuzz_random(v) % n;
}

/* True once in n times. */
static inline bool fuzz_once_in(struct fuzz_vcpu *v, uint64_t n)
{
	return fuzz_below(v, n) == 0;
}

/* fuzz.c: prints a line under trace=1. Formats are those of print(). */
void fuzz_say(struct fuzz_vcpu *v, const char *fmt, ...);
/* What a step must find, whatever the one before did. */
void fuzz_restore(struct fuzz_vcpu *v);
uint64_t fuzz_count(void);

/* fuzz_values.c: a number at some edge, an address, or any. */
uint64_t fuzz_value(struct fuzz_vcpu *v);
uint64_t fuzz_event(struct fuzz_vcpu *v);

/* fuzz_code.c: an instruction; code in S or U with all registers at random. */
uint32_t fuzz_csr_word(struct fuzz_vcpu *v);
uint32_t fuzz_float_word(struct fuzz_vcpu *v);
uint32_t fuzz_memory_word(struct fuzz_vcpu *v);
uint32_t fuzz_any_word(struct fuzz_vcpu *v);
void fuzz_code(struct fuzz_vcpu *v, uint32_t (*word)(struct fuzz_vcpu *), uint64_t alias);
/* Executes what is at `code`, under whatever address `alias` adds. */
void fuzz_execute(struct fuzz_vcpu *v, uint32_t *code, uint64_t words, uint64_t alias);

/* The steps. */
void fuzz_sbi(struct fuzz_vcpu *v);
void fuzz_hsm(struct fuzz_vcpu *v);
void fuzz_file(struct fuzz_vcpu *v);
void fuzz_end(struct fuzz_vcpu *v);
void fuzz_flood(struct fuzz_vcpu *v);
void fuzz_print(struct fuzz_vcpu *v);
void fuzz_pmu(struct fuzz_vcpu *v);
void fuzz_csr(struct fuzz_vcpu *v);
void fuzz_float(struct fuzz_vcpu *v);
void fuzz_insn(struct fuzz_vcpu *v);
void fuzz_mmio(struct fuzz_vcpu *v);
void fuzz_shared_code(struct fuzz_vcpu *v);
void fuzz_vector(struct fuzz_vcpu *v);
void fuzz_wait(struct fuzz_vcpu *v);
void fuzz_spin(struct fuzz_vcpu *v);
void fuzz_paging(struct fuzz_vcpu *v);
void fuzz_operator(struct fuzz_vcpu *v);

/* Whether the guest is an operator. Once, before steps of it. */
bool fuzz_operator_begin(void);

/* fuzz.S */
extern struct fuzz_vcpu fuzz_first;
static inline struct fuzz_vcpu *fuzz_vcpu(uint64_t id)
{
	return (struct fuzz_vcpu *)((uint64_t)&fuzz_first + id * FUZZ_SIZE);
}
/* Where a vcpu begins, with a0 = its number. */
void fuzz_begin(uint64_t hartid, uint64_t opaque) __attribute__((noreturn));
/* Calls a step. Returns at an exception outside of fuzz_run(), too. */
void fuzz_try(struct fuzz_vcpu *v, void (*step)(struct fuzz_vcpu *));
/* Loads x1 to x31 and goes on at `code`, in the mode of sstatus. Returns at an ebreak. */
void fuzz_run(struct fuzz_vcpu *v, const uint64_t *x, uint64_t code);
/* One for each vcpu, 64 bytes apart. */
extern uint8_t fuzz_vectors[];

/* Called by fuzz.S. */
void fuzz_loop(struct fuzz_vcpu *v) __attribute__((noreturn));
enum { FUZZ_GO_ON, FUZZ_GIVE_UP, FUZZ_RETURN };
uint64_t fuzz_trap(struct fuzz_vcpu *v);
#endif

#endif
