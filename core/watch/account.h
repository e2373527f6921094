/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of the instructions that the hart executes in HS and M for a vcpu: an account has a row
 * for each possible kind of exit, so that no guest can fill it up. It belongs to an observer of
 * hs-instructions (core/watch/observe.h). Each stay is added to a row when ctx.hs_insns grows by it
 * (core/watch/stays.h), so the rows add up to the observer's count.
 *
 * A stay, or a part of one, is counted for the exit before it if it is the first one accounted to
 * the vcpu after the exit, or if it has the same kind and belongs to the same exit: the hart had no
 * other exit meanwhile, or it is a later part of a long call. Other work for the vcpu (requests of
 * others, its VM's next life) has no exit, and has rows of its own, by the kind that it is
 * accounted to.
 *
 * All functions are called on the vcpu's home hart, unless they say something else.
 */
#ifndef CORE_WATCH_ACCOUNT_H
#define CORE_WATCH_ACCOUNT_H

#include "arch/riscv/hart/context.h"
#include "core/host/vm_config.h"
#include "core/lib/types.h"
#include "core/vcpu/exit_record.h"

struct vcpu;

/* The maximum number of vcpus with an account at a time. */
#define ACCOUNTS 16U

struct account_row {
	uint64_t exits;
	uint64_t insns;
	uint32_t least, most; /* instructions of one exit; least > most if there was none */
};

/* The rows of SBI calls. Each function that a VM may be offered has one; the other functions of an
 * extension share one. Row 0 is for calls of extensions that the VM does not have. */
#define ACCOUNT_CALLS 56U

/* prompt_accounts.c has the names, in the same order. */
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
	ACCOUNT_INSN_MUTE, /* one that the hart did not provide, and that does not wait */
	ACCOUNT_WAIT_MUTE, /* WFI or WRS.NTO, which the hart did not provide */
	ACCOUNT_TIMER,
	ACCOUNT_IPI,
	ACCOUNT_EXTERNAL,
	ACCOUNT_LCOFI,
	ACCOUNT_INTERRUPT, /* another one */
	ACCOUNT_LOAD,      /* this or STORE, plus twice mmio_device() */
	ACCOUNT_STORE,
	ACCOUNT_FETCH = ACCOUNT_LOAD + 2 * (VM_EMULATED + 1),
	ACCOUNT_EXCEPTION, /* another one */
	ACCOUNT_NO_EXIT,   /* plus enum vcpu_exit */
	ACCOUNT_CLASSES = ACCOUNT_NO_EXIT + VCPU_KINDS
};

struct account {
	uint32_t number; /* of its observation; 0 if the account is free */
	/* The last exit: its row, the kind that it is accounted to (VCPU_KINDS if there was none),
	 * and its instructions so far. */
	enum account_class last;
	enum vcpu_exit kind;
	uint64_t so_far;
	struct account_row rows[ACCOUNT_CLASSES];
};
_Static_assert(sizeof(struct account) <= 2704, "43 KiB for all");

/* Allocates the accounts: one for each vcpu of the machine, at most ACCOUNTS. At boot, after
 * vsbi_init() of all VMs. alloc() returns zeroed memory of any size. */
void account_init(void *(*alloc)(size_t size));

/* Begins an account for this observation. Returns the reason if it cannot, or NULL. */
const char *account_begin(struct vcpu *vcpu, uint32_t number);

/* Adds a stay, or a part of one. `exit` is the hart's last exit; *accounted says whether the
 * account of its vcpu has it already, and is set if it is added now. */
void account_stay(struct vcpu *vcpu, const struct exit_record *exit, bool *accounted,
                  enum vcpu_exit why, uint64_t insns);

/* Frees the vcpu's account if it belongs to this observation. */
void account_end(struct vcpu *vcpu, uint32_t number);

/* Copies the vcpu's account to account_told. Its observer was read in this stay. */
void account_copy(const struct vcpu *vcpu);

/* The last copy. For the holder of the prompt, while no request is posted
 * (core/watch/observe.h). */
extern struct account account_told;

/* Returns the number of the observation that owns the vcpu's account, or 0. Any hart may call it;
 * the result may be outdated when it returns. */
uint32_t account_of(const struct vcpu *vcpu);

#endif
