/* SPDX-License-Identifier: Apache-2.0 */
/* Sections 11.9 to 11.15: start, stop, firmware reads, optional and unknown functions. */
#include "guests/selftest/table.h"

#define SET     SBI_PMU_START_SET_INIT_VALUE
#define SNAP    SBI_PMU_START_FLAG_INIT_SNAPSHOT
#define TAKE    SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT
#define RESET   SBI_PMU_STOP_FLAG_RESET
#define BAD     SBI_ERR_INVALID_PARAM
#define NONE    SBI_ERR_NOT_SUPPORTED
#define STARTED SBI_ERR_ALREADY_STARTED
#define STOPPED SBI_ERR_ALREADY_STOPPED
#define TO_C    CONFIG("instructions to C", 0, M_C, 0, EVENT_INSTRUCTIONS, 0, 0, W_C)
#define TO_B    CONFIG("cycles to B", 0, M_B, 0, EVENT_CYCLES, 0, 0, W_B)
#define TO_FW0  CONFIG("set_timer to FW0", 0, M_FW0, 0, EVENT_FW(5), 0, 0, W_FW0)
#define FW_READ(name, idx, error, value)                                                           \
	CALL("11.11", "fw_read: " name, SBI_PMU_COUNTER_FW_READ, idx, 0, 0, 0, 0, error, value)
#define FW_HI(name, idx, error)                                                                    \
	CALL("11.12", "fw_read_hi: " name, SBI_PMU_COUNTER_FW_READ_HI, idx, 0, 0, 0, 0, error, 0)

static const struct pmu_case start[] = {
    START("unconfigured -> INVALID_PARAM", 0, M_C, 0, 0, BAD),
    START("unconfigured firmware counter -> INVALID_PARAM", 0, M_FW0, 0, 0, BAD),
    START("empty set", 0, 0, 0, 0, 0),
    START("empty set, base 2^64 - 1", ~0UL, 0, 0, 0, 0),
    START("a hole -> INVALID_PARAM", 0, 2, 0, 0, BAD),
    START("one past the last -> INVALID_PARAM", W_COUNTERS, 1, 0, 0, BAD),
    START("the last and one past -> INVALID_PARAM", W_LAST, 3, 0, 0, BAD),
    START("mask of 64 -> INVALID_PARAM", 0, ~0UL, 0, 0, BAD),
    START("base 64 -> INVALID_PARAM", 64, 1, 0, 0, BAD),
    START("base 2^63 -> INVALID_PARAM", 1UL << 63, 1, 0, 0, BAD),
    START("base 2^64 - 1 -> INVALID_PARAM", ~0UL, 1, 0, 0, BAD),
    TO_C,
    START("reserved flag bit 2 -> INVALID_PARAM", 0, M_C, 4, 0, BAD),
    START("reserved flag bit 63 -> INVALID_PARAM", 0, M_C, 1UL << 63, 0, BAD),
    START("both kinds of initial value -> INVALID_PARAM", 0, M_C, SET | SNAP, 0, BAD),
    START("snapshot without memory -> NO_SHMEM", 0, M_C, SNAP, 0, SBI_ERR_NO_SHMEM),
    START("a configured counter and a hole -> INVALID_PARAM", 0, M_C_HOLE, 0, 0, BAD),
    START("a configured and an unconfigured one -> INVALID_PARAM", 0, M_AC, 0, 0, BAD),
    STOP("none of these started it -> ALREADY_STOPPED", 0, M_C, 0, STOPPED),
    RESET_ALL,
    TO_C,
    START("configured", 0, M_C, SET, 5, 0),
    START("twice -> ALREADY_STARTED", 0, M_C, SET, 6, STARTED),
    STOP("it was started once", 0, M_C, 0, 0),
    START("again after stop, by base", W_C, 1, 0, 0, 0),
    TO_B,
    START("a running and a stopped one -> ALREADY_STARTED", 0, M_BC, 0, 0, STARTED),
    STOP("the stopped one was started", 0, M_B, 0, 0),
    RESET_ALL,
    TO_FW0,
    START("firmware counter", 0, M_FW0, SET, 7, 0),
    START("firmware counter twice -> ALREADY_STARTED", 0, M_FW0, SET, 8, STARTED),
    FW_READ("the second start left the value alone", W_FW0, 0, 7),
    RESET_ALL,
    FW_READ("after RESET -> INVALID_PARAM", W_FW0, BAD, 0),
    TO_C,
    TO_FW0,
    START("a hardware and a firmware counter", 0, M_C_FW0, 0, 0, 0),
    STOP("a hardware and a firmware counter", 0, M_C_FW0, 0, 0),
};

