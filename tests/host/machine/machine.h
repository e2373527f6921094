/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of several harts, in one thread, for all of core/: each hart is a coroutine with its
 * own stack, CSRs and counters. Where harts can see each other (machine_sees()) another one may go
 * on first, as the seed says. Below core/ is the firmware (machine_firmware.c), above it are guests
 * (guest.c) that do one thing after the other at random, and an operator (operator.c). What must
 * hold is in model.c.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/vm/vm.h"
#include "tests/host/chance.h"
#include "tests/host/machine/sees.h"

#define MACHINE_HARTS     4U
#define MACHINE_TIMEBASE  1000000U /* Hz */
#define MACHINE_COUNTERS  32U
#define MACHINE_VEC_BYTES 16U
#define MACHINE_RAM       (80UL << 20)

/* What a machine has; chosen by its seed. */
struct machine_kind {
	uint32_t harts;
	bool sstc, vectors, delegated, no_vmids, roam, interactive, frames, hart_flags, late_unmask,
	    busy_operator;
	bool firmware_fails; /* calls return errors now and then */
	uint32_t n_vms;
};

struct machine_counter {
	uint64_t value;
	uint64_t selector; /* 1: cycles, 2: instructions; 0: nothing */
	bool not_vs, not_vu, counts_hs, of, runs;
};

struct machine_hart {
	uint64_t id;
	bool started, sleeps;
	uint32_t index; /* of hart_stacks[] */
	uint64_t start_entry;
	void *start_opaque;

	uint64_t csr[4096];
	uint64_t timer; /* without Sstc */
	struct machine_counter counters[MACHINE_COUNTERS];
	uint64_t m_counters[5]; /* firmware events that only M-mode sees */

	/* Registers of who is in the hart. */
	uint64_t x[32];
	uint64_t fp[33];
	uint64_t vec_csrs[4];
	uint8_t vec[32 * MACHINE_VEC_BYTES];
	bool user;                      /* the guest is in VU */
	bool guest_waits;               /* it sleeps, but its guest's interrupts end that, too */
	const struct vcpu *reserved_by; /* holds a load reservation; NULL: nobody */

	/* Translations and instructions that the hart may have cached: by whom, under which VMID.
	 */
	uint64_t vs_cached[32]; /* bits of vcpus */
	bool gvma_fenced[32];
	uint64_t vvma_fenced[32]; /* machine.fences at the last fence of that VMID */
	uint64_t fence_i_at;

	bool trap_expected, trapped; /* trap_guard */
	uint32_t fetched;            /* the instruction that the guest executes */
	bool fetch_traps;

	jmp_buf base;
	struct guest_context
	    *ctx;          /* of the guest that is entered; NULL: the hart has just started */
	uint64_t insns_hs; /* instructions in HS so far */
};

extern struct machine {
	struct machine_kind kind;
	struct chance chance;
	uint64_t time;
	uint64_t steps, most_steps; /* things that guests did */
	uint64_t spun;              /* accesses since the last of both */
	uint64_t turns;             /* how often another hart went on */
	uint64_t idle;              /* how often all harts slept */
	uint64_t fences;            /* grows with each event that fences are about */
	uint32_t faults;            /* calls that the firmware refused */
	struct machine_hart hart[MACHINE_HARTS];
	uint32_t now;  /* the hart that runs */
	bool off;      /* switched off */
	bool booted;   /* a guest was entered */
	char why[200]; /* empty: no difference was found */
	bool uart_listens;
} machine;

static inline struct machine_hart *machine_hart(void)
{
	return &machine.hart[machine.now];
}

/* Runs a machine for so many steps. Returns false if something did not hold; machine.why says what
 * and machine.steps when. */
bool machine_run(uint64_t seed, uint64_t steps);

/* Something does not hold: the run ends. */
_Noreturn void machine_differs(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The machine ends as it may. */
_Noreturn void machine_ends(void);

/* Another hart runs now, if there is one. */
void machine_turn(void);
/* The hart's interrupts, with the layout of sip. */
uint64_t machine_pending(const struct machine_hart *h);
void machine_start_hart(uint64_t hartid, uint64_t entry, void *opaque);
struct machine_hart *machine_hart_of(uint64_t hartid);

/* The counters that count instructions or cycles advance. */
void machine_count(struct machine_hart *h, uint64_t insns, bool guest);
void machine_csr_poke(uint32_t csr, uint64_t value);

/* machine_tree.c: the trees that the machine boots with. */
void *machine_host_tree(const struct machine_kind *kind);

/* guest.c: what the hart does after it has entered a guest. Never returns. */
_Noreturn void guest_runs(struct machine_hart *h);

/* operator.c */
extern bool operator_shows; /* what is printed goes to stdout, too */
void operator_reset(void);
uint64_t operator_next(void); /* when it types again */
bool operator_has_typed(void);
int operator_byte(void);
void operator_output(const char *bytes, size_t n);
/* What a VM has printed: must come out unchanged, as its own. */
char operator_letter(uint32_t vm);
extern uint64_t operator_seen[VM_MAX_VMS]; /* letters on lines that are complete */
/* Bits of VMs: frames have begun since, so what was seen of an open line comes once more. */
extern uint32_t operator_repeats;

/* model.c */
void model_reset(void);
void model_entered(struct machine_hart *h, struct vcpu *vcpu);
void model_left(struct machine_hart *h, struct vcpu *vcpu);
void model_hgatp(struct machine_hart *h, uint64_t hgatp);
/* Interrupts that the guest in the hart has enabled, and that pend. */
uint64_t model_interrupts(const struct machine_hart *h);
void model_standstill(void);
void model_time(void);

#endif
