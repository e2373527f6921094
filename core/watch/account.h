/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the instructions go that the hart executes in HS and M for a vcpu: an account has a row for
 * each kind of exit that there can be, so that no guest can fill it up. It belongs to an observer
 * of hs-instructions (core/watch/observe.h). Each stay is added to a row when ctx.hs_insns grows by
 * it (core/watch/stays.h), so the rows add up to what the observer has counted.
 *
 * A stay, or a part of one, is its exit's if it is the first one accounted to the vcpu after it, or
 * if it is of the same kind and belongs together with that one: the hart had no other exit
 * meanwhile, or it is a later part of a long call. What else is done for the vcpu (requests of
 * others, its VM's next life) has no exit, and rows of its own, by the kind that it is accounted
 * to.
 *
 * All functions are called on the vcpu's home hart, unless they say something else.
 */
#ifndef CORE_WATCH_ACCOUNT_H
#define CORE_WATCH_ACCOUNT_H

#include "arch/riscv/hart/trap.h"
#include "core/lib/types.h"

struct vcpu;

/* At most so many vcpus have an account at a time. */
#define ACCOUNTS 16U

struct account_row {
	uint64_t exits;
	uint64_t insns;
	uint32_t least, most; /* instructions of one exit; without an exit least is larger */
};

/* The rows. Of the SBI calls of an extension each function has one that a VM may be offered, and
 * all others have one. Row 0 is of all that the VM has no extension for. */
#define ACCOUNT_CALLS 56U

/* prompt_accounts.c has the names, in this order. */
enum account_class {
	ACCOUNT_CSR_CYCLE = ACCOUNT_CALLS,
	ACCOUNT_CSR_TIME,
	ACCOUNT_CSR_INSTRET,
	ACCOUNT_CSR_HPM, /* hpmcounter3 to 31 */
	ACCOUNT_CSR_SCOUNTOVF,
	ACCOUNT_CSR_SIE,
	ACCOUNT_CSR_SIP,
	ACCOUNT_CSR_STIMECMP,
	ACCOUNT_CSR_SIREG,
	ACCOUNT_CSR_OTHER,
	ACCOUNT_WFI,
	ACCOUNT_WRS_NTO,
	ACCOUNT_INSN,      /* another virtual instruction */
	ACCOUNT_INSN_MUTE, /* one that the hart did not tell, and that does not wait */
	ACCOUNT_WAIT_MUTE, /* WFI or WRS.NTO, which the hart did not tell */
	ACCOUNT_TIMER,
	ACCOUNT_IPI,
	ACCOUNT_EXTERNAL,
	ACCOUNT_LCOFI,
	ACCOUNT_INTERRUPT, /* another one */
	ACCOUNT_LOAD,      /* and by mmio_device(), twice that */
	ACCOUNT_STORE,
	ACCOUNT_FETCH = ACCOUNT_LOAD + 2 * 6,
	ACCOUNT_EXCEPTION, /* another one */
	ACCOUNT_NO_EXIT,   /* and by enum vcpu_exit */
	ACCOUNT_CLASSES = ACCOUNT_NO_EXIT + VCPU_KINDS
};

struct account {
	uint32_t number; /* of its observation; 0: it is free */
	/* The last exit: its row, the kind that it is accounted to, how many instructions so far.
	 * VCPU_KINDS: there was none. */
	enum account_class last;
	enum vcpu_exit kind;
	uint64_t so_far;
	struct account_row rows[ACCOUNT_CLASSES];
};
_Static_assert(sizeof(struct account) <= 2560, "40 KiB for all");

/* Makes the accounts: for all vcpus of the machine, or ACCOUNTS. At boot, after vsbi_init() of all
 * VMs. alloc() returns zeroed memory of any size. */
void account_init(void *(*alloc)(size_t size));

/* Begins an account for this observation. Returns why there is none, or NULL. */
const char *account_begin(struct vcpu *vcpu, uint32_t number);

/* Adds a stay, or a part of one. `exit` is the last one of the hart. */
void account_stay(struct vcpu *vcpu, struct noted_exit *exit, enum vcpu_exit why, uint64_t insns);

/* Adds no more. The rows stay. */
void account_stop(struct vcpu *vcpu);

/* Frees it, if this observation has it. */
void account_end(struct vcpu *vcpu, uint32_t number);

/* Copies the vcpu's account for account_told(). Its observer was read in this stay. */
void account_tell(const struct vcpu *vcpu);

/* Returns what was copied last. Boot hart only, while no request is posted
 * (core/watch/observe.h). */
const struct account *account_told(void);

/* Returns the number of the observation that the vcpu's account is of, or 0. Any hart may ask; the
 * answer may be outdated when it returns. */
uint32_t account_of(const struct vcpu *vcpu);

#endif
