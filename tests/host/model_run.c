/* SPDX-License-Identifier: Apache-2.0 */
/* START and STOP, sections 11.9 and 11.10. */
#include <stddef.h>

#include "tests/host/model_parts.h"

/* Returns the counters that START starts; the others run already. */
static uint64_t stopped_of(const struct model *m, uint64_t set)
{
	uint64_t stopped = 0;

	for (; set; set &= set - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(set);

		if (!m->c[i].running)
			stopped |= 1ULL << i;
	}
	return stopped;
}

static uint64_t unknown_of(const struct model *m, uint64_t set)
{
	uint64_t unknown = 0;

	for (; set; set &= set - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(set);

		if (m->c[i].unknown)
			unknown |= 1ULL << i;
	}
	return unknown;
}

/* Returns the error of a START that changes nothing, or 0. */
static long start_error(const struct model *m, unsigned long base, unsigned long mask,
                        unsigned long flags, uint64_t *set)
{
	if (flags >> 2) {
		seen(start_invalid_flags);
		return -3;
	}
	if (flags == 3) {
		seen(start_both_init_flags);
		return -3;
	}
	if (!model_members(m, base, mask, set)) {
		seen(start_invalid_set);
		return -3;
	}
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++)
		if ((*set >> i & 1) && !m->c[i].configured) {
			seen(start_unconfigured);
			return -3;
		}
	if ((flags & 2) && !m->shmem_set) {
		seen(start_no_shmem);
		return -9;
	}
	return 0;
}

static void see_start(const struct model *m, unsigned long base, uint64_t set, uint64_t started,
                      bool snapshot)
{
	if (!set)
		seen(start_empty_set);
	if (started & (started - 1))
		seen(start_several);
	if (started && set != started)
		seen(start_already_and_others);
	if (set != started)
		seen(start_already);
	else if (started)
		seen(start_ok);
	if (!snapshot)
		return;
	if (!set)
		seen(start_snapshot_empty);
	if (started)
		seen(start_snapshot);
	if (started & (started - 1))
		seen(start_snapshot_several);
	if (started && base)
		seen(start_snapshot_base);
	if (set != started)
		seen(start_snapshot_already);
	if (started >> m->policy.fw_base)
		seen(start_snapshot_fw);
}

/* The value that counter idx starts with. */
static void set_value(struct model *m, unsigned long base, unsigned long flags, uint64_t value,
                      uint32_t idx)
{
	uint64_t mask = model_value_mask(m, idx);

	if (flags & 2)
		value = model_slot(m, base, idx);
	if ((flags & 2) && (value & ~mask))
		seen(start_snapshot_cut);
	if (flags & 3)
		model_set(m, idx, value & mask);
	else
		seen(start_keeps_value);
}

/* Whether these counters need not be started with their values. */
static bool may_be_unseen(const struct model *m, unsigned long base, unsigned long flags,
                          uint64_t value, uint64_t unseen)
{
	for (; unseen; unseen &= unseen - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(unseen);
		const struct model_lctr *c = &m->c[i];
		uint64_t start = flags & 2 ? model_slot(m, base, i) : flags ? value : c->value;

		/* It may have been refused by the hart. */
		if (m->fault && c->lost && start == c->value)
			continue;
		if (!model_near_value(m, i, start) ||
		    !model_may_be_unseen(m, i, c->event_idx, c->event_data))
			return false;
		seen(start_unseen);
	}
	return true;
}

const char *model_start(struct model *m, unsigned long base, unsigned long mask,
                        unsigned long flags, uint64_t value, uint64_t unseen, struct sbi_ret got)
{
	uint64_t set, started, unknown = 0;
	long error = start_error(m, base, mask, flags, &set);
	const char *what;

	model_info_other_call(m);
	if (error)
		return model_refused(got, error);
	started = stopped_of(m, set);
	/* These have no value to continue from. */
	if (!flags)
		unknown = unknown_of(m, started & ~unseen);
	if (!may_be_unseen(m, base, flags, value, unseen & started))
		return "a counter did not start that could";
	if (unknown)
		seen(fault_late_keeps_none);
	for (uint64_t left = started & ~unknown & ~unseen; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		set_value(m, base, flags, value, i);
		model_run(m, i);
		m->c[i].given = flags && !m->c[i].had_of;
		m->c[i].had_of = false;
	}
	see_start(m, base, set, started, flags & 2);
	if (flags & 2) {
		what = model_read_slots(m, base, started);
		if (what)
			return what;
	}
	if (m->fault && started && got.error == -1) {
		seen(fault_start);
		return NULL;
	}
	if (unknown || (unseen & started))
		return model_expect(got, -1);
	return model_expect(got, set != started ? -7 : 0);
}

static long stop_error(const struct model *m, unsigned long base, unsigned long mask,
                       unsigned long flags, uint64_t *set)
{
	if (flags >> 2) {
		seen(stop_invalid_flags);
		return -3;
	}
	if (!model_members(m, base, mask, set)) {
		seen(stop_invalid_set);
		return -3;
	}
	if ((flags & 2) && !m->shmem_set) {
		seen(stop_no_shmem);
		return -9;
	}
	return 0;
}

static void see_stop(uint64_t set, uint64_t already)
{
	uint64_t stopped = set & ~already;

	if (!set)
		seen(stop_empty_set);
	if (stopped & (stopped - 1))
		seen(stop_several);
	if (already && stopped)
		seen(stop_already_and_others);
	if (already)
		seen(stop_already);
	else if (stopped)
		seen(stop_ok);
}

static void reset(struct model *m, uint32_t idx)
{
	struct model_lctr *c = &m->c[idx];

	if (!c->configured)
		seen(stop_unconfigured_reset);
	seen(stop_reset);
	model_forget(m, idx);
	m->unseen_wraps += c->vague || (c->owed && c->near);
	c->vague = false;
	c->configured = false;
	c->lost = false;
	c->near = false;
	c->of = false;
}

const char *model_stop(struct model *m, unsigned long base, unsigned long mask, unsigned long flags,
                       struct sbi_ret got)
{
	uint64_t set, already;
	long error = stop_error(m, base, mask, flags, &set);
	const char *what = NULL;

	model_info_other_call(m);
	if (error)
		return model_refused(got, error);
	already = stopped_of(m, set);
	for (uint64_t left = set; left; left &= left - 1)
		model_halt(m, (uint32_t)__builtin_ctzll(left));
	see_stop(set, already);
	if (flags & 2) {
		what = model_wrote_slots(m, base, set);
		if (already)
			seen(stop_snapshot_already);
		if (flags & 1)
			seen(stop_snapshot_reset);
		if ((flags & 1) && (model_scountovf(m) & set))
			seen(stop_snapshot_of_reset);
	}
	for (uint64_t left = set; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		if (flags & 1)
			reset(m, i);
		else if (m->c[i].of)
			seen(stop_keeps_of);
	}
	return what ? what : model_expect(got, already ? -8 : 0);
}
