/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How boot finds out what a hart without Ssccfg shows of OF: on a hart and a firmware that do each
 * thing right or wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/hart/port.h"
#include "tests/host/opensbi_pmu.h"

#define HCTR     5U
#define EVENT    2U
#define COUNTERS (BIT(3) | BIT(4) | BIT(HCTR))
#define OPEN     0xaa55UL
#define PATIENCE 1000000UL
/* Instructions of HS in a tick. */
#define PER_TICK 50U

struct quirks quirks;
const char vs_scountovf_at[1];

static const struct opensbi_event events[] = {{EVENT, COUNTERS, EVENT}};
static const struct opensbi_node node = {events, 1, NULL, 0};
static const struct combining_cycle cycle = {.times = {{[EVENT] = 1}}};
static struct hpm hpm;

/* --- what is not there ---------------------------------------------------------------- */

void hpm_failed(void)
{
	fail();
}

/* --- the hart ------------------------------------------------------------------------- */

static struct {
	uint64_t not_hidden; /* counters whose OF VS reads where they are closed */
	uint64_t never;      /* counters whose OF VS never reads */
	bool traps;          /* VS cannot read scountovf */
} vs;

struct vs_end vs_run(uint64_t pc, uint64_t address, uint64_t vsatp, uint64_t hgatp)
{
	uint64_t open = (host_csrs[CSR_HCOUNTEREN] | vs.not_hidden) & ~vs.never;

	assert_int_equal(pc, (uint64_t)vs_scountovf_at);
	assert_int_equal(address | vsatp | hgatp, 0);
	return (struct vs_end){vs.traps ? 2 : CAUSE_ECALL_VS, host_csrs[CSR_SCOUNTOVF] & open};
}

/* Time passes as it is read, and counters that count HS go on. */
uint64_t host_csr_read(uint32_t csr)
{
	if (csr == CSR_TIME) {
		host_csrs[csr]++;
		for (uint32_t i = 0; i < PER_TICK; i++)
			opensbi_step(COMBINING_HS, &cycle);
	}
	return host_csrs[csr];
}

/* All counters have the event, and count HS. */
static int boot(void **state)
{
	struct hw_event config = {EVENT, HW_COUNT_HS | HW_INH_VS | HW_INH_VU, 0};

	(void)state;
	memset(&vs, 0, sizeof(vs));
	opensbi_boot(&node, true);
	quirks = (struct quirks){.home_counters = false};
	hpm = (struct hpm){.hctrs = COUNTERS, .width = 64, .lcofi = true, .n_events = 1};
	hpm.events[0] = (struct hpm_event){.event_idx = EVENT, .hctrs = COUNTERS};
	for (uint32_t i = 3; i <= HCTR; i++)
		assert_true(hpm_reprogram(&hpm, i, &config));
	host_csrs[CSR_HCOUNTEREN] = OPEN;
	return 0;
}

/* --- tests ---------------------------------------------------------------------------- */

static void assert_hides(bool hides)
{
	assert_int_equal(hpm_probe_flags_hidden(&hpm), hides);
	assert_int_equal(host_csrs[CSR_HCOUNTEREN], OPEN);
}

static void test_hidden(void **state)
{
	(void)state;
	assert_hides(true);
}

static void test_shown(void **state)
{
	(void)state;
	vs.not_hidden = ~0UL;
	assert_hides(false);
	vs.not_hidden = BIT(4);
	assert_hides(false);
}

/* Where mcounteren is closed, or nothing is read, nothing is hidden by hcounteren. */
static void test_never_shown(void **state)
{
	(void)state;
	vs.never = ~0UL;
	assert_hides(false);
	vs.never = BIT(HCTR);
	assert_hides(false);
	vs.never = 0;
	vs.traps = true;
	assert_hides(false);
}

/* An OF of 0 shows nothing. */
static void test_without_a_flag(void **state)
{
	(void)state;
	hpm_sbi_clear_flags(&hpm, BIT(3), HPM_NEAR);
	hpm_sbi_stop(&hpm, BIT(3));
	assert_hides(false);
	hpm.events[0].hctrs &= ~BIT(3);
	assert_hides(true);
	hpm.events[0].hctrs = 0;
	assert_hides(false);
}

/* Is left as it was promised: stopped, no LCOFI, and the next overflow comes. */
static void assert_left_well(void)
{
	assert_int_equal(hpm.far, 0);
	assert_false(hpm.hart_flags);
	assert_int_equal(combining_inhibit(), COMBINING_COUNTERS);
	assert_int_equal(host_csrs[CSR_SIP], 0);
	hpm_start_armed(&hpm, HCTR, -10UL);
	for (uint32_t i = 0; i < 11; i++)
		opensbi_step(COMBINING_HS, &cycle);
	assert_int_equal(host_csrs[CSR_SIP], BIT(IRQ_LCOFI));
	assert_int_equal(hpm_take_overflow(&hpm), BIT(HCTR));
}

static void test_firmwares(void **state)
{
	for (int i = 0; i < 4; i++) {
		boot(state);
		opensbi_start_sets_flags(i & 1);
		opensbi_far_starts_lose(i & 2 ? OPENSBI_LOSES_ONCE : OPENSBI_LOSES_NOTHING);
		assert_null(hpm_probe_flag_starts(&hpm, HCTR, PATIENCE));
		assert_int_equal(hpm.start_sets_flag, i & 1);
		assert_int_equal(hpm.far_loses, !!(i & 2));
		assert_left_well();
	}
}

/* Where the cure is none, there are no overflow interrupts. */
static void test_without_cure(void **state)
{
	(void)state;
	opensbi_far_starts_lose(OPENSBI_LOSES_ALL);
	assert_string_equal(hpm_probe_flag_starts(&hpm, HCTR, PATIENCE),
	                    "an overflow that a start far from the wrap loses");
	assert_true(hpm.far_loses);
	assert_int_equal(host_csrs[CSR_SIP], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_hidden, boot),
	    cmocka_unit_test_setup(test_shown, boot),
	    cmocka_unit_test_setup(test_never_shown, boot),
	    cmocka_unit_test_setup(test_without_a_flag, boot),
	    cmocka_unit_test_setup(test_firmwares, boot),
	    cmocka_unit_test_setup(test_without_cure, boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
