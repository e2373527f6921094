/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the self-test share. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/lib/count.h"
#include "guests/lib/sbi.h"

#define IMP_OPENSBI 1UL
#define IMP_KVM     3UL

#define EVENT_FW(code) (0xf0000UL | (code))

/* What the firmware has, found out first. Masks are by counter_idx. */
struct firmware {
	unsigned long impl_id, impl_version, spec_version;
	unsigned long counters; /* the result of num_counters */
	uint64_t hw;            /* programmable hardware counters, 3..31 */
	uint64_t fixed;         /* counters 0..2 that exist */
	/* The set for events: hw, and others if the firmware returns them. */
	uint64_t any;
	uint64_t fw;
	uint32_t fw0;     /* the first firmware counter */
	uint32_t a, b, c; /* counter for instructions, for cycles, and another one */
	uint32_t p;       /* C, or a programmable counter if C is not */
	uint64_t hartid;
	/* hart.c: in what harts may differ. */
	uint64_t value_mask; /* the bits that each hardware counter has */
	uint64_t event;      /* another event, for a programmable counter; 0: none */
	uint64_t ecall_s;    /* 1 if the ECALL that stops a counter of S counts, otherwise 0 */
	uint64_t ecall_u;    /* the same for an ECALL from U */
	bool filters;        /* counters can exclude a mode */
	bool many_filters;   /* one event counts with several filters at once */
	bool cycles_are_instructions;
	bool lcofi;        /* sie has a bit 13 */
	bool reads_add_up; /* under KVM: a read adds what was counted before it once more */
};
extern struct firmware fw;

/* Whether it returns a counter of the given set, so that C is available. */
static inline bool fw_obeys(void)
{
	return fw.any == fw.hw;
}

/* report.c: each prints one line and counts it. A failure prints the actual value as well. */
void report(bool ok, const char *section, const char *name);
void report_eq(uint64_t got, uint64_t want, const char *section, const char *name);
void report_skip(const char *section, const char *name, const char *why);
/* Prints the summary. Returns whether nothing failed. */
bool report_end(void);

/* known.c: returns why this firmware deviates in this case, or NULL. */
const char *known_deviation(const char *section, const char *name);

/* Stops and unconfigures every counter the tests use. */
void reset_all(void);
/* Configures an event on one of fw.any. Returns the index, or -1 with the case reported as
 * failed. */
int config_any(uint64_t event, uint64_t flags, const char *section, const char *name);

/* Returns true, and skips the case, if counters cannot exclude a mode. */
bool lacks_filters(const char *section, const char *what);

/* once.S */
void once_run(uint64_t mask, uint64_t rounds);
void wait_run(uint64_t mask);
void user_three(void);

/* The parts, in the order of execution. */
void find_firmware(uint64_t hartid);
void find_hart(void);
void test_calls_info(void);
void test_calls_config(void);
void test_calls_states(void);
void test_calls_run(void);
void test_snapshot(void);
void test_event_info(void);
void test_fixed(void);
void test_values(void);
void test_count(void);
void test_user(void);
void test_firmware(void);
void test_tally_events(void);
void test_overflow(void);
/* Runs the case of this name. Returns false if there is none. */
bool test_corrupt(const char *name);
void list_corrupt(void);

#endif
