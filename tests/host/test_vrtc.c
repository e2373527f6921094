/* SPDX-License-Identifier: Apache-2.0 */
/* The RTC as its drivers see it, the machine's time of day, and dates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/devices/vrtc.h"
#include "core/hart/platform.h"
#include "core/hart/time_of_day.h"
#include "core/lib/date.h"

/* Numbers of the device, not those of the code under test. */
enum { LOW = 0, HIGH = 4, ALARM_LOW = 8, ALARM_HIGH = 12, ENABLED = 16, CLEAR_ALARM = 20 };
enum { STATUS = 24, CLEAR_IRQ = 28 };

#define NOW   UINT64_C(0x18aabbccfffffff0)
#define NEVER (~UINT64_C(0))

struct platform platform = {.timebase = 10000000};

static struct vrtc r;

static int setup(void **state)
{
	(void)state;
	memset(&r, 0xa5, sizeof(r));
	vrtc_init(&r);
	return 0;
}

static void shows(uint64_t time, uint64_t now)
{
	assert_int_equal(vrtc_read(&r, LOW, now), (uint32_t)time);
	assert_int_equal(vrtc_read(&r, HIGH, now), time >> 32);
}

static void set_alarm(uint64_t at, uint64_t now)
{
	vrtc_write(&r, ALARM_HIGH, (uint32_t)(at >> 32), now);
	vrtc_write(&r, ALARM_LOW, (uint32_t)at, now);
}

static void time_goes_on(void **state)
{
	(void)state;
	shows(NOW, NOW);
	shows(NOW + 100, NOW + 100);
}

/* A carry between the two reads does not make the time wrong by four seconds. */
static void low_latches_high(void **state)
{
	(void)state;
	assert_int_equal(vrtc_read(&r, LOW, NOW), 0xfffffff0);
	assert_int_equal(vrtc_read(&r, HIGH, NOW + 16), NOW >> 32);
	shows(NOW + 16, NOW + 16);
}

static void guest_sets_its_time(void **state)
{
	(void)state;
	vrtc_write(&r, HIGH, 1, NOW);
	vrtc_write(&r, LOW, 2, NOW);
	shows(0x100000002, NOW);
	shows(0x10000000c, NOW + 10);
	vrtc_init(&r);
	shows(NOW, NOW);
}

static void alarm_comes(void **state)
{
	(void)state;
	assert_int_equal(vrtc_due(&r, NOW), NEVER);
	set_alarm(NOW + 1000, NOW);
	assert_int_equal(vrtc_read(&r, STATUS, NOW), 1);
	assert_int_equal(vrtc_due(&r, NOW), NEVER); /* it may not interrupt yet */
	vrtc_write(&r, ENABLED, 1, NOW);
	assert_int_equal(vrtc_due(&r, NOW + 1), 999);
	vrtc_elapse(&r, NOW + 999);
	assert_false(vrtc_irq(&r));
	vrtc_elapse(&r, NOW + 1000);
	assert_true(vrtc_irq(&r));
	assert_int_equal(vrtc_due(&r, NOW + 1000), NEVER);
	assert_int_equal(vrtc_read(&r, STATUS, NOW + 1000), 0);
	assert_int_equal(vrtc_read(&r, ALARM_LOW, NOW), (uint32_t)(NOW + 1000));
	assert_int_equal(vrtc_read(&r, ALARM_HIGH, NOW), (NOW + 1000) >> 32);
	vrtc_write(&r, ENABLED, 0, NOW + 1000);
	assert_false(vrtc_irq(&r));
	vrtc_write(&r, ENABLED, 1, NOW + 1000);
	assert_true(vrtc_irq(&r));
	vrtc_write(&r, CLEAR_IRQ, 0, NOW + 1000); /* any value */
	assert_false(vrtc_irq(&r));
}

static void alarm_in_the_past_comes_at_once(void **state)
{
	(void)state;
	vrtc_write(&r, ENABLED, 1, NOW);
	set_alarm(NOW, NOW);
	assert_true(vrtc_irq(&r));
	assert_int_equal(vrtc_read(&r, STATUS, NOW), 0);
}

