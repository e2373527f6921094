/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/vpmu_stub.h"
#include "vpmu/retired.h"
#include "vpmu/shown.h"

#include <string.h>

#define ANY_DATA UINT64_MAX

struct stub stub;
struct vpmu vpmu;

const struct vpmu_policy stub_policy = {
    .hctrs = HW,
    .fw_base = 19,
    .width = 64,
    .fw_events = 0x3ff0, /* codes 4 to 13 */
    .overflow = true,
};

void stub_setup_policy(const struct vpmu_policy *policy)
{
	stub = (struct stub){.polls_after = UINT64_MAX};
	stub.width_mask = policy->width == 64 ? UINT64_MAX : (UINT64_C(1) << policy->width) - 1;
	stub_neighbour();
	memset(&vpmu, 0xa5, sizeof(vpmu));
	vpmu_init(&vpmu, policy);
	vpmu_restore(&vpmu);
}

int stub_setup(void **state)
{
	(void)state;
	stub_setup_policy(&stub_policy);
	return 0;
}

void stub_neighbour(void)
{
	uint32_t i;

	assert_int_equal(stub.direct, 0);
	for (i = 0; i < 32; i++) {
		assert_false(stub.hctr[i].running);
		if (stub.hctr[i].ours)
			vpmu_evict(&vpmu, (hctr_t){i});
		stub.hctr[i] = (struct stub_hctr){
		    .value = (0x5eed000000000000 + i) & stub.width_mask,
		    .flag = true,
		    .config = {.event_idx = 0xdead},
		};
	}
}

void stub_settle(void)
{
	uint64_t failed = stub.failed;
	uint32_t i;

	if (failed == 0)
		return;
	stub.failed = 0;
	stub.call_failed = true;
	for (i = 0; i < 32; i++)
		if ((failed >> i & 1) != 0 && (HCTRS_FIXED >> i & 1) == 0)
			stub.hctr[i].ours = false;
	vpmu_handle_failed(&vpmu, failed);
}

static void count_data(unsigned long event_idx, uint64_t event_data, uint64_t n,
                       uint32_t inhibited_by)
{
	uint32_t i;

	stub_settle();
	for (i = 0; i < 32; i++) {
		struct stub_hctr *h = &stub.hctr[i];
		uint64_t to_wrap = stub.width_mask - h->value;

		if (!h->running || h->config.event_idx != event_idx ||
		    (event_data != ANY_DATA && h->config.event_data != event_data) ||
		    (h->config.inhibit & inhibited_by) != 0)
			continue;
		h->value = (h->value + n) & stub.width_mask;
		if (n > to_wrap && (h->armed || h->zeroed) && !h->flag && !stub.quiet_flags &&
		    (HCTRS_FIXED >> i & 1) == 0) {
			h->flag = true;
			stub.pending = true;
		}
	}
}

static void count(unsigned long event_idx, uint64_t n, uint32_t inhibited_by)
{
	count_data(event_idx, ANY_DATA, n, inhibited_by);
}

void stub_count_raw(uint64_t event_data, uint64_t n)
{
	count_data(RAW, event_data, n, HW_INH_VS);
}

void stub_count(unsigned long event_idx, uint64_t n)
{
	count(event_idx, n, HW_INH_VS);
}

void stub_count_vu(unsigned long event_idx, uint64_t n)
{
	count(event_idx, n, HW_INH_VU);
}

void stub_run(unsigned long event_idx, uint64_t n)
{
	while (n-- != 0) {
		stub_count(event_idx, 1);
		if (stub.pending)
			vpmu_overflow(&vpmu);
	}
}

void stub_emulate(bool user)
{
	stub_settle();
	vpmu_retired(&vpmu, user);
}

/* HS does some work, which advances the counters that count it. */
static void hs_works(void)
{
	uint32_t i;

	for (i = 0; i < 32; i++) {
		struct stub_hctr *h = &stub.hctr[i];
		uint64_t to_wrap = stub.width_mask - h->value;

		if (!h->running || (h->config.inhibit & HW_COUNT_HS) == 0)
			continue;
		h->value = (h->value + stub.hs_step) & stub.width_mask;
		if (stub.hs_step > to_wrap && h->armed && !h->flag) {
			h->flag = true;
			stub.pending = true;
		}
	}
}

