/* SPDX-License-Identifier: Apache-2.0 */
/* A power key, in front of a driver as the specification has it, and of hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/io/notifier.h"
#include "core/io/power_key.h"
#include "core/io/virtio_pci.h"
#include "core/tree/pci_node.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/vm.h"
#include "tests/host/chance.h"

#define RAM    UINT64_C(0x80000000) /* of the guest */
#define BYTES  UINT64_C(0x5000)
#define QUEUES 0x1000U /* offsets: of the areas of both queues, and of the buffers */
#define BUFS   0x4000U
#define AREA   0x800U /* twice as much as a table needs */

#define ISR    0x200U /* offsets in the key's page */
#define CONFIG 0x300U
#define SOURCE 31U

/* --- what is around it --------------------------------------------------------------------- */

static _Alignas(4096) uint8_t ram[BYTES];
static struct vm_config config = {.shutdown = VM_SHUTDOWN_KEY, .key_source = SOURCE};
static struct vm vm;
static bool level;
static uint32_t asked; /* for guest memory, since this was cleared */

void *guest_mem(const struct vm *of, gpa_t gpa, uint64_t size)
{
	uint64_t offset = gpa.a - RAM;

	assert_ptr_equal(of, &vm);
	asked++;
	return offset < BYTES && size <= BYTES - offset ? &ram[offset] : NULL;
}

void vm_set_level(struct vm *of, uint32_t source, bool high)
{
	assert_true(of == &vm && source == SOURCE);
	level = high;
}

void vm_raise(struct vm *of, uint32_t source)
{
	vm_set_level(of, source, true);
}

void imsic_send(hpa_t page, uint32_t identity)
{
	(void)page;
	(void)identity;
	fail();
}

void host_fence_devices(void)
{
}

void host_fence(void)
{
}

uint32_t pci_node_slot(const struct vm_config *vm_config, uint32_t n)
{
	assert_true(vm_config == &config && n == config.n_shared + 1);
	return 1;
}

struct pcpu *this_pcpu(void)
{
	fail();
	return NULL;
}

/* Of functions of the host, which there are none of. */
uint32_t pci_read32(uint64_t page, uint32_t offset)
{
	(void)page;
	(void)offset;
	fail();
	return 0;
}

uint16_t pci_read16(uint64_t page, uint32_t offset)
{
	return (uint16_t)pci_read32(page, offset);
}

uint8_t pci_read8(uint64_t page, uint32_t offset)
{
	return (uint8_t)pci_read32(page, offset);
}

void pci_write16(uint64_t page, uint32_t offset, uint16_t value)
{
	(void)pci_read32(page, offset + value);
}

void pci_set_up(const struct pci_function *f, uint16_t command)
{
	(void)f;
	(void)command;
	fail();
}

static void *alloc(size_t size)
{
	static _Alignas(16) uint8_t memory[4096];

	assert_true(size <= sizeof(memory));
	memset(memory, 0, sizeof(memory));
	return memory;
}

/* --- a driver ------------------------------------------------------------------------------ */

static uint64_t in(uint32_t offset, uint32_t width)
{
	uint64_t value = power_key_read(&vm, offset, width);

	return width < 8 ? value & ((UINT64_C(1) << 8 * width) - 1) : value;
}

static void out(uint32_t offset, uint64_t value, uint32_t width)
{
	/* What is above the width has no meaning. */
	power_key_write(&vm, offset, width < 8 ? value | 0x5a5aUL << 8 * width : value, width);
}

static uint32_t space(uint32_t offset)
{
	return (uint32_t)vpci_read(&vm, (1U << 3) * PCI_PAGE + offset, 4);
}

static void set_space(uint32_t offset, uint32_t value)
{
	vpci_write(&vm, (1U << 3) * PCI_PAGE + offset, value, 4);
}

static void put(uint32_t offset, uint64_t value, uint32_t bytes)
{
	memcpy(&ram[offset], &value, bytes);
}

static uint64_t get(uint32_t offset, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, &ram[offset], bytes);
	return value;
}

/* Areas of a queue: descriptors, available ring, used ring. */
static uint32_t area(uint32_t queue, uint32_t which)
{
	return QUEUES + (3 * queue + which) * AREA;
}

