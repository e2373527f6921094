/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the extension with likely, odd and extreme arguments. */
#include "tests/host/random_guest.h"

#define ELEMENTS(a)     ((uint32_t)(sizeof(a) / sizeof((a)[0])))
#define ANY(c, a)       ((a)[below(c, ELEMENTS(a))])
#define PAGE            4096ULL
#define PAGES           ((uint32_t)(FAKE_RAM_SIZE / PAGE))
#define RESERVED_BIT(n) (1UL << ((n) + below(c, 64 - (n))))

static const struct model *model(void)
{
	return &world_vcpus[world_resident].model;
}

static uint64_t valid_counters(const struct model *m)
{
	return m->policy.hctrs | ((1ULL << VPMU_FW_COUNTERS) - 1) << m->policy.fw_base;
}

uint64_t random_in_use(bool running)
{
	const struct model *m = model();
	uint64_t set = 0;

	for (uint32_t i = 0; i < VPMU_COUNTERS; i++)
		if (m->c[i].configured && (!running || m->c[i].running))
			set |= 1ULL << i;
	return set;
}

/* --- sets of counters ---------------------------------------------------------------- */

/* Names a set by base and mask in one of the possible ways. */
static void name_set(struct chance *c, uint64_t set, uint64_t *a)
{
	uint32_t lowest = set ? (uint32_t)__builtin_ctzll(set) : 0;
	uint32_t shift = below(c, lowest + 1);

	if (percent(c, 30))
		shift = lowest;
	if (percent(c, 40))
		shift = 0;
	a[0] = shift;
	a[1] = set >> shift;
}

static void extreme_set(struct chance *c, uint64_t *a)
{
	static const uint64_t bases[] = {0, 1, 31, 32, 48, 63, 64, 4096, ~0UL, ~0UL - 1, ~0UL - 63};
	static const uint64_t masks[] = {0, 0, 1, 2, 3, 1UL << 63, ~0UL, 0xffffffff};

	a[0] = percent(c, 20) ? chance(c) : ANY(c, bases);
	a[1] = percent(c, 20) ? chance(c) : ANY(c, masks);
}

static void pick_set(struct chance *c, bool used, uint64_t *a)
{
	const struct model *m = model();
	uint64_t valid = valid_counters(m);
	uint64_t set = used ? random_in_use(percent(c, 50)) : valid;

	switch (below(c, 20)) {
	case 0:
		extreme_set(c, a);
		return;
	case 1:
		set = valid;
		break;
	case 2:
		set = valid & ((1ULL << m->policy.fw_base) - 1);
		break;
	case 3:
		set = valid & chance(c);
		break;
	case 4:
		set = 1ULL << any_of(c, valid);
		break;
	case 5:
	case 6:
	case 7:
	case 8:
	case 9:
	case 10:
		if (set)
			set = 1ULL << any_of(c, set);
		break;
	case 11:
	case 12:
	case 13:
		set &= chance(c);
		break;
	default:
		break;
	}
	name_set(c, set, a);
}

/* --- CONFIG, START, STOP ------------------------------------------------------------- */

static const struct {
	uint64_t idx;
	uint64_t data;
} odd_events[] = {
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
    {0xf0100, 1},
    {0xf01ff, 0},
    {0xffffe, 0},
    {0xfffff, 0},
    {0xfffff, 5},
    {0x100001, 0},
    {1UL << 32 | 1, 0},
    {~0UL, 0},
};

static void pick_event(struct chance *c, uint64_t *event_idx, uint64_t *data)
{
	uint32_t which = below(c, 100);

	*data = 0;
	if (which < 10) {
		uint32_t i = below(c, ELEMENTS(odd_events));

		*event_idx = odd_events[i].idx;
		*data = odd_events[i].data;
	} else if (which < 25) {
		*event_idx = 0xf0000 | below(c, 22);
	} else if (which < 35) {
		*event_idx = 0xf0100 | (below(c, model()->policy.n_tally_events + 1) & 0xff);
	} else if (which < 70) {
		*event_idx = fake_hart_event_idx(percent(c, 50) ? FAKE_CYCLES : FAKE_INSNS, data);
	} else {
		*event_idx =
		    fake_hart_event_idx((enum fake_event)below(c, fake_hart_events()), data);
	}
}