static uint64_t event_hctrs(uint32_t event_idx, uint64_t event_data)
{
	if (stub.any_event)
		return 1U << 3;
	if (stub.any_hctr && (event_idx == CYCLES || event_idx == INSTRS))
		return 0x7fff8;
	switch (event_idx) {
	case CYCLES:
		return 1U << 3 | (stub.filters ? 1U : 0);
	case INSTRS:
		return 1U << 4 | (stub.filters ? 4U : 0);
	case DTLB:
		return 1U << 5;
	case RAW:
	case RAW2:
		if (event_data < STUB_RAW && stub.raw_hctrs[event_data] != 0)
			return stub.raw_hctrs[event_data];
		return event_data == 0 ? 0 : 0xf00;
	default:
		return 0;
	}
}

/* Counters whose overflow raises no interrupt are never started with OF = 0. */
static bool can_arm(uint32_t i)
{
	return !vpmu.policy.polled_cache || stub.hctr[i].config.event_idx != DTLB;
}

static uint64_t harts_flags(void)
{
	uint64_t set = 0;
	uint32_t i;

	for (i = 3; i < 32; i++)
		if (stub.hctr[i].flag && !stub.clears_flags)
			set |= UINT64_C(1) << i;
	return set;
}

/* As core/vcpu/hart_flags.c. */
static void flags_raised(void)
{
	stub.shown = vpmu_scountovf(&vpmu);
	stub.show_at_start = true;
	if (vpmu.policy.shows_flags &&
	    (stub.shown & ~UINT64_C(7) & ~(harts_flags() & stub.direct)) != 0)
		stub.show_due = true;
}

/* --- counters ------------------------------------------------------------------------------- */

bool vpmu_port_prepare(hctr_t hctr, const struct hw_event *config)
{
	struct stub_hctr *h = &stub.hctr[hctr.idx];

	stub.prepares++;
	assert_false(h->running);
	assert_false(stub.pending);
	assert_int_equal(HCTRS_FIXED >> hctr.idx & 1, 0);
	if ((stub.refuse_prepare >> hctr.idx & 1) != 0)
		return false;
	assert_true(event_hctrs(config->event_idx, config->event_data) >> hctr.idx & 1);
	h->config = *config;
	h->value = 0xbad;
	h->flag = true;
	h->zeroed = false;
	h->ours = true;
	return true;
}

void vpmu_port_set(uint64_t hctr_mask, uint64_t value, bool armed)
{
	bool zero = armed || (vpmu.policy.shows_flags && (stub.shown & hctr_mask) == 0);
	uint32_t i;

	assert_int_not_equal(hctr_mask, 0);
	assert_int_equal(value & ~stub.width_mask, 0);
	for (i = 0; i < 32; i++) {
		struct stub_hctr *h = &stub.hctr[i];

		if ((hctr_mask >> i & 1) == 0)
			continue;
		assert_true(h->ours);
		assert_false(h->running);
		if ((stub.fail_start >> i & 1) != 0)
			continue;
		h->armed = armed;
		h->zeroed = zero && (can_arm(i) || !vpmu.policy.shows_flags);
		h->flag = !h->zeroed;
		h->value = value;
	}
	stub.ready |= hctr_mask;
}

/* OF of a counter that continues: see run_any() in arch/riscv/counters/hpm_sbi.c. */
static void run_again(uint32_t i)
{
	struct stub_hctr *h = &stub.hctr[i];

	if (!vpmu.policy.shows_flags || (stub.ready >> i & 1) != 0)
		return;
	if (h->zeroed && (stub.shown >> i & 1) == 0)
		h->flag = false;
	else if (stub.start_sets_flag)
		h->flag = true;
}

void vpmu_port_run(uint64_t hctr_mask)
{
	uint32_t i;

	stub.starts++;
	stub.last_n = 0;
	assert_int_not_equal(hctr_mask, 0);
	/* All that were set, and those that were stopped and not changed. */
	assert_int_equal(stub.ready & ~hctr_mask, 0);
	assert_false(stub.pending);
	for (i = 0; i < 32; i++) {
		if ((hctr_mask >> i & 1) == 0)
			continue;
		stub.last_n++;
		run_again(i);
		assert_true(stub.hctr[i].ours);
		assert_false(stub.hctr[i].running);
		stub.hctr[i].running = (stub.fail_start >> i & 1) == 0;
		hs_works();
	}
	stub.failed |= hctr_mask & stub.fail_start;
	stub.ready = 0;
}

