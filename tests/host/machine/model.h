/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest may see, own, be woken by and pay for, from outside of core/. */
#ifndef MACHINE_MODEL_H
#define MACHINE_MODEL_H

#include "tests/host/machine/machine.h"

#define MODEL_STARTS 64U
/* Where in their memory guests write, and how many words. */
#define MODEL_WINDOW 0x100000UL
#define MODEL_WORDS  64U

/* Registers that a guest may change and nobody else. */
#define MODEL_CSRS 11U
extern const uint32_t model_csrs[MODEL_CSRS];

/* What may have changed when a guest goes on after an exit. */
struct model_expect {
	uint64_t x;        /* bits of integer registers that may differ */
	uint64_t zero;     /* of those that are 0 if the instruction was emulated */
	uint64_t pc[2];    /* one of these */
	bool retires;      /* at pc[1] the instruction was emulated */
	bool may_inject;   /* or it takes an exception */
	bool waits;        /* WFI or suspend: then something must have woken it */
	bool nonretentive; /* suspended with new pc and a1 */
	bool sets_timer, sets_vsie;
	uint64_t timer, vsie;
	uint64_t clears; /* bits of hvip */
};

/* What the vcpu has sent to others, to be delivered when its call returns. */
enum { MODEL_SENT_NOTHING, MODEL_SENT_IPI, MODEL_SENT_VVMA, MODEL_SENT_FENCE_I };
enum { MODEL_SAMPLES_NOTHING, MODEL_SAMPLES_STOP, MODEL_SAMPLES_START };
struct model_sent {
	uint32_t kind;
	uint64_t to, fences;
	uint64_t changes[VM_MAX_VCPUS], cleared[VM_MAX_VCPUS];
};

/* Something that other harts may be about to tell; see model_mail.c. */
struct model_due {
	bool on;
	uint64_t rested[MACHINE_HARTS];
};

struct model_vcpu {
	bool seen, off, in_guest;
	uint64_t life; /* htimedelta of the VM in the life that it was seen in */
	uint32_t hart;
	uint64_t entered_at, guest_ticks, steps;
	uint64_t called_at; /* steps + 1 when it came with an IPI for its hart; 0: without */
	/* Its registers when it left the hart. */
	uint64_t x[32], pc, csr[MODEL_CSRS], fp[33], vec_csrs[4];
	uint8_t vec[32 * MACHINE_VEC_BYTES];
	bool user;
	uint64_t vstimecmp, hvip;
	uint64_t timer; /* without Sstc: guest time, ~0: off */
	struct model_expect expect;

	uint64_t steal, turns, debts, cpu, stay;     /* when it left */
	uint64_t had, time, moves, insns, accounted; /* the same */
	bool noted;                                  /* the same: stays are noted */
	uint64_t lost;    /* ticks since its timer expired in which other harts had the machine */
	uint64_t others;  /* VSSIP of other vcpus of that hart */
	uint64_t changes; /* starts and stops that were asked for */
	uint64_t cleared; /* how often it has cleared VSSIP */
	struct model_due ipi, wakes;    /* on their way to it */
	bool ipi_due;                   /* VSSIP must be set when it goes on */
	uint64_t vvma_due, fence_i_due; /* fences later than these must have been made */
	uint64_t left_at;               /* machine.fences when it left */
	uint64_t wants_since;           /* it should run since then, 0: it should not */
	uint64_t wants_in;              /* number of the life in which it was looked at last */
	bool start_due, looping, hog;   /* hog: it never waits */
	struct model_sent sent;
	struct {
		uint64_t pc, opaque, life;
	} starts[MODEL_STARTS]; /* what other vcpus asked for */
	uint32_t n_starts;

	/* A counter of instructions. */
	/* Letters that its call prints, if all; and whether the call may print fewer. */
	uint64_t says;
	bool says_some;
	bool prints; /* its call or store prints, and may wait for the serial line */
	/* How often it has waited for room in the console's output. */
	uint64_t output_waits, output_seen;
	uint32_t burst;                     /* bytes that it still stores to its UART in a row */
	const struct pcpu *output_waits_on; /* its home when it began to wait for room; NULL */
	bool masked;                        /* it has masked LCOFI since its last exit */
	bool refused;                       /* the call must return an error */
	bool granted;                       /* the call must not say that a parameter is invalid */
	bool counts, begins;
	uint32_t counter, reads; /* reads: a register gets its value, 0: none */
	uint64_t count;
	bool stopped, wrapped; /* the counter; its LCOFI is not there yet */
	bool sampler;          /* no other counter of it can overflow */
	uint32_t samples;      /* MODEL_SAMPLES_: what its call does with the counter */
	uint64_t sample;       /* from where it is to count */
};

