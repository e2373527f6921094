/* SPDX-License-Identifier: Apache-2.0 */
/* Which events exist, and which counter can count each: sections 11.1 to 11.5 and 11.8. */
#include <stddef.h>

#include "tests/host/model_parts.h"

/* Whether the event can be counted in addition to what the vcpu has configured. */
enum feasible {
	NO,
	MAYBE, /* it depends on how the implementation has assigned the counters */
	YES,
};

uint64_t model_hctrs(const struct model *m, uint32_t event_idx, uint64_t event_data)
{
	uint64_t hctrs = fake_hart_hctrs(event_idx, event_data) & m->policy.hctrs;

	/* The budget's counter counts nothing else. */
	fake_hart_name(&event_idx, &event_data);
	if (m->policy.budget_hctr && event_idx != m->policy.budget_event)
		hctrs &= ~(1ULL << m->policy.budget_hctr);
	return m->policy.count_hs ? hctrs & ~HCTRS_FIXED : hctrs;
}

bool model_is_fw_event(unsigned long event_idx)
{
	return event_idx >> 16 == 0xf;
}

bool model_is_allowed(const struct model *m, unsigned long event_idx, uint64_t event_data)
{
	uint32_t name = (uint32_t)event_idx;
	uint64_t data = event_data;

	/* WFI makes the count wrong, and must not trap. */
	fake_hart_name(&name, &data);
	if (name == 2 && m->policy.wfi_recounts && m->policy.idle_cycles)
		return false;
	if (!m->policy.events)
		return true;
	for (uint32_t i = 0; i < m->policy.n_events; i++)
		if (m->policy.events[i] == event_idx)
			return true;
	return m->policy.table &&
	       fake_hart_allows(m->policy.table, (uint32_t)event_idx, event_data);
}

/* A guest has no H extension, so it never sends or receives an HFENCE. */
static bool fw_event_is_good(const struct model *m, uint32_t code)
{
	if (code >= 256)
		return code != 65535 && code - 256 < m->policy.n_tally_events;
	if (code >= 14)
		return false;
	return (m->policy.fw_events | m->policy.fw_port_events) >> code & 1;
}

bool model_event_is_good(const struct model *m, unsigned long event_idx, uint64_t event_data)
{
	uint32_t code = event_idx & 0xffff;

	if (event_idx >> 20 || !model_is_allowed(m, event_idx, event_data))
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
		return !event_data && fw_event_is_good(m, code);
	default:
		return false;
	}
	return model_hctrs(m, (uint32_t)event_idx, event_data) != 0;
}

/* The reduced filter. The guest's S-mode is VS and its U-mode is VU; it has no other modes. */
static uint32_t reduce(unsigned long flags, bool fw)
{
	uint32_t inhibit = 0;

	if (flags & 1UL << 5)
		inhibit |= HW_INH_VU;
	if (flags & 1UL << 6)
		inhibit |= HW_INH_VS;
	return fw ? 0 : inhibit;
}

bool model_same_use(const struct model_lctr *a, const struct model_lctr *b)
{
	return a->event_idx == b->event_idx && a->event_data == b->event_data &&
	       a->inhibit == b->inhibit;
}

bool model_competes(const struct model *m, uint32_t idx, uint64_t hctrs)
{
	const struct model_lctr *c = &m->c[idx];

	return c->configured && !model_is_fw(m, idx) &&
	       (model_hctrs(m, c->event_idx, c->event_data) & hctrs);
}

/* The budget has a counter of the hart as if a counter of the guest's counted its event there,
 * without a filter. */
static const struct model_lctr *budgets_use(const struct model *m, uint64_t hctrs)
{
	static struct model_lctr use;

	if (!m->policy.budget_hctr || !(hctrs >> m->policy.budget_hctr & 1))
		return NULL;
	use = (struct model_lctr){.configured = true, .event_idx = m->policy.budget_event};
	return &use;
}

