/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a hart like XiangShan's Kunminghu V2R2, register by register and cycle by cycle.
 * It has 29 programmable counters. Each belongs to one of four groups and counts up to four events
 * of its group at a time, combined by three operators. mcountinhibit, mcounteren and the filters
 * are as in the privileged manual and Sscofpmf.
 */
#ifndef TESTS_HOST_COMBINING_HART_H
#define TESTS_HOST_COMBINING_HART_H

#include <stdbool.h>
#include <stdint.h>

#define COMBINING_FIRST    3U
#define COMBINING_LAST     31U
#define COMBINING_COUNTERS UINT64_C(0xfffffff8)
#define COMBINING_GROUPS   4U
/* Number of event codes of a group: 8 bits. Event 0 never happens. */
#define COMBINING_CODES 256U

/* mhpmeventN without OF and the filters (63:58). 57:55 are reserved, and can be written. */
#define COMBINING_EVENT_SHIFT(i) (10U * (i))      /* EVENT0..3, 10 bits each; the upper two: */
#define COMBINING_GROUP_SHIFT    8U               /* the group, which cannot be written */
#define COMBINING_OP_SHIFT(i)    (40U + 5U * (i)) /* OP_TYPE0..2, 5 bits each */

/* Operator 0 combines events 0 and 1, operator 1 combines 2 and 3, and operator 2 combines both
 * results, bit by bit, from how often each event happens in the cycle. */
enum combining_op { COMBINING_OR = 0, COMBINING_AND = 1, COMBINING_XOR = 2, COMBINING_ADD = 4 };

enum combining_mode { COMBINING_M, COMBINING_HS, COMBINING_U, COMBINING_VS, COMBINING_VU };

/* How often each event happens in one cycle, 0..7. */
struct combining_cycle {
	uint8_t times[COMBINING_GROUPS][COMBINING_CODES];
};

/* There are several such harts. Only one is active at a time: the one that the functions below
 * concern. combining_reset() stops all its counters at 0, without an event and without overflow. */
#define COMBINING_HARTS 2U
void combining_select(unsigned int hart);
void combining_reset(void);

/* Returns the group of a counter: 3..10, 11..18, 19..26 and 27..31. */
unsigned int combining_group(unsigned int counter);

/* Writes mhpmeventN. Bits that cannot be written keep their value. An undefined operator is OR. */
void combining_write_event(unsigned int counter, uint64_t value);
uint64_t combining_event(unsigned int counter);

/* mhpmcounterN, 64 bits. */
void combining_write_counter(unsigned int counter, uint64_t value);
uint64_t combining_counter(unsigned int counter);

/* Writes mcountinhibit: bit N stops counter N. */
void combining_write_inhibit(uint64_t value);
uint64_t combining_inhibit(void);

/* Returns scountovf, as M-mode and HS-mode read it. */
uint64_t combining_overflows(void);

/* Executes one cycle. Returns whether a counter whose OF was 0 has wrapped, so that LCOFI becomes
 * pending. */
bool combining_step(enum combining_mode mode, const struct combining_cycle *cycle);

/* Executes these n cycles again and again, `times` times, but not those in which a counter whose OF
 * is 0 wraps. Returns how many times it did. */
uint64_t combining_repeat(enum combining_mode mode, const struct combining_cycle *cycles,
                          unsigned int n, uint64_t times);

#endif
