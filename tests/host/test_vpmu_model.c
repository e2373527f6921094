/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random guests on the fake hart: after every step all that each vcpu can see of its PMU must be
 * what the model says. Usage: test_vpmu_model [calls [seed]], or VPMU_MODEL_CALLS and _SEED.
 *
 * An epoch is one machine (a set of defects, counters, policies) and a list of steps. A step is
 * made of its own seed and of the state alone, so an epoch that differs is cut down by leaving
 * steps out, and what is printed is short.
 */
#include "tests/host/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define VCPUS       3U
#define EPOCH_STEPS 4096U
#define SWITCHES    6U  /* of struct fake_hart_config; all combinations are run */
#define SHOWN       20U /* last steps printed on a difference */
/* As long as a guest may run without an exit; a wrap of the nearest far start is in reach. */
#define FAR           ((1ULL << 62) + 1)
#define LINE          200U
#define DEFAULT_CALLS 1200000UL
/* Fewer calls than this need not meet everything. */
#define FULL_COVERAGE_CALLS 200000UL

struct vcpu {
	struct vpmu vpmu;
	struct model model;
	uint64_t raises_seen; /* LCOFIs of this vcpu, and the model's wraps, when last compared */
	uint64_t raises;
	uint64_t wraps_seen;
};

static struct vcpu vcpus[VCPUS];
static struct fake_hart_config machine;
static uint32_t resident;
static bool faulty; /* the hart refuses something now and then */
static uint64_t rng;
static char steps[SHOWN][LINE];
static uint64_t step_count;
static char difference[LINE];
static unsigned long wanted_calls = DEFAULT_CALLS;
static unsigned long first_seed = 1;

#define COUNTS(X)                                                                                  \
	X(calls)                                                                                   \
	X(switches)                                                                                \
	X(overflows)                                                                               \
	X(steps_of_guest)                                                                          \
	X(direct_reads)                                                                            \
	X(trapped_reads)                                                                           \
	X(illegal_reads)                                                                           \
	X(must_be_direct)                                                                          \
	X(bad_csr_reads)                                                                           \
	X(fw_reads)                                                                                \
	X(fw_reads_refused)                                                                        \
	X(infos)                                                                                   \
	X(infos_refused)                                                                           \
	X(fw_events_resident)                                                                      \
	X(fw_events_elsewhere)                                                                     \
	X(lcofi_pending_at_call)                                                                   \
	X(lcofi_pending_at_reset)                                                                  \
	X(lcofi_pending_at_switch)                                                                 \
	X(overflow_for_nothing)                                                                    \
	X(faults)                                                                                  \
	X(resets)                                                                                  \
	X(counts_cycles)                                                                           \
	X(epochs_homes)                                                                            \
	X(epochs_homes_collide)                                                                    \
	X(epochs_pairs)                                                                            \
	X(epochs_free)                                                                             \
	X(epochs_late)                                                                             \
	X(epochs_all_events)                                                                       \
	X(epochs_narrow)                                                                           \
	X(epochs_no_overflow)                                                                      \
	X(epochs_trap_reads)

static struct {
#define X(name) uint64_t name;
	COUNTS(X)
#undef X
} count;

/* --- chance -------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t chance(void)
{
	rng += 0x9e3779b97f4a7c15ULL;
	return mix(rng);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(chance() % n);
}

static bool percent(uint32_t p)
{
	return below(100) < p;
}

/* One bit of the set, or the number of bits in a word when it is empty. */
static uint32_t any_of(uint64_t set)
{
	uint32_t n = (uint32_t)__builtin_popcountll(set);

	if (!n)
		return VPMU_COUNTERS;
	for (n = below(n); n; n--)
		set &= set - 1;
	return (uint32_t)__builtin_ctzll(set);
}

/* --- what happened ------------------------------------------------------------------- */

static void differ(const char *format, ...)
{
	va_list args;

	if (difference[0])
		return;
	va_start(args, format);
	vsnprintf(difference, sizeof(difference), format, args);
	va_end(args);
}

static void misused(const char *what)
{
	differ("misuse of the port: %s", what);
}

static char *new_line(void)
{
	return steps[step_count++ % SHOWN];
}

static void show_steps(void)
{
	uint64_t from = step_count > SHOWN ? step_count - SHOWN : 0;

	for (uint64_t i = from; i < step_count; i++)
		print_error("  %4llu %s\n", (unsigned long long)i, steps[i % SHOWN]);
}

/* --- the library against the model --------------------------------------------------- */

static struct vcpu *now(void)
{
	return &vcpus[resident];
}

static void check_counter(uint32_t idx)
{
	const struct vpmu *v = &now()->vpmu;
	const struct model *m = &now()->model;
	bool mine = model_is_hw(m, idx) && m->c[idx].configured && !m->c[idx].lost;
	uint64_t value = 0;

	if (vpmu_csr_read(v, 0xc00 + idx, &value) != mine) {
		differ("trapped read of counter %u: %s", idx, mine ? "refused" : "answered");
		return;
	}
	if (!mine) {
		count.illegal_reads++;
		return;
	}
	count.trapped_reads++;
	if (value != m->c[idx].value)
		differ("trapped read of counter %u: %#llx, not %#llx", idx,
		       (unsigned long long)value, (unsigned long long)m->c[idx].value);
	if (!fake_hart_guest_read(0xc00 + idx, &value))
		return;
	count.direct_reads++;
	if (value != m->c[idx].value)
		differ("direct read of counter %u: %#llx, not %#llx", idx,
		       (unsigned long long)value, (unsigned long long)m->c[idx].value);
}

