/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of PMU calls. A row is one call with its expected result. Arguments and values may be one
 * of the words below, which stand for properties of this firmware.
 */
#ifndef SELFTEST_TABLE_H
#define SELFTEST_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "guests/selftest/selftest.h"

#define WORD(n)    (0x7e57000000000000UL + (n))
#define W_COUNTERS WORD(0) /* number of counters */
#define W_LAST     WORD(1) /* highest counter_idx */
#define W_FW0      WORD(2) /* first firmware counter */
#define W_A        WORD(3) /* see struct firmware */
#define W_B        WORD(4)
#define W_C        WORD(5)
#define M_HW       WORD(8)  /* masks: all programmable counters */
#define M_FW       WORD(9)  /* all firmware counters */
#define M_A        WORD(10) /* and so on */
#define M_B        WORD(11)
#define M_C        WORD(12)
#define M_AC       WORD(13)
#define M_BC       WORD(14)
#define M_FW0      WORD(15)
#define M_C_FW0    WORD(16)
#define M_C_HOLE   WORD(17)
/* Another event, and a programmable counter for it, which is C if C is programmable. Rows with one
 * of these are skipped if there is no such event. */
#define W_EVENT  WORD(42)
#define W_P      WORD(40)
#define M_P      WORD(41)
#define V_ANY    WORD(18) /* values: any value */
#define V_IN_SET WORD(19) /* a counter of the set in the call */

struct pmu_case {
	const char *section;
	const char *name; /* NULL: reset all counters, no call */
	unsigned long fid;
	unsigned long args[5];
	long error;
	unsigned long value; /* checked if the call must succeed */
};

#define RESET_ALL                                                                                  \
	{                                                                                          \
		0                                                                                  \
	}
#define CALL(section, name, fid, a0, a1, a2, a3, a4, error, value)                                 \
	{                                                                                          \
		section, name, fid, {a0, a1, a2, a3, a4}, error, value                             \
	}
#define CONFIG(name, base, mask, flags, event, data, error, value)                                 \
	CALL("11.8", "config_matching: " name, SBI_PMU_COUNTER_CONFIG_MATCHING, base, mask, flags, \
	     event, data, error, value)
#define START(name, base, mask, flags, init, error)                                                \
	CALL("11.9", "start: " name, SBI_PMU_COUNTER_START, base, mask, flags, init, 0, error,     \
	     V_ANY)
#define SET_PAGE(name, lo, hi, flags, error)                                                       \
	CALL("11.13", "snapshot_set_shmem: " name, SBI_PMU_SNAPSHOT_SET_SHMEM, lo, hi, flags, 0,   \
	     0, error, V_ANY)
#define INFO(name, lo, hi, n, flags, error)                                                        \
	CALL("11.14", "event_get_info: " name, SBI_PMU_EVENT_GET_INFO, lo, hi, n, flags, 0, error, \
	     V_ANY)
#define STOP(name, base, mask, flags, error)                                                       \
	CALL("11.10", "stop: " name, SBI_PMU_COUNTER_STOP, base, mask, flags, 0, 0, error, V_ANY)

/* Runs the rows in order. run_table() also resets all counters at the end. */
void run_rows(const struct pmu_case *cases, size_t n);
void run_table(const struct pmu_case *cases, size_t n);
#define RUN_TABLE(cases) run_table(cases, sizeof(cases) / sizeof((cases)[0]))

#endif
