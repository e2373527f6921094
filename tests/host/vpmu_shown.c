/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/vpmu_shown.h"

void show_flags(void)
{
	bool closed;

	while (!vpmu_show_flags(&vpmu, true, &closed))
		;
}

void shown_setup_width(uint32_t width)
{
	struct vpmu_policy policy = stub_policy;

	policy.shows_flags = true;
	policy.width = width;
	stub_setup_policy(&policy);
}

int shown_setup(void **state)
{
	(void)state;
	shown_setup_width(64);
	return 0;
}

void start_cycles(uint64_t counts)
{
	assert_int_equal(config(HW, 0, CYCLES), 3);
	assert_int_equal(start(A, INIT, (0 - counts) & stub.width_mask), SBI_SUCCESS);
	assert_int_equal(guest_sees(), 0);
	assert_true(guest_reads_direct(3));
}

void overflow_cycles(void)
{
	start_cycles(10);
	stub_run(CYCLES, 10);
	assert_int_equal(stub.lcofis, 1);
	assert_int_equal(guest_sees(), A);
}

void assert_shows(uint64_t flags, uint64_t cycles)
{
	assert_int_equal(guest_sees(), flags);
	assert_int_equal(guest_read(3), cycles);
	assert_int_equal(vpmu_scountovf(&vpmu), flags);
	if ((flags & A) != 0)
		assert_true(guest_reads_direct(3));
}

void leave_and_come_back(bool neighbour)
{
	stub_leave();
	if (neighbour)
		stub_neighbour();
	stub_come_back();
}