bool model_shares_with_budget(const struct model *m, uint64_t hctrs)
{
	return budgets_use(m, hctrs) != NULL;
}

/* Events of Tally that it counts with instret, which it must then keep. */
static bool is_by_instret(uint32_t event_idx)
{
	return event_idx == 0xf0109 || event_idx == 0xf010d;
}

static bool counts_by_instret(const struct model *m, uint32_t without)
{
	for (uint32_t i = m->policy.fw_base; i < VPMU_COUNTERS && model_is_fw(m, i); i++)
		if (i != without && m->c[i].configured && is_by_instret(m->c[i].event_idx))
			return true;
	return false;
}

/* Returns how many filters of an event are configured. */
static uint32_t uses_of(const struct model *m, uint64_t hctrs, uint32_t without)
{
	const struct model_lctr *budget = budgets_use(m, hctrs);
	uint32_t uses = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		bool first = i != without && model_competes(m, i, hctrs);

		for (uint32_t j = 0; j < i; j++)
			if (j != without && model_competes(m, j, hctrs) &&
			    model_same_use(&m->c[i], &m->c[j]))
				first = false;
		if (first && budget && model_same_use(&m->c[i], budget))
			first = false;
		uses += first;
	}
	return uses + (budget != NULL);
}

/* The uses of the hart's counters, each with one that can be its own. */
struct matching {
	uint64_t hctrs[VPMU_HW_COUNTERS + 2]; /* that it can have */
	uint64_t all;
	bool keeps_instret; /* Tally needs it */
	uint32_t n;
	uint32_t owner[VPMU_HW_COUNTERS]; /* 1 and up; 0: nobody */
};

/* Gives one use a counter; those that have one may have to take another one. Each is tried once. */
static bool match(struct matching *t, uint32_t use, uint64_t *tried)
{
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		if (!(t->hctrs[use] & ~*tried & 1ULL << i))
			continue;
		*tried |= 1ULL << i;
		if (t->owner[i] && !match(t, t->owner[i] - 1, tried))
			continue;
		t->owner[i] = use + 1;
		return true;
	}
	return false;
}

static void add_use(const struct model *m, struct matching *t, const struct model_lctr *use)
{
	uint64_t hctrs = model_hctrs(m, use->event_idx, use->event_data);

	if (t->keeps_instret)
		hctrs &= ~4ULL;
	t->hctrs[t->n++] = hctrs;
	t->all |= hctrs;
}

static void add_uses(const struct model *m, struct matching *t, uint32_t without)
{
	const struct model_lctr *budget = budgets_use(m, m->policy.hctrs);

	if (budget) {
		t->hctrs[t->n++] = 1ULL << m->policy.budget_hctr;
		t->all |= 1ULL << m->policy.budget_hctr;
	}
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		bool first = i != without && model_competes(m, i, ~0ULL);

		for (uint32_t j = 0; j < i; j++)
			if (j != without && model_competes(m, j, ~0ULL) &&
			    model_same_use(&m->c[i], &m->c[j]))
				first = false;
		if (budget && first && model_same_use(&m->c[i], budget))
			first = false;
		if (first)
			add_use(m, t, &m->c[i]);
	}
}

static bool all_match(struct matching *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t tried = 0;

		if (!match(t, i, &tried))
			return false;
	}
	return true;
}

/* Whether Tally still has instret depends on where the filters are. */
static enum feasible fw_feasible(const struct model *m, uint32_t event_idx)
{
	struct matching t = {.keeps_instret = true};
	uint64_t hctrs = model_hctrs(m, 2, 0);

	if (!is_by_instret(event_idx) || !(hctrs & 4))
		return YES;
	add_uses(m, &t, VPMU_COUNTERS);
	if (!all_match(&t)) {
		seen(config_instret_taken);
		return NO;
	}
	return uses_of(m, hctrs, VPMU_COUNTERS) ? MAYBE : YES;
}