/* Each wrap makes one LCOFI; those of one instruction may come as one. */
static void check_lcofi(void)
{
	struct vcpu *vc = now();
	uint64_t raised = vc->raises - vc->raises_seen;
	uint64_t wraps = vc->model.wraps - vc->wraps_seen;
	uint32_t of = vpmu_scountovf(&vc->vpmu);

	if (raised > wraps || (wraps && !raised))
		differ("%llu LCOFIs for %llu overflows", (unsigned long long)raised,
		       (unsigned long long)wraps);
	vc->raises_seen = vc->raises;
	vc->wraps_seen = vc->model.wraps;
	if (of != model_scountovf(&vc->model))
		differ("scountovf %#x, not %#x", of, model_scountovf(&vc->model));
}

static void check_all(void)
{
	struct vcpu *vc = now();
	uint64_t direct = fake_hart_direct();
	uint64_t must = model_must_be_direct(&vc->model);
	int cycles = model_counts_cycles(&vc->model);

	vc->raises += fake_trace.raises;
	fake_trace.raises = 0;
	if (direct & ~model_may_be_direct(&vc->model))
		differ("direct %#llx: open, but not a configured counter",
		       (unsigned long long)(direct & ~model_may_be_direct(&vc->model)));
	if (must & ~direct)
		differ("direct %#llx: counters alone at home need an exit",
		       (unsigned long long)(must & ~direct));
	count.must_be_direct += must != 0;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		check_counter(i);
	for (uint32_t i = vc->model.policy.fw_base; i < VPMU_COUNTERS; i++) {
		struct vpmu_ret ret = vpmu_counter_fw_read(&vc->vpmu, i);
		const char *what = model_fw_read(&vc->model, i, ret);

		if (what)
			differ("counter %u: %s: %ld, %#lx", i, what, ret.error, ret.value);
	}
	if (cycles >= 0 && vpmu_counts_cycles(&vc->vpmu) != (cycles == 1))
		differ("vpmu_counts_cycles() is %d", !cycles);
	count.counts_cycles += cycles == 1;
	/* Flags and interrupts of a wrap are due when the vPMU has had a chance to see it. */
	if (!fake_hart_pending())
		check_lcofi();
}

/*
 * A counter that the hardware refused is lost: its reads are illegal, so that no guest takes a
 * frozen value for a count. All that is not lost must still be exact.
 */
static void note_lost(void)
{
	struct vcpu *vc = now();
	uint64_t value;

	if (!fake_trace.faults)
		return;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		const struct model_lctr *c = &vc->model.c[i];

		if (!model_is_hw(&vc->model, i) || !c->configured || c->lost)
			continue;
		if (!vpmu_csr_read(&vc->vpmu, 0xc00 + i, &value) &&
		    !model_lose(&vc->model, i, fake_trace.refused))
			differ("counter %u is lost without a reason", i);
	}
	count.faults += fake_trace.faults;
	fake_trace.faults = 0;
	fake_trace.refused = 0;
}

static void take_overflow(void)
{
	struct vcpu *vc = now();

	vpmu_overflow(&vc->vpmu);
	if (fake_hart_pending())
		differ("vpmu_overflow() left an LCOFI pending");
	note_lost();
}

/* --- steps: calls -------------------------------------------------------------------- */

static uint64_t valid_counters(const struct model *m)
{
	return m->policy.hctrs | ((1ULL << VPMU_FW_COUNTERS) - 1) << m->policy.fw_base;
}

static uint64_t counters_in_use(const struct model *m, bool running)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < VPMU_COUNTERS; i++)
		if (m->c[i].configured && (!running || m->c[i].running))
			set |= 1ULL << i;
	return set;
}

/* Names a set by base and mask in one of the ways there are. */
static void name_set(uint64_t set, unsigned long *base, unsigned long *mask)
{
	uint32_t shift = set ? below((uint32_t)__builtin_ctzll(set) + 1) : 0;

	if (set && percent(30))
		shift = (uint32_t)__builtin_ctzll(set);
	if (percent(40))
		shift = 0;
	*base = shift;
	*mask = set >> shift;
}

static void extreme_set(unsigned long *base, unsigned long *mask)
{
	static const unsigned long bases[] = {0, 1, 31, 32, 48, 63, 64, ~0UL, ~0UL - 1, ~0UL - 63};
	static const unsigned long masks[] = {0, 1, 2, 3, 1UL << 63, ~0UL, 0xffffffff};

	*base = percent(20) ? chance() : bases[below(sizeof(bases) / sizeof(bases[0]))];
	*mask = percent(20) ? chance() : masks[below(sizeof(masks) / sizeof(masks[0]))];
}

