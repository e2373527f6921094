/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, what advances them, and what a guest sees of them. */
#include "tests/host/model.h"

#include <stddef.h>
#include <string.h>

#include "tests/host/model_parts.h"

/* A counter that starts less than this before its wrap raises an overflow interrupt. */
#define NEAR (1ULL << 62)

uint64_t model_seen[SEEN_COUNT];

void model_init(struct model *m, uint32_t vcpu, const struct vpmu_policy *policy)
{
	memset(m, 0, sizeof(*m));
	m->policy = *policy;
	m->vcpu = vcpu;
}

bool model_is_hw(const struct model *m, uint32_t idx)
{
	return idx < VPMU_HW_COUNTERS && (m->policy.hctrs >> idx & 1);
}

bool model_is_fw(const struct model *m, uint32_t idx)
{
	return idx >= m->policy.fw_base && idx < m->policy.fw_base + VPMU_FW_COUNTERS;
}

uint64_t model_value_mask(const struct model *m, uint32_t idx)
{
	uint32_t width = model_is_fw(m, idx) ? 64 : m->policy.width;

	return width == 64 ? ~0ULL : (1ULL << width) - 1;
}

uint64_t model_left(const struct model *m, uint32_t idx)
{
	uint64_t mask = model_value_mask(m, idx);
	uint64_t left = (0 - m->c[idx].value) & mask;

	return left || mask == ~0ULL ? left : mask + 1;
}

bool model_members(const struct model *m, unsigned long base, unsigned long mask, uint64_t *set)
{
	*set = 0;
	for (; mask; mask &= mask - 1) {
		unsigned long idx = base + (unsigned long)__builtin_ctzl(mask);

		if (idx < base || idx >= VPMU_COUNTERS)
			return false;
		if (!model_is_hw(m, (uint32_t)idx) && !model_is_fw(m, (uint32_t)idx))
			return false;
		*set |= 1ULL << idx;
	}
	return true;
}

const char *model_expect(struct sbi_ret got, long error)
{
	return got.error == error ? NULL : "error differs from the specification's";
}

const char *model_refused(struct sbi_ret got, long error)
{
	return fake_mem_touches() ? "a refused call touched memory" : model_expect(got, error);
}

/* --- questions ----------------------------------------------------------------------- */

const char *model_num_counters(const struct model *m, struct sbi_ret got)
{
	if (got.value != m->policy.fw_base + 16)
		return "number of counters";
	return model_expect(got, 0);
}

const char *model_get_info(const struct model *m, unsigned long idx, struct sbi_ret got)
{
	if (idx >= VPMU_COUNTERS)
		return model_expect(got, -3);
	if (model_is_fw(m, (uint32_t)idx))
		return got.value >> 18 == 1UL << 45 ? model_expect(got, 0)
		                                    : "info of a firmware counter";
	if (!model_is_hw(m, (uint32_t)idx))
		return model_expect(got, -3);
	if (got.value != (0xc00 + idx) + ((m->policy.width - 1UL) << 12))
		return "info of a hardware counter";
	return model_expect(got, 0);
}

const char *model_fw_read(const struct model *m, unsigned long idx, struct sbi_ret got)
{
	if (idx >= VPMU_COUNTERS || !model_is_fw(m, (uint32_t)idx) || !m->c[idx].configured)
		return model_expect(got, -3);
	if (got.value != m->c[idx].value)
		return "value of a firmware counter";
	return model_expect(got, 0);
}

const char *model_fw_read_hi(const struct model *m, unsigned long idx, struct sbi_ret got)
{
	if (idx >= VPMU_COUNTERS || !model_is_fw(m, (uint32_t)idx))
		return model_expect(got, -3);
	return got.value ? "upper half on a 64-bit hart" : model_expect(got, 0);
}

/* --- what moves counters ------------------------------------------------------------- */

bool model_counts_hs(const struct model *m, uint32_t idx)
{
	return m->policy.count_hs && !model_is_fw(m, idx) && !(m->c[idx].inhibit & HW_INH_VS);
}

bool model_near_value(const struct model *m, uint32_t idx, uint64_t value)
{
	uint64_t mask = model_value_mask(m, idx);
	uint64_t left = (0 - value) & mask;

	if (!left && mask != ~0ULL)
		left = mask + 1;
	return m->policy.overflow && !model_is_fw(m, idx) && left && left <= NEAR;
}

bool model_is_near(const struct model *m, uint32_t idx)
{
	return model_near_value(m, idx, m->c[idx].value);
}

void model_run(struct model *m, uint32_t idx)
{
	struct model_lctr *c = &m->c[idx];

	if (c->of)
		seen(start_clears_of);
	if (c->lost)
		seen(fault_start_again);
	if (c->unknown)
		seen(fault_late_start_again);
	c->unknown = false;
	c->running = true;
	c->lost = false;
	c->of = false;
	c->wrapped_far = c->given = false;
	c->displaced = false;
	c->loose = model_counts_hs(m, idx);
	c->hs_seen = m->hs_before;
	m->unseen_wraps += c->vague;
	c->vague = c->owed != 0;
	c->near = model_is_near(m, idx);
	if (c->near)
		seen(start_near);
	else
		seen(start_far);
}

