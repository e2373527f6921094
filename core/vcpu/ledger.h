/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of `make DEBUG=1`: who had which hardware counter, the FP and vector registers, and
 * the VMID of each hart, from when to when. Each entry goes to a file of the host's at once, so
 * none is lost (`tools/run --ledger`). tests/qemu/lib/ledger.py has the rules, and checks them.
 */
#ifndef CORE_VCPU_LEDGER_H
#define CORE_VCPU_LEDGER_H

#include "core/lib/types.h"

struct vcpu;

enum ledger_what {
	LEDGER_COMES = 1,   /* the vcpu is resident from now on; value: hgatp */
	LEDGER_GOES = 2,    /* until now */
	LEDGER_FP = 3,      /* value: a sum over the FP registers, when it comes and when it goes */
	LEDGER_VECTOR = 4,  /* likewise; only of a vcpu with V */
	LEDGER_RESET = 5,   /* all its registers are 0 when it comes next */
	LEDGER_GVMA = 6,    /* HFENCE.GVMA of all VMIDs */
	LEDGER_VVMA = 7,    /* HFENCE.VVMA; value: hgatp */
	LEDGER_EVICTED = 8, /* the vcpu's count was read from the counter, unit */
	LEDGER_OWNS = 9,    /* the counter, unit, is the vcpu's; none: nobody's */
	LEDGER_SET = 10,    /* counters were given a value; value: their mask, and so on */
	LEDGER_RUN = 11,    /* ... run */
	LEDGER_STOP = 12,   /* ... do not run */
	LEDGER_PREPARED = 13, /* the counter, unit, was given its event */
	LEDGER_ENTERS = 14,   /* the guest goes on, after other entries; value: hcounteren */
};

#ifdef TALLY_DEBUG
/* Opens the file, if the command line says so. Boot hart only, before other harts run. */
void ledger_open(void);

/* Makes room for what ledger_resident() looks at. Boot hart only, after the harts' boot. */
void ledger_make(void *(*alloc)(size_t size));

/* Writes an entry; vcpu NULL: of none. */
void ledger(enum ledger_what what, uint32_t unit, const struct vcpu *vcpu, uint64_t value);

/* The vcpu comes or goes: what the hart has of it. It is resident. */
void ledger_resident(enum ledger_what what, const struct vcpu *vcpu);

/* The guest is about to go on. The vcpu is resident. */
void ledger_enters(const struct vcpu *vcpu);
#else
static inline void ledger_open(void)
{
}

static inline void ledger_make(void *(*alloc)(size_t size))
{
	(void)alloc;
}

static inline void ledger(enum ledger_what what, uint32_t unit, const struct vcpu *vcpu,
                          uint64_t value)
{
	(void)what, (void)unit, (void)vcpu, (void)value;
}

static inline void ledger_resident(enum ledger_what what, const struct vcpu *vcpu)
{
	(void)what, (void)vcpu;
}
#endif

#endif