static void set_descriptor(uint32_t queue, uint32_t n, uint64_t address, uint32_t size,
                           uint32_t flags, uint32_t next)
{
	uint32_t at = area(queue, 0) + 16 * n;

	put(at, address, 8);
	put(at + 8, size, 4);
	put(at + 12, flags, 2);
	put(at + 14, next, 2);
}

/* Offers descriptor n as the next buffer. */
static void offer(uint32_t queue, uint32_t size, uint32_t n)
{
	uint32_t index = (uint32_t)get(area(queue, 1) + 2, 2);

	put(area(queue, 1) + 4 + 2 * (index % size), n, 2);
	put(area(queue, 1) + 2, index + 1, 2);
}

static void make(void)
{
	memset(&vm, 0, sizeof(vm));
	memset(ram, 0, sizeof(ram));
	level = false;
	vm.config = &config;
	power_key_make(&vm, alloc);
	assert_non_null(vm.key);
	power_key_reset(&vm, true);
	set_space(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

static void set_queue(uint32_t queue, uint32_t size)
{
	out(0x16, queue, 2);
	out(0x18, size, 2);
	for (uint32_t i = 0; i < 3; i++) {
		out(0x20 + 8 * i, RAM + area(queue, i), 4);
		out(0x24 + 8 * i, 0, 4);
	}
	out(0x1c, 1, 2);
}

/* Sets the device up with queues of this size, and no buffer. */
static void start(uint32_t size)
{
	make();
	out(0x14, 1, 1);
	out(0x14, 3, 1);
	out(0x08, 1, 4);
	out(0x0c, 1, 4);
	out(0x14, 0xb, 1);
	assert_int_equal(in(0x14, 1), 0xb);
	set_queue(0, size);
	set_queue(1, size);
	assert_false(power_key_is_live(&vm));
	out(0x14, 0xf, 1);
	assert_true(power_key_is_live(&vm));
}

static void offer_events(uint32_t size, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		set_descriptor(0, i % size, RAM + BUFS + 8 * (i % size), 8, 2, 0);
		offer(0, size, i % size);
	}
}

/* --- tests --------------------------------------------------------------------------------- */

static void a_function_of_virtio(void **state)
{
	uint32_t at = PCI_FIRST_CAP;

	(void)state;
	make();
	assert_int_equal(space(PCI_ID), 0x10521af4);
	assert_int_equal(space(PCI_CLASS), 0x09800001);
	assert_int_equal(space(PCI_COMMAND), 0x00100006);
	assert_int_equal(space(PCI_BAR), GUEST_KEY_BASE);
	set_space(PCI_BAR, ~0U);
	assert_int_equal(space(PCI_BAR), 0xfffff000);
	assert_int_equal(space(PCI_CAPABILITIES), PCI_FIRST_CAP);
	assert_int_equal(space(PCI_LINE) >> 8, 1);
	/* Common, notify, ISR and device configuration, each in 256 bytes of BAR 0; the window. */
	for (uint32_t i = 1; i <= 5; i++, at += 20) {
		assert_int_equal(space(at), 9 | (i < 5 ? at + 20 : 0) << 8 | 20U << 16 | i << 24);
		assert_int_equal(space(at + 4), 0);
		assert_int_equal(space(at + 8), i < 5 ? 0x100 * (i - 1) : 0);
		assert_int_equal(space(at + 12), i < 5 ? 0x100 : 0);
		assert_int_equal(space(at + 16), i == 2 ? 4 : 0);
	}
	assert_int_equal(space(at), 0);
}

static void no_key_unless_asked_for(void **state)
{
	(void)state;
	memset(&vm, 0, sizeof(vm));
	config.shutdown = VM_SHUTDOWN_SYSRQ;
	vm.config = &config;
	power_key_make(&vm, alloc);
	assert_null(vm.key);
	assert_int_equal(vm.pci.n, 0);
	power_key_reset(&vm, true);
	config.shutdown = VM_SHUTDOWN_KEY;
}

static void the_common_configuration(void **state)
{
	(void)state;
	make();
	for (uint32_t word = 0; word < 4; word++) {
		out(0x00, word, 4);
		assert_int_equal(in(0x00, 4), word);
		assert_int_equal(in(0x04, 4), word == 1); /* VIRTIO_F_VERSION_1 alone */
	}
	assert_int_equal(in(0x10, 2), 0xffff);
	assert_int_equal(in(0x12, 2), 2);
	assert_int_equal(in(0x15, 1), 0);
	for (uint32_t queue = 0; queue < 4; queue++) {
		out(0x16, queue, 2);
		assert_int_equal(in(0x16, 2), queue);
		assert_int_equal(in(0x18, 2), queue < 2 ? 64 : 0);
		assert_int_equal(in(0x1a, 2), 0xffff);
		assert_int_equal(in(0x1c, 2), 0);
		assert_int_equal(in(0x1e, 2), queue);
		out(0x18, 48, 2);
		out(0x18, 128, 2);
		out(0x18, 0, 2);
		assert_int_equal(in(0x18, 2), queue < 2 ? 64 : 0);
		out(0x18, 16, 2);
		out(0x20, 0x12345678, 4);
		out(0x34, 0x9abcdef0, 4);
		assert_int_equal(in(0x18, 2), queue < 2 ? 16 : 0);
		assert_int_equal(in(0x20, 4), queue < 2 ? 0x12345678 : 0);
		assert_int_equal(in(0x24, 4), 0);
		assert_int_equal(in(0x34, 4), queue < 2 ? 0x9abcdef0 : 0);
		out(0x1c, 1, 2);
		assert_int_equal(in(0x1c, 2), queue < 2);
		/* Now it stays as it is. */
		out(0x18, 8, 2);
		out(0x20, 0, 4);
		out(0x1c, 0, 2);
		assert_int_equal(in(0x18, 2), queue < 2 ? 16 : 0);
		assert_int_equal(in(0x20, 4), queue < 2 ? 0x12345678 : 0);
		assert_int_equal(in(0x1c, 2), queue < 2);
	}
	out(0x14, 0, 1);
	out(0x16, 1, 2);
	assert_int_equal(in(0x18, 2), 64);
	assert_int_equal(in(0x1c, 2), 0);
	assert_int_equal(in(0x20, 4), 0);
}

static void features_that_it_cannot_do(void **state)
{
	(void)state;
	/* Neither without VERSION_1 nor with another one. */
	for (uint32_t other = 0; other < 2; other++) {
		make();
		out(0x14, 3, 1);
		out(0x08, 0, 4);
		out(0x0c, other, 4);
		out(0x08, 1, 4);
		out(0x0c, other, 4);
		out(0x14, 0xb, 1);
		assert_int_equal(in(0x14, 1), 3);
		out(0x14, 0xf, 1);
		assert_false(power_key_is_live(&vm));
	}
	make();
	out(0x08, 1, 4);
	out(0x0c, 1, 4);
	out(0x14, 0xb, 1);
	out(0x0c, 0, 4); /* too late */
	assert_int_equal(in(0x0c, 4), 1);
	out(0x08, 2, 4);
	assert_int_equal(in(0x0c, 4), 0);
}

static void select_input(uint32_t select, uint32_t subsel)
{
	out(CONFIG, select, 1);
	out(CONFIG + 1, subsel, 1);
}

static void the_configuration_of_a_key(void **state)
{
	(void)state;
	make();
	select_input(1, 0);
	assert_int_equal(in(CONFIG + 2, 1), 15);
	for (uint32_t i = 0; i < 15; i++)
		assert_int_equal(in(CONFIG + 8 + i, 1), "Tally power key"[i]);
	assert_int_equal(in(CONFIG + 8 + 15, 1), 0);
	select_input(3, 0);
	assert_int_equal(in(CONFIG + 2, 1), 8);
	assert_int_equal(in(CONFIG + 8, 8), 0x000100001af40006);
	/* Of all types of events there are keys, and of these one. */
	for (uint32_t type = 0; type < 32; type++) {
		select_input(0x11, type);
		assert_int_equal(in(CONFIG, 4), 0x11 | type << 8 | (type == 1 ? 15U << 16 : 0));
		for (uint32_t i = 0; i < 128; i++)
			assert_int_equal(in(CONFIG + 8 + i, 1), type == 1 && i == 14 ? 0x10 : 0);
	}
	select_input(1, 1);
	assert_int_equal(in(CONFIG + 2, 1), 0);
	select_input(0x10, 0);
	assert_int_equal(in(CONFIG + 2, 1), 0);
}

/* The press, the release, and an end of each. */
static const uint64_t events[] = {0x100740001, 0, 0x000740001, 0};

static void assert_press(uint32_t size, uint32_t first)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t entry = (first + i) % size;

		assert_int_equal(get(BUFS + 8 * entry, 8), events[i]);
		assert_int_equal(get(area(0, 2) + 4 + 8 * entry, 8), (UINT64_C(8) << 32) | entry);
	}
	assert_int_equal(get(area(0, 2) + 2, 2), (uint16_t)(first + 4));
}

