/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hart without defects below vpmu/port.h, for the unit tests of vpmu/. It records what it is
 * asked, and fails the test if a rule of port.h is broken. Home counters: cycles 3, instructions 4,
 * dTLB read misses 5; raw events 8 to 11. The VM's RAM is five pages.
 */
#ifndef TESTS_HOST_VPMU_STUB_H
#define TESTS_HOST_VPMU_STUB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/host/csr_read.h"
#include "tests/host/vpmu_calls.h"
#include "vpmu/vpmu.h"

#define CYCLES     0x00001UL
#define INSTRS     0x00002UL
#define DTLB       0x10019UL
#define RAW        0x20000UL
#define RAW2       0x30000UL
#define RAW_INSTRS 0x77002UL /* the raw event_data by which this hart knows instructions */
#define FW(n)      (0xf0000UL | (n))

#define ALL 0x7ffffffffUL /* every index of the standard policy, the hole at 1 included */
#define HW  0x7fffdUL
#define FWS 0x7fff80000UL

#define SKIP  0x01UL
#define CLEAR 0x02UL
#define AUTO  0x04UL
#define UINH  0x20UL
#define SINH  0x40UL
#define INIT  0x1UL
#define SEED  0x2UL /* INIT_SNAPSHOT */
#define RESET 0x1UL
#define TAKE  0x2UL /* TAKE_SNAPSHOT */

#define RAM_BASE 0x80000000UL
#define RAM_SIZE 0x5000UL

/* Counted by the stub: firmware events of the port, including Tally's own. */
#define STUB_FW_CODES 300U
#define STUB_RAW      16U

struct stub_hctr {
	bool running;
	bool armed;
	bool flag;
	bool zeroed; /* last set with OF = 0 */
	bool ours;   /* prepared by the vcpu, and not used by another since */
	uint64_t value;
	struct hw_event config;
};

struct stub {
	struct stub_hctr hctr[32];
	uint64_t width_mask;
	uint64_t refuse_prepare;
	/* Counters that are not set, and stand still when they are run. The vPMU is told before the
	 * guest goes on: those of which it was not are in `failed`. */
	uint64_t fail_start;
	uint64_t failed;
	bool call_failed; /* so the present call does not succeed */
	bool any_hctr;    /* cycles and instructions count on all of 3 to 18 */
	bool filters;     /* the fixed counters have filters, and can count a second one */
	/* Asking for a raw event destroys the contents of all counters that do not run. */
	bool asking_evicts;
	bool any_event; /* counter 3 counts every event, even undefined ones */
	/* Counters of the raw events 1 to STUB_RAW - 1, if not 0. */
	uint32_t raw_hctrs[STUB_RAW];
	bool pending;
	bool quiet_flags;  /* a wrap never sets OF */
	bool clears_flags; /* OF is 0, also where it was set */
	uint64_t direct;
	uint64_t ready; /* set, and started by the next run */
	/* With shows_flags, as core/vcpu/hart_flags.c does it: the counters whose OF the guest sees
	 * as 1, as the port knows them, and whether vpmu_show_flags() is due. */
	uint64_t shown;
	bool show_due, show_at_start;
	bool start_sets_flag; /* the start of a counter that was not armed sets OF */
	/* Calls of the port so far. */
	unsigned int starts, stops, steps, prepares, takes, directs, lcofis, trapped_wfis;
	unsigned int budgets_spent, budgets_lost; /* how often it was told */
	/* Observers that ended, and the last one's value. */
	uint32_t unobserved;
	uint64_t unobserved_value;
	/* Samples of each observer, periods that were noticed too late, the period that was over
	 * last, and the one that the next sample gets; 0: the same. */
	uint64_t samples[VPMU_OBSERVERS], missed, sampled_period, next_period;
	uint32_t last_n;    /* entries of the last start */
	uint64_t last_stop; /* mask of the last stop */

