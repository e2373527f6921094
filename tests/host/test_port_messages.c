/* SPDX-License-Identifier: Apache-2.0 */
/* MSI-X of ports of networks: the capability, the table, and where messages go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/chance.h"
#include "tests/host/ports_driver.h"

#define CONFIG_VECTOR 0x10U
#define STATUS        0x14U
#define SELECT        0x16U
#define QUEUE_VECTOR  0x1aU
#define ISR           0x200U
#define TABLE         0x400U
#define PENDING       0x430U
#define END           0x438U
#define NONE          0xffffU
#define CAP           0xa4U /* behind those of virtio */
#define ENABLE        0x80000000U
#define MASK_ALL      0x40000000U
#define VECTORS       3U

static struct driver drivers[STATIONS];

/* VMs 0 and 1 have an AIA. */
static void start(void)
{
	instret_step = 0;
	stations_aia = 3;
	stations_make();
	for (uint32_t i = 0; i < STATIONS; i++)
		driver_start(&drivers[i], i, 0, 0, QUEUE);
}

static void set_entry(uint32_t vector, uint64_t address, uint32_t data, uint32_t masked)
{
	const uint32_t words[] = {(uint32_t)address, (uint32_t)(address >> 32), data, masked};

	for (uint32_t i = 0; i < 4; i++)
		out(&drivers[0], TABLE + 16 * vector + 4 * i, words[i], 4);
}

static void map(uint32_t queue, uint32_t vector)
{
	out(&drivers[0], SELECT, queue, 2);
	out(&drivers[0], QUEUE_VECTOR, vector, 2);
}

/* The driver of VM 0 has its messages: identity 10 for changes, 11 and 12 for its queues. */
static void listen(void)
{
	for (uint32_t i = 0; i < VECTORS; i++)
		set_entry(i, GUEST_IMSIC_BASE + GUEST_IMSIC_STEP * (i & 1), 10 + i, 0);
	map(PORT_RECEIVES, 1);
	map(PORT_SENDS, 2);
	out(&drivers[0], CONFIG_VECTOR, 0, 2);
	set_space(&drivers[0], CAP, ENABLE);
}

static void start_messages(void)
{
	start();
	listen();
}

static void send(uint32_t from, uint32_t to)
{
	assert_true(driver_frame(&drivers[from], macs[to], 1, 60));
	driver_notify(&drivers[from]);
	(void)driver_take(&drivers[to]);
}

/* Exactly this one was sent since the last look. */
static void assert_message(uint32_t vcpu, uint32_t identity)
{
	assert_int_equal(n_messages, 1);
	assert_int_equal(messages[0].file, FILE_OF(0, vcpu));
	assert_int_equal(messages[0].identity, identity);
	n_messages = 0;
}

/* --- registers ----------------------------------------------------------------------------- */

static void the_capability(void **state)
{
	(void)state;
	start();
	assert_int_equal(space(&drivers[0], CAP - 20) & 0xffff, CAP << 8 | 9);
	assert_int_equal(space(&drivers[0], CAP), (VECTORS - 1) << 16 | 0x11);
	assert_int_equal(space(&drivers[0], CAP + 4), TABLE);
	assert_int_equal(space(&drivers[0], CAP + 8), PENDING);
	set_space(&drivers[0], CAP, ~0U);
	set_space(&drivers[0], CAP + 4, ~0U);
	assert_int_equal(space(&drivers[0], CAP), ENABLE | MASK_ALL | (VECTORS - 1) << 16 | 0x11);
	assert_int_equal(space(&drivers[0], CAP + 4), TABLE);
	/* A write of its lowest byte changes none of both. */
	vpci_write(&stations[0], (2ULL << 3) * PCI_PAGE + CAP, 0, 1);
	assert_int_equal(space(&drivers[0], CAP) >> 30, 3);
	vpci_write(&stations[0], (2ULL << 3) * PCI_PAGE + CAP + 2, 0x4000, 2);
	assert_int_equal(space(&drivers[0], CAP) >> 30, 1);
}