/* Whether the use can be configured if counter `without` gives up its own. Where events move, it
 * can be if there is any way at all; but they do not move to and from the fixed counters. */
static enum feasible feasible(const struct model *m, const struct model_lctr *use, uint32_t without)
{
	struct matching t = {.keeps_instret = counts_by_instret(m, without)};
	const struct model_lctr *budget;
	uint64_t hctrs;
	uint32_t lctrs = 0;
	bool shown = false;

	if (model_is_fw_event(use->event_idx))
		return fw_feasible(m, use->event_idx);
	add_use(m, &t, use);
	hctrs = t.hctrs[0];
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		if (i == without || !model_competes(m, i, hctrs))
			continue;
		shown = shown || model_is_shown(m, i);
		if (model_same_use(&m->c[i], use) && !model_is_shown(m, i))
			return m->policy.shows_flags ? MAYBE : YES;
		lctrs++;
	}
	budget = budgets_use(m, hctrs);
	if (budget && model_same_use(budget, use) && !m->policy.shows_flags) {
		seen(config_with_budget);
		return YES;
	}
	lctrs += budget != NULL;
	if (lctrs < (uint32_t)__builtin_popcountll(hctrs))
		return YES;
	/* Nothing can be beside a counter whose OF the guest sees, and it cannot move. So the event
	 * may be on two counters of the hart, and hold up others. */
	if (m->policy.shows_flags) {
		if (shown)
			seen(config_beside_shown);
		return MAYBE;
	}
	add_uses(m, &t, without);
	if (!all_match(&t))
		return NO;
	if (!m->policy.moves || (t.all & HCTRS_FIXED))
		return MAYBE;
	seen(config_crowded);
	return YES;
}

static void see_use(const struct model *m, const struct model_lctr *use)
{
	uint32_t code = use->event_idx & 0xffff;

	switch (use->event_idx >> 16) {
	case 1:
		seen(config_cache);
		break;
	case 2:
		seen(config_raw);
		break;
	case 3:
		seen(config_raw_v2);
		break;
	case 15:
		seen(config_fw);
		if (code >= 256)
			seen(config_fw_tally);
		else if (code < 32 && m->policy.fw_port_events >> code & 1)
			seen(config_fw_port);
		break;
	default:
		break;
	}
}

static void see_config(const struct model *m, const struct model_lctr *use, uint32_t idx,
                       unsigned long flags)
{
	uint64_t hctrs = model_hctrs(m, use->event_idx, use->event_data);

	if (m->c[idx].configured)
		seen(config_replaces_stopped);
	else
		seen(config_new);
	if (hctrs == 1ULL << idx)
		seen(config_home);
	else if (!model_is_fw_event(use->event_idx) && !(hctrs >> idx & 1))
		seen(config_not_home);
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (i != idx && model_competes(m, i, hctrs) && model_same_use(&m->c[i], use))
			seen(config_shared);
	if ((hctrs & HCTRS_FIXED) && uses_of(m, hctrs, idx) &&
	    uses_of(m, hctrs, idx) >= (uint32_t)__builtin_popcountll(hctrs & ~HCTRS_FIXED))
		seen(config_on_fixed);
	if (flags & 2)
		seen(config_clear);
	if (flags & 4)
		seen(config_auto_start);
}

static void see_bad_event(const struct model *m, unsigned long event_idx, uint64_t event_data)
{
	seen(config_bad_event);
	if (!model_is_allowed(m, event_idx, event_data))
		seen(config_not_allowed);
	if (event_idx >= 0xf000e && event_idx <= 0xf0015)
		seen(config_hfence);
	if (event_idx == 0xfffff)
		seen(config_platform);
	if (event_idx == 0xf0100 + m->policy.n_tally_events)
		seen(config_tally_beyond);
}

