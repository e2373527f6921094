/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For code that emulates instructions of the guest: adds them to the counts, and reads counters.
 * The vcpu is resident. Fast paths are here, slow paths in retired.c.
 */
#ifndef VPMU_RETIRED_H
#define VPMU_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/bits.h"
#include "vpmu/state.h"

/* Whether emulated instructions on these hctrs only need to be counted in `ahead`. */
static inline bool vpmu_goes_ahead(const struct vpmu *v, uint64_t hctrs)
{
	return v->near == 0 && (v->in_step & hctrs) == 0;
}

/*
 * Adds one to these hctrs, see retired.c. Returns those that vpmu_retired_slow() must handle: those
 * that would wrap, if the port can step; otherwise all or none of them (vpmu_goes_ahead()).
 */
static inline uint64_t vpmu_step(struct vpmu *v, uint64_t hctrs)
{
	uint64_t left = 0, value;
	uint32_t i;

	if (!v->policy.steps && !vpmu_goes_ahead(v, hctrs))
		return hctrs;
	for_each_bit (i, hctrs) {
		if (v->policy.steps)
			left |= vpmu_port_step((hctr_t){i}, v->value_mask, &value);
		else
			v->hctr[i].ahead++;
	}
	return left;
}

/* For a port that can step: adds one to two hctrs, or to one if both are equal. `all` is their set.
 * Returns those that could not be stepped. last: see vpmu_port_step(). *value: the new value of
 * `one`. */
static inline uint64_t vpmu_step_both(uint64_t one, uint64_t beside, uint64_t all, uint64_t last,
                                      uint64_t *value)
{
	uint64_t other;

	if (__builtin_expect(vpmu_port_step((hctr_t){(uint32_t)one}, last, value) != 0, 0))
		return all;
	if (beside != one &&
	    __builtin_expect(vpmu_port_step((hctr_t){(uint32_t)beside}, last, &other) != 0, 0))
		return all & ~(UINT64_C(1) << one);
	return 0;
}

/* Does the same for a port that cannot step. */
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

/* Does the same to a set of one or two hctrs that is noted in step_hctr and step_beside. */
static inline uint64_t vpmu_step_cached(struct vpmu *v, uint64_t counts)
{
	uint64_t value;

	if (v->policy.steps)
		return vpmu_step_both(v->step_hctr, v->step_beside, counts, v->value_mask, &value);
	return vpmu_both_go_ahead(v, v->step_hctr, v->step_beside, counts);
}

/*
 * The guest executed one instruction in VS, or in VU (user), that the hart did not count because it
 * trapped and was emulated. Adds one to CPU_CYCLES and INSTRUCTIONS that count that mode. For a
 * trapped counter read, it must be called before the value is taken, because a read that does not
 * trap counts itself, too.
 *
 * vpmu_retired_fast() is the fast path. It returns the hctrs that vpmu_retired_slow() must handle:
 * usually none, if the last emulated instruction counted on the same one or two hctrs.
 */
static inline uint64_t vpmu_retired_fast(struct vpmu *v, bool user)
{
	uint64_t counts = v->active & (user ? v->retires[1] : v->retires[0]);

	return counts != 0 && counts == v->step_counts ? vpmu_step_cached(v, counts) : counts;
}

void vpmu_retired_slow(struct vpmu *v, uint64_t hctrs);

static inline void vpmu_retired(struct vpmu *v, bool user)
{
	uint64_t slow = vpmu_retired_fast(v, user);

	if (slow != 0)
		vpmu_retired_slow(v, slow);
}

/*
 * A trapped read of the CSR of counter n: cycle, instret or hpmcounterN. Returns whether the guest
 * has configured that counter; if not, the read is illegal. n may be any number; the caller checks
 * scounteren.
 */
static inline bool vpmu_may_read(const struct vpmu *v, uint64_t n)
{
	/* A firmware counter may have the index of a CSR that the guest does not have. */
	return n < VPMU_HW_COUNTERS && (v->policy.hctrs & v->configured & ~v->lost) >> n & 1;
}

/* The same in fewer instructions: whether counter n runs, and so may be read. n: 0..31 */
static inline bool vpmu_runs(const struct vpmu *v, uint64_t n)
{
	return (v->policy.hctrs & v->running) >> n & 1;
}

/* Returns the count of an hctr that this vcpu started, running or not. */
static inline uint64_t vpmu_count(const struct vpmu *v, hctr_t hctr)
{
	return (vpmu_port_read(hctr) + v->hctr[hctr.idx].ahead) & v->value_mask;
}

/* Returns the value of a counter that runs. vpmu_csr_value() is for any counter that may be
 * read. */
static inline uint64_t vpmu_running_value(const struct vpmu *v, uint64_t n)
{
	const struct vpmu_counter *c = &v->counter[n];

	return (vpmu_count(v, (hctr_t){c->hctr}) + c->offset) & v->value_mask;
}

/* Returns the hctrs on which an emulated instruction of VS counts. */
static inline uint64_t vpmu_vs_retires(const struct vpmu *v)
{
	return v->active & v->retires[0];
}

/*
 * Whether the last recorded read of the counter was by this reader, from VS, and counted on the
 * hctrs that such a read counts on now: the counter's own and at most one more. *counts becomes
 * those hctrs. Only running hardware counters have such a record. n: 0..31. reader: not 0, as
 * passed to vpmu_retired_read(). A caller that checked then whether this reader may read the
 * counter need not check again.
 */
static inline bool vpmu_read_cached(const struct vpmu *v, uint64_t n, uint64_t reader,
                                    uint64_t *counts)
{
	const struct vpmu_counter *c = &v->counter[n];

	*counts = vpmu_vs_retires(v);
	return c->reader == reader && c->read_counts == *counts;
}

/*
 * Does the work of vpmu_retired_fast() for a read that vpmu_read_cached() accepted, and reads the
 * counter. *value is valid only if 0 is returned. If the port can step, `ahead` is always 0.
 * `counts` is from vpmu_read_cached().
 */
static inline uint64_t vpmu_retired_cached(struct vpmu *v, uint64_t n, uint64_t counts,
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

/* The next two functions and vpmu_step_cached() do the same for a read of scountovf by VS. It is
 * recorded only if one or two hctrs count it. */
static inline bool vpmu_scountovf_cached(const struct vpmu *v, uint64_t reader, uint64_t *counts)
{
	*counts = vpmu_vs_retires(v);
	return v->ovf_reader == reader && v->step_counts == *counts;
}

uint64_t vpmu_retired_scountovf(struct vpmu *v, uint64_t reader);

/* Does the work of vpmu_retired_cached() for any read by VS of a running hardware counter, and
 * makes the record for vpmu_read_cached(). */
uint64_t vpmu_retired_read(struct vpmu *v, uint64_t n, uint64_t reader, uint64_t *value);

static inline uint64_t vpmu_csr_value(const struct vpmu *v, uint64_t n)
{
	return (v->running >> n & 1) != 0 ? vpmu_running_value(v, n) : v->counter[n].value;
}

#endif
