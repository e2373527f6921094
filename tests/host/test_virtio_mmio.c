/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of virtio-MMIO: of a port of a network in a slot, and of an empty slot; beside a model
 * for a driver that writes anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/io/vm_virt.h"
#include "core/vcpu/vcpu.h"
#include "tests/host/chance.h"
#include "tests/host/ports_driver.h"

/* VIRTIO 1.2, table 4.1. */
enum {
	FEATURES = 0x10,
	FEATURES_SEL = 0x14,
	ACCEPTED = 0x20,
	ACCEPTED_SEL = 0x24,
	QUEUE_SEL = 0x30,
	QUEUE_MAX = 0x34,
	QUEUE_NUM = 0x38,
	QUEUE_READY = 0x44,
	NOTIFY = 0x50,
	INTERRUPT = 0x60,
	ACKNOWLEDGE = 0x64,
	STATUS = 0x70,
	AREAS = 0x80, /* of three areas, each 16 bytes after the last one */
	SHARED = 0xb0,
	RESET = 0xc0,
	GENERATION = 0xfc,
	CONFIG = 0x100,
};
#define LARGEST     1024U /* queue */
#define OFFERED     0x130010028UL
#define ACCEPTS     0x100000000UL
#define PAGE_END    0x1000U
#define NEEDS_RESET 0x40U

static struct driver driver, other; /* in slots of VMs 1 and 0 */
static struct port *port;

static uint32_t get(uint32_t offset)
{
	return (uint32_t)slot_in(&driver, offset, 4);
}

static void set(uint32_t offset, uint32_t value)
{
	/* The upper half of the register that is stored has no meaning. */
	slot_out(&driver, offset, value | 0xa5a5a5a500000000UL, 4);
}

static void make(void)
{
	instret_step = 0;
	stations_virt = 3;
	stations_make();
	port = stations[1].ports[0];
	driver = (struct driver){.vm = &stations[1]};
	other = (struct driver){.vm = &stations[0]};
}

static void start(void)
{
	make();
	driver_start(&other, 0, 0, 0, QUEUE);
	driver_start(&driver, 1, 0, 0, QUEUE);
}

static void send(void)
{
	assert_true(driver_frame(&other, macs[1], 1, 60));
	driver_notify(&other);
}

static void what_it_is(void **state)
{
	(void)state;
	make();
	assert_int_equal(get(0), 0x74726976);
	assert_int_equal(get(4), 2);
	assert_int_equal(get(8), 1);
	assert_int_equal(get(12), 0x554d4551);
	for (uint32_t sel = 0; sel < 4; sel++) {
		set(FEATURES_SEL, sel);
		assert_int_equal(get(FEATURES), sel < 2 ? (uint32_t)(OFFERED >> 32 * sel) : 0);
	}
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(slot_in(&driver, CONFIG + i, 1), macs[1][i]);
	assert_int_equal(slot_in(&driver, CONFIG + 6, 2), 1);
	assert_int_equal(slot_in(&driver, CONFIG + 10, 2), 1500);
	for (uint32_t at = CONFIG + 12; at < PAGE_END; at += 4)
		assert_int_equal(get(at), 0);
	/* No shared memory, whichever is selected; and no reset of a queue, as it is not offered.
	 */
	for (uint32_t id = 0; id < 300; id++) {
		set(0xac, id);
		for (uint32_t i = 0; i < 16; i += 4)
			assert_int_equal(get(SHARED + i), ~0U);
	}
	set(RESET, 1);
	assert_int_equal(get(RESET), 0);
	assert_int_equal(stations[1].pci.n, 0);
}

static void an_empty_slot(void **state)
{
	(void)state;
	make();
	for (uint64_t slot = 0; slot < GUEST_SLOTS; slot++) {
		uint64_t base = slot * GUEST_SLOT_STEP;

		if (slot == FIRST_SLOT)
			continue;
		for (uint32_t width = 1; width <= 8; width *= 2) {
			for (uint64_t at = 0; at < PAGE_END; at++) {
				uint64_t value = vm_slot_read(&stations[1], base + at, width);

				vm_slot_write(&stations[1], base + at, ~0UL, width);
				assert_int_equal(value, width == 4 && !at       ? 0x74726976
				                        : width == 4 && at == 4 ? 2
				                                                : 0);
			}
		}
	}
}