static void adopt(struct model *m, const struct model_lctr *use, uint32_t idx, unsigned long flags)
{
	struct model_lctr *c = &m->c[idx];

	see_config(m, use, idx, flags);
	c->first = uses_of(m, model_hctrs(m, use->event_idx, use->event_data), idx) == 0;
	if (c->unknown)
		seen(fault_late_config_again);
	model_forget(m, idx);
	c->configured = true;
	c->event_idx = use->event_idx;
	c->event_data = use->event_data;
	c->inhibit = use->inhibit;
	c->lost = false;
	/* OF was that of the counter's last event. */
	c->of = false;
	if (flags & 2)
		model_set(m, idx, 0);
	if (flags & 4) {
		model_run(m, idx);
		if (c->near)
			seen(config_auto_start_near);
	}
}

/* A refusal because of the hardware changes nothing. */
static bool refused_by_hart(const struct model *m, struct sbi_ret got)
{
	if (!m->fault || got.error != -2)
		return false;
	seen(fault_config);
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (m->c[i].lost)
			seen(fault_config_others_lost);
	return true;
}

/* It would start near its wrap, and the guest could not see its OF. */
static bool refused_unseen(const struct model *m, const struct model_lctr *use, uint64_t choice,
                           unsigned long flags, struct sbi_ret got)
{
	if (!m->policy.shows_flags || !(flags & 4) || got.error != -2)
		return false;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		if (!(choice >> i & 1) || !model_near_value(m, i, flags & 2 ? 0 : m->c[i].value) ||
		    !model_may_be_unseen(m, i, use->event_idx, use->event_data))
			continue;
		seen(config_unseen);
		return true;
	}
	return false;
}

static void clear_running(struct model *m, uint32_t idx)
{
	struct model_lctr *c = &m->c[idx];

	/* It may have wrapped before, and nobody knows. */
	c->vague = c->vague || (c->loose && c->near);
	model_set(m, idx, 0);
	c->near = c->near && model_is_near(m, idx);
}

/* Counters 0 and 2 are read by the CSRs cycle and instret, which count nothing else. If the VM
 * knows which counters of the core count what, its counters with their numbers count no others. */
static bool fits(const struct model *m, const struct model_lctr *use, uint32_t idx)
{
	if (m->policy.table && !model_is_fw(m, idx) &&
	    !(fake_hart_hctrs(use->event_idx, use->event_data) >> idx & 1)) {
		seen(config_other_group);
		return false;
	}
	return (idx != 0 || use->event_idx == 1) && (idx != 2 || use->event_idx == 2);
}

