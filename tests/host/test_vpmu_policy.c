/* SPDX-License-Identifier: Apache-2.0 */
/* What a VM's policy permits: the list of events, and firmware events that the port counts. */
#include "tests/host/vpmu_stub.h"

/* Events that are known from the policy are like those found later. */
static void test_known(void **state)
{
	static const uint32_t allowed[] = {CYCLES, DTLB};
	struct vpmu_policy policy = stub_policy;
	struct vpmu_known known[VPMU_KNOWN] = {0};

	(void)state;
	policy.events = allowed;
	policy.n_events = 2;
	policy.count_hs = true;
	vpmu_know(&policy, known, CYCLES, 0x9);
	vpmu_know(&policy, known, INSTRS, 0x14);
	vpmu_know(&policy, known, DTLB, 0x20);
	vpmu_know(&policy, known, DTLB + 8, 0x40);
	policy.known = known;
	stub_setup_policy(&policy);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	/* HS counts with the fixed counter, so there is no counter for another filter. */
	assert_int_equal(config_error(HW, UINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(HW, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(HW, 0, DTLB + 8), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(HW, 0, DTLB), 5);
	/* Still so in the next life. */
	vpmu_reset(&vpmu);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(config_error(HW, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
}

/* The guest reads the hart's OF bits, so a counter that would share an hctr is refused. */
static void test_hart_flags(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.hart_flags = true;
	stub_setup_policy(&policy);
	assert_int_equal(config_error(HW & ~8UL, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(1, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(HW, UINH, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	assert_int_equal(stop(8, RESET), SBI_ERR_ALREADY_STOPPED);
	assert_int_equal(config(HW, UINH, CYCLES), 3);
}

static void setup_events(const uint32_t *events, uint32_t n)
{
	struct vpmu_policy policy = stub_policy;

	policy.events = events;
	policy.n_events = n;
	stub_setup_policy(&policy);
}

static long raw_error(unsigned long event_idx, uint64_t event_data)
{
	return vpmu_counter_config_matching(&vpmu, 0, 0x400, 0, event_idx, event_data).error;
}

static void test_allowlist(void **state)
{
	static const uint32_t events[] = {CYCLES, DTLB, FW(5), RAW};

	(void)state;
	setup_events(events, 4);
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(config(FWS, 0, FW(5)), 19);
	assert_int_equal(raw_error(RAW, 1), SBI_SUCCESS);
	assert_int_equal(raw_error(RAW, 0xffffffffffff), SBI_SUCCESS);
	assert_int_equal(raw_error(RAW2, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(HW, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(0x80, SKIP, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(FWS, 0, FW(6)), SBI_ERR_NOT_SUPPORTED);
	/* An event in the list must still be valid. */
	assert_int_equal(raw_error(CYCLES, 1), SBI_ERR_NOT_SUPPORTED);
	/* Errors in other arguments come first. */
	assert_int_equal(config_error(HW, 0x100, INSTRS), SBI_ERR_INVALID_PARAM);
	assert_int_equal(config_error(2, 0, INSTRS), SBI_ERR_INVALID_PARAM);
}

static void test_filters_do_not_matter(void **state)
{
	static const uint32_t events[] = {CYCLES};

	(void)state;
	setup_events(events, 1);
	assert_int_equal(config(HW, UINH, CYCLES), 3);
	assert_int_equal(config_error(HW, UINH, INSTRS), SBI_ERR_NOT_SUPPORTED);
}

static void test_last_of_the_list(void **state)
{
	static const uint32_t events[] = {INSTRS, RAW2, CYCLES};

	(void)state;
	/* Events after its end are not in the list. */
	setup_events(events, 2);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(raw_error(RAW2, 1), SBI_SUCCESS);
	assert_int_equal(raw_error(RAW, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
}

static void test_empty_list(void **state)
{
	static const uint32_t events[] = {CYCLES};

	(void)state;
	setup_events(events, 0);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(FWS, 0, FW(5)), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(vpmu_num_counters(&vpmu).value, 35);
}

/*
 * A core whose selector joins two events of 8 bits: 1 to 4 on counters 8 and 9, and by another base
 * 5 on 10; dTLB read misses are event 5. The hart counts raw events on 8 to 11.
 */
static const struct selectors table = {
    .core = "test",
    .numbers = true,
    .n_fields = 2,
    .n_joins = 1,
    .n_operators = 2,
    .n_runs = 2,
    .n_standard = 3,
    .fields = {{0, 8}, {8, 8}},
    .joins = {{16, 2}},
    .operators = {0, 1},
    .runs = {{0, 1, 4, 0x300}, {UINT64_C(1) << 48, 5, 5, 0x400}},
    .standard = {{CYCLES, 1, 0}, {INSTRS, 0x18, 0}, {DTLB, 0x24, UINT64_C(1) << 48 | 5}},
};

static struct vpmu_table allowed_table;

static void setup_table(const uint32_t *events, uint32_t n, const struct selector_allowed *raw,
                        uint32_t n_raw)
{
	struct vpmu_policy policy = stub_policy;

	allowed_table = (struct vpmu_table){&table, raw, n_raw};
	policy.table = &allowed_table;
	policy.events = events;
	policy.n_events = n;
	stub_setup_policy(&policy);
}

/* The counter that a raw event gets of 8 to 11, the hart's own of that number; -1: none. */
static long raw_counter(unsigned long event_idx, uint64_t event_data)
{
	struct sbi_ret ret =
	    vpmu_counter_config_matching(&vpmu, 0, 0xf00, 0, event_idx, event_data);

	if (ret.error != SBI_SUCCESS)
		return -1;
	assert_int_equal(stop(1UL << ret.value, RESET), SBI_ERR_ALREADY_STOPPED);
	return (long)ret.value;
}

static void test_table(void **state)
{
	(void)state;
	setup_table(NULL, 0, NULL, 0);
	assert_int_equal(raw_counter(RAW, 1), 8);
	assert_int_equal(raw_counter(RAW2, 0x10304), 8);
	assert_int_equal(raw_counter(RAW2, UINT64_C(1) << 48 | 5), 10);
	/* Its bits 47:0 are none of the other's. */
	assert_int_equal(raw_counter(RAW, 5), -1);
	assert_int_equal(raw_counter(RAW, UINT64_C(1) << 48 | 5), -1);
	assert_int_equal(raw_counter(RAW, 0), -1);
	assert_int_equal(raw_counter(RAW, 0x501), -1);
	assert_int_equal(raw_counter(RAW, 0x20304), -1);
	assert_int_equal(raw_counter(RAW, 0x40001), -1);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config(HW, 0, DTLB), 5);
	assert_int_equal(config_error(HW, 0, DTLB + 2), SBI_ERR_NOT_SUPPORTED);
}

/* The guest's counters are those of the table, whatever counts behind them. */
static void test_counters_of_the_table(void **state)
{
	(void)state;
	setup_table(NULL, 0, NULL, 0);
	assert_int_equal(raw_error(RAW2, 1), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(raw_error(RAW2, UINT64_C(1) << 48 | 5), SBI_SUCCESS);
	assert_int_equal(config_error(0xe0, 0, INSTRS), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(0xe8, 0, INSTRS), 3);
	/* Without it any counter will do. */
	stub_setup_policy(&stub_policy);
	assert_int_equal(raw_error(RAW2, 1), SBI_SUCCESS);
	assert_int_equal(config(0xe0, 0, INSTRS), 7);
}

/* Each event of a selector has to be allowed. */
static void test_allowed_one_by_one(void **state)
{
	static const uint32_t events[] = {INSTRS, RAW2};
	static const struct selector_allowed raw[] = {{1, ~UINT64_C(0)}, {2, ~UINT64_C(0xff) | 2}};

	(void)state;
	setup_table(events, 1, raw, 2);
	assert_int_equal(raw_counter(RAW, 1), 8);
	assert_int_equal(raw_counter(RAW2, 3), 8);
	assert_int_equal(raw_counter(RAW2, 0x10102), 8);
	assert_int_equal(raw_counter(RAW, 4), -1);
	assert_int_equal(raw_counter(RAW2, 0x10401), -1);
	assert_int_equal(raw_counter(RAW2, 0x10104), -1);
	assert_int_equal(raw_counter(RAW2, UINT64_C(1) << 48 | 5), -1);
	assert_int_equal(config(HW, 0, INSTRS), 4);
	assert_int_equal(config_error(HW, 0, DTLB), SBI_ERR_NOT_SUPPORTED);
	/* All of a type, and still events of the core only. */
	setup_table(events, 2, raw, 2);
	assert_int_equal(raw_counter(RAW2, 4), 8);
	assert_int_equal(raw_counter(RAW, 4), -1);
	assert_int_equal(raw_counter(RAW2, 6), -1);
}

/* What is known beforehand obeys the table, too. */
static void test_table_is_known(void **state)
{
	static const struct vpmu_table plain = {.selectors = &table};
	struct vpmu_policy policy = stub_policy;
	struct vpmu_known known[VPMU_KNOWN] = {0};

	(void)state;
	policy.table = &plain;
	vpmu_know(&policy, known, CYCLES, 0x8);
	vpmu_know(&policy, known, INSTRS, 0x14);
	policy.known = known;
	stub_setup_policy(&policy);
	assert_int_equal(config_error(HW, 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(HW, 0, INSTRS), 4);
}

/* Codes 0 and 2 are the port's, 256 to 258 Tally's own. */
static int setup_port_events(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.fw_port_events = 0x5;
	policy.n_tally_events = 3;
	stub_setup_policy(&policy);
	stub.fw_total[0] = 1000;
	stub.fw_total[2] = -2UL;
	stub.fw_total[258] = 77;
	return 0;
}

static void test_port_events_exist(void **state)
{
	static const uint32_t refused[] = {1, 3, 14, 21, 22, 255, 259, 260, 1000, 65534, 65535};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(config_error(FWS, 0, FW(refused[i])), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config(FWS, 0, FW(0)), 19);
	assert_int_equal(config(FWS, 0, FW(256)), 20);
	assert_int_equal(config(FWS, 0, FW(258)), 21);
	assert_int_equal(vpmu_counter_config_matching(&vpmu, 0, FWS, 0, FW(256), 1).error,
	                 SBI_ERR_NOT_SUPPORTED);
}

/* However many events there are, the last code is the platform's. */
static void test_platform_event(void **state)
{
	struct vpmu_policy policy = stub_policy;

	(void)state;
	policy.n_tally_events = 0xffffffff;
	stub_setup_policy(&policy);
	assert_int_equal(config(FWS, 0, FW(65534)), 19);
	assert_int_equal(config_error(FWS, 0, FW(65535)), SBI_ERR_NOT_SUPPORTED);
	assert_int_equal(config_error(FWS, 0, FW(255)), SBI_ERR_NOT_SUPPORTED);
}

static void test_port_events_count(void **state)
{
	(void)state;
	assert_int_equal(config(FWS, AUTO, FW(2)), 19);
	assert_int_equal(config(FWS, AUTO, FW(2)), 20);
	assert_int_equal(config(FWS, 0, FW(258)), 21);
	stub.fw_total[2] += 5; /* wraps */
	stub.fw_total[258] += 9;
	assert_int_equal(fw_read(19), 5);
	assert_int_equal(fw_read(20), 5);
	assert_int_equal(fw_read(21), 0);
	assert_int_equal(start(1UL << 21, INIT, 100), SBI_SUCCESS);
	stub.fw_total[258] += 1;
	assert_int_equal(fw_read(21), 101);
	assert_int_equal(stop(3UL << 20, 0), SBI_SUCCESS);
	stub.fw_total[2] += 1;
	stub.fw_total[258] += 1;
	assert_int_equal(fw_read(19), 6);
	assert_int_equal(fw_read(20), 5);
	assert_int_equal(fw_read(21), 101);
	assert_int_equal(config(1UL << 19, SKIP | CLEAR, FW(2)), 19);
	stub.fw_total[2] += 3;
	assert_int_equal(fw_read(19), 3);
	/* What Tally itself reports is another event. */
	vpmu_fw_event(&vpmu, 2);
	assert_int_equal(fw_read(19), 3);
	vpmu_save(&vpmu);
	stub_neighbour();
	stub.fw_total[2] += 1;
	vpmu_restore(&vpmu);
	assert_int_equal(fw_read(19), 4);
	assert_int_equal(stub.starts + stub.stops + stub.takes, 0);
}

/* The port is told which of its events are counted, when that changes. */
static void test_watch(void **state)
{
	(void)state;
	assert_int_equal(config(FWS, 0, FW(2)), 19);
	assert_int_equal(config(FWS, 0, FW(0)), 20);
	assert_int_equal(config(FWS, 0, FW(256)), 21);
	assert_int_equal(config(FWS, 0, FW(5)), 22);
	assert_int_equal(config(FWS, 0, FW(2)), 23);
	assert_int_equal(stub.watches, 0);
	assert_int_equal(start(3UL << 21, 0, 0), SBI_SUCCESS);
	assert_int_equal(stub.watches, 0);
	assert_int_equal(start(1UL << 19, 0, 0), SBI_SUCCESS);
	assert_int_equal(stub.watched, 0x4);
	assert_int_equal(start(3UL << 19, 0, 0), SBI_ERR_ALREADY_STARTED);
	assert_int_equal(stub.watched, 0x5);
	assert_int_equal(start(1UL << 23, 0, 0), SBI_SUCCESS);
	assert_int_equal(stub.watches, 2);
	/* 23 still counts the event. */
	assert_int_equal(stop(1UL << 19, RESET), SBI_SUCCESS);
	assert_int_equal(stub.watches, 2);
	assert_int_equal(stop(1UL << 23, 0), SBI_SUCCESS);
	assert_int_equal(stub.watched, 0x1);
	/* It is state of the vcpu: a world switch does not change it. */
	vpmu_save(&vpmu);
	vpmu_restore(&vpmu);
	assert_int_equal(stub.watches, 3);
	assert_int_equal(config(1UL << 23, AUTO, FW(2)), 23);
	assert_int_equal(stub.watched, 0x5);
	vpmu_reset(&vpmu);
	assert_int_equal(stub.watched, 0);
	assert_int_equal(stub.watches, 5);
	vpmu_reset(&vpmu);
	assert_int_equal(stub.watches, 5);
}

int test_vpmu_policy(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_known, stub_setup),
	    cmocka_unit_test_setup(test_hart_flags, stub_setup),
	    cmocka_unit_test_setup(test_allowlist, stub_setup),
	    cmocka_unit_test_setup(test_filters_do_not_matter, stub_setup),
	    cmocka_unit_test_setup(test_last_of_the_list, stub_setup),
	    cmocka_unit_test_setup(test_empty_list, stub_setup),
	    cmocka_unit_test_setup(test_table, stub_setup),
	    cmocka_unit_test_setup(test_counters_of_the_table, stub_setup),
	    cmocka_unit_test_setup(test_allowed_one_by_one, stub_setup),
	    cmocka_unit_test_setup(test_table_is_known, stub_setup),
	    cmocka_unit_test_setup(test_port_events_exist, setup_port_events),
	    cmocka_unit_test_setup(test_platform_event, stub_setup),
	    cmocka_unit_test_setup(test_port_events_count, setup_port_events),
	    cmocka_unit_test_setup(test_watch, setup_port_events),
	};

	return cmocka_run_group_tests_name("vpmu: policy", tests, NULL, NULL);
}
