/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of `make DEBUG=1`: the owner of each hardware counter, of the FP and vector registers,
 * and of each VMID, on each hart and over time. Each entry is written to a file of the host at
 * once, so none is lost (`tools/run --ledger`). tests/qemu/lib/ledger.py has and checks the rules.
 * It records no exits, so it has no struct exit_record, and it stays in DEBUG builds.
 */
#ifndef CORE_VCPU_LEDGER_H
#define CORE_VCPU_LEDGER_H

#include "core/lib/types.h"

struct vcpu;

enum ledger_what {
	LEDGER_COMES = 1,     /* the vcpu becomes resident; value: hgatp */
	LEDGER_GOES = 2,      /* the vcpu leaves the hart */
	LEDGER_FP = 3,        /* value: a checksum of the FP registers, at load and at put */
	LEDGER_VECTOR = 4,    /* likewise; only for a vcpu with V */
	LEDGER_RESET = 5,     /* all registers of the vcpu are 0 when it is loaded next */
	LEDGER_GVMA = 6,      /* HFENCE.GVMA of all VMIDs */
	LEDGER_VVMA = 7,      /* HFENCE.VVMA; value: hgatp */
	LEDGER_EVICTED = 8,   /* the vcpu's count was read from counter `unit` */
	LEDGER_OWNS = 9,      /* counter `unit` belongs to the vcpu; no vcpu: to none */
	LEDGER_SET = 10,      /* counters were given a value; value: their mask; likewise below */
	LEDGER_RUN = 11,      /* counters run */
	LEDGER_STOP = 12,     /* counters do not run */
	LEDGER_PREPARED = 13, /* counter `unit` was given its event */
	LEDGER_ENTERS = 14,   /* the guest continues, after other entries; value: hcounteren */
};

#ifdef TALLY_DEBUG
/* Opens the file if the command line asks for it. Boot hart only, before other harts run. */
void ledger_open(void);

/* Allocates the memory that ledger_resident() needs. Boot hart only, after the harts' boot. */
void ledger_make(void *(*alloc)(size_t size));

/* Writes an entry. vcpu NULL: it concerns no vcpu. */
void ledger(enum ledger_what what, uint32_t unit, const struct vcpu *vcpu, uint64_t value);

/* Records the hart's contents when the vcpu is loaded or put. The vcpu is resident. */
void ledger_resident(enum ledger_what what, const struct vcpu *vcpu);

/* The guest is about to be entered. The vcpu is resident. */
void ledger_enters(const struct vcpu *vcpu);
#else
#define ledger_open()                   ((void)0)
#define ledger_make(alloc)              ((void)(alloc))
#define ledger(what, unit, vcpu, value) ((void)(what), (void)(unit), (void)(vcpu), (void)(value))
#define ledger_resident(what, vcpu)     ((void)(what), (void)(vcpu))
#endif

#endif