static void alarm_is_cleared(void **state)
{
	(void)state;
	vrtc_write(&r, ENABLED, 1, NOW);
	set_alarm(NOW + 5, NOW);
	vrtc_write(&r, CLEAR_ALARM, 1, NOW);
	assert_int_equal(vrtc_due(&r, NOW), NEVER);
	vrtc_elapse(&r, NOW + 5);
	assert_false(vrtc_irq(&r));
}

/* The alarm is in the guest's time, also after the guest has set that. */
static void alarm_follows_the_guests_time(void **state)
{
	(void)state;
	vrtc_write(&r, ENABLED, 1, NOW);
	vrtc_write(&r, HIGH, 0, NOW);
	vrtc_write(&r, LOW, 0, NOW);
	set_alarm(7, NOW);
	assert_int_equal(vrtc_due(&r, NOW), 7);
	vrtc_write(&r, LOW, 5, NOW);
	assert_int_equal(vrtc_due(&r, NOW), 2);
	vrtc_write(&r, LOW, 8, NOW);
	assert_true(vrtc_irq(&r));
}

static void others_read_0(void **state)
{
	(void)state;
	for (uint32_t offset = 0; offset < VRTC_SIZE; offset++) {
		if (offset % 4 == 0 && offset <= STATUS)
			continue;
		assert_int_equal(vrtc_read(&r, offset, NOW), 0);
		if (offset != CLEAR_IRQ)
			vrtc_write(&r, offset, ~0U, NOW);
	}
	shows(NOW, NOW);
	assert_int_equal(vrtc_due(&r, NOW), NEVER);
}

static void time_of_day_is_epoch_and_time(void **state)
{
	(void)state;
	assert_int_equal(time_of_day(25), 2500);
	time_of_day_set(25, NOW);
	assert_int_equal(time_of_day(25), NOW);
	assert_int_equal(time_of_day(10000025), NOW + NS_PER_S);
	assert_int_equal(time_of_day_ticks(0), 0);
	assert_int_equal(time_of_day_ticks(1), 1);
	assert_int_equal(time_of_day_ticks(100), 1);
	assert_int_equal(time_of_day_ticks(101), 2);
	assert_int_equal(time_of_day_ticks(3 * NS_PER_S), 30000000);
	assert_int_equal(time_of_day_ticks(NEVER - 1), UINT64_C(11529215046068470));
	/* Whole seconds, and a rest that would not fit if all was multiplied first. */
	platform.timebase = 3000000000;
	assert_int_equal(time_of_day_ticks(UINT64_C(10000000000) * NS_PER_S + 1),
	                 time_of_day_ticks(NEVER));
	assert_int_equal(time_of_day_ticks(NS_PER_S * 1000 + 1), UINT64_C(3000000000003));
}

static void dates(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} known[] = {
	    {0, "1970-01-01T00:00:00Z"},           {951782399, "2000-02-28T23:59:59Z"},
	    {951782400, "2000-02-29T00:00:00Z"},   {951868800, "2000-03-01T00:00:00Z"},
	    {1767225600, "2026-01-01T00:00:00Z"},  {1798761599, "2026-12-31T23:59:59Z"},
	    {1798761600, "2027-01-01T00:00:00Z"},  {4102444800, "2100-01-01T00:00:00Z"},
	    {4107542399, "2100-02-28T23:59:59Z"},  {4107542400, "2100-03-01T00:00:00Z"},
	    {18446744073, "2554-07-21T23:34:33Z"},
	};
	char text[DATE_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		date_text(known[i].seconds, text);
		assert_string_equal(text, known[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(time_goes_on, setup),
	    cmocka_unit_test_setup(low_latches_high, setup),
	    cmocka_unit_test_setup(guest_sets_its_time, setup),
	    cmocka_unit_test_setup(alarm_comes, setup),
	    cmocka_unit_test_setup(alarm_in_the_past_comes_at_once, setup),
	    cmocka_unit_test_setup(alarm_is_cleared, setup),
	    cmocka_unit_test_setup(alarm_follows_the_guests_time, setup),
	    cmocka_unit_test_setup(others_read_0, setup),
	    cmocka_unit_test(time_of_day_is_epoch_and_time),
	    cmocka_unit_test(dates),
	};

	return cmocka_run_group_tests_name("vrtc", tests, NULL, NULL);
}