static void pick_set(const struct model *m, bool used, unsigned long *base, unsigned long *mask)
{
	uint64_t valid = valid_counters(m);
	uint64_t set = used ? counters_in_use(m, percent(50)) : valid;

	switch (below(20)) {
	case 0:
		extreme_set(base, mask);
		return;
	case 1:
		set = valid;
		break;
	case 2:
		set = valid & ((1ULL << m->policy.fw_base) - 1);
		break;
	case 3:
		set = valid & chance();
		break;
	case 4:
		set = 1ULL << any_of(valid);
		break;
	case 5:
	case 6:
	case 7:
	case 8:
	case 9:
	case 10:
		if (set)
			set = 1ULL << any_of(set);
		break;
	case 11:
	case 12:
	case 13:
		set &= chance();
		break;
	default:
		break;
	}
	name_set(set, base, mask);
}

static void pick_event(unsigned long *event_idx, uint64_t *data)
{
	static const struct {
		unsigned long idx;
		uint64_t data;
	} odd[] = {
	    {0, 0},
	    {3, 0},
	    {10, 0},
	    {11, 0},
	    {1, 1},
	    {2, ~0ULL},
	    {0xffff, 0},
	    {0x10000, 0},
	    {0x10035, 0},
	    {0x10036, 0},
	    {0x10019, 1ULL << 63},
	    {0x1001e, 0},
	    {0x10038, 0},
	    {0x1ffff, 0},
	    {0x20000, 0},
	    {0x20001, FAKE_RAW_DATA},
	    {0x20000, FAKE_RAW_DATA | 1ULL << 48},
	    {0x30000, FAKE_RAW_V2_DATA | 1ULL << 56},
	    {0x30002, FAKE_RAW_V2_DATA},
	    {0x30000, ~0ULL},
	    {0x40001, 0},
	    {0xe0001, 0},
	    {0xf0005, 1},
	    {0xf0016, 0},
	    {0xf00ff, 0},
	    {0xf0100, 0},
	    {0xfffff, 0},
	    {0xfffff, 5},
	    {0x100001, 0},
	    {1UL << 32 | 1, 0},
	    {~0UL, 0},
	};
	uint32_t which = below(100);

	*data = 0;
	if (which < 12) {
		uint32_t i = below(sizeof(odd) / sizeof(odd[0]));

		*event_idx = odd[i].idx;
		*data = odd[i].data;
	} else if (which < 30) {
		*event_idx = 0xf0000 | below(22);
	} else if (which < 70) {
		*event_idx = fake_hart_event_idx(percent(50) ? FAKE_CYCLES : FAKE_INSNS, data);
	} else {
		*event_idx = fake_hart_event_idx((enum fake_event)below(FAKE_EVENTS), data);
	}
}

static unsigned long pick_config_flags(void)
{
	unsigned long flags = 0;

	if (percent(20))
		flags |= SBI_PMU_CFG_FLAG_SKIP_MATCH;
	if (percent(30))
		flags |= SBI_PMU_CFG_FLAG_CLEAR_VALUE;
	if (percent(30))
		flags |= SBI_PMU_CFG_FLAG_AUTO_START;
	if (percent(20))
		flags |= SBI_PMU_CFG_FLAG_SET_UINH;
	if (percent(20))
		flags |= SBI_PMU_CFG_FLAG_SET_SINH;
	/* These have no effect. */
	if (percent(30))
		flags |= SBI_PMU_CFG_FLAG_SET_VUINH | SBI_PMU_CFG_FLAG_SET_VSINH;
	if (percent(20))
		flags |= SBI_PMU_CFG_FLAG_SET_MINH;
	if (percent(2))
		flags |= 1UL << (8 + below(56));
	return flags;
}

static void step_config(void)
{
	struct model *m = &now()->model;
	unsigned long base, mask, event_idx;
	unsigned long flags = pick_config_flags();
	struct vpmu_ret ret;
	uint64_t data;
	const char *what;
	char *line = new_line();

	pick_set(m, percent(15), &base, &mask);
	pick_event(&event_idx, &data);
	/* Ask again for what runs, so that SKIP_MATCH meets its own event. */
	if ((flags & SBI_PMU_CFG_FLAG_SKIP_MATCH) && percent(50)) {
		uint32_t idx = any_of(counters_in_use(m, true));

		if (idx < VPMU_COUNTERS) {
			base = idx;
			mask = 1;
			event_idx = m->c[idx].event_idx;
			data = m->c[idx].event_data;
		}
	}
	ret = vpmu_counter_config_matching(&now()->vpmu, base, mask, flags, event_idx, data);
	snprintf(
	    line, LINE, "vcpu %u config(%#lx, %#lx, flags %#lx, event %#lx, data %#llx): %ld, %#lx",
	    resident, base, mask, flags, event_idx, (unsigned long long)data, ret.error, ret.value);
	m->fault = fake_trace.faults != 0;
	what = model_config(m, base, mask, flags, event_idx, data, ret);
	if (what)
		differ("config: %s", what);
	note_lost();
	count.calls++;
}