/* The indexes wrap at the size, and at 2^16. */
static void a_press(void **state)
{
	(void)state;
	for (uint32_t size = 4; size <= 64; size *= 2) {
		start(size);
		for (uint32_t n = 0; n < 0x10008; n += 4) {
			offer_events(size, 4);
			for (uint32_t i = 0; i < 4; i++) {
				put(area(0, 1) + 4 + 2 * ((n + i) % size), (n + i) % size, 2);
				set_descriptor(0, (n + i) % size, RAM + BUFS + 8 * ((n + i) % size),
				               8, 2, 0);
			}
			assert_true(power_key_press(&vm));
			assert_press(size, n);
			assert_true(level);
			assert_int_equal(space(PCI_COMMAND) >> 16 & PCI_STATUS_INTX, 8);
			assert_int_equal(in(ISR, 1), 1);
			assert_false(level);
			assert_int_equal(in(ISR, 1), 0);
		}
		assert_false(power_key_press(&vm));
		assert_true(power_key_is_live(&vm));
	}
}

/* Of the transport: a key's configuration does not change. The generation counts modulo 256, a
 * driver that is set up is interrupted, and it reads both reasons at once. */
static void another_configuration(void **state)
{
	struct virtio_pci *d;

	(void)state;
	make();
	d = (struct virtio_pci *)vm.key;
	virtio_pci_reconfigured(d);
	assert_int_equal(in(0x15, 1), 1);
	assert_false(level);
	start(64);
	d = (struct virtio_pci *)vm.key;
	for (uint32_t n = 1; n < 300; n++) {
		virtio_pci_reconfigured(d);
		assert_true(level);
		assert_int_equal(in(0x15, 1), (uint8_t)n);
		if (n % 2)
			virtio_pci_tell(d, 0, true);
		assert_int_equal(in(ISR, 1), n % 2 ? 3 : 2);
		assert_false(level);
	}
	assert_true(power_key_is_live(&vm));
	set_space(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	virtio_pci_reconfigured(d);
	assert_false(level);
	power_key_reset(&vm, false);
	virtio_pci_reconfigured(d);
	assert_int_equal(in(ISR, 1), 0);
}

static void without_room(void **state)
{
	(void)state;
	start(8);
	for (uint32_t n = 0; n < 4; n++) {
		assert_false(power_key_press(&vm));
		assert_false(level);
		assert_int_equal(get(area(0, 2) + 2, 2), 0);
		set_descriptor(0, n, RAM + BUFS + 8 * n, 8, 2, 0);
		offer(0, 8, n);
	}
	/* Neither without a driver nor without DMA. */
	set_space(PCI_COMMAND, PCI_COMMAND_MEMORY);
	assert_false(power_key_press(&vm));
	set_space(PCI_COMMAND, PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	assert_true(power_key_press(&vm));
	assert_press(8, 0);
	assert_false(level);
	set_space(PCI_COMMAND, PCI_COMMAND_MASTER);
	assert_true(level);
	out(0x14, 0, 1);
	assert_false(level);
	assert_false(power_key_press(&vm));
	/* Another life has nothing of it. */
	start(8);
	offer_events(8, 4);
	assert_true(power_key_press(&vm));
	power_key_reset(&vm, false);
	assert_false(power_key_press(&vm));
	assert_int_equal(in(0x14, 1), 0);
}

/* A buffer may be in several pieces. */
static void in_pieces(void **state)
{
	(void)state;
	start(64);
	for (uint32_t i = 0; i < 8; i++)
		set_descriptor(0, i, RAM + BUFS + 16 * i, 1, i < 7 ? 3 : 2, i + 1);
	set_descriptor(0, 8, RAM + BUFS + 0x100, 5, 3, 9);
	set_descriptor(0, 9, RAM + BUFS + 0x110, 100, 2, 9);
	for (uint32_t i = 0; i < 4; i++)
		offer(0, 64, i ? 8 : 0);
	assert_true(power_key_press(&vm));
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(get(BUFS + 16 * i, 1), (uint8_t)(events[0] >> 8 * i));
	assert_int_equal(get(BUFS + 0x100, 8), 0);
	assert_int_equal(get(BUFS + 0x110, 8), 0);
	assert_int_equal(get(area(0, 2) + 4, 8), UINT64_C(8) << 32);
}

/* The device does not write, and is to be reset. */
static void assert_broken(void)
{
	assert_false(power_key_press(&vm));
	assert_false(power_key_is_live(&vm));
	assert_int_equal(in(0x14, 1), 0x4f);
	assert_true(level);
	assert_int_equal(in(ISR, 1) & 2, 2);
	out(0x14, 0xf, 1);
	assert_int_equal(in(0x14, 1), 0x4f);
	assert_int_equal(get(BUFS, 8), 0);
	assert_int_equal(get(area(0, 2) + 2, 2), 0);
}

static void malformed_queues(void **state)
{
	static const struct {
		uint64_t address;
		uint32_t size, flags, next;
	} bad[] = {
	    {RAM + BYTES - 7, 8, 2, 0}, /* beyond its memory */
	    {RAM - 1, 8, 2, 0},         {~UINT64_C(0), 8, 2, 0},
	    {RAM + BUFS, 8, 0, 0},      /* to be read by the device */
	    {RAM + BUFS, 8, 6, 0},      /* an indirect table, which is not offered */
	    {RAM + BUFS + 8, 7, 2, 0},  /* too small */
	    {RAM + BUFS + 8, 7, 3, 64}, /* goes on outside the table */
	    {RAM + BUFS + 8, 0, 3, 0},  /* empty, and a circle */
	    {RAM + BUFS + 8, 8, 3, 0},  /* a circle */
	    {RAM + BUFS + 8, 8, 3, 9},  /* the rest is empty */
	};

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(bad); i++) {
		start(64);
		offer_events(64, 8);
		set_descriptor(0, 64, RAM + BUFS + 8, 8, 2, 0);
		set_descriptor(0, 0, bad[i].address, bad[i].size, bad[i].flags, bad[i].next);
		assert_broken();
	}
	start(64);
	offer_events(64, 8);
	put(area(0, 1) + 4, 64, 2);
	assert_broken();
	start(64);
	offer_events(64, 65); /* more than it has */
	assert_broken();
	for (uint32_t which = 0; which < 4; which++) {
		start(64);
		offer_events(64, 8);
		out(0x14, 0, 1);
		out(0x08, 1, 4);
		out(0x0c, 1, 4);
		out(0x14, 0xb, 1);
		set_queue(1, 64);
		out(0x16, 0, 2);
		for (uint32_t k = 0; k < 3; k++)
			out(0x20 + 8 * k, RAM + area(0, k) + (k == which), 4);
		if (which < 3)
			out(0x1c, 1, 2);
		out(0x14, 0xf, 1);
		assert_broken();
	}
}

static void offer_status(uint32_t size, uint32_t n)
{
	set_descriptor(1, n, RAM + BUFS, 8, 0, 0);
	offer(1, size, n);
}

static void status_buffers_come_back(void **state)
{
	(void)state;
	start(16);
	out(0x100 + 4, 1, 2);
	assert_false(level);
	for (uint32_t i = 0; i < 16; i++)
		offer_status(16, 15 - i);
	out(0x100, 0, 2);
	assert_int_equal(get(area(1, 2) + 2, 2), 0);
	out(0x100 + 4, 1, 2);
	assert_true(level);
	assert_int_equal(get(area(1, 2) + 2, 2), 16);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(get(area(1, 2) + 4 + 8 * i, 8), 15 - i);
	put(area(1, 1) + 2, 100, 2);
	out(0x100 + 4, 1, 2);
	assert_int_equal(in(0x14, 1), 0x4f);
	/* As many as one stay in HS has time for. */
	start(64);
	for (uint32_t i = 0; i < 20; i++)
		offer_status(64, i);
	out(0x100 + 4, 1, 2);
	assert_int_equal(get(area(1, 2) + 2, 2), 16);
	out(0x100 + 4, 1, 2);
	assert_int_equal(get(area(1, 2) + 2, 2), 20);
	start(16);
	offer(1, 16, 16);
	out(0x100 + 4, 1, 2);
	assert_int_equal(in(0x14, 1), 0x4f);
	assert_int_equal(get(area(1, 2) + 2, 2), 0);
	/* In two parts, and in three. */
	for (uint32_t parts = 2; parts <= 3; parts++) {
		start(16);
		for (uint32_t i = 0; i < parts; i++)
			set_descriptor(1, i, RAM + BUFS + 4 * i, 4, i + 1 < parts, i + 1);
		offer(1, 16, 0);
		out(0x100 + 4, 1, 2);
		assert_int_equal(get(area(1, 2) + 2, 2), parts == 2);
		assert_int_equal(in(0x14, 1), parts == 2 ? 0xf : 0x4f);
	}
}

/* Access by configuration space is the same as in BAR 0. */
static void the_window(void **state)
{
	uint32_t at = PCI_FIRST_CAP + 4 * 20;

	(void)state;
	start(8);
	set_space(at + 8, 0x12);
	set_space(at + 12, 2);
	assert_int_equal(space(at + 16), 2);
	set_space(at + 8, 0x16);
	set_space(at + 16, 1);
	assert_int_equal(in(0x16, 2), 1);
	set_space(at + 8, CONFIG);
	set_space(at + 12, 1);
	set_space(at + 16, 0x11);
	assert_int_equal(in(CONFIG, 1), 0x11);
	/* Nowhere. */
	for (uint32_t i = 0; i < 5; i++) {
		set_space(at + 4, i == 0);
		set_space(at + 8, i == 1 ? 0x1000 : i == 2 ? 0x13 : i == 4 ? ~0U : 0x16);
		set_space(at + 12, i == 3 ? 3 : i == 4 ? 1 : 2);
		set_space(at + 16, 0);
		assert_int_equal(space(at + 16), 0);
	}
	assert_int_equal(in(0x16, 2), 1);
}

/* Random registers and memory: it writes in guest memory alone, and its work is bounded. */
static void hostile_drivers(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct chance c = {seed};

		start(4U << below(&c, 5));
		for (uint32_t i = 0; i < BYTES && percent(&c, 50); i += 8)
			put(i, chance(&c) & (percent(&c, 50) ? 0x3f000200ff : ~UINT64_C(0)), 8);
		for (uint32_t step = 0; step < 40; step++) {
			uint32_t queue = below(&c, 2), n = below(&c, 64);

			if (percent(&c, 50))
				set_descriptor(queue, n, RAM + below(&c, BYTES + 16), below(&c, 12),
				               percent(&c, 90) ? 2 + below(&c, 2) : below(&c, 16),
				               below(&c, 66));
			if (percent(&c, 70))
				offer(queue, 4U << below(&c, 5), below(&c, 65));
			if (percent(&c, 10))
				out(below(&c, 0x400), chance(&c), 1U << below(&c, 4));
			if (percent(&c, 10))
				(void)in(below(&c, 0x1000), 1U << below(&c, 4));
			asked = 0;
			if (percent(&c, 50))
				(void)power_key_press(&vm);
			else
				out(0x104, 1, 2);
			/* Rings and table, and at most eight pieces of four, or two of 16. */
			assert_true(asked <= 3 + 32);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_function_of_virtio),
	    cmocka_unit_test(no_key_unless_asked_for),
	    cmocka_unit_test(the_common_configuration),
	    cmocka_unit_test(features_that_it_cannot_do),
	    cmocka_unit_test(the_configuration_of_a_key),
	    cmocka_unit_test(a_press),
	    cmocka_unit_test(another_configuration),
	    cmocka_unit_test(without_room),
	    cmocka_unit_test(in_pieces),
	    cmocka_unit_test(malformed_queues),
	    cmocka_unit_test(status_buffers_come_back),
	    cmocka_unit_test(the_window),
	    cmocka_unit_test(hostile_drivers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
