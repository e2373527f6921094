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

#include "core/vcpu/vm.h"
#include "tests/host/chance.h"
#include "tests/host/machine/sees.h"

#define MACHINE_HARTS 4U
/* Hz. A microsecond is no whole number of ticks. */
#define MACHINE_TIMEBASE  1000250U
#define MACHINE_COUNTERS  32U
#define MACHINE_VEC_BYTES 16U
#define MACHINE_RAM       (80UL << 20)
#define MACHINE_SHARED    0x4000UL /* bytes that all VMs share */
#define MACHINE_BELL      2U       /* the source of its bell in each VM */

/* Clocks that VMs may have, one page each. */
#define MACHINE_CLOCKS     6U
#define MACHINE_CLOCK_BASE 0x200000UL
#define MACHINE_CLOCK_IRQ  20U

/* Then the IOMMU's wires. */
#define MACHINE_IOMMU_IRQ   (MACHINE_CLOCK_IRQ + MACHINE_CLOCKS)
#define MACHINE_IOMMU_WIRES 2U

/* The PCI bus. */
#define MACHINE_ECAM_BASE 0x30000000UL
#define MACHINE_ECAM_SIZE 0x100000UL
#define MACHINE_PCI_BASE  0x40000000UL
#define MACHINE_PCI_SIZE  0x10000000UL

/* The IMSICs, where harts have guest interrupt files. */
#define MACHINE_IMSIC_BASE 0x8000000UL
#define MACHINE_FILE_BITS  3U
#define MACHINE_IDS        63U

/* What a machine has; chosen by its seed. */
struct machine_kind {
	uint32_t harts;
	bool sstc, vectors, delegated, no_vmids, roam, interactive, frames, hart_flags, late_unmask,
	    busy_operator, stalls, short_lives, slow_line;
	bool firmware_fails;     /* calls return errors now and then, */
	bool boot_fails;         /* before the first guest runs, too */
	bool iommu, iommu_stops; /* it may take no commands for a while */
	uint32_t iommu_wires;
	uint32_t n_vms;
	uint32_t files;    /* guest interrupt files of each hart; 0: they have a PLIC */
	bool schedules;    /* harts have windows, and vcpus one hart each */
	bool chatty;       /* guests print more than the slow line takes */
	uint32_t networks; /* between VMs, each of which has a port of one */
};

struct machine_counter {
	uint64_t value;
	uint64_t selector; /* 1: cycles, 2: instructions; 0: nothing */
	bool not_vs, not_vu, counts_hs, of, runs;
};

struct machine_hart {
	uint64_t id;
	bool started, sleeps;
	uint64_t stalled_until; /* the firmware has it, or it is slow */
	/* It is in the middle of nothing: in a guest, or asleep with nobody resident. */
	bool rests;
	uint64_t rested; /* how often it came to rest */
	uint64_t loads;  /* how often a vcpu became resident: hgatp was written */
	uint32_t index;  /* of hart_stacks[] */
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
	bool records_exits;          /* trap_record() */
	uint32_t fetched;            /* the instruction that the guest executes */
	bool fetch_traps;

	jmp_buf base;
	struct guest_context
	    *ctx;          /* of the guest that is entered; NULL: the hart has just started */
	uint64_t insns_hs; /* instructions in HS so far */
	uint64_t others;   /* ticks that other harts took since it began to do something in HS */
	uint64_t did;      /* visible accesses since then */
	/* The sum of `others`, without stalls, and for as long as it may do something. */
	uint64_t lost;
};

/* How often a vcpu waited for room in the console's output; in windows; with a budget; with one
 * that was spent; how often it stopped, or moved, meanwhile. */
struct machine_waits {
	uint64_t all, in_windows, with_budget, spent, stopped, moved;
};