/* What a VM has printed: at least what its finished calls did, and at most what was begun. */
struct model_text {
	uint64_t least, most;
};
extern struct model_text model_texts[VM_MAX_VMS];

/* How many of the first n bytes of a guest's text are no line feeds. */
uint64_t model_letters(uint64_t n);

#define DIFFERS(vcpu, format, ...)                                                                 \
	machine_differs("vm%u vcpu %u on hart %u: " format, (vcpu)->vm->index, (vcpu)->id,         \
	                machine.now, ##__VA_ARGS__)

struct model_vcpu *model_of(const struct vcpu *vcpu);
uint32_t model_vmid_of(const struct vcpu *vcpu);

/* model_see.c: at an entry, as it was when it left, or as at a start; and at any time */
void model_see_same(struct machine_hart *h, struct vcpu *vcpu);
void model_see_fresh(struct machine_hart *h, struct vcpu *vcpu, bool new_life);
void model_see_memory(const struct vcpu *vcpu);
/* Its vstimecmp. With Sstc: of the guest in the hart. Tally keeps it where the hart does not
 * compare it. */
uint64_t model_timer_of(const struct machine_hart *h, const struct vcpu *vcpu);

/* model_own.c; the first frame of all schedules begins at that host time */
void model_own_frames_begin(uint64_t at);
void model_own_hart(struct machine_hart *h, struct vcpu *vcpu);
void model_own_fences(struct machine_hart *h, struct vcpu *vcpu);

/* model_sent.c: whether a fence is missing that somebody counts on; and at an entry, the call that
 * it is the end of */
bool model_is_behind(const struct machine_hart *h, const struct vcpu *vcpu);
void model_call_returned(struct machine_hart *h, struct vcpu *vcpu);

/* model_wake.c: whether a vcpu that is in no hart has to run; and what a hart's step shows */
void model_wake_reset(void);
bool model_should_run(struct vcpu *vcpu);
void model_wake_neighbours(const struct vcpu *vcpu);
void model_wake_stopi(const struct machine_hart *h, const struct vcpu *vcpu);

/* model_mail.c */
bool model_is_late(struct model_due *due);
void model_mail_reset(void);
void model_mail_step(const struct machine_hart *h);

/* model_pay.c */
void model_pay_left(const struct machine_hart *h, const struct vcpu *vcpu);
void model_pay_entered(const struct machine_hart *h, const struct vcpu *vcpu);
void model_pay_times(const struct vcpu *vcpu);
void model_pay_step(const struct vcpu *vcpu);
void model_pay_sums(void);
/* Since host time `from` other harts had the machine, and this one got nothing done. */
void model_pay_lost(uint64_t from);

/* model_heart.c: it is about to ring; whether the VM should have rung by now */
void model_rings(const struct vcpu *vcpu);
void model_heart_step(const struct vcpu *vcpu);

/* model_ports.c */
void model_ports_reset(void);

/* guest_rtc.c */
void model_alarm_step(void);
bool model_is_silent(const struct vm *vm);

/* model_count.c: its counter of instructions, and LCOFIs */
void model_retired_late(const struct machine_hart *h, struct vcpu *vcpu);
void model_sampled(const struct machine_hart *h, struct vcpu *vcpu);
void model_lcofi_entered(const struct machine_hart *h, const struct vcpu *vcpu);
void model_lcofi_step(const struct machine_hart *h, const struct vcpu *vcpu);

/* Whether requests to it have to reach it. */
bool model_is_on(struct vcpu *vcpu);
/* Before each thing that the guest in this hart does. */
void model_step(struct machine_hart *h, struct vcpu *vcpu);
/* The first byte that a VM sees of its memory, and behind the last. */
uint64_t model_ram(const struct vm *vm);
uint64_t model_ram_end(const struct vm *vm);
/* Guests of a VM write such words into their memory, and no others. */
uint64_t model_stamp(const struct vcpu *vcpu);
/* The guest has executed so many instructions. */
void model_retired(struct machine_hart *h, struct vcpu *vcpu, uint64_t insns);
/* It has read its counter. */
void model_read(struct vcpu *vcpu, uint64_t value);

#endif