/* Start values: soon to wrap, at the edges of the far ones, or anything. */
static uint64_t pick_value(const struct model *m)
{
	static const uint64_t edges[] = {
	    0,
	    1,
	    1ULL << 62,
	    (1ULL << 62) + 1,
	    (1ULL << 63) - 1,
	    1ULL << 63,
	    (1ULL << 63) + 1,
	    0xc000000000000000ULL - 1,
	    0xc000000000000000ULL,
	    0xc000000000000000ULL + 1,
	    ~0ULL,
	    ~0ULL - 1,
	    (1ULL << 47) + 1,
	    (1ULL << 48) - 1,
	};
	uint64_t running = counters_in_use(m, true);
	uint32_t idx = any_of(running);

	if (percent(15))
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	/* To wrap together with another. */
	if (idx < VPMU_COUNTERS && percent(20))
		return m->c[idx].value;
	if (percent(10))
		return chance();
	return 0 - (uint64_t)(1 + below(percent(50) ? 40 : 3000));
}

static void step_start(void)
{
	struct model *m = &now()->model;
	unsigned long base, mask;
	unsigned long flags = percent(70) ? SBI_PMU_START_SET_INIT_VALUE : 0;
	uint64_t value = pick_value(m);
	struct vpmu_ret ret;
	const char *what;
	char *line = new_line();

	if (percent(4))
		flags |= SBI_PMU_START_FLAG_INIT_SNAPSHOT;
	if (percent(2))
		flags |= 1UL << (2 + below(62));
	pick_set(m, percent(90), &base, &mask);
	ret = vpmu_counter_start(&now()->vpmu, base, mask, flags, value);
	snprintf(line, LINE, "vcpu %u start(%#lx, %#lx, flags %#lx, value %#llx): %ld", resident,
	         base, mask, flags, (unsigned long long)value, ret.error);
	m->fault = fake_trace.faults != 0;
	what = model_start(m, base, mask, flags, value, ret);
	if (what)
		differ("start: %s", what);
	note_lost();
	count.calls++;
}

static void step_stop(void)
{
	struct model *m = &now()->model;
	unsigned long base, mask;
	unsigned long flags = percent(30) ? SBI_PMU_STOP_FLAG_RESET : 0;
	struct vpmu_ret ret;
	const char *what;
	char *line = new_line();

	if (percent(4))
		flags |= SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT;
	if (percent(2))
		flags |= 1UL << (2 + below(62));
	pick_set(m, percent(85), &base, &mask);
	ret = vpmu_counter_stop(&now()->vpmu, base, mask, flags);
	snprintf(line, LINE, "vcpu %u stop(%#lx, %#lx, flags %#lx): %ld", resident, base, mask,
	         flags, ret.error);
	what = model_stop(m, base, mask, flags, ret);
	if (what)
		differ("stop: %s", what);
	note_lost();
	count.calls++;
}

static void step_ask(void)
{
	const struct vpmu *v = &now()->vpmu;
	const struct model *m = &now()->model;
	unsigned long idx = percent(80) ? below(70) : chance();
	struct vpmu_ret ret;
	uint64_t value;
	const char *what;
	char *line = new_line();

	snprintf(line, LINE, "vcpu %u asks about counter %#lx", resident, idx);
	switch (below(5)) {
	case 0:
		what = model_num_counters(m, vpmu_num_counters(v));
		break;
	case 1:
		ret = vpmu_counter_get_info(v, idx);
		what = model_get_info(m, idx, ret);
		count.infos += !ret.error;
		count.infos_refused += ret.error != 0;
		break;
	case 2:
		ret = vpmu_counter_fw_read(v, idx);
		what = model_fw_read(m, idx, ret);
		count.fw_reads += !ret.error;
		count.fw_reads_refused += ret.error != 0;
		break;
	case 3:
		what = model_fw_read_hi(m, idx, vpmu_counter_fw_read_hi(v, idx));
		break;
	default:
		/* Not one of cycle .. hpmcounter31. */
		idx = percent(50) ? 0xc20 + below(0x3e0) : chance() & 0xbffUL;
		what = vpmu_csr_read(v, (uint32_t)idx, &value) ? "read of a foreign CSR" : NULL;
		count.bad_csr_reads++;
	}
	if (what)
		differ("%s", what);
	count.calls++;
}

/* --- steps: everything else ---------------------------------------------------------- */

/* A time to run that often ends at, just before or just after a wrap. */
static uint64_t pick_units(const struct model *m)
{
	uint32_t idx = any_of(counters_in_use(m, true));

	if (percent(2))
		return chance() >> (2 + below(3));
	if (percent(20))
		return below(6);
	if (idx < VPMU_COUNTERS && percent(50)) {
		uint64_t left = model_left(m, idx);

		if (left && (left <= 1ULL << 20 || (left <= FAR && percent(10))))
			return left + below(3) - 1;
	}
	return 1 + below(3000);
}

static void step_run(void)
{
	struct vcpu *vc = now();
	enum fake_mode mode = percent(60) ? FAKE_VS : FAKE_VU;
	uint32_t events = FAKE_ON_INSN;
	uint64_t units = pick_units(&vc->model);
	uint64_t done = 0;
	char *line = new_line();

	if (percent(25))
		events = FAKE_BIT(below(FAKE_EVENTS));
	snprintf(line, LINE, "vcpu %u runs %#llx units of events %#x in %s", resident,
	         (unsigned long long)units, events, mode == FAKE_VS ? "VS" : "VU");
	if (fake_hart_pending())
		take_overflow();
	for (uint32_t stops = 0; done < units && !difference[0]; stops++) {
		uint64_t part = fake_hart_step(mode, events, units - done);

		if (stops > 200) {
			differ("a storm of overflows");
			break;
		}
		model_step(&vc->model, mode, events, part);
		done += part;
		count.steps_of_guest++;
		if (!fake_hart_pending())
			continue;
		count.overflows++;
		/* Now and then an ecall or a timer comes first. */
		if (percent(20)) {
			snprintf(line + strlen(line), LINE - strlen(line), ", %#llx done",
			         (unsigned long long)done);
			break;
		}
		take_overflow();
		check_all();
	}
}