/* Only QueueNum that is a power of two; only queues that it has; and nothing of one in use. */
static void queues(void **state)
{
	static const uint32_t selected[] = {0, 1, 2, 0xffff, 0x10000, 0x10001, ~0U};

	(void)state;
	make();
	for (uint32_t i = 0; i < ARRAY_SIZE(selected); i++) {
		bool there = i < 2;

		set(QUEUE_SEL, selected[i]);
		assert_int_equal(get(QUEUE_MAX), there ? LARGEST : 0);
		assert_int_equal(get(QUEUE_READY), 0);
		set(QUEUE_MAX, 4);
		set(QUEUE_NUM, 48);
		set(QUEUE_NUM, 0);
		set(QUEUE_NUM, 2 * LARGEST);
		set(QUEUE_NUM, 0x10010);
		assert_int_equal(get(QUEUE_NUM), there ? LARGEST : 0);
		set(QUEUE_NUM, 16);
		set(AREAS + 0x14, 0x12345678);
		set(QUEUE_READY, 2);
		assert_int_equal(get(QUEUE_READY), 0);
		set(QUEUE_READY, 1);
		assert_int_equal(get(QUEUE_READY), there);
		set(QUEUE_NUM, 8);
		set(AREAS + 0x14, 0);
		assert_int_equal(get(QUEUE_NUM), there ? 16 : 0);
		assert_int_equal(get(AREAS + 0x14), there ? 0x12345678 : 0);
		assert_int_equal(get(QUEUE_MAX), there ? LARGEST : 0);
		set(QUEUE_READY, 0);
		assert_int_equal(get(QUEUE_READY), 0);
		set(QUEUE_NUM, 8);
		assert_int_equal(get(QUEUE_NUM), there ? 8 : 0);
	}
	set(QUEUE_SEL, 1);
	set(QUEUE_READY, 1);
	set(STATUS, 0);
	for (uint32_t i = 0; i < 2; i++) {
		set(QUEUE_SEL, i);
		assert_int_equal(get(QUEUE_READY), 0);
		assert_int_equal(get(QUEUE_NUM), LARGEST);
	}
}

/* By other widths, misaligned, or of registers for reading: all stays as it is. */
static void bad_accesses(void **state)
{
	static const uint32_t read_only[] = {0, 4, 8, 12, 0x10, QUEUE_MAX, GENERATION, INTERRUPT};
	static struct port before;

	(void)state;
	start();
	send();
	before = *port;
	for (uint32_t at = 0; at < CONFIG; at++) {
		for (uint32_t width = 1; width <= 8; width *= 2) {
			if (width == 4 && !(at % 4))
				continue;
			slot_out(&driver, at, 0, width);
			slot_out(&driver, at, ~0UL, width);
			assert_int_equal(slot_in(&driver, at, width), 0);
		}
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(read_only); i++) {
		set(read_only[i], 0);
		set(read_only[i], ~0U);
	}
	for (uint32_t at = CONFIG; at < PAGE_END; at++)
		slot_out(&driver, at, 0x55, 1);
	assert_memory_equal(&before, port, sizeof(before));
	assert_int_equal(driver_take(&driver), 1);
}

/* An event is there until the driver acknowledges it, and the interrupt as long as one is. */
static void interrupts(void **state)
{
	(void)state;
	start();
	assert_int_equal(get(INTERRUPT), 0);
	send();
	port_link(&stations[1], 0, false);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(get(INTERRUPT), 3);
	assert_int_equal(get(GENERATION), 1);
	assert_int_equal(raised[1], 1);
	set(ACKNOWLEDGE, 0xfffffffc);
	set(ACKNOWLEDGE, 1);
	assert_int_equal(get(INTERRUPT), 2);
	assert_true(levels[1]);
	set(ACKNOWLEDGE, 3);
	assert_int_equal(get(INTERRUPT), 0);
	assert_false(levels[1]);
	port_link(&stations[1], 0, true);
	assert_true(levels[1]);
	set(STATUS, 0);
	assert_int_equal(get(INTERRUPT), 0);
	assert_false(levels[1]);
}

/* Only the queue that sends is looked at, for its own number. */
static void notifications(void **state)
{
	static const uint32_t nothing[] = {0, 2, 3, 0x10001, ~0U};

	(void)state;
	start();
	assert_true(driver_frame(&driver, macs[0], 1, 60));
	for (uint32_t i = 0; i < ARRAY_SIZE(nothing); i++)
		set(NOTIFY, nothing[i]);
	for (uint32_t width = 1; width <= 8; width *= 2) {
		if (width != 4)
			slot_out(&driver, NOTIFY, 1, width);
	}
	assert_int_equal(driver_counts(&driver).sent, 0);
	set(NOTIFY, 1);
	assert_int_equal(driver_counts(&driver).sent, 1);
	assert_int_equal(get(NOTIFY), 0);
	assert_int_equal(driver_take(&other), 1);
}

/* QueueReady = 0 stops a queue, of which nothing is accessed then. It begins anew with 1, from the
 * beginning of its rings. */
static void a_queue_that_is_stopped(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	start();
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i <= round; i++)
			send();
		assert_int_equal(driver_take(&driver), round + 1);
		set(QUEUE_SEL, PORT_RECEIVES);
		set(QUEUE_READY, 0);
		assert_int_equal(get(QUEUE_READY), 0);
		set(ACKNOWLEDGE, 3);
		memcpy(before, rams[1], BYTES);
		send();
		assert_memory_equal(before, rams[1], BYTES);
		assert_int_equal(driver_counts(&driver).lost, round + 1);
		assert_int_equal(get(STATUS), 0xf);
		/* Flags and index of both rings. */
		memset(driver_area(&driver, PORT_RECEIVES, VIRTIO_AVAILABLE), 0, 4);
		memset(driver_area(&driver, PORT_RECEIVES, VIRTIO_USED), 0, 4);
		driver.given[PORT_RECEIVES] = driver.got[PORT_RECEIVES] = 0;
		for (uint32_t i = 0; i < QUEUE; i++)
			driver_offer(&driver, PORT_RECEIVES, i);
		set(QUEUE_READY, 1);
	}
	assert_int_equal(driver.wrong, 0);
	/* An area outside its memory is found then, too. */
	set(QUEUE_READY, 0);
	set(AREAS + 4, ~0U);
	set(QUEUE_READY, 1);
	assert_int_equal(get(STATUS), 0x4f);
	assert_int_equal(get(INTERRUPT), 2);
}