	uint8_t ram[RAM_SIZE];
	/* How often each byte was touched. */
	uint8_t ram_reads[RAM_SIZE];
	uint8_t ram_writes[RAM_SIZE];
	unsigned int ram_checks;

	uint64_t fw_total[STUB_FW_CODES];
	uint32_t watched;
	unsigned int watches;

	uint64_t polls_after; /* counts until the vPMU polls, ~0: never */
	unsigned int polling; /* polls requested so far */
	unsigned int released;

	/* Counters that count HS advance by this in each call of the port. */
	uint64_t hs_step;
};

extern struct stub stub;
extern struct vpmu vpmu;
extern const struct vpmu_policy stub_policy; /* 0, 2..18 and firmware from 19, 64 bits wide */

/* Makes a new hart and a new resident vcpu. The first is a cmocka setup function. */
int stub_setup(void **state);
void stub_setup_policy(const struct vpmu_policy *policy);

/* The guest causes n events in VS, or in VU. No interrupt is taken. */
void stub_count(unsigned long event_idx, uint64_t n);
void stub_count_vu(unsigned long event_idx, uint64_t n);
/* n raw events with this data in VS. No interrupt is taken. */
void stub_count_raw(uint64_t event_data, uint64_t n);
/* The same in VS, with LCOFI taken at the very event. */
void stub_run(unsigned long event_idx, uint64_t n);

/* The vPMU is told what has failed. Each function here by which the guest goes on begins so. */
void stub_settle(void);

/* The guest executes one instruction in VS, or VU, that traps and is emulated. */
void stub_emulate(bool user);

/* The guest's own accesses to its memory. */
void poke64(uint64_t gpa, uint64_t value);
void poke32(uint64_t gpa, uint32_t value);
uint64_t peek64(uint64_t gpa);
uint32_t peek32(uint64_t gpa);
/* Discards the recorded accesses. Returns how many bytes were accessed since. */
void ram_forget(void);
unsigned int ram_bytes_read(void);
unsigned int ram_bytes_written(void);

/* Another vcpu uses every counter of the hart, between a save and a restore. */
void stub_neighbour(void);

/* The vcpu leaves, another one uses every counter, and it comes back. */
void stub_away(void);

/* With shows_flags: the vcpu leaves, and comes back; what the guest reads in scountovf. */
void stub_leave(void);
void stub_come_back(void);
uint64_t guest_sees(void);

/* The guest reads a counter: directly, or by a trap that must be emulated. */
uint64_t guest_read(uint32_t idx);
bool guest_reads_direct(uint32_t idx);
bool guest_read_is_illegal(uint32_t idx);

/* Short forms of the calls. config() returns the index, and fails the test on an error. */
unsigned long config(unsigned long mask, unsigned long flags, unsigned long event_idx);
long config_error(unsigned long mask, unsigned long flags, unsigned long event_idx);
long start(unsigned long mask, unsigned long flags, uint64_t value);
long stop(unsigned long mask, unsigned long flags);
uint64_t fw_read(unsigned long idx);

/* The groups, one per file. Each returns the number of failed tests. */
int test_vpmu_config(void);
int test_vpmu_choice(void);
int test_vpmu_start_stop(void);
int test_vpmu_direct(void);
int test_vpmu_share(void);
int test_vpmu_overflow(void);
int test_vpmu_wrap(void);
int test_vpmu_fw(void);
int test_vpmu_switch(void);
int test_vpmu_snapshot(void);
int test_vpmu_event_info(void);
int test_vpmu_policy(void);
int test_vpmu_retired(void);
int test_vpmu_count_hs(void);
int test_vpmu_show(void);
int test_vpmu_fixed(void);
int test_vpmu_observe(void);
int test_vpmu_sample(void);
int test_vpmu_budget(void);
int test_vpmu_failed(void);
int test_vpmu_room(void);
int test_vpmu_shown(void);
int test_vpmu_shown_near(void);
int test_vpmu_shown_made(void);

#endif
