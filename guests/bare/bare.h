/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of this guest, and what they share. */
#ifndef GUESTS_BARE_H
#define GUESTS_BARE_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/lib/count.h"
#include "guests/lib/csr.h"
#include "guests/lib/guest.h"
#include "guests/lib/print.h"
#include "guests/lib/sbi.h"
#include "guests/lib/trap.h"

/* The guest's `time` at which it must end. */
extern uint64_t end_time;
static inline bool time_is_up(void)
{
	return csr_read(time) >= end_time;
}

/* Sleeps for so many ticks of `time`, 100 ns each. Takes no interrupt meanwhile. */
#define MS 10000UL
void sleep_for(uint64_t ticks);

/* Computes until its hart was taken from it, in windows or turns, and returns the `time` at which
   it is back. *last: before, a `time` at which it had the hart; afterwards the last such one. */
uint64_t back_at(uint64_t *last);

/* The same if its hart was taken from it for more than `away` ticks. */
uint64_t back_after(uint64_t *last, uint64_t away);

/* Takes the next decimal number of a list "A,B" on bootargs. Returns false at its end. */
bool next_number(const char **list, uint64_t *value);

/* Masks of programmable hardware counters and of firmware counters, by counter_idx. */
struct counters {
	uint64_t hw, fw;
};
struct counters find_counters(void);

/* Counts 2 * length + 1 instructions with a counter of each fixed event, with interrupts off.
   Returns how many of the two counts are wrong. */
uint64_t counted_wrong(uint64_t length);

/* In vector.S, which describes each. */
#define SSTATUS_VS (3UL << 9)
uint64_t vec_put(const void *v);
uint64_t vec_get(void *v);
uint64_t vec_compute(uint64_t seed, uint64_t steps);
void vec_set(uint64_t x);
uint64_t vec_first(void);
void vec_shape_put(uint64_t n);
uint64_t vec_shape_get(void);
uint64_t vec_length(void);

/* Whether bootargs have vector=yes: the hart has V, and the guest uses it. */
static inline bool with_vectors(void)
{
	return bootarg_num("vector", 0) != 0;
}

int idle(uint64_t hartid);
int naps(uint64_t hartid);
int busy(uint64_t hartid);
int pmuloop(uint64_t hartid);
int measure(uint64_t hartid);
int faults(uint64_t hartid);
int waits(uint64_t hartid);
int marks_kind(uint64_t hartid);
int hostile(uint64_t hartid);
int hostile_operator(uint64_t hartid);
int wildjump(uint64_t hartid);
int wildsatp(uint64_t hartid);
int reads_kind(uint64_t hartid);
int chatter(uint64_t hartid);
int storm(uint64_t hartid);
int siege(uint64_t hartid);
int wfi_kind(uint64_t hartid);
int cachewrap(uint64_t hartid);
int falseflag(uint64_t hartid);
int clockcheck(uint64_t hartid);
int raw_kind(uint64_t hartid);
int million(uint64_t hartid);
int answers(uint64_t hartid);
int gaps(uint64_t hartid);
int windows_kind(uint64_t hartid);
int delays(uint64_t hartid);
int budget(uint64_t hartid);
int dodge(uint64_t hartid);
int budget_lives(uint64_t hartid);
int budget_stops(uint64_t hartid);
int last_breath(uint64_t hartid);
int once_more(uint64_t hartid);
int mix(uint64_t hartid);
int steal(uint64_t hartid);
int life(uint64_t hartid);
int chain(uint64_t hartid);
int asks(uint64_t hartid);
int seed(uint64_t hartid);
int pieces_kind(uint64_t hartid);
int shared_kind(uint64_t hartid);
int tables(uint64_t hartid);
int bell_kind(uint64_t hartid);

/* operator.c */
int operator_kind(uint64_t hartid);
int pace(uint64_t hartid);
int crash(uint64_t hartid);
int smp(uint64_t hartid);
int hsm_kind(uint64_t hartid);
int flood(uint64_t hartid);
int control(uint64_t hartid);
int rounding(uint64_t hartid);
int divide(uint64_t hartid);
int sbi_calls(uint64_t hartid);
int blocks(uint64_t hartid);
int records(uint64_t hartid);
int forge(uint64_t hartid);
int filters(uint64_t hartid);
int readback(uint64_t hartid);
int fuzz(uint64_t hartid);
int victim(uint64_t hartid);
int uxl(uint64_t hartid);
int aia(uint64_t hartid);
int alarm(uint64_t hartid);
int date(uint64_t hartid);
int device(uint64_t hartid);
int emulated(uint64_t hartid);
int virt(uint64_t hartid);
int virtio(uint64_t hartid);
int pci(uint64_t hartid);
int edu(uint64_t hartid);
int raid(uint64_t hartid);
int net(uint64_t hartid);
int quiet_kind(uint64_t hartid);
int warden(uint64_t hartid);
int asked(uint64_t hartid);
int key_kind(uint64_t hartid);
int heart(uint64_t hartid);
int steps_kind(uint64_t hartid);
int steady(uint64_t hartid);
int tempest(uint64_t hartid);
int ambush(uint64_t hartid);
int sentry(uint64_t hartid);

/* The marks of kind `marks`: what they are, and how many are not there any more. */
void marks_put(uint64_t mark);
uint64_t marks_check(uint64_t mark);
uint64_t marks_left_by_others(void);

/* The parts of hostile. Each returns how many of its attempts did not trap. */
uint64_t hostile_csrs(void);
uint64_t hostile_memory(void);
uint64_t hostile_instructions(void);
uint64_t hostile_calls(uint64_t hartid);

/* One of the ways in which `crash` ends. */
int handler_faults(void);

/* A gust of tempest by a device with DMA. */
uint64_t tempest_dma(void);

/* And one by a port of a network. */
uint64_t tempest_frames(void);

/* And by the messages of its port. */
uint64_t tempest_messages(void);

/* The part of storm that makes PMU calls. */
void storm_pmu(void);

/* Runs an instruction under a guard, in S or in U. Returns whether it did not trap. */
bool insn_passes(uint32_t insn, uint64_t a0);
bool insn_passes_in_user(uint32_t insn, uint64_t a0);

#endif