static uint64_t pick_config_flags(struct chance *c)
{
	uint64_t flags = 0;

	if (percent(c, 20))
		flags |= SBI_PMU_CFG_FLAG_SKIP_MATCH;
	if (percent(c, 30))
		flags |= SBI_PMU_CFG_FLAG_CLEAR_VALUE;
	if (percent(c, 30))
		flags |= SBI_PMU_CFG_FLAG_AUTO_START;
	if (percent(c, 20))
		flags |= SBI_PMU_CFG_FLAG_SET_UINH;
	if (percent(c, 20))
		flags |= SBI_PMU_CFG_FLAG_SET_SINH;
	/* These have no effect. */
	if (percent(c, 30))
		flags |= SBI_PMU_CFG_FLAG_SET_VUINH | SBI_PMU_CFG_FLAG_SET_VSINH;
	if (percent(c, 20))
		flags |= SBI_PMU_CFG_FLAG_SET_MINH;
	if (percent(c, 2))
		flags |= RESERVED_BIT(8);
	return flags;
}

/* Chooses the event and filter that some counter counted before it was reset. */
static bool pick_event_again(struct chance *c, struct op *op)
{
	uint64_t past = 0;
	uint32_t idx;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (!model()->c[i].configured && model()->c[i].event_idx)
			past |= 1ULL << i;
	idx = any_of(c, past);
	if (idx >= VPMU_COUNTERS)
		return false;
	op->a[2] &= ~(uint64_t)(SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_SINH);
	if (model()->c[idx].inhibit & HW_INH_VU)
		op->a[2] |= SBI_PMU_CFG_FLAG_SET_UINH;
	if (model()->c[idx].inhibit & HW_INH_VS)
		op->a[2] |= SBI_PMU_CFG_FLAG_SET_SINH;
	op->a[3] = model()->c[idx].event_idx;
	op->a[4] = model()->c[idx].event_data;
	/* If possible the same counter, whose hctr may still hold it. */
	if (percent(c, 60)) {
		op->a[0] = 0;
		op->a[1] = model()->policy.hctrs;
		op->a[2] &= ~(uint64_t)(SBI_PMU_CFG_FLAG_SKIP_MATCH | SBI_PMU_CFG_FLAG_AUTO_START);
		op->a[2] |= percent(c, 50) ? SBI_PMU_CFG_FLAG_CLEAR_VALUE : 0;
	}
	return true;
}

static void pick_config(struct chance *c, struct op *op)
{
	pick_set(c, percent(c, 15), op->a);
	op->a[2] = pick_config_flags(c);
	if (!percent(c, 25) || !pick_event_again(c, op))
		pick_event(c, &op->a[3], &op->a[4]);
	/* Asks again for what runs, so that SKIP_MATCH finds its own event. */
	if ((op->a[2] & SBI_PMU_CFG_FLAG_SKIP_MATCH) && percent(c, 50)) {
		uint32_t idx = any_of(c, random_in_use(true));

		if (idx < VPMU_COUNTERS) {
			op->a[0] = idx;
			op->a[1] = 1;
			op->a[3] = model()->c[idx].event_idx;
			op->a[4] = model()->c[idx].event_data;
		}
	}
}

/* Start values: soon to wrap, about 2^62 from the wrap, or any. */
static uint64_t pick_value(struct chance *c)
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
	uint32_t idx = any_of(c, random_in_use(true));

	/* If HS advances counters, it is unknown on which side of 2^62 one was when it started. */
	if (percent(c, 15) && !model()->policy.count_hs)
		return ANY(c, edges);
	/* So that it wraps together with another. */
	if (idx < VPMU_COUNTERS && percent(c, 20))
		return model()->c[idx].value;
	if (percent(c, 10))
		return chance(c);
	return 0 - (uint64_t)(1 + below(c, percent(c, 50) ? 40 : 3000));
}

static void pick_start(struct chance *c, struct op *op)
{
	bool snapshot = percent(c, model()->shmem_set ? 40 : 4);

	pick_set(c, percent(c, 90), op->a);
	op->a[2] = percent(c, 70) ? SBI_PMU_START_SET_INIT_VALUE : 0;
	if (snapshot)
		op->a[2] = SBI_PMU_START_FLAG_INIT_SNAPSHOT | (percent(c, 5) ? 1 : 0);
	if (percent(c, 2))
		op->a[2] |= RESERVED_BIT(2);
	op->a[3] = pick_value(c);
}

static void pick_stop(struct chance *c, struct op *op)
{
	pick_set(c, percent(c, 85), op->a);
	op->a[2] = percent(c, 12) ? SBI_PMU_STOP_FLAG_RESET : 0;
	if (percent(c, model()->shmem_set ? 50 : 4))
		op->a[2] |= SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT;
	if (percent(c, 2))
		op->a[2] |= RESERVED_BIT(2);
}