/* SKIP_MATCH: the named counter, whatever its state. */
static const char *skip_match(struct model *m, const struct model_lctr *use, uint32_t idx,
                              unsigned long flags, struct sbi_ret got)
{
	struct model_lctr *c = &m->c[idx];
	enum feasible can = feasible(m, use, idx);

	if (model_is_fw(m, idx) != model_is_fw_event(use->event_idx)) {
		seen(skip_wrong_kind);
		return model_expect(got, -2);
	}
	if (!fits(m, use, idx)) {
		seen(skip_fixed_other);
		return model_expect(got, -2);
	}
	if (c->running && !model_same_use(c, use)) {
		seen(skip_running_other);
		return model_expect(got, -2);
	}
	if (refused_by_hart(m, got) ||
	    (!c->running && refused_unseen(m, use, 1ULL << idx, flags, got)))
		return NULL;
	if (!c->running && (can == NO || (can == MAYBE && got.error))) {
		seen(skip_infeasible);
		return model_expect(got, -2);
	}
	if (got.error || got.value != idx)
		return "SKIP_MATCH must select the first counter of the set";
	if (c->running) {
		seen(skip_running_same);
		if (flags & 2) {
			seen(skip_running_same_clear);
			clear_running(m, idx);
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

/* The counters that may be returned, and whether one must be. */
static enum feasible choices(const struct model *m, const struct model_lctr *use, uint64_t set,
                             uint64_t *fresh, uint64_t *stopped)
{
	enum feasible best = NO;

	*fresh = 0;
	*stopped = 0;
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++) {
		if (!(set >> i & 1) || model_is_fw(m, i) != model_is_fw_event(use->event_idx))
			continue;
		if (!fits(m, use, i)) {
			seen(config_fixed_other);
			continue;
		}
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

/* If the counter with the same index is the hardware's own, reads need no exit, so it must be
 * chosen. */
static bool avoids_identity(const struct model *m, const struct model_lctr *use, uint64_t fresh,
                            uint32_t idx)
{
	uint64_t hctrs = model_hctrs(m, use->event_idx, use->event_data);
	bool taken = budgets_use(m, hctrs) != NULL;

	if (hctrs & ~HCTRS_FIXED)
		hctrs &= ~HCTRS_FIXED;
	if (model_is_fw_event(use->event_idx) || !(hctrs & fresh) || (hctrs >> idx & 1))
		return false;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		taken = taken || model_competes(m, i, hctrs);
	return !taken;
}

/* Returns the error that does not depend on the counters' states, or 0. */
static long config_error(const struct model *m, unsigned long base, unsigned long mask,
                         unsigned long flags, unsigned long event_idx, uint64_t event_data,
                         uint64_t *set)
{
	if (flags >> 8) {
		seen(config_invalid_flags);
		return -3;
	}
	if (!model_members(m, base, mask, set)) {
		seen(config_invalid_set);
		return -3;
	}
	if (!*set) {
		seen(config_empty_set);
		return -2;
	}
	if (!model_event_is_good(m, event_idx, event_data)) {
		see_bad_event(m, event_idx, event_data);
		return -2;
	}
	return 0;
}

bool model_dropped(struct model *m, unsigned long base, unsigned long mask, unsigned long flags,
                   unsigned long event_idx, uint64_t event_data, uint32_t idx)
{
	struct model_lctr use = {.event_idx = (uint32_t)event_idx, .event_data = event_data};
	uint64_t set, fresh, stopped;

	if (!m->policy.moves || config_error(m, base, mask, flags, event_idx, event_data, &set))
		return false;
	use.inhibit = reduce(flags, false);
	if (flags & 1)
		set &= -set;
	choices(m, &use, set, &fresh, &stopped);
	if (fresh || !(stopped >> idx & 1))
		return false;
	seen(config_dropped);
	model_forget(m, idx);
	m->c[idx].configured = false;
	m->c[idx].lost = false;
	m->c[idx].of = false;
	return true;
}

const char *model_config(struct model *m, unsigned long base, unsigned long mask,
                         unsigned long flags, unsigned long event_idx, uint64_t event_data,
                         struct sbi_ret got)
{
	struct model_lctr use = {.event_idx = (uint32_t)event_idx, .event_data = event_data};
	uint64_t set, fresh, stopped;
	enum feasible can;
	long error = config_error(m, base, mask, flags, event_idx, event_data, &set);

	model_info_other_call(m);
	if (error)
		return model_expect(got, error);
	use.inhibit = reduce(flags, model_is_fw_event(event_idx));
	see_use(m, &use);
	fake_hart_name(&use.event_idx, &use.event_data);
	if (use.event_idx != event_idx)
		seen(config_other_name);
	if (flags & 1)
		return skip_match(m, &use, (uint32_t)__builtin_ctzll(set), flags, got);

	if (refused_by_hart(m, got))
		return NULL;
	can = choices(m, &use, set, &fresh, &stopped);
	if (refused_unseen(m, &use, fresh ? fresh : stopped, flags, got))
		return NULL;
	if (can == NO || (can == MAYBE && got.error)) {
		if (fresh)
			seen(config_second_filter);
		else
			seen(config_no_counter);
		return model_expect(got, -2);
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