void model_set(struct model *m, uint32_t idx, uint64_t value)
{
	m->c[idx].value = value;
	m->c[idx].owed = 0;
	m->c[idx].hs_seen = m->hs_before;
}

void model_forget(struct model *m, uint32_t idx)
{
	if (m->c[idx].unknown)
		model_set(m, idx, 0);
	m->c[idx].unknown = false;
}

void model_halt(struct model *m, uint32_t idx)
{
	struct model_lctr *c = &m->c[idx];

	if (c->loose)
		c->owed += fake_trace.hs_units - c->hs_seen;
	c->loose = false;
	c->running = false;
}

static bool counts_in(const struct model *m, uint32_t idx, enum fake_mode mode)
{
	const struct model_lctr *c = &m->c[idx];
	uint32_t inhibited = mode == FAKE_VS ? HW_INH_VS : HW_INH_VU;

	return c->running && !model_is_fw(m, idx) && !(c->inhibit & inhibited);
}

/* Returns whether this sets OF. */
static bool advance(struct model *m, uint32_t idx, uint64_t units)
{
	struct model_lctr *c = &m->c[idx];
	uint64_t left = model_left(m, idx);

	c->value = (c->value + units) & model_value_mask(m, idx);
	if (!left || units < left)
		return false;
	if (!c->near) {
		seen(wrap_far);
		c->wrapped_far = true;
		return false;
	}
	seen(wrap_near);
	for (uint32_t j = 0; j < VPMU_HW_COUNTERS; j++)
		if (j != idx && m->c[j].running && model_same_use(c, &m->c[j]))
			seen(wrap_shared);
	c->near = false;
	c->of = c->had_of = true;
	m->wraps++;
	return true;
}

static void advance_all(struct model *m, const uint64_t *amounts)
{
	uint32_t wrapped = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (amounts[i])
			wrapped += advance(m, i, amounts[i]);
	if (wrapped > 1)
		seen(wrap_together);
}

void model_step(struct model *m, enum fake_mode mode, uint32_t work, uint64_t units)
{
	uint64_t amounts[VPMU_HW_COUNTERS] = {0};

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		struct model_lctr *c = &m->c[i];

		if (!counts_in(m, i, mode))
			continue;
		amounts[i] = fake_hart_amount(c->event_idx, c->event_data, work, units);
		/* By an event that happens several times in a unit: more than a value can show. */
		c->wrapped_far = c->wrapped_far || (amounts[i] && units >> 56);
	}
	advance_all(m, amounts);
}

bool model_counts_insns(uint32_t event_idx)
{
	return event_idx == SBI_PMU_HW_CPU_CYCLES || event_idx == SBI_PMU_HW_INSTRUCTIONS;
}

bool model_retired(struct model *m, bool user)
{
	uint64_t amounts[VPMU_HW_COUNTERS] = {0};
	uint64_t wraps = m->wraps;
	bool any = false;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		if (!counts_in(m, i, user ? FAKE_VU : FAKE_VS) ||
		    !model_counts_insns(m->c[i].event_idx))
			continue;
		any = true;
		amounts[i] = 1;
		m->c[i].displaced = !m->policy.cheap_moves;
		for (uint32_t j = 0; j < i; j++)
			if (m->c[j].running && model_same_use(&m->c[i], &m->c[j]))
				seen(retired_shared);
	}
	advance_all(m, amounts);
	if (any)
		seen(retired);
	else
		seen(retired_unseen);
	if (m->wraps != wraps)
		seen(retired_wraps);
	return any;
}

bool model_value(struct model *m, uint32_t idx, uint64_t value)
{
	struct model_lctr *c = &m->c[idx];
	uint64_t moved = (value - c->value) & model_value_mask(m, idx);

	if (moved > c->owed + (c->loose ? fake_trace.hs_units - c->hs_seen : 0))
		return false;
	if (!moved && !c->loose)
		return true;
	c->owed = 0;
	c->hs_seen = fake_trace.hs_units;
	seen(loose_value);
	if (c->vague)
		c->value = value;
	else if (advance(m, idx, moved))
		seen(wrap_loose);
	return true;
}

void model_adopt_of(struct model *m, uint32_t idx, bool of)
{
	struct model_lctr *c = &m->c[idx];

	c->vague = false;
	c->near = c->running && !of && model_is_near(m, idx);
	c->of = of;
	m->wraps += of;
}

void model_fw_event(struct model *m, uint32_t code, uint64_t n)
{
	for (uint32_t i = m->policy.fw_base; i < VPMU_COUNTERS && model_is_fw(m, i); i++)
		if (m->c[i].running && m->c[i].event_idx == (0xf0000 | code))
			m->c[i].value += n;
}

void model_restored(struct model *m)
{
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		m->c[i].displaced = false;
}

