/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For who emulates instructions: those count, and some of them read counters. As in vpmu.h, the
 * vcpu is resident. Short ways are here, the long ones in retired.c.
 */
#ifndef VPMU_RETIRED_H
#define VPMU_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/bits.h"
#include "vpmu/state.h"

/* Is it enough to say of these hctrs that they are one more ahead? */
static inline bool vpmu_goes_ahead(const struct vpmu *v, uint64_t hctrs)
{
	return v->near == 0 && (v->shown & hctrs) == 0;
}

/*
 * Adds one to these hctrs, see retired.c. Returns those that are left to vpmu_retired_dear(): where
 * the port does not step, those that go ahead for the first time, and all while a counter is near
 * its wrap.
 */
static inline uint64_t vpmu_step(struct vpmu *v, uint64_t hctrs)
{
	uint32_t i;

	if (hctrs == 0)
		return 0;
	if (v->policy.steps)
		return vpmu_port_step(hctrs, v->value_mask);
	if (!vpmu_goes_ahead(v, hctrs))
		return hctrs;
	for_each_bit (i, hctrs)
		v->hctr[i].ahead++;
	return 0;
}

/*
 * The guest executed one instruction in VS, or in VU (user), that the hart did not count because
 * it trapped and was emulated: CPU_CYCLES and INSTRUCTIONS that count that mode go on by one.
 * To be called before the value that a trapped counter read gives is taken: a read that does not
 * trap counts itself, too.
 *
 * In two halves, for who is in a hurry: the first returns hctrs that are left to the second, 0
 * where it was a matter of a few instructions.
 */
static inline uint64_t vpmu_retired_cheap(struct vpmu *v, bool user)
{
	return vpmu_step(v, v->active & (user ? v->retires[1] : v->retires[0]));
}

void vpmu_retired_dear(struct vpmu *v, uint64_t hctrs);

static inline void vpmu_retired(struct vpmu *v, bool user)
{
	uint64_t dear = vpmu_retired_cheap(v, user);

	if (dear != 0)
		vpmu_retired_dear(v, dear);
}

/*
 * A trapped read of the CSR of counter n: cycle, instret or hpmcounterN. Is that counter
 * configured, and the guest's? If not it gets an illegal instruction. n: any; the caller deals with
 * scounteren.
 */
static inline bool vpmu_may_read(const struct vpmu *v, uint64_t n)
{
	/* A firmware counter may have the index of a CSR that the guest does not have. */
	return n < VPMU_HW_COUNTERS && (v->policy.hctrs & v->configured & ~v->lost) >> n & 1;
}

/* A counter that may be read, which can be told by less where it runs. n: 0..31 */
static inline bool vpmu_runs(const struct vpmu *v, uint64_t n)
{
	return (v->policy.hctrs & v->running) >> n & 1;
}

/* What an hctr that this vcpu started counts now, running or not. */
static inline uint64_t vpmu_count(const struct vpmu *v, hctr_t hctr)
{
	return (vpmu_port_read(hctr) + v->hctr[hctr.idx].ahead) & v->value_mask;
}

/* The value of a counter that may be read; the first is for those that run. */
static inline uint64_t vpmu_running_value(const struct vpmu *v, uint64_t n)
{
	const struct vpmu_counter *c = &v->counter[n];

	return (vpmu_count(v, (hctr_t){c->hctr}) + c->offset) & v->value_mask;
}

/* The hctrs that count an emulated instruction of VS. */
static inline uint64_t vpmu_vs_retires(const struct vpmu *v)
{
	return v->active & v->retires[0];
}

/*
 * Does a counter run, and is it noted which hctrs count a read of it by VS, its own and one more at
 * most? Those are in *counts then. It never is of a firmware counter. n: 0..31
 */
static inline bool vpmu_read_noted(const struct vpmu *v, uint64_t n, uint64_t *counts)
{
	*counts = vpmu_vs_retires(v);
	return (v->running >> n & 1) != 0 && v->counter[n].read_counts == *counts;
}

/* Adds one to two hctrs, or to one that is both, where the port steps. Returns those that are left
 * to do, of these, which are all. last: see vpmu_port_step(). */
static inline uint64_t vpmu_step_both(uint64_t one, uint64_t beside, uint64_t all, uint64_t last,
                                      uint64_t *value)
{
	uint64_t other;

	if (vpmu_port_step_read((hctr_t){(uint32_t)one}, last, value) != 0)
		return all;
	if (beside != one && vpmu_port_step_read((hctr_t){(uint32_t)beside}, last, &other) != 0)
		return UINT64_C(1) << beside;
	return 0;
}

/* The same where it does not. */
static inline uint64_t vpmu_both_go_ahead(struct vpmu *v, uint64_t one, uint64_t beside,
                                          uint64_t all)
{
	if (!vpmu_goes_ahead(v, all))
		return all;
	v->hctr[one].ahead++;
	if (beside != one)
		v->hctr[beside].ahead++;
	return 0;
}

/*
 * vpmu_retired_cheap() for a read that is noted, and its value, which means nothing unless 0 is
 * returned. Where the port steps no hctr is ahead. counts: from vpmu_read_noted().
 */
static inline uint64_t vpmu_retired_noted(struct vpmu *v, uint64_t n, uint64_t counts,
                                          uint64_t *value)
{
	const struct vpmu_counter *c = &v->counter[n];
	uint64_t own = c->hctr;
	uint64_t mask = v->value_mask;
	uint64_t left;

	*value = 0;
	if (v->policy.steps) {
		left = vpmu_step_both(own, c->beside, counts, mask, value);
	} else {
		left = vpmu_both_go_ahead(v, own, c->beside, counts);
		if (left == 0)
			*value = vpmu_port_read((hctr_t){(uint32_t)own}) + v->hctr[own].ahead;
	}
	if (left != 0)
		return left;
	*value = (*value + c->offset) & mask;
	return 0;
}

/* vpmu_retired_cheap() for a read of scountovf by VS; notes what the next one can use. */
uint64_t vpmu_retired_scountovf_any(struct vpmu *v);

static inline uint64_t vpmu_retired_scountovf(struct vpmu *v)
{
	uint64_t counts = vpmu_vs_retires(v);
	uint64_t value;

	if (v->ovf_counts != counts)
		return vpmu_retired_scountovf_any(v);
	if (counts == 0)
		return 0;
	if (v->policy.steps)
		return vpmu_step_both(v->ovf_hctr, v->ovf_beside, counts, v->value_mask, &value);
	return vpmu_both_go_ahead(v, v->ovf_hctr, v->ovf_beside, counts);
}

/* vpmu_retired_noted() for any read by VS of a hardware counter that runs; notes what the next one
 * can use. */
uint64_t vpmu_retired_read(struct vpmu *v, uint64_t n, uint64_t *value);

static inline uint64_t vpmu_csr_value(const struct vpmu *v, uint64_t n)
{
	return (v->running >> n & 1) != 0 ? vpmu_running_value(v, n) : v->counter[n].value;
}

#endif
