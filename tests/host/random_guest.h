/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses what random guests do next, and on which machine. It reads the models to find edge
 * cases. */
#ifndef TESTS_HOST_RANDOM_GUEST_H
#define TESTS_HOST_RANDOM_GUEST_H

#include "tests/host/chance.h"
#include "tests/host/world.h"

/* Defects and options of a hart that the number of an epoch switches, each one independently. */
#define RANDOM_SWITCHES 7U

#define RANDOM_COUNTS(X)                                                                           \
	X(epochs_homes)                                                                            \
	X(epochs_homes_collide)                                                                    \
	X(epochs_pairs)                                                                            \
	X(epochs_overlap)                                                                          \
	X(epochs_free)                                                                             \
	X(epochs_fixed)                                                                            \
	X(epochs_late)                                                                             \
	X(epochs_all_events)                                                                       \
	X(epochs_narrow)                                                                           \
	X(epochs_refusals)                                                                         \
	X(epochs_observers)                                                                        \
	X(epochs_sampling)                                                                         \
	X(vcpus_no_overflow)                                                                       \
	X(vcpus_trap_reads)                                                                        \
	X(vcpus_snapshot)                                                                          \
	X(vcpus_allowlist)                                                                         \
	X(vcpus_count_hs)                                                                          \
	X(vcpus_cheap_moves)                                                                       \
	X(vcpus_steps)                                                                             \
	X(vcpus_shows_flags)                                                                       \
	X(vcpus_budget)

struct random_count {
#define X(name) uint64_t name;
	RANDOM_COUNTS(X)
#undef X
};
extern struct random_count random_count;

void random_machine(struct chance *c, uint32_t switches, struct machine *machine);

/* What differs between the kinds of harts: random_emulated.c, random_combining.c. */
extern const uint64_t random_hctrs;
extern const uint32_t random_fw_bases[4];
void random_hart(struct chance *c, uint32_t switches, struct fake_hart_config *config);
/* Chooses what a VM may count, in `allowed`. Returns how many. */
uint32_t random_allowed(struct chance *c, uint32_t *allowed);
/* Gives a vcpu the event table of its harts. */
void random_table(struct chance *c, struct machine *machine, uint32_t vcpu);
uint32_t random_work(struct chance *c);
/* Steps of a test that nobody told how many. */
extern const unsigned long random_steps;
/* Whether a long run on these harts need not meet this. */
bool random_may_miss(const char *what);

/* The character of the guests of an epoch. */
struct random_manner {
	uint32_t refusals; /* percent of the steps in which the hart refuses a request */
	bool observers;
	/* Few events, many counters on each, all soon to wrap. */
	bool sampling;
};

struct random_manner random_manner(struct chance *c);
void random_op(struct chance *c, const struct random_manner *manner, struct op *op);

/* random_call.c, for random_op(). */
void random_call(struct chance *c, struct op *op);
/* Returns the valid counters of the resident vcpu, and its configured or running ones. */
uint64_t random_in_use(bool running);

#endif