static const struct pmu_case stop[] = {
    STOP("unconfigured -> ALREADY_STOPPED", 0, M_C, 0, STOPPED),
    STOP("unconfigured firmware counter -> ALREADY_STOPPED", 0, M_FW0, 0, STOPPED),
    STOP("empty set", 0, 0, 0, 0),
    STOP("empty set, base 2^64 - 1", ~0UL, 0, 0, 0),
    STOP("a hole -> INVALID_PARAM", 0, 2, 0, BAD),
    STOP("one past the last -> INVALID_PARAM", W_COUNTERS, 1, 0, BAD),
    STOP("the last and one past -> INVALID_PARAM", W_LAST, 3, 0, BAD),
    STOP("mask of 64 -> INVALID_PARAM", 0, ~0UL, 0, BAD),
    STOP("base 64 -> INVALID_PARAM", 64, 1, 0, BAD),
    STOP("base 2^63 -> INVALID_PARAM", 1UL << 63, 1, 0, BAD),
    STOP("base 2^64 - 1 -> INVALID_PARAM", ~0UL, 1, 0, BAD),
    TO_C,
    START("for the stops below", 0, M_C, 0, 0, 0),
    STOP("reserved flag bit 2 -> INVALID_PARAM", 0, M_C, 4, BAD),
    STOP("reserved flag bit 63 -> INVALID_PARAM", 0, M_C, 1UL << 63, BAD),
    STOP("snapshot without memory -> NO_SHMEM", 0, M_C, TAKE, SBI_ERR_NO_SHMEM),
    STOP("snapshot and RESET without memory -> NO_SHMEM", 0, M_C, TAKE | RESET, SBI_ERR_NO_SHMEM),
    STOP("a running counter and a hole -> INVALID_PARAM", 0, M_C_HOLE, 0, BAD),
    START("none of these stopped it -> ALREADY_STARTED", 0, M_C, 0, 0, STARTED),
    STOP("running", 0, M_C, 0, 0),
    STOP("twice -> ALREADY_STOPPED", 0, M_C, 0, STOPPED),
    START("it is still configured", 0, M_C, 0, 0, 0),
    TO_B,
    STOP("a running and a stopped one -> ALREADY_STOPPED", 0, M_BC, 0, STOPPED),
    START("the running one was stopped", 0, M_C, 0, 0, 0),
    STOP("RESET of a running counter", 0, M_C, RESET, 0),
    START("it is not configured any more -> INVALID_PARAM", 0, M_C, 0, 0, BAD),
    STOP("RESET of a stopped counter -> ALREADY_STOPPED", 0, M_B, RESET, STOPPED),
    START("it was reset all the same -> INVALID_PARAM", 0, M_B, 0, 0, BAD),
    TO_C,
    TO_B,
    START("B for RESET of both", 0, M_B, 0, 0, 0),
    STOP("RESET of a running and a stopped one -> ALREADY_STOPPED", 0, M_BC, RESET, STOPPED),
    START("B was reset -> INVALID_PARAM", 0, M_B, 0, 0, BAD),
    START("C was reset -> INVALID_PARAM", 0, M_C, 0, 0, BAD),
    TO_FW0,
    START("firmware counter, for stop", 0, M_FW0, 0, 0, 0),
    STOP("firmware counter", 0, M_FW0, 0, 0),
    STOP("firmware counter twice -> ALREADY_STOPPED", 0, M_FW0, 0, STOPPED),
    START("firmware counter again", 0, M_FW0, 0, 0, 0),
    STOP("RESET of a firmware counter", 0, M_FW0, RESET, 0),
    START("it is not configured any more", 0, M_FW0, 0, 0, BAD),
};

static const struct pmu_case others[] = {
    FW_READ("hardware counter -> INVALID_PARAM", W_C, BAD, 0),
    FW_READ("counter 0 -> INVALID_PARAM", 0, BAD, 0),
    FW_READ("a hole -> INVALID_PARAM", 1, BAD, 0),
    FW_READ("one past the last -> INVALID_PARAM", W_COUNTERS, BAD, 0),
    FW_READ("counter 64 -> INVALID_PARAM", 64, BAD, 0),
    FW_READ("counter 2^64 - 1 -> INVALID_PARAM", ~0UL, BAD, 0),
    /* Table 43 leaves open whether it is an invalid counter. */
    FW_READ("unconfigured firmware counter -> INVALID_PARAM", W_FW0, BAD, 0),
    TO_FW0,
    START("firmware counter at 41", 0, M_FW0, SET, 41, 0),
    FW_READ("running", W_FW0, 0, 41),
    STOP("firmware counter at 41", 0, M_FW0, 0, 0),
    FW_READ("stopped", W_FW0, 0, 41),
    FW_HI("firmware counter: 0 on RV64", W_FW0, 0),
    FW_HI("hardware counter -> INVALID_PARAM", W_C, BAD),
    FW_HI("a hole -> INVALID_PARAM", 1, BAD),
    FW_HI("one past the last -> INVALID_PARAM", W_COUNTERS, BAD),
    FW_HI("counter 2^64 - 1 -> INVALID_PARAM", ~0UL, BAD),
    CALL("11.15", "function 9 -> NOT_SUPPORTED", 9, 0, 0, 0, 0, 0, NONE, 0),
    CALL("11.15", "function 2^32 -> NOT_SUPPORTED", 1UL << 32, 0, 0, 0, 0, 0, NONE, 0),
    CALL("11.15", "function 2^64 - 1 -> NOT_SUPPORTED", ~0UL, 0, 0, 0, 0, 0, NONE, 0),
};

void test_calls_run(void)
{
	RUN_TABLE(start);
	RUN_TABLE(stop);
	RUN_TABLE(others);
}
