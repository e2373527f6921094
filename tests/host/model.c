/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/model.h"

#include <stddef.h>
#include <string.h>

#define NEAR (1ULL << 62) /* an overflow within so many units is delivered */

uint64_t model_seen[SEEN_COUNT];

#define seen(name) (model_seen[SEEN_##name]++)

/* Can the event be counted with what the vcpu has already configured? */
enum feasible {
	NO,
	MAYBE, /* depends on how the implementation spread the counters */
	YES,
};

void model_init(struct model *m, const struct vpmu_policy *policy)
{
	memset(m, 0, sizeof(*m));
	m->policy = *policy;
}

bool model_is_hw(const struct model *m, uint32_t idx)
{
	return idx < VPMU_HW_COUNTERS && (m->policy.hctrs >> idx & 1);
}

bool model_is_fw(const struct model *m, uint32_t idx)
{
	return idx >= m->policy.fw_base && idx < m->policy.fw_base + VPMU_FW_COUNTERS;
}

static uint64_t value_mask(const struct model *m, uint32_t idx)
{
	uint32_t width = model_is_fw(m, idx) ? 64 : m->policy.width;

	return width == 64 ? ~0ULL : (1ULL << width) - 1;
}

uint64_t model_left(const struct model *m, uint32_t idx)
{
	uint64_t mask = value_mask(m, idx);
	uint64_t left = (0 - m->c[idx].value) & mask;

	return left || mask == ~0ULL ? left : mask + 1;
}

static bool is_near(const struct model *m, uint32_t idx)
{
	uint64_t left = model_left(m, idx);

	return m->policy.overflow && !model_is_fw(m, idx) && left && left <= NEAR;
}

/* --- sets of counters ---------------------------------------------------------------- */

/* The set as a list of members; false: a member is not a counter. */
static bool members(const struct model *m, unsigned long base, unsigned long mask, uint64_t *set)
{
	*set = 0;
	for (uint32_t i = 0; i < 64; i++) {
		unsigned long idx = base + i;

		if (!(mask >> i & 1))
			continue;
		if (idx < base || idx >= VPMU_COUNTERS)
			return false;
		if (!model_is_hw(m, (uint32_t)idx) && !model_is_fw(m, (uint32_t)idx))
			return false;
		*set |= 1ULL << idx;
	}
	return true;
}

static const char *expect(struct vpmu_ret got, long error)
{
	return got.error == error ? NULL : "error differs from the specification's";
}

/* --- events -------------------------------------------------------------------------- */

static uint64_t hctrs_of(const struct model *m, uint32_t event_idx, uint64_t event_data)
{
	return vpmu_port_event_hctrs(event_idx, event_data) & m->policy.hctrs;
}

static bool is_fw_event(unsigned long event_idx)
{
	return event_idx >> 16 == 0xf;
}

/* Sections 11.1 to 11.5: is it an event, with nothing reserved set, that this machine counts? */
static bool event_is_good(const struct model *m, unsigned long event_idx, uint64_t event_data)
{
	uint32_t code = event_idx & 0xffff;

	if (event_idx >> 20)
		return false;
	switch (event_idx >> 16) {
	case 0:
		if (code == 0 || code > 10 || event_data)
			return false;
		break;
	case 1:
		if (code >> 3 > 6 || (code >> 1 & 3) > 2 || event_data)
			return false;
		break;
	case 2:
		if (code || event_data >> 48)
			return false;
		break;
	case 3:
		if (code || event_data >> 56)
			return false;
		break;
	case 15:
		return code <= 21 && !event_data && (m->policy.fw_events >> code & 1);
	default:
		return false;
	}
	return hctrs_of(m, (uint32_t)event_idx, event_data) != 0;
}

/* The reduced filter: the guest's S-mode is VS, its U-mode VU; it has no other. */
static uint32_t reduce(unsigned long flags, bool fw)
{
	uint32_t inhibit = 0;

	if (flags & 1UL << 5)
		inhibit |= VPMU_INH_VU;
	if (flags & 1UL << 6)
		inhibit |= VPMU_INH_VS;
	return fw ? 0 : inhibit;
}

static bool same_use(const struct model_lctr *a, const struct model_lctr *b)
{
	return a->event_idx == b->event_idx && a->event_data == b->event_data &&
	       a->inhibit == b->inhibit;
}

/* Two events' sets of hardware counters are equal or disjoint on the harts that we make. */
static bool competes(const struct model *m, uint32_t idx, uint64_t hctrs)
{
	const struct model_lctr *c = &m->c[idx];

	return c->configured && !model_is_fw(m, idx) &&
	       (hctrs_of(m, c->event_idx, c->event_data) & hctrs);
}