void vpmu_port_start(uint64_t hctr_mask, uint64_t value)
{
	vpmu_port_set(hctr_mask, value, false);
	vpmu_port_run(hctr_mask);
}

void vpmu_port_start_armed(hctr_t hctr, uint64_t value)
{
	vpmu_port_set(UINT64_C(1) << hctr.idx, value, true);
	vpmu_port_run(UINT64_C(1) << hctr.idx);
}

void vpmu_port_stop(uint64_t hctr_mask)
{
	uint32_t i;

	stub.stops++;
	stub.last_stop = hctr_mask;
	assert_int_not_equal(hctr_mask, 0);
	/* A counter that counts HS may wrap after overflows were taken. */
	assert_true(stub.hs_step != 0 || !stub.pending);
	hs_works();
	for (i = 0; i < 32; i++) {
		if ((hctr_mask >> i & 1) == 0)
			continue;
		assert_true(stub.hctr[i].running || (stub.failed >> i & 1) != 0);
		stub.hctr[i].running = false;
	}
}

uint64_t vpmu_port_read(hctr_t hctr)
{
	assert_true(stub.hctr[hctr.idx].ours);
	hs_works();
	return stub.hctr[hctr.idx].value;
}

bool vpmu_port_is_unstarted(hctr_t hctr)
{
	return stub.failed >> hctr.idx & 1;
}

uint64_t vpmu_port_step(hctr_t hctr, uint64_t last, uint64_t *value)
{
	struct stub_hctr *h = &stub.hctr[hctr.idx];
	uint64_t left = 0;

	assert_true(vpmu.policy.steps);
	stub.steps++;
	assert_true(h->running && h->ours);
	hs_works();
	if (h->value == last)
		left = UINT64_C(1) << hctr.idx;
	else
		h->value = (h->value + 1) & stub.width_mask;
	*value = vpmu_port_read(hctr);
	return left;
}

void vpmu_port_set_direct(uint64_t hctr_mask)
{
	stub.directs++;
	assert_int_not_equal(hctr_mask, stub.direct);
	stub.direct = hctr_mask;
}

uint64_t vpmu_port_flags(void)
{
	assert_true(vpmu.policy.shows_flags);
	return harts_flags();
}

uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs)
{
	uint64_t wrapped = 0;
	uint32_t i;

	stub.takes++;
	stub.pending = false;
	for (i = 0; i < 32; i++) {
		if ((armed_hctrs >> i & 1) == 0)
			continue;
		if ((stub.failed >> i & 1) != 0)
			continue;
		assert_true(stub.hctr[i].running && stub.hctr[i].armed);
		if (stub.hctr[i].flag && (stub.hctr[i].zeroed || !vpmu.policy.shows_flags))
			wrapped |= UINT64_C(1) << i;
	}
	return wrapped;
}

bool vpmu_port_is_quiet(void)
{
	return !stub.pending;
}

/* --- fixed counters ------------------------------------------------------------------------- */

void vpmu_port_fixed_take(hctr_t hctr, const struct hw_event *config, uint64_t value)
{
	struct stub_hctr *h = &stub.hctr[hctr.idx];

	assert_true(HCTRS_FIXED >> hctr.idx & 1);
	assert_true(event_hctrs(config->event_idx, config->event_data) >> hctr.idx & 1);
	assert_false(h->running || h->ours);
	h->config = *config;
	/* It need not be valid before it is set. */
	h->value = ~value & stub.width_mask;
	h->ours = true;
}

/* HS goes on counting with it. */
void vpmu_port_fixed_release(uint64_t hctr_mask)
{
	uint32_t i;

	assert_int_equal(hctr_mask & ~HCTRS_FIXED, 0);
	for (i = 0; i < 3; i++) {
		if ((hctr_mask >> i & 1) == 0)
			continue;
		assert_true(stub.hctr[i].ours);
		assert_false(stub.hctr[i].running);
		stub.released++;
		stub.hctr[i] = (struct stub_hctr){.value = 0x5eed};
	}
}

/* --- events --------------------------------------------------------------------------------- */

