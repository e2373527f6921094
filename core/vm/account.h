/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the instructions go that the hart executes in HS and M for a vcpu: an account has a row for
 * each kind of exit that there can be, so that no guest can fill it up. It belongs to an observer
 * of hs-instructions (core/vm/observe.h), and its rows add up to what that one has counted.
 *
 * While a vcpu has an account, each exit of its hart begins with exit_noted() (switch.S). What is
 * accounted to the vcpu from one exit to its next is the first one's, as far as it is of the same
 * kind of exit; the rest is in the row ACCOUNT_NO_EXIT. So the exits themselves take what they take
 * without an account, and what noting them takes has a row of its own.
 *
 * All functions are called on the vcpu's home hart, unless they say something else.
 */
#ifndef CORE_VM_ACCOUNT_H
#define CORE_VM_ACCOUNT_H

#include "arch/riscv/trap.h"
#include "core/lib/types.h"

struct vcpu;

/* At most so many vcpus have an account at a time. */
#define ACCOUNTS 16U

struct account_row {
	uint64_t exits;
	uint64_t insns;
	/* Instructions of one exit. Of those behind which there was another exit; none: least is
	 * larger than most. */
	uint64_t least, most;
};

/*
 * The rows. Of the SBI calls of an extension each function that the VM is offered has one, the last
 * one is for all others. Place 0 is all that the VM has no extension for.
 */
#define ACCOUNT_EXTENSIONS 11U
#define ACCOUNT_FUNCTIONS  (VSBI_FUNCTIONS + 1)
#define ACCOUNT_COUNTERS   32U

enum account_class {
	/* By the number from `cycle` on. */
	ACCOUNT_CSR_COUNTER = ACCOUNT_EXTENSIONS * ACCOUNT_FUNCTIONS,
	ACCOUNT_CSR_SCOUNTOVF = ACCOUNT_CSR_COUNTER + ACCOUNT_COUNTERS,
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
	ACCOUNT_NO_EXIT,
	ACCOUNT_NOTING,
	ACCOUNT_CLASSES
};

struct account {
	uint32_t number; /* of its observation; 0: it is free */
	bool counts;
	/* The last exit: its row, the kind that it is accounted to, how many instructions so far. */
	enum account_class last;
	enum vcpu_exit kind;
	uint64_t so_far;
	/* Up to where it is in the rows: all of ctx.hs_insns, and of that kind. */
	uint64_t total, of_kind;
	/* When the last exit began, of EXIT_WFI: how many, and instructions. */
	uint64_t waits, of_waits;
	/* instret where the noting of the last exit began, which ended at ctx.entered_hs. */
	bool noted;
	uint64_t noted_at;
	struct account_row rows[ACCOUNT_CLASSES];
};
_Static_assert(sizeof(struct account) <= 8192, "128 KiB for all");

/* Makes the accounts: for all vcpus of the machine, or ACCOUNTS. At boot, after vsbi_init() of all
 * VMs. alloc() returns zeroed memory of any size. */
void account_init(void *(*alloc)(size_t size));

/* Begins an account for this observation. Returns why there is none, or NULL. */
const char *account_begin(struct vcpu *vcpu, uint32_t number);

/* Brings rows and ctx.hs_insns up to date, if the vcpu has an account. */
void account_settle(struct vcpu *vcpu);

/* Settles it, and notes no more. The rows stay. */
void account_stop(struct vcpu *vcpu);

/* Frees it, if this observation has it. */
void account_end(struct vcpu *vcpu, uint32_t number);

/* Returns 1 if the vcpu's exits are noted now, or 0. */
uint32_t account_counts(const struct vcpu *vcpu);

/* Copies the vcpu's account for account_told(). Its observer was read in this stay. */
void account_tell(const struct vcpu *vcpu);

/* Returns what was copied last. Boot hart only, while no request is posted (core/vm/observe.h). */
const struct account *account_told(void);

/* Returns the number of the observation that the vcpu's account is of, or 0. Any hart may ask; the
 * answer may be outdated when it returns. */
uint32_t account_of(const struct vcpu *vcpu);

/* Returns the id of the extension whose rows are at this place, not 0. */
uint64_t account_extension(uint32_t place);

#endif