/* Can the use be configured, when counter `without` gives up its own? */
static enum feasible feasible(const struct model *m, const struct model_lctr *use, uint32_t without)
{
	uint64_t hctrs = hctrs_of(m, use->event_idx, use->event_data);
	uint32_t room = (uint32_t)__builtin_popcountll(hctrs);
	uint32_t lctrs = 0;
	uint32_t uses = 0;

	if (is_fw_event(use->event_idx))
		return YES;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		bool first = true;

		if (i == without || !competes(m, i, hctrs))
			continue;
		if (same_use(&m->c[i], use))
			return YES;
		for (uint32_t j = 0; j < i; j++)
			if (j != without && competes(m, j, hctrs) && same_use(&m->c[i], &m->c[j]))
				first = false;
		lctrs++;
		uses += first;
	}
	if (uses >= room)
		return NO;
	return lctrs < room ? YES : MAYBE;
}

/* --- calls --------------------------------------------------------------------------- */

const char *model_num_counters(const struct model *m, struct vpmu_ret got)
{
	if (got.value != m->policy.fw_base + 16)
		return "number of counters";
	return expect(got, 0);
}

const char *model_get_info(const struct model *m, unsigned long idx, struct vpmu_ret got)
{
	if (idx >= VPMU_COUNTERS)
		return expect(got, -3);
	if (model_is_fw(m, (uint32_t)idx))
		return got.value >> 18 == 1UL << 45 ? expect(got, 0) : "info of a firmware counter";
	if (!model_is_hw(m, (uint32_t)idx))
		return expect(got, -3);
	if (got.value != (0xc00 + idx) + ((m->policy.width - 1UL) << 12))
		return "info of a hardware counter";
	return expect(got, 0);
}

const char *model_fw_read(const struct model *m, unsigned long idx, struct vpmu_ret got)
{
	if (idx >= VPMU_COUNTERS || !model_is_fw(m, (uint32_t)idx))
		return expect(got, -3);
	if (got.value != m->c[idx].value)
		return "value of a firmware counter";
	return expect(got, 0);
}

const char *model_fw_read_hi(const struct model *m, unsigned long idx, struct vpmu_ret got)
{
	if (idx >= VPMU_COUNTERS || !model_is_fw(m, (uint32_t)idx))
		return expect(got, -3);
	return got.value ? "upper half on a 64-bit hart" : expect(got, 0);
}

static void start_one(struct model *m, uint32_t idx)
{
	struct model_lctr *c = &m->c[idx];

	if (c->of)
		seen(start_clears_of);
	if (c->lost)
		seen(fault_start_again);
	c->running = true;
	c->lost = false;
	c->of = false;
	c->near = is_near(m, idx);
	if (c->near)
		seen(start_near);
	else
		seen(start_far);
}

static void see_config(const struct model *m, const struct model_lctr *use, uint32_t idx,
                       unsigned long flags)
{
	uint64_t hctrs = hctrs_of(m, use->event_idx, use->event_data);

	if (m->c[idx].configured)
		seen(config_replaces_stopped);
	else
		seen(config_new);
	if (is_fw_event(use->event_idx))
		seen(config_fw);
	else if (hctrs == 1ULL << idx)
		seen(config_home);
	else if (!(hctrs >> idx & 1))
		seen(config_not_home);
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (i != idx && competes(m, i, hctrs) && same_use(&m->c[i], use))
			seen(config_shared);
	if (flags & 2)
		seen(config_clear);
	if (flags & 4)
		seen(config_auto_start);
}

static void adopt(struct model *m, const struct model_lctr *use, uint32_t idx, unsigned long flags)
{
	struct model_lctr *c = &m->c[idx];

	see_config(m, use, idx, flags);
	c->configured = true;
	c->event_idx = use->event_idx;
	c->event_data = use->event_data;
	c->inhibit = use->inhibit;
	c->lost = false;
	/* The flag told of the counter's last event. */
	c->of = false;
	if (flags & 2)
		c->value = 0;
	if (flags & 4) {
		start_one(m, idx);
		if (c->near)
			seen(config_auto_start_near);
	}
}

/* A refusal that the hardware explains changes nothing. */
static bool refused_by_hart(const struct model *m, struct vpmu_ret got)
{
	if (!m->fault || got.error != -2)
		return false;
	seen(fault_config);
	return true;
}