static void without_an_aia(void **state)
{
	const struct driver *d = &drivers[2];

	(void)state;
	start();
	assert_int_equal(space(d, CAP - 20) & 0xffff, 9);
	set_space(d, CAP, ENABLE);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(space(d, CAP + 4 * i), 0);
	for (uint32_t at = TABLE; at < 0x500; at += 4) {
		out(d, at, ~0U, 4);
		assert_int_equal(in(d, at, 4), 0);
	}
	out(d, CONFIG_VECTOR, 0, 2);
	out(d, SELECT, 0, 2);
	out(d, QUEUE_VECTOR, 0, 2);
	assert_int_equal(in(d, CONFIG_VECTOR, 2), NONE);
	assert_int_equal(in(d, QUEUE_VECTOR, 2), NONE);
	send(0, 2);
	assert_true(levels[2]);
	assert_int_equal(n_messages, 0);
}

static void the_table(void **state)
{
	const struct driver *d = &drivers[0];

	(void)state;
	start();
	for (uint32_t at = TABLE; at < 0x500; at += 4)
		assert_int_equal(in(d, at, 4), at < PENDING && at % 16 == 12);
	for (uint32_t at = TABLE; at < 0x500; at += 4) {
		bool control = at % 16 == 12;

		out(d, at, 0xa5a50000 + at + 1, 4);
		assert_int_equal(in(d, at, 4), at >= PENDING ? 0
		                               : control     ? 1
		                                             : 0xa5a50000 + at + 1);
		/* Other widths, and odd places, have no answer in the specification. */
		out(d, at, 0, 1);
		out(d, at, 0, 2);
		out(d, at + 2, 0, 4);
		out(d, at + 4, 0, at % 8 ? 1 : 2);
		assert_int_equal(in(d, at, 4) != 0, at < PENDING);
		assert_int_equal(in(d, at, 1) | in(d, at, 2) | in(d, at + 1, 4), 0);
	}
	for (uint32_t at = TABLE; at < 0x500; at += 8) {
		out(d, at, 0x1122334455667788, 8);
		assert_int_equal(in(d, at, 8), at >= PENDING ? 0
		                               : at % 16     ? 0x55667788
		                                             : 0x1122334455667788);
		out(d, at + 4, ~0UL, 8);
		assert_int_equal(in(d, at + 4, 8), 0);
	}
	/* A reset of the device leaves the table, the end of the life does not. */
	out(d, STATUS, 0, 1);
	assert_int_equal(in(d, TABLE, 4), 0x55667788);
	ports_reset(&stations[0], true);
	assert_int_equal(in(d, TABLE, 4), 0);
	assert_int_equal(in(d, TABLE + 12, 4), 1);
}

static void vectors(void **state)
{
	const struct driver *d = &drivers[0];

	(void)state;
	start_messages();
	for (uint32_t value = 0; value < 0x10000; value++) {
		for (uint32_t queue = 0; queue <= PORT_QUEUES; queue++) {
			map(queue, value);
			assert_int_equal(in(d, QUEUE_VECTOR, 2),
			                 value < VECTORS && queue < PORT_QUEUES ? value : NONE);
		}
		out(d, CONFIG_VECTOR, value, 2);
		assert_int_equal(in(d, CONFIG_VECTOR, 2), value < VECTORS ? value : NONE);
	}
	out(d, CONFIG_VECTOR, 1, 2);
	out(d, STATUS, 0, 1);
	assert_int_equal(in(d, CONFIG_VECTOR, 2), NONE);
}

/* --- messages ------------------------------------------------------------------------------ */

static void each_has_its_message(void **state)
{
	(void)state;
	start_messages();
	send(1, 0);
	assert_message(1, 11);
	send(0, 1);
	assert_message(0, 12);
	assert_int_equal(in(&drivers[0], ISR, 1), 0);
	port_link(&stations[0], 0, false);
	assert_message(0, 10);
	assert_int_equal(in(&drivers[0], ISR, 1), 2);
	port_link(&stations[0], 0, true);
	assert_message(0, 10);
	/* A queue that is malformed is a change, too. */
	driver_offer(&drivers[0], PORT_SENDS, QUEUE);
	driver_notify(&drivers[0]);
	assert_message(0, 10);
	assert_int_equal(in(&drivers[0], STATUS, 1), 0x4f);
	/* None of this was INTx; without MSI-X what the ISR status has is. */
	assert_false(levels[0]);
	assert_int_equal(space(&drivers[0], PCI_COMMAND) >> 16 & PCI_STATUS_INTX, 0);
	set_space(&drivers[0], CAP, 0);
	assert_true(levels[0]);
	set_space(&drivers[0], CAP, ENABLE);
	assert_false(levels[0]);
}