/* --- any driver ---------------------------------------------------------------------------- */

/* What a driver finds that has not set DRIVER_OK. */
struct model {
	uint32_t offered_sel, accepted_sel, queue, status;
	uint64_t accepted;
	struct {
		uint32_t num, ready, areas[12]; /* with the gaps between them */
	} queues[2];
};

static void model_reset(struct model *m)
{
	*m = (struct model){.queues = {{.num = LARGEST}, {.num = LARGEST}}};
}

static void model_queue(struct model *m, uint32_t at, uint32_t value)
{
	if (m->queue > 1)
		return;
	if (at == QUEUE_READY && value <= 1)
		m->queues[m->queue].ready = value;
	else if (m->queues[m->queue].ready)
		return;
	if (at == QUEUE_NUM && value <= LARGEST && __builtin_popcount(value) == 1)
		m->queues[m->queue].num = value;
	if (at >= AREAS && at < AREAS + 0x30 && at % 16 < 8)
		m->queues[m->queue].areas[(at - AREAS) / 4] = value;
}

static void model_write(struct model *m, uint32_t at, uint32_t value)
{
	uint32_t shift = 32 * m->accepted_sel;

	if (at == STATUS && !(value & 0xff)) {
		model_reset(m);
	} else if (at == STATUS) {
		m->status = (value & 0xff) | (m->status & NEEDS_RESET);
		if (m->accepted & ~OFFERED || !(m->accepted & ACCEPTS))
			m->status &= ~8U;
	} else if (at == FEATURES_SEL) {
		m->offered_sel = value;
	} else if (at == ACCEPTED_SEL) {
		m->accepted_sel = value;
	} else if (at == QUEUE_SEL) {
		m->queue = value;
	} else if (at == ACCEPTED && m->accepted_sel < 2 && !(m->status & 8)) {
		m->accepted &= ~(0xffffffffUL << shift);
		m->accepted |= (uint64_t)value << shift;
	} else {
		model_queue(m, at, value);
	}
}

static uint32_t model_read(const struct model *m, uint32_t at)
{
	bool there = m->queue < 2;

	switch (at) {
	case FEATURES:
		return m->offered_sel < 2 ? (uint32_t)(OFFERED >> 32 * m->offered_sel) : 0;
	case QUEUE_MAX:
		return there ? LARGEST : 0;
	case QUEUE_NUM:
		return there ? m->queues[m->queue].num : 0;
	case QUEUE_READY:
		return there ? m->queues[m->queue].ready : 0;
	case STATUS:
		return m->status;
	default:
		if (there && at >= AREAS && at < AREAS + 0x30 && at % 16 < 8)
			return m->queues[m->queue].areas[(at - AREAS) / 4];
		return 0;
	}
}

static uint32_t any_value(struct chance *c, uint32_t at)
{
	uint32_t value = percent(c, 70)   ? below(c, 4)
	                 : percent(c, 70) ? 1U << below(c, 32)
	                                  : (uint32_t)chance(c);

	return at == STATUS ? value & ~4U : value;
}

static void any_driver(void **state)
{
	static const uint32_t seen[] = {FEATURES,   QUEUE_MAX,  QUEUE_NUM,  QUEUE_READY,
	                                STATUS,     AREAS,      AREAS + 4,  AREAS + 16,
	                                AREAS + 20, AREAS + 32, AREAS + 36, NOTIFY,
	                                INTERRUPT,  RESET,      GENERATION, CONFIG + 12};
	struct model m;

	(void)state;
	for (uint64_t seed = 0; seed < 500; seed++) {
		struct chance c = {seed};

		make();
		model_reset(&m);
		for (uint32_t step = 0; step < 300; step++) {
			uint32_t at = below(&c, 64) * 4, value;

			if (percent(&c, 50))
				at = percent(&c, 50) ? QUEUE_SEL : STATUS;
			value = any_value(&c, at);
			set(at, value);
			model_write(&m, at, value);
			for (uint32_t i = 0; i < ARRAY_SIZE(seen); i++)
				assert_int_equal(get(seen[i]), model_read(&m, seen[i]));
		}
		assert_int_equal(raised[1], 0);
	}
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_it_is),
	    cmocka_unit_test(an_empty_slot),
	    cmocka_unit_test(queues),
	    cmocka_unit_test(bad_accesses),
	    cmocka_unit_test(interrupts),
	    cmocka_unit_test(notifications),
	    cmocka_unit_test(a_queue_that_is_stopped),
	    cmocka_unit_test(any_driver),
	};

	driver_vcpu = &vcpu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