static void step_fw_event(void)
{
	uint32_t which = below(VCPUS);
	uint32_t code = percent(95) ? below(VPMU_FW_EVENTS + 2) : (uint32_t)chance();
	char *line = new_line();

	/* Mostly one that is counted. */
	for (uint32_t i = 0; i < VPMU_COUNTERS && percent(90); i++) {
		uint32_t idx = (i + which * 5) % VPMU_COUNTERS;

		if (vcpus[which].model.c[idx].running && model_is_fw(&vcpus[which].model, idx))
			code = vcpus[which].model.c[idx].event_idx & 0xffff;
	}
	snprintf(line, LINE, "firmware event %#x of vcpu %u", code, which);
	vpmu_fw_event(&vcpus[which].vpmu, code);
	model_fw_event(&vcpus[which].model, code);
	if (which == resident)
		count.fw_events_resident++;
	else
		count.fw_events_elsewhere++;
}

static void step_switch(void)
{
	uint32_t next = below(VCPUS);

	snprintf(new_line(), LINE, "switch from vcpu %u to vcpu %u", resident, next);
	count.lcofi_pending_at_switch += fake_hart_pending();
	fake_trace.stop_calls = 0;
	vpmu_save(&now()->vpmu);
	if (fake_trace.stop_calls > 1)
		differ("a switch out took %llu stops", (unsigned long long)fake_trace.stop_calls);
	now()->raises += fake_trace.raises;
	fake_trace.raises = 0;
	fake_hart_leave();
	if (percent(20))
		step_fw_event();
	resident = next;
	fake_hart_enter(next + 1);
	fake_trace.start_calls = 0;
	vpmu_restore(&now()->vpmu);
	note_lost();
	if (fake_trace.start_calls > 1)
		differ("a switch in took %llu starts", (unsigned long long)fake_trace.start_calls);
	count.switches++;
}

static void step_reset(void)
{
	struct vcpu *vc = now();
	struct vpmu_policy policy = vc->model.policy;

	snprintf(new_line(), LINE, "vcpu %u is reset", resident);
	vpmu_reset(&vc->vpmu);
	model_init(&vc->model, &policy);
	fake_trace.raises = 0;
	vc->raises = vc->raises_seen = 0;
	vc->wraps_seen = 0;
	if (fake_hart_running() || fake_hart_direct())
		differ("vpmu_reset() left a counter running or direct");
	if (fake_hart_pending())
		take_overflow();
	count.resets++;
}

/* --- epochs -------------------------------------------------------------------------- */

static void pick_hctrs(struct fake_hart_config *config, bool homes)
{
	uint32_t order = below(16);
	uint32_t kind = homes ? below(2) : below(4);

	for (uint32_t e = 0; e < FAKE_EVENTS; e++) {
		switch (kind) {
		case 0:
			config->hctrs[e] = 1ULL << (3 + (order + e * 5) % 16);
			break;
		case 1:
			/* Fewer counters than events: some share a home. */
			config->hctrs[e] = 1ULL << (3 + (order + e) % 4);
			break;
		case 2:
			config->hctrs[e] = 3ULL << (3 + 2 * e);
			break;
		default:
			config->hctrs[e] = FAKE_PROGRAMMABLE;
		}
	}
	count.epochs_homes += kind == 0;
	count.epochs_homes_collide += kind == 1;
	count.epochs_pairs += kind == 2;
	count.epochs_free += kind == 3;
}

static struct fake_hart_config pick_hart(uint32_t switches)
{
	static const uint32_t widths[] = {63, 62, 48, 40};
	struct fake_hart_config config = {
	    .one_counter_per_event = switches & 1,
	    .sticky_map = switches & 2,
	    .stale_irq = switches & 4,
	    .boot_of = switches & 8,
	    .pending_keeps_of = switches & 16,
	    .take_without_pending = switches & 32,
	    .skid = percent(25) ? 1 + below(40) : 0,
	    .knows_all_events = percent(25),
	    .width = percent(85) ? 64 : widths[below(4)],
	    .misuse = misused,
	};

	/* A whole round with no exit and then a late one: more than a value can tell. */
	if (config.width < 64)
		config.skid = 0;
	pick_hctrs(&config, config.one_counter_per_event || config.sticky_map);
	count.epochs_narrow += config.width < 64;
	count.epochs_late += config.skid != 0;
	count.epochs_all_events += config.knows_all_events;
	return config;
}

static struct vpmu_policy pick_policy(uint32_t width)
{
	static const uint32_t fw_bases[] = {19, 19, 32, 48};
	struct vpmu_policy policy = {
	    .hctrs = FAKE_PROGRAMMABLE,
	    .fw_base = fw_bases[below(4)],
	    .width = width,
	    .fw_events = percent(50) ? ~0U : (uint32_t)chance(),
	    .overflow = percent(90),
	    .trap_reads = percent(10),
	};