extern struct machine {
	struct machine_kind kind;
	struct chance chance;
	uint64_t time;
	uint64_t steps, most_steps; /* things that guests did */
	uint64_t spun;              /* accesses since the last of both */
	uint64_t turns;             /* how often another hart went on */
	uint64_t idle;              /* how often all harts slept */
	uint64_t stalled;           /* ticks of all stalls */
	uint64_t fences;            /* grows with each event that fences are about */
	uint32_t faults;            /* calls that the firmware refused */
	struct machine_waits waits;
	struct machine_hart hart[MACHINE_HARTS];
	uint32_t now;                  /* the hart that runs */
	bool off;                      /* switched off */
	bool booted;                   /* a guest was entered */
	char why[200];                 /* empty: no difference was found */
	bool uart_listens, uart_sends; /* it interrupts for received bytes; while it is empty */
	uint64_t uart_until;           /* if it is slow: its FIFO is empty at this time */
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

/* This hart is in the middle of nothing, or is not any more. */
void machine_rests(struct machine_hart *h, bool rests);
/* Another hart runs now, if there is one. */
void machine_turn(void);
/* Whether the timer of the guest in the hart has expired, with Sstc. */
bool machine_guest_timer(const struct machine_hart *h);

/* Returns the host time of the hart's timer. */
uint64_t machine_host_timer(const struct machine_hart *h);
/* The hart's interrupts, with the layout of sip. */
uint64_t machine_pending(const struct machine_hart *h);
void machine_start_hart(uint64_t hartid, uint64_t entry, void *opaque);
struct machine_hart *machine_hart_of(uint64_t hartid);

/* The counters that count instructions or cycles advance. */
void machine_count(struct machine_hart *h, uint64_t insns, bool guest);
void machine_csr_poke(uint32_t csr, uint64_t value);

/* machine_tree.c: the trees that the machine boots with. */
void *machine_host_tree(const struct machine_kind *kind);

/* machine_chip.c: whether an external interrupt pends in a hart; some VM's clock has one, or a VM
 * has served its clock; whether all is as it must be, at any time or while all harts are asleep. */
bool chip_interrupts(uint32_t hart);

/* How many bytes the host's UART takes now. */
size_t uart_takes(void);
void chip_raises(void);
void chip_lowers(const struct vm *vm);
void chip_look(bool asleep);
/* Whether a device of the VM may interrupt the home of this vcpu, which has it enabled. */
bool chip_disturbs(const struct vcpu *vcpu);

/* machine_aia.c: guest interrupt files. What a read of hgeip returns, and what hgeie becomes by a
 * write; whether SGEI interrupts the hart; whether the file of the guest in it interrupts that, or
 * that of a vcpu. */
void aia_reset(void);
uint64_t aia_hgeip(const struct machine_hart *h);
uint64_t aia_listens(const struct machine_hart *h, uint64_t to);
bool aia_interrupts(const struct machine_hart *h);
bool aia_guest_pends(const struct machine_hart *h);
bool aia_pends(const struct vcpu *vcpu);
/* A message to a page of the IMSICs; some message comes from somewhere; the guest in the hart does
 * something with its file, or sends. */
void aia_message(uint64_t page, uint32_t identity);
void aia_messages(void);
void aia_acts(const struct vcpu *vcpu);
/* SGEI makes a guest exit; a guest goes on, or begins in a life. */
void aia_tells(const struct machine_hart *h);
void aia_entered(const struct machine_hart *h, const struct vcpu *vcpu, bool fresh);

/* machine_dma.c: the IOMMU and the bus as after reset; whether a VM has a function; some function
 * accesses memory; whether a wire of the IOMMU is high; whether all is as it must be. */
void dma_reset(void);
bool dma_is_given(const struct vm *vm);
void dma_accesses(void);
bool dma_wire(uint32_t wire);
void dma_look_at(bool asleep);

/* machine_pci.c: the functions of the bus, of which each VM may have one. Whether that masters the
 * bus; whether it did not come back from a reset; it makes a request; while some function is being
 * reset, time passes faster. */
void bus_reset(void);
bool bus_masters(uint32_t vm);
bool bus_is_gone(uint32_t vm);
void bus_requests(uint32_t vm);
void bus_passes_time(void);

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
uint32_t operator_unfinished(void);        /* bytes of those that are not, at most */
/* Frames have begun, and an unfinished line may be on its way, though its VM has ended. */
bool operator_begins(void);
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
void model_mail_served(void);
void model_time(void);

#endif