static void masked_messages_pend(void **state)
{
	const struct driver *d = &drivers[0];

	(void)state;
	start_messages();
	out(d, TABLE + 16 + 12, 1, 4);
	send(1, 0);
	send(1, 0);
	assert_int_equal(in(d, PENDING, 4), 2);
	assert_int_equal(n_messages, 0);
	set_space(d, CAP, ENABLE | MASK_ALL);
	out(d, TABLE + 16 + 12, 0, 4);
	assert_int_equal(n_messages, 0);
	set_space(d, PCI_COMMAND, 2);
	set_space(d, CAP, ENABLE);
	assert_int_equal(n_messages, 0);
	assert_int_equal(in(d, PENDING, 8), 2);
	set_space(d, PCI_COMMAND, MASTERS);
	assert_message(1, 11);
	assert_int_equal(in(d, PENDING, 4), 0);
	out(d, TABLE + 16 + 12, 1, 4);
	send(1, 0);
	out(d, STATUS, 0, 1);
	out(d, TABLE + 16 + 12, 0, 4);
	assert_int_equal(n_messages, 0);
}

static void none_between_lives(void **state)
{
	(void)state;
	start_messages();
	out(&drivers[0], TABLE + 16 + 12, 1, 4);
	send(1, 0);
	ports_reset(&stations[0], false);
	out(&drivers[0], TABLE + 16 + 12, 0, 4);
	set_space(&drivers[0], PCI_COMMAND, MASTERS);
	set_space(&drivers[0], CAP, ENABLE);
	send(1, 0);
	port_link(&stations[0], 0, false);
	assert_int_equal(n_messages, 0);
}

/* To the vcpus that the VM has, and nowhere else. */
static void addresses(void **state)
{
	struct chance chance = {1};

	(void)state;
	start_messages();
	for (uint64_t at = 0; at < 0x10000; at += 4) {
		set_entry(2, GUEST_IMSIC_BASE - 0x1000 + at, 99, 0);
		send(0, 1);
		if (at == 0x1000 || at == 0x2000)
			assert_message(at == 0x2000, 99);
		assert_int_equal(n_messages, 0);
	}
	for (uint32_t bit = 0; bit < 64; bit++) {
		set_entry(2, GUEST_IMSIC_BASE ^ 1UL << bit, 99, 0);
		send(0, 1);
		if (bit == 12)
			assert_message(1, 99);
		assert_int_equal(n_messages, 0);
	}
	for (uint32_t i = 0; i < 10000; i++) {
		set_entry(2, chance_mix(chance.state++) >> below(&chance, 60), 99, 0);
		send(0, 1);
		assert_int_equal(n_messages, 0);
	}
}

/* Whatever a driver writes, its messages go to the files of its own VM. */
static void hostile_drivers(void **state)
{
	static const uint32_t widths[] = {1, 2, 4, 8};
	struct chance chance = {2};
	uint32_t sent = 0;

	(void)state;
	start_messages();
	for (uint32_t i = 0; i < 50000; i++) {
		uint32_t width = widths[below(&chance, 4)];
		uint64_t value = percent(&chance, 50)
		                     ? chance_mix(i)
		                     : GUEST_IMSIC_BASE + below(&chance, 8) * GUEST_IMSIC_STEP;

		if (percent(&chance, 60))
			out(&drivers[0], TABLE + below(&chance, 0x40), value, width);
		else if (percent(&chance, 30))
			set_space(&drivers[0], 4 * below(&chance, 64), (uint32_t)value);
		else if (percent(&chance, 50))
			map(below(&chance, 3), below(&chance, 4));
		else
			port_link(&stations[0], 0, below(&chance, 2));
		if (percent(&chance, 5)) {
			driver_start(&drivers[0], 0, 0, 0, QUEUE);
			listen();
		}
		send(1, 0);
		for (uint32_t n = 0; n < n_messages && n < MESSAGES; n++)
			assert_true(messages[n].file - FILE_OF(0, 0) < VCPUS * PAGE_SIZE);
		sent += n_messages;
		n_messages = 0;
	}
	assert_true(sent > 10000);
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_capability),
	    cmocka_unit_test(without_an_aia),
	    cmocka_unit_test(the_table),
	    cmocka_unit_test(vectors),
	    cmocka_unit_test(each_has_its_message),
	    cmocka_unit_test(masked_messages_pend),
	    cmocka_unit_test(none_between_lives),
	    cmocka_unit_test(addresses),
	    cmocka_unit_test(hostile_drivers),
	};

	driver_vcpu = &vcpu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