	if (percent(30))
		policy.hctrs &= chance() | chance();
	if (percent(50))
		policy.hctrs |= 5;
	count.epochs_no_overflow += !policy.overflow;
	count.epochs_trap_reads += policy.trap_reads;
	return policy;
}

static void (*const step_kinds[])(void) = {
    step_config, step_config, step_config,   step_config, step_config, step_start, step_start,
    step_start,  step_start,  step_start,    step_stop,   step_stop,   step_stop,  step_run,
    step_run,    step_run,    step_fw_event, step_switch, step_ask,    step_ask,
};

static void random_step(void)
{
	uint32_t kind = below(sizeof(step_kinds) / sizeof(step_kinds[0]));
	bool pending = fake_hart_pending();

	if (below(1000) == 0 || (pending && percent(3))) {
		count.lcofi_pending_at_reset += pending;
		step_reset();
		return;
	}
	if (!pending && percent(1)) {
		take_overflow();
		count.overflow_for_nothing++;
	}
	count.lcofi_pending_at_call += pending && kind < 13;
	if (faulty && percent(3)) {
		fake_hart_fail_prepare(below(3));
		fake_hart_refuse_start(below(4));
	}
	step_kinds[kind]();
	fake_hart_fail_prepare(0);
	fake_hart_refuse_start(0);
}

/* Runs steps on a fresh machine; returns how many were done, fewer where they differ. */
static uint32_t run_epoch(const struct fake_hart_config *mistaken, uint32_t switches,
                          uint64_t machine_seed, const uint64_t *seeds, uint32_t n)
{
	struct fake_hart_config config;
	uint32_t i;

	rng = machine_seed;
	step_count = 0;
	difference[0] = '\0';
	faulty = percent(25);
	config = pick_hart(switches);
	if (mistaken)
		config = *mistaken;
	machine = config;
	fake_hart_reset(&config);
	memset(vcpus, 0, sizeof(vcpus));
	for (i = 0; i < VCPUS; i++) {
		struct vpmu_policy policy = pick_policy(config.width);

		vpmu_init(&vcpus[i].vpmu, &policy);
		model_init(&vcpus[i].model, &policy);
	}
	resident = 0;
	fake_hart_enter(1);
	vpmu_restore(&vcpus[0].vpmu);
	for (i = 0; i < n && !difference[0]; i++) {
		rng = seeds[i];
		random_step();
		if (!difference[0])
			check_all();
	}
	return i;
}

/* Leaves out steps as long as a difference stays. */
static uint32_t shorten(uint32_t switches, uint64_t machine_seed, uint64_t *seeds, uint32_t n)
{
	static uint64_t fewer[EPOCH_STEPS];
	uint32_t chunk = n / 2;

	while (chunk) {
		bool shorter = false;

		for (uint32_t at = 0; at + chunk <= n;) {
			uint32_t left = n - chunk;

			memcpy(fewer, seeds, at * sizeof(*seeds));
			memcpy(fewer + at, seeds + at + chunk, (left - at) * sizeof(*seeds));
			left = run_epoch(NULL, switches, machine_seed, fewer, left);
			if (!difference[0]) {
				at += chunk;
				continue;
			}
			memcpy(seeds, fewer, left * sizeof(*seeds));
			n = left;
			shorter = true;
		}
		if (!shorter || chunk > 1)
			chunk /= 2;
	}
	run_epoch(NULL, switches, machine_seed, seeds, n);
	return n;
}

static void show_machine(uint32_t switches)
{
	print_error("switches %#x, skid %u, knows all events %d, refusals %d\n", switches,
	            machine.skid, machine.knows_all_events, faulty);
	print_error("vcpu: counters, fw_base, width, fw events, overflow, trap\n");
	for (uint32_t i = 0; i < VCPUS; i++) {
		const struct vpmu_policy *p = &vcpus[i].model.policy;

		print_error("  %u: %#llx %u %u %#x %d %d\n", i, (unsigned long long)p->hctrs,
		            p->fw_base, p->width, p->fw_events, p->overflow, p->trap_reads);
	}
	print_error("home or first counter of events 0..:");
	for (uint32_t e = 0; e < FAKE_EVENTS; e++) {
		uint64_t data;
		uint32_t idx = fake_hart_event_idx((enum fake_event)e, &data);

		print_error(" %#llx", (unsigned long long)vpmu_port_event_hctrs(idx, data));
	}
	print_error("\n");
}

static void report_difference(uint32_t switches, uint64_t machine_seed, uint64_t *seeds, uint32_t n)
{
	print_error("seed %lu: differs after %llu calls: %s\nlast steps:\n", first_seed,
	            (unsigned long long)count.calls, difference);
	show_steps();
	n = shorten(switches, machine_seed, seeds, n);
	print_error("the same cut down to %u steps: %s\n", n, difference);
	show_machine(switches);
	show_steps();
}

static void make_seeds(uint64_t seed, uint64_t *seeds)
{
	for (uint32_t i = 0; i < EPOCH_STEPS; i++)
		seeds[i] = mix(seed + i);
}