static void evict_idle(void)
{
	uint32_t i;

	for (i = 0; i < 32; i++) {
		struct stub_hctr *h = &stub.hctr[i];

		if (h->running || !h->ours)
			continue;
		vpmu_evict(&vpmu, (hctr_t){i});
		*h = (struct stub_hctr){.value = 0x5eed, .flag = true};
	}
	vpmu_finish_evict(&vpmu);
	flags_raised();
}

uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data)
{
	if (stub.asking_evicts && (event_idx == RAW || event_idx == RAW2))
		evict_idle();
	return event_hctrs(event_idx, event_data);
}

void vpmu_port_event_of_raw(uint32_t *event_idx, uint64_t *event_data)
{
	assert_true(*event_idx == RAW || *event_idx == RAW2);
	if (*event_data != RAW_INSTRS)
		return;
	*event_idx = INSTRS;
	*event_data = 0;
}

void vpmu_port_fw_watch(uint32_t codes)
{
	stub.watches++;
	assert_int_not_equal(codes, stub.watched);
	stub.watched = codes;
}

uint64_t vpmu_port_fw_total(uint32_t code)
{
	assert_true(code < STUB_FW_CODES);
	return stub.fw_total[code];
}

/* --- guest memory --------------------------------------------------------------------------- */

static bool touch(uint64_t gpa, uint32_t n, uint8_t *touched)
{
	uint32_t i;

	if (gpa < RAM_BASE || gpa - RAM_BASE > RAM_SIZE || n > RAM_SIZE - (gpa - RAM_BASE))
		return false;
	for (i = 0; i < n; i++)
		touched[gpa - RAM_BASE + i]++;
	return true;
}

bool vpmu_port_guest_read(uint64_t gpa, void *to, uint32_t n)
{
	if (!touch(gpa, n, stub.ram_reads))
		return false;
	memcpy(to, &stub.ram[gpa - RAM_BASE], n);
	return true;
}

bool vpmu_port_guest_write(uint64_t gpa, const void *from, uint32_t n)
{
	if (!touch(gpa, n, stub.ram_writes))
		return false;
	memcpy(&stub.ram[gpa - RAM_BASE], from, n);
	return true;
}

bool vpmu_port_guest_ram(uint64_t gpa, uint64_t n)
{
	stub.ram_checks++;
	assert_int_not_equal(n, 0);
	return gpa >= RAM_BASE && gpa - RAM_BASE <= RAM_SIZE && n <= RAM_SIZE - (gpa - RAM_BASE);
}

/* --- notices -------------------------------------------------------------------------------- */

void vpmu_port_poll_after(uint64_t counts)
{
	assert_true(counts != UINT64_MAX || stub.polls_after != UINT64_MAX);
	stub.polling++;
	stub.polls_after = counts;
}

void vpmu_port_trap_wfi(void)
{
	stub.trapped_wfis++;
}

void vpmu_port_raise_lcofi(void)
{
	flags_raised();
	stub.lcofis++;
}

void vpmu_port_budget_spent(void)
{
	stub.budgets_spent++;
}

void vpmu_port_budget_lost(void)
{
	stub.budgets_lost++;
}

void vpmu_port_observer_lost(uint32_t n, uint64_t value)
{
	stub.unobserved |= 1U << n;
	stub.unobserved_value = value;
}

uint64_t vpmu_port_sample(uint32_t n, uint64_t period, uint64_t missed)
{
	stub.samples[n]++;
	stub.missed += missed;
	stub.sampled_period = period;
	return stub.next_period ? stub.next_period : period;
}

/* --- the guest's memory, by itself ---------------------------------------------------------- */

void poke64(uint64_t gpa, uint64_t value)
{
	memcpy(&stub.ram[gpa - RAM_BASE], &value, sizeof(value));
}

void poke32(uint64_t gpa, uint32_t value)
{
	memcpy(&stub.ram[gpa - RAM_BASE], &value, sizeof(value));
}

uint64_t peek64(uint64_t gpa)
{
	uint64_t value;

	memcpy(&value, &stub.ram[gpa - RAM_BASE], sizeof(value));
	return value;
}

uint32_t peek32(uint64_t gpa)
{
	uint32_t value;

	memcpy(&value, &stub.ram[gpa - RAM_BASE], sizeof(value));
	return value;
}

void ram_forget(void)
{
	memset(stub.ram_reads, 0, sizeof(stub.ram_reads));
	memset(stub.ram_writes, 0, sizeof(stub.ram_writes));
	stub.ram_checks = 0;
}