/* The named counter, whatever its state. */
static const char *skip_match(struct model *m, const struct model_lctr *use, uint32_t idx,
                              unsigned long flags, struct vpmu_ret got)
{
	struct model_lctr *c = &m->c[idx];
	enum feasible can = feasible(m, use, idx);

	if (model_is_fw(m, idx) != is_fw_event(use->event_idx)) {
		seen(skip_wrong_kind);
		return expect(got, -2);
	}
	if (c->running && !same_use(c, use)) {
		seen(skip_running_other);
		return expect(got, -2);
	}
	if (refused_by_hart(m, got))
		return NULL;
	if (!c->running && (can == NO || (can == MAYBE && got.error))) {
		seen(skip_infeasible);
		return expect(got, -2);
	}
	if (got.error || got.value != idx)
		return "SKIP_MATCH must select the first counter of the set";
	if (c->running) {
		seen(skip_running_same);
		if (flags & 2) {
			seen(skip_running_same_clear);
			c->value = 0;
			c->near = c->near && is_near(m, idx);
		}
		return NULL;
	}
	if (c->configured)
		seen(skip_stopped);
	else
		seen(skip_new);
	adopt(m, use, idx, flags);
	return NULL;
}

/* The members that may be returned, and whether one must be. */
static enum feasible choices(const struct model *m, const struct model_lctr *use, uint64_t set,
                             uint64_t *fresh, uint64_t *stopped)
{
	enum feasible best = NO;

	*fresh = 0;
	*stopped = 0;
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++) {
		if (!(set >> i & 1) || model_is_fw(m, i) != is_fw_event(use->event_idx))
			continue;
		if (!m->c[i].configured)
			*fresh |= 1ULL << i;
		else if (!m->c[i].running)
			*stopped |= 1ULL << i;
	}
	if (*fresh)
		return feasible(m, use, VPMU_COUNTERS);
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++) {
		enum feasible can;

		if (!(*stopped >> i & 1))
			continue;
		can = feasible(m, use, i);
		if (can == NO)
			*stopped &= ~(1ULL << i);
		else if (can > best)
			best = can;
	}
	return best;
}

/* Where the counter of the same index is the hardware's own, reads need no exit: take that. */
static bool avoids_identity(const struct model *m, const struct model_lctr *use, uint64_t fresh,
                            uint32_t idx)
{
	uint64_t hctrs = hctrs_of(m, use->event_idx, use->event_data);
	bool taken = false;

	if (is_fw_event(use->event_idx) || !(hctrs & fresh) || (hctrs >> idx & 1))
		return false;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		taken = taken || competes(m, i, hctrs);
	return !taken;
}

const char *model_config(struct model *m, unsigned long base, unsigned long mask,
                         unsigned long flags, unsigned long event_idx, uint64_t event_data,
                         struct vpmu_ret got)
{
	struct model_lctr use = {.event_idx = (uint32_t)event_idx, .event_data = event_data};
	uint64_t set, fresh, stopped;
	enum feasible can;

	if (flags >> 8) {
		seen(config_invalid_flags);
		return expect(got, -3);
	}
	if (!members(m, base, mask, &set)) {
		seen(config_invalid_set);
		return expect(got, -3);
	}
	if (!set) {
		seen(config_empty_set);
		return expect(got, -2);
	}
	if (!event_is_good(m, event_idx, event_data)) {
		seen(config_bad_event);
		return expect(got, -2);
	}
	use.inhibit = reduce(flags, is_fw_event(event_idx));
	if (flags & 1)
		return skip_match(m, &use, (uint32_t)__builtin_ctzll(set), flags, got);

	if (refused_by_hart(m, got))
		return NULL;
	can = choices(m, &use, set, &fresh, &stopped);
	if (can == NO || (can == MAYBE && got.error)) {
		if (fresh)
			seen(config_second_filter);
		else
			seen(config_no_counter);
		return expect(got, -2);
	}
	if (got.error)
		return "refused an event that can be counted";
	if (got.value >= VPMU_COUNTERS || !((fresh ? fresh : stopped) >> got.value & 1))
		return "returned a counter that it must not choose";
	if (!m->fault && avoids_identity(m, &use, fresh, (uint32_t)got.value))
		return "returned another counter than the free home counter";
	adopt(m, &use, (uint32_t)got.value, flags);
	return NULL;
}

const char *model_start(struct model *m, unsigned long base, unsigned long mask,
                        unsigned long flags, uint64_t value, struct vpmu_ret got)
{
	uint32_t already = 0;
	uint32_t started = 0;
	uint64_t set;

	if (flags >> 2) {
		seen(start_invalid_flags);
		return expect(got, -3);
	}
	if (flags == 3) {
		seen(start_both_init_flags);
		return expect(got, -3);
	}
	if (!members(m, base, mask, &set)) {
		seen(start_invalid_set);
		return expect(got, -3);
	}
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++)
		if ((set >> i & 1) && !m->c[i].configured) {
			seen(start_unconfigured);
			return expect(got, -3);
		}
	if (flags & 2) {
		seen(start_no_shmem);
		return expect(got, -9);
	}
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++) {
		if (!(set >> i & 1))
			continue;
		if (m->c[i].running) {
			already++;
			continue;
		}
		started++;
		if (flags & 1)
			m->c[i].value = value & value_mask(m, i);
		else
			seen(start_keeps_value);
		start_one(m, i);
	}
	if (!set)
		seen(start_empty_set);
	if (started > 1)
		seen(start_several);
	if (already && started)
		seen(start_already_and_others);
	if (already)
		seen(start_already);
	else if (started)
		seen(start_ok);
	if (m->fault && started && got.error == -1) {
		seen(fault_start);
		return NULL;
	}
	return expect(got, already ? -7 : 0);
}