/* --- shared memory ------------------------------------------------------------------- */

static void pick_set_shmem(struct chance *c, struct op *op)
{
	static const uint64_t pages[] = {
	    0, FAKE_RAM - PAGE, FAKE_RAM, FAKE_RAM_END - PAGE, FAKE_RAM_END, ~0UL << 12, 1UL << 56};
	static const uint64_t odd[] = {1, 2048, 8, FAKE_RAM, ~0UL};

	op->a[0] = FAKE_RAM + PAGE * below(c, PAGES);
	if (percent(c, 20))
		op->a[0] = ANY(c, pages);
	if (percent(c, 10))
		op->a[0] += percent(c, 80) ? ANY(c, odd) : chance(c);
	if (percent(c, 10))
		op->a[1] = percent(c, 50) ? 1 : ~0UL;
	if (percent(c, 20))
		op->a[0] = op->a[1] = ~0UL;
	if (percent(c, 5))
		op->a[2] = percent(c, 50) ? 1 : chance(c);
}

static void pick_event_info(struct chance *c, struct op *op)
{
	static const uint64_t numbers[] = {0,
	                                   1,
	                                   VPMU_INFO_SLICE - 1,
	                                   VPMU_INFO_SLICE,
	                                   VPMU_INFO_SLICE + 1,
	                                   31,
	                                   32,
	                                   33,
	                                   64,
	                                   65,
	                                   FAKE_RAM_SIZE / 16,
	                                   FAKE_RAM_SIZE / 16 + 1,
	                                   1UL << 60,
	                                   (1UL << 60) - 1,
	                                   (1UL << 60) - (FAKE_RAM >> 4),
	                                   1UL << 63,
	                                   ~0UL};
	const struct model_info *info = &model()->info;

	/* The guest executes it again. */
	if (info->next && percent(c, 85)) {
		op->a[0] = info->lo;
		op->a[1] = WORLD_AGAIN;
		op->a[2] = info->num;
		/* Or leaves it, and begins it again. */
		if (percent(c, 10))
			op->a[1] = 0;
		else if (percent(c, 2))
			op->a[1 + 2 * below(c, 2)] = 1;
		/* Or asks about other entries, at a wrong address. */
		else if (percent(c, 3))
			op->a[2 * below(c, 2)] += 16;
		return;
	}
	op->a[0] = FAKE_RAM + 16 * below(c, percent(c, 50) ? 64 : FAKE_RAM_SIZE / 16);
	op->a[2] = percent(c, 70) ? below(c, 100) : ANY(c, numbers);
	if (percent(c, 8))
		op->a[0] += percent(c, 50) ? FAKE_RAM_SIZE - 16 : below(c, 16);
	if (percent(c, 3))
		op->a[0] = percent(c, 50) ? chance(c) & ~15UL : 16 * below(c, 4);
	if (percent(c, 5))
		op->a[1] = percent(c, 50) ? 1 : ~0UL;
	if (percent(c, 5))
		op->a[3] = percent(c, 50) ? 1 : chance(c);
}

/* --- which ---------------------------------------------------------------------------- */

/* Of 64. */
static const uint8_t call_weights[OP_CALLS] = {
    [OP_NUM_COUNTERS] = 1, [OP_GET_INFO] = 2,  [OP_CONFIG] = 22,
    [OP_START] = 17,       [OP_STOP] = 10,     [OP_FW_READ] = 2,
    [OP_FW_READ_HI] = 1,   [OP_SET_SHMEM] = 2, [OP_EVENT_INFO] = 7,
};

void random_call(struct chance *c, struct op *op)
{
	uint32_t which = below(c, 64);

	for (op->kind = 0; which >= call_weights[op->kind]; op->kind++)
		which -= call_weights[op->kind];
	/* Guests that have begun the call usually complete it. */
	if (model()->info.next && percent(c, 30))
		op->kind = OP_EVENT_INFO;
	switch (op->kind) {
	case OP_CONFIG:
		pick_config(c, op);
		break;
	case OP_START:
		pick_start(c, op);
		break;
	case OP_STOP:
		pick_stop(c, op);
		break;
	case OP_SET_SHMEM:
		pick_set_shmem(c, op);
		break;
	case OP_EVENT_INFO:
		pick_event_info(c, op);
		break;
	default:
		op->a[0] = percent(c, 80) ? below(c, 70) : chance(c);
	}
}