bool model_lose(struct model *m, uint32_t idx, uint64_t refused, bool late)
{
	struct model_lctr *c = &m->c[idx];

	if (!(model_hctrs(m, c->event_idx, c->event_data) & refused))
		return false;
	/* One whose OF the guest was to see, and does not. */
	if (!c->running && m->policy.shows_flags && c->of && idx >= 3) {
		seen(fault_unshown);
		c->lost = true;
		return true;
	}
	if (!c->running)
		return false;
	seen(fault_lost);
	if (late)
		seen(fault_late);
	c->unknown = late;
	/* It may have wrapped before. */
	c->vague = c->vague || (c->loose && c->near);
	model_halt(m, idx);
	c->near = false;
	c->lost = true;
	return true;
}

/* --- what shows ---------------------------------------------------------------------- */

uint32_t model_scountovf(const struct model *m)
{
	uint32_t of = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (m->c[i].of && !model_is_fw(m, i))
			of |= 1U << i;
	return of;
}

/* cycle and instret have no bit in the CSR. A counter that is lost cannot be read, nor can its OF.
 * One that the guest did not want to be told of has the hart's. */
uint32_t model_wrongly_seen(const struct model *m, uint32_t seen, uint32_t pending)
{
	uint32_t wrong = (seen ^ model_scountovf(m)) & ~7U & ~pending;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		const struct model_lctr *c = &m->c[i];

		if ((c->lost && !(seen >> i & 1)) || (c->wrapped_far && (seen >> i & 1)))
			wrong &= ~(1U << i);
		else if (c->of && !(wrong >> i & 1))
			seen(shown);
	}
	return wrong;
}

bool model_is_shown(const struct model *m, uint32_t idx)
{
	const struct model_lctr *c = &m->c[idx];

	return m->policy.shows_flags && idx >= 3 && c->configured && (c->of || c->near);
}

bool model_may_be_unseen(const struct model *m, uint32_t idx, uint32_t event_idx,
                         uint64_t event_data)
{
	uint64_t hctrs = model_hctrs(m, event_idx, event_data);
	bool alone = !model_shares_with_budget(m, hctrs);

	if (!m->policy.shows_flags || idx < 3 || model_is_fw(m, idx))
		return false;
	for (uint32_t j = 0; j < VPMU_HW_COUNTERS; j++)
		alone = alone && (j == idx || !model_competes(m, j, hctrs));
	return !alone || (hctrs != 1ULL << idx &&
	                  !(m->c[idx].first && (hctrs & ~HCTRS_FIXED) == 1ULL << idx));
}

uint32_t model_late(const struct model *m)
{
	uint32_t late = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS && m->policy.polled_cache; i++)
		if (m->c[i].loose && m->c[i].running && m->c[i].event_idx >> 16 == 1)
			late |= 1U << i;
	return late & model_scountovf(m);
}

uint32_t model_watched(const struct model *m)
{
	uint32_t codes = 0;

	for (uint32_t i = m->policy.fw_base; i < VPMU_COUNTERS && model_is_fw(m, i); i++)
		if (m->c[i].running && (m->c[i].event_idx & 0xffff) < 22)
			codes |= 1U << (m->c[i].event_idx & 0xffff);
	return codes & m->policy.fw_port_events;
}

uint64_t model_may_be_direct(const struct model *m)
{
	uint64_t direct = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (m->c[i].configured && !m->c[i].lost && !model_is_fw(m, i) &&
		    !m->policy.trap_reads)
			direct |= 1ULL << i;
	return direct;
}

/* Whether OF may be 1 in the hart, and not in the guest. */
static bool may_be_closed(const struct model *m, const struct model_lctr *c)
{
	return !c->given || c->wrapped_far ||
	       (m->policy.polled_cache && c->event_idx >> 16 == SBI_PMU_TYPE_CACHE);
}

uint64_t model_must_be_direct(const struct model *m)
{
	uint64_t direct = 0;

	if (m->policy.trap_reads)
		return 0;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		const struct model_lctr *c = &m->c[i];
		uint64_t hctrs;
		bool alone = true;

		if (!c->running || c->displaced || model_is_fw(m, i) ||
		    (m->policy.shows_flags && may_be_closed(m, c)))
			continue;
		hctrs = model_hctrs(m, c->event_idx, c->event_data);
		if (model_shares_with_budget(m, hctrs))
			continue;
		for (uint32_t j = 0; j < VPMU_HW_COUNTERS; j++)
			alone = alone && (j == i || !model_competes(m, j, hctrs));
		/* If there is a fixed counter for the event, it may be on that one. */
		if (alone &&
		    (hctrs == 1ULL << i || (c->first && (hctrs & ~HCTRS_FIXED) == 1ULL << i)))
			direct |= 1ULL << i;
	}
	return direct;
}

int model_wfi_must_trap(const struct model *m)
{
	int answer = 0;

	if (m->policy.idle_cycles)
		return 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		uint32_t event_idx = m->c[i].event_idx;

		if (!m->c[i].running || model_is_fw(m, i) ||
		    (event_idx != 1 && !m->policy.wfi_recounts))
			continue;
		if (event_idx <= 2 && !(m->c[i].inhibit & HW_INH_VS))
			return 1;
		answer = -1;
	}
	return answer;
}