static void test_library_equals_model(void **state)
{
	static uint64_t seeds[EPOCH_STEPS];
	uint32_t combinations = 1U << SWITCHES;

	(void)state;
	memset(&count, 0, sizeof(count));
	memset(model_seen, 0, sizeof(model_seen));
	for (uint32_t epoch = 0; count.calls < wanted_calls || epoch < combinations; epoch++) {
		uint64_t machine_seed = mix(mix(first_seed) + epoch);
		uint32_t steps_wanted = EPOCH_STEPS;
		uint32_t done;

		/* A short run takes all combinations, too. */
		if (wanted_calls / combinations < EPOCH_STEPS)
			steps_wanted = (uint32_t)(wanted_calls / combinations + 1);
		make_seeds(machine_seed, seeds);
		done = run_epoch(NULL, epoch % combinations, machine_seed, seeds, steps_wanted);
		if (difference[0]) {
			report_difference(epoch % combinations, machine_seed, seeds, done);
			fail();
		}
	}
	print_message("%llu calls, %llu switches, %llu overflows\n",
	              (unsigned long long)count.calls, (unsigned long long)count.switches,
	              (unsigned long long)count.overflows);
}

static void need(const char *name, uint64_t times, uint32_t *never)
{
	print_message("  %-28s %llu\n", name, (unsigned long long)times);
	if (!times) {
		print_error("never happened: %s\n", name);
		(*never)++;
	}
}

/* A run that never met an error or a kind of call says nothing of it. */
static void test_everything_happened(void **state)
{
	uint32_t never = 0;

	(void)state;
#define X(name) need(#name, count.name, &never);
	COUNTS(X)
#undef X
#define X(name) need(#name, model_seen[SEEN_##name], &never);
	MODEL_SEEN(X)
#undef X
	if (wanted_calls >= FULL_COVERAGE_CALLS)
		assert_int_equal(never, 0);
}

/* --- can this test fail? ------------------------------------------------------------- */

static bool notices(const struct fake_hart_config *mistaken)
{
	static uint64_t seeds[EPOCH_STEPS];

	for (uint32_t epoch = 0; epoch < 20; epoch++) {
		make_seeds(mix(epoch), seeds);
		run_epoch(mistaken, 0, epoch, seeds, EPOCH_STEPS);
		if (difference[0])
			return true;
	}
	return false;
}

/* A port that hands out two counters for an event that only one counts. */
static void test_notices_dead_counters(void **state)
{
	struct fake_hart_config config = fake_hart_free();

	(void)state;
	config.misuse = misused;
	config.one_counter_per_event = true;
	assert_true(notices(&config));
}

/* A port that reprograms a counter without the reset that cleans the map. */
static void test_notices_sticky_map(void **state)
{
	struct fake_hart_config config = fake_hart_homes();

	(void)state;
	config.misuse = misused;
	config.hctrs[FAKE_DTLB_LOAD] = config.hctrs[FAKE_CYCLES];
	assert_false(notices(&config));
	config.port_keeps_map = true;
	assert_true(notices(&config));
}

static struct vpmu_hw_start start_of(uint32_t idx, enum fake_event event, bool armed,
                                     uint64_t value)
{
	struct vpmu_hw_start start = {.hctr = {idx}, .armed = armed, .value = value};

	start.config.event_idx = fake_hart_event_idx(event, &start.config.event_data);
	return start;
}

static void enter_hart(const struct fake_hart_config *config)
{
	fake_hart_reset(config);
	difference[0] = '\0';
	fake_hart_enter(1);
}

static void test_fake_second_counter_is_dead(void **state)
{
	struct fake_hart_config config = fake_hart_free();
	struct vpmu_hw_start starts[] = {start_of(5, FAKE_CYCLES, false, 0),
	                                 start_of(6, FAKE_CYCLES, false, 0)};

	(void)state;
	config.one_counter_per_event = true;
	enter_hart(&config);
	assert_int_equal(vpmu_port_start(starts, 2), 0);
	assert_int_equal(fake_hart_run_guest(1000, 2003), 3003);
	assert_int_equal(vpmu_port_read((hctr_t){5}), 3003);
	assert_int_equal(vpmu_port_read((hctr_t){6}), 0);
}

/* Cycles first, then dTLB write misses without a reset: cycles are what it goes on counting. */
static void test_fake_map_is_sticky(void **state)
{
	struct fake_hart_config config = fake_hart_free();
	struct vpmu_hw_start first = start_of(3, FAKE_CYCLES, false, 0);
	struct vpmu_hw_start second = start_of(3, FAKE_DTLB_ST, false, 0);

	(void)state;
	config.sticky_map = true;
	config.port_keeps_map = true;
	enter_hart(&config);
	vpmu_port_start(&first, 1);
	vpmu_port_stop(1 << 3);
	vpmu_port_start(&second, 1);
	assert_int_equal(fake_hart_run_guest(2003, 0), 2003);
	assert_int_equal(vpmu_port_read((hctr_t){3}), 2003);
}