static unsigned int sum(const uint8_t *touched)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < RAM_SIZE; i++)
		n += touched[i];
	return n;
}

unsigned int ram_bytes_read(void)
{
	return sum(stub.ram_reads);
}

unsigned int ram_bytes_written(void)
{
	return sum(stub.ram_writes);
}

/* --- what the guest does -------------------------------------------------------------------- */

static void show(void)
{
	bool closed;

	stub.shown = vpmu_scountovf(&vpmu);
	/* Each time one OF is made at most. */
	do
		stub_settle();
	while (!vpmu_show_flags(&vpmu, true, &closed));
	stub_settle();
	stub.show_due = false;
	stub.show_at_start = stub.shown != 0 || closed;
}

static void configured(void)
{
	bool closed;

	if (!vpmu.policy.shows_flags)
		return;
	if (vpmu_show_flags_if_clear(&vpmu, harts_flags(), &closed)) {
		stub.shown = 0;
		stub.show_at_start = stub.show_at_start || closed;
	} else {
		show();
	}
}

static void started(void)
{
	if (vpmu.policy.shows_flags && stub.show_at_start)
		show();
}

void stub_leave(void)
{
	vpmu_save(&vpmu);
	stub_settle();
}

void stub_come_back(void)
{
	stub.shown = vpmu_scountovf(&vpmu);
	if (stub.shown != 0)
		stub.show_due = stub.show_at_start = true;
	vpmu_restore(&vpmu);
}

void stub_away(void)
{
	stub_leave();
	stub_neighbour();
	stub_come_back();
}

uint64_t guest_sees(void)
{
	stub_settle();
	assert_false(stub.pending);
	if (stub.show_due)
		show();
	return harts_flags() & stub.direct;
}

bool guest_reads_direct(uint32_t idx)
{
	stub_settle();
	return (stub.direct >> idx & 1) != 0;
}

uint64_t guest_read(uint32_t idx)
{
	uint64_t value = 0;

	stub_settle();
	assert_true(vpmu_csr_read(&vpmu, 0xc00 + idx, &value));
	/* A trapped read must return the same as the hardware. */
	if (guest_reads_direct(idx))
		assert_int_equal(stub.hctr[idx].value, value);
	return value;
}

bool guest_read_is_illegal(uint32_t idx)
{
	uint64_t value;

	return !guest_reads_direct(idx) && !vpmu_csr_read(&vpmu, 0xc00 + idx, &value);
}

/* As core/vcpu/hpm_failures.h: a call that was to start a counter fails if the hart has failed. */
static void begin_call(void)
{
	stub_settle();
	stub.call_failed = false;
}

static bool end_call(void)
{
	stub_settle();
	return stub.call_failed;
}

unsigned long config(unsigned long mask, unsigned long flags, unsigned long event_idx)
{
	struct sbi_ret ret;

	stub_settle();
	ret = vpmu_counter_config_matching(&vpmu, 0, mask, flags, event_idx, 0);
	configured();
	assert_int_equal(ret.error, 0);
	assert_int_equal(stub.failed, 0);
	return ret.value;
}

long config_error(unsigned long mask, unsigned long flags, unsigned long event_idx)
{
	struct sbi_ret ret;

	begin_call();
	ret = vpmu_counter_config_matching(&vpmu, 0, mask, flags, event_idx, 0);
	configured();
	if (!end_call() || ret.error != 0)
		return ret.error;
	(void)vpmu_counter_stop(&vpmu, ret.value, 1, RESET);
	stub_settle();
	return SBI_ERR_FAILED;
}

long start(unsigned long mask, unsigned long flags, uint64_t value)
{
	long error;

	begin_call();
	error = vpmu_counter_start(&vpmu, 0, mask, flags, value).error;
	started();
	return end_call() && error == 0 ? SBI_ERR_FAILED : error;
}

long stop(unsigned long mask, unsigned long flags)
{
	long error;

	stub_settle();
	error = vpmu_counter_stop(&vpmu, 0, mask, flags).error;
	started();
	return error;
}

uint64_t fw_read(unsigned long idx)
{
	struct sbi_ret ret = vpmu_counter_fw_read(&vpmu, idx);

	assert_int_equal(ret.error, 0);
	return ret.value;
}
