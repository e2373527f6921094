/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest may see, own, be woken by and pay for, from outside of core/. */
#ifndef MACHINE_MODEL_H
#define MACHINE_MODEL_H

#include "tests/host/machine/machine.h"

#define MODEL_STARTS 64U

/* Registers that a guest may change and nobody else. */
#define MODEL_CSRS 10U
extern const uint32_t model_csrs[MODEL_CSRS];

/* What may have changed when a guest goes on after an exit. */
struct model_expect {
	uint64_t x;        /* bits of integer registers that may differ */
	uint64_t pc[2];    /* one of these */
	bool retires;      /* at pc[1] the instruction was emulated */
	bool may_inject;   /* or it takes an exception */
	bool waits;        /* WFI or suspend: then something must have woken it */
	bool nonretentive; /* suspended with new pc and a1 */
	bool sets_timer, sets_vsie;
	uint64_t timer, vsie;
};

/* What the vcpu has sent to others, to be delivered when its call returns. */
enum { MODEL_SENT_NOTHING, MODEL_SENT_IPI, MODEL_SENT_VVMA, MODEL_SENT_FENCE_I };
struct model_sent {
	uint32_t kind;
	uint64_t to, fences;
	uint64_t changes[VM_MAX_VCPUS], cleared[VM_MAX_VCPUS];
};

struct model_vcpu {
	bool seen, off, in_guest;
	uint64_t life; /* htimedelta of the VM in the life that it was seen in */
	uint32_t hart;
	uint64_t entered_at, guest_ticks, steps;
	/* Its registers when it left the hart. */
	uint64_t x[32], pc, csr[MODEL_CSRS], fp[33], vec_csrs[4];
	uint8_t vec[32 * MACHINE_VEC_BYTES];
	bool user;
	uint64_t vstimecmp, hvip;
	uint64_t timer; /* without Sstc: guest time, ~0: off */
	struct model_expect expect;

	uint64_t steal, turns, debts, cpu, slice_end; /* when it left */
	uint64_t others;                              /* VSSIP of other vcpus of that hart */
	uint64_t changes;                             /* starts and stops that were asked for */
	uint64_t cleared;                             /* how often it has cleared VSSIP */
	uint64_t late_since;                          /* a request is on its way to it, 0: none */
	bool ipi_due;                                 /* VSSIP must be set when it goes on */
	uint64_t vvma_due, fence_i_due; /* fences later than these must have been made */
	uint64_t left_at;               /* machine.fences when it left */
	uint64_t wants_since;           /* it should run since then, 0: it should not */
	bool start_due, looping, hog;   /* hog: it never waits */
	struct model_sent sent;
	struct {
		uint64_t pc, opaque;
	} starts[MODEL_STARTS]; /* what other vcpus asked for */
	uint32_t n_starts;

	/* A counter of instructions. */
	uint64_t says; /* letters that its call prints */
	bool masked;   /* it has masked LCOFI since its last exit */
	bool refused;  /* the call must return an error */
	bool counts, begins;
	uint32_t counter, reads; /* reads: a register gets its value, 0: none */
	uint64_t count;
};

/* What a VM has printed: at least what its finished calls did, and at most what was begun. */
struct model_text {
	uint64_t least, most;
};
extern struct model_text model_texts[VM_MAX_VMS];

struct model_vcpu *model_of(const struct vcpu *vcpu);
/* Whether requests to it have to reach it. */
bool model_is_on(struct vcpu *vcpu);
/* Before each thing that the guest in this hart does. */
void model_step(struct machine_hart *h, struct vcpu *vcpu);
/* Guests of a VM write such words into their memory, and no others. */
uint64_t model_stamp(const struct vcpu *vcpu);
/* The guest has executed so many instructions. */
void model_retired(struct machine_hart *h, struct vcpu *vcpu, uint64_t insns);
/* It has read its counter. */
void model_read(struct vcpu *vcpu, uint64_t value);

#endif