const char *model_stop(struct model *m, unsigned long base, unsigned long mask, unsigned long flags,
                       struct vpmu_ret got)
{
	uint32_t already = 0;
	uint32_t stopped = 0;
	uint64_t set;

	if (flags >> 2) {
		seen(stop_invalid_flags);
		return expect(got, -3);
	}
	if (!members(m, base, mask, &set)) {
		seen(stop_invalid_set);
		return expect(got, -3);
	}
	if (flags & 2) {
		seen(stop_no_shmem);
		return expect(got, -9);
	}
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++) {
		struct model_lctr *c = &m->c[i];

		if (!(set >> i & 1))
			continue;
		if (c->running)
			stopped++;
		else
			already++;
		c->running = false;
		if (flags & 1) {
			if (!c->configured)
				seen(stop_unconfigured_reset);
			seen(stop_reset);
			c->configured = false;
			c->lost = false;
			c->of = false;
		} else if (c->of) {
			seen(stop_keeps_of);
		}
	}
	if (!set)
		seen(stop_empty_set);
	if (stopped > 1)
		seen(stop_several);
	if (already && stopped)
		seen(stop_already_and_others);
	if (already)
		seen(stop_already);
	else if (stopped)
		seen(stop_ok);
	return expect(got, already ? -8 : 0);
}

bool model_lose(struct model *m, uint32_t idx, uint64_t refused)
{
	struct model_lctr *c = &m->c[idx];

	if (!c->running || !(hctrs_of(m, c->event_idx, c->event_data) & refused))
		return false;
	seen(fault_lost);
	c->running = false;
	c->near = false;
	c->lost = true;
	return true;
}

/* --- what happens -------------------------------------------------------------------- */

void model_step(struct model *m, enum fake_mode mode, uint32_t events, uint64_t units)
{
	uint32_t inhibited = mode == FAKE_VS ? VPMU_INH_VS : VPMU_INH_VU;
	uint32_t wrapped = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		struct model_lctr *c = &m->c[i];
		uint64_t left = model_left(m, i);

		if (!c->running || model_is_fw(m, i) || (c->inhibit & inhibited) ||
		    !(FAKE_BIT(fake_hart_event(c->event_idx, c->event_data)) & events))
			continue;
		c->value = (c->value + units) & value_mask(m, i);
		if (!left || units < left)
			continue;
		if (!c->near) {
			seen(wrap_far);
			continue;
		}
		seen(wrap_near);
		for (uint32_t j = 0; j < VPMU_HW_COUNTERS; j++)
			if (j != i && m->c[j].running && same_use(c, &m->c[j]))
				seen(wrap_shared);
		c->near = false;
		c->of = true;
		wrapped++;
	}
	if (wrapped > 1)
		seen(wrap_together);
	m->wraps += wrapped;
}

void model_fw_event(struct model *m, uint32_t code)
{
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++)
		if (model_is_fw(m, i) && m->c[i].running && code < VPMU_FW_EVENTS &&
		    m->c[i].event_idx == (0xf0000 | code))
			m->c[i].value++;
}

uint32_t model_scountovf(const struct model *m)
{
	uint32_t of = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (m->c[i].of && !model_is_fw(m, i))
			of |= 1U << i;
	return of;
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

uint64_t model_must_be_direct(const struct model *m)
{
	uint64_t direct = 0;

	if (m->policy.trap_reads)
		return 0;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		const struct model_lctr *c = &m->c[i];
		uint64_t hctrs;
		bool alone = true;

		if (!c->running || model_is_fw(m, i))
			continue;
		hctrs = hctrs_of(m, c->event_idx, c->event_data);
		for (uint32_t j = 0; j < VPMU_HW_COUNTERS; j++)
			alone = alone && (j == i || !competes(m, j, hctrs));
		if (alone && hctrs == 1ULL << i)
			direct |= 1ULL << i;
	}
	return direct;
}

int model_counts_cycles(const struct model *m)
{
	int answer = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		if (!m->c[i].running || model_is_fw(m, i) || m->c[i].event_idx != 1)
			continue;
		if (!(m->c[i].inhibit & VPMU_INH_VS))
			return 1;
		answer = -1;
	}
	return answer;
}