static void test_fake_far_start_swallows_next_overflow(void **state)
{
	static const struct {
		uint64_t value;
		bool armed;
		uint64_t swallowed;
	} cases[] = {
	    {0x6000000000000000, true, 1},  {0x7fff000000000000, true, 1},
	    {0x8000000000000001, true, 1},  {0, true, 0},
	    {0x4000000000000000, true, 0},  {0xc000000000000000, true, 0},
	    {0xffff000000000000, true, 0},  {0x8000000000000001, false, 0},
	    {0x6000000000000000, false, 0},
	};
	struct fake_hart_config config = fake_hart_homes();
	struct vpmu_hw_start near = start_of(3, FAKE_CYCLES, true, 0 - 1000ULL);

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpmu_hw_start far = near;

		far.value = cases[i].value;
		far.armed = cases[i].armed;
		enter_hart(&config);
		fake_hart_run_guest(100, 0);
		vpmu_port_start(&far, 1);
		vpmu_port_stop(1 << 3);
		vpmu_port_start(&near, 1);
		assert_int_equal(fake_hart_run_guest(2000, 0), cases[i].swallowed ? 2000 : 1000);
		assert_int_equal(fake_hart_pending(), !cases[i].swallowed);
		assert_int_equal(fake_trace.swallowed, cases[i].swallowed);
	}
}

static void test_fake_overflow_flags(void **state)
{
	struct fake_hart_config config = fake_hart_homes();
	struct vpmu_hw_start armed = start_of(3, FAKE_CYCLES, true, 0 - 10ULL);
	struct vpmu_hw_start quiet = start_of(4, FAKE_INSNS, false, 0 - 5ULL);

	(void)state;
	config.misuse = misused;
	config.take_without_pending = true;
	enter_hart(&config);
	/* Set at boot, and by a start that arms nothing. */
	assert_int_equal(vpmu_port_take_overflow(0xff), 0xff);
	vpmu_port_start(&armed, 1);
	vpmu_port_start(&quiet, 1);
	assert_int_equal(vpmu_port_take_overflow(0x18), 0x10);
	assert_int_equal(fake_hart_run_guest(4, 100), 10);
	assert_true(fake_hart_pending());
	assert_int_equal(fake_hart_run_guest(1, 0), 0);
	/* A start while it pends is a mistake, and raises nothing later. */
	armed.hctr.idx = 3;
	assert_string_equal(difference, "");
	vpmu_port_stop(1 << 3);
	assert_string_equal(difference, "misuse of the port: stop while an overflow pends");
	vpmu_port_start(&armed, 1);
	assert_int_equal(vpmu_port_take_overflow(0x08), 0x08);
	assert_int_equal(fake_hart_run_guest(20, 0), 20);
	assert_int_equal(vpmu_port_read((hctr_t){3}), 10);
	assert_int_equal(vpmu_port_read((hctr_t){4}), 25);
}

static void expect_misuse(const char *what)
{
	assert_string_equal(difference, what);
	difference[0] = '\0';
}

static void test_fake_notices_misuse(void **state)
{
	struct fake_hart_config config = fake_hart_homes();
	struct vpmu_hw_start start = start_of(3, FAKE_CYCLES, false, 0);
	struct vpmu_hw_start wrong = start_of(4, FAKE_CYCLES, false, 0);

	(void)state;
	config.misuse = misused;
	enter_hart(&config);
	vpmu_port_read((hctr_t){3});
	expect_misuse("misuse of the port: read of a counter not started since its vcpu is "
	              "resident");
	vpmu_port_stop(1 << 3);
	expect_misuse("misuse of the port: stop of a counter that does not run");
	vpmu_port_start(&wrong, 1);
	expect_misuse("misuse of the port: counter cannot count the event");
	vpmu_port_stop(1 << 4);
	vpmu_port_start(&start, 1);
	vpmu_port_start(&start, 1);
	expect_misuse("misuse of the port: start of a running counter");
	vpmu_port_prepare(start.hctr, &start.config);
	expect_misuse("misuse of the port: prepare of a running counter");
	vpmu_port_set_direct(1 << 3);
	fake_hart_leave();
	expect_misuse("misuse of the port: vcpu left with a counter running");
	fake_hart_enter(2);
	expect_misuse("misuse of the port: counters run before their vcpu is resident");
	fake_hart_run_guest(1, 0);
	expect_misuse("misuse of the port: guest entered with another's counter direct");
	fake_hart_enter(3);
	expect_misuse("misuse of the port: two vcpus resident at once");
}

static unsigned long number(const char *text, const char *env, unsigned long otherwise)
{
	if (!text)
		text = getenv(env);
	return text ? strtoul(text, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fake_second_counter_is_dead),
	    cmocka_unit_test(test_fake_map_is_sticky),
	    cmocka_unit_test(test_fake_far_start_swallows_next_overflow),
	    cmocka_unit_test(test_fake_overflow_flags),
	    cmocka_unit_test(test_fake_notices_misuse),
	    cmocka_unit_test(test_notices_dead_counters),
	    cmocka_unit_test(test_notices_sticky_map),
	    cmocka_unit_test(test_library_equals_model),
	    cmocka_unit_test(test_everything_happened),
	};

	wanted_calls = number(argc > 1 ? argv[1] : NULL, "VPMU_MODEL_CALLS", wanted_calls);
	first_seed = number(argc > 2 ? argv[2] : NULL, "VPMU_MODEL_SEED", first_seed);
	print_message("seed %lu, %lu calls\n", first_seed, wanted_calls);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
