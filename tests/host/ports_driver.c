/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/ports_driver.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/hart/platform.h"
#include "core/io/vm_virt.h"
#include "core/log.h"
#include "core/tree/pci_node.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/vcpu.h"

#define COMMON_FEATURE 0x08U
#define STATUS         0x14U
#define NOTIFY         0x100U
#define ISR            0x200U
#define CONFIG         0x300U
#define AREAS          0x1000U  /* of a queue: three of these */
#define QUEUES         0x10000U /* bytes of one port, with both queues' buffers */

struct vm stations[STATIONS];
uint8_t rams[STATIONS][BYTES] __attribute__((aligned(4096)));
bool levels[STATIONS];
uint32_t raised[STATIONS];
uint64_t instret_step;
uint64_t machine_time;
uint32_t stations_virt;
uint32_t stations_aia;
struct sent_message messages[MESSAGES];
uint32_t n_messages;
uint32_t logged;
struct platform platform = {.timebase = 10000000};
_Thread_local struct vcpu *driver_vcpu;
uint32_t n_vms = STATIONS;
struct vm *vms = stations;

const uint8_t macs[STATIONS][6] = {
    {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 3}, {2, 0, 0, 0, 0, 4}};
const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static struct vm_config configs[STATIONS];
static struct vcpu vcpus[STATIONS][VCPUS];
static uint32_t limits[2];

/* --- what is around it --------------------------------------------------------------------- */

void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size)
{
	uint64_t offset = gpa.a - RAM;

	return offset < BYTES && size <= BYTES - offset ? &rams[vm - stations][offset] : NULL;
}

void vm_set_level(struct vm *vm, uint32_t source, bool high)
{
	const struct vm_config *config = vm->config;

	assert_true(source == config->ports[0].source ||
	            (config->n_ports == 2 && source == config->ports[1].source));
	raised[vm - stations] += high && !levels[vm - stations];
	levels[vm - stations] = high;
}

void vm_raise(struct vm *vm, uint32_t source)
{
	vm_set_level(vm, source, true);
}

uint64_t host_csr_read(uint32_t csr)
{
	static _Thread_local uint64_t instret;

	if (csr == CSR_TIME)
		return machine_time;
	assert_int_equal(csr, CSR_INSTRET);
	return instret += instret_step;
}

/* One vcpu for each thread is enough: the device asks only for what belongs to the call. */
struct pcpu *this_pcpu(void)
{
	static _Thread_local struct pcpu pcpu;

	return &pcpu;
}

struct guest_context *this_context(void)
{
	return &driver_vcpu->ctx;
}

void long_call_begin(struct vcpu *vcpu, const struct long_call *call)
{
	vcpu->call = *call;
}

uint32_t pci_node_slot(const struct vm_config *config, uint32_t n)
{
	return config->n_ports ? n : 0;
}

/* The PLIC of a VM with machine = "virt" is not looked at. */
uint64_t vm_plic_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	(void)vm;
	(void)offset;
	(void)width;
	fail();
	return 0;
}

void vm_plic_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	(void)vm_plic_read(vm, offset + value, width);
}

uint32_t vplic_unpaired(uint32_t offset)
{
	return (uint32_t)vm_plic_read(NULL, offset, 0);
}

void log_line(const char *format, ...)
{
	(void)format;
	logged++;
}

void imsic_send(hpa_t page, uint32_t identity)
{
	uint64_t number = (page.a - FILE_OF(0, 0)) / (VCPUS * PAGE_SIZE);

	assert_true(number < STATIONS && stations_aia >> number & 1);
	messages[n_messages++ % MESSAGES] = (struct sent_message){page.a, identity};
}

void host_fence_devices(void)
{
}

void host_fence(void)
{
}

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

static uint8_t pool[0x10000] __attribute__((aligned(16)));
static size_t pool_used;

static void *alloc(size_t size)
{
	void *at = &pool[pool_used];

	pool_used += (size + 15) & ~(size_t)15;
	assert_true(pool_used <= sizeof(pool));
	memset(at, 0, size);
	return at;
}

static void add_port(uint32_t station, uint32_t network, bool uplink)
{
	struct vm_config *config = &configs[station];
	struct vm_port *port = &config->ports[config->n_ports++];

	config->virt = stations_virt >> station & 1;
	*port = (struct vm_port){.network = network, .source = 31, .uplink = uplink};
	if (config->virt)
		port->source = FIRST_SLOT + config->n_ports;
	memcpy(port->mac, macs[station], sizeof(port->mac));
}

void stations_limit(uint32_t frames_per_ms, uint32_t bytes_per_ms)
{
	limits[0] = frames_per_ms;
	limits[1] = bytes_per_ms;
}

static struct vm_tree tree = {.n_networks = 2};

void stations_offload(bool on)
{
	tree.networks[0].offload = on;
}

void stations_make(void)
{

	pool_used = 0;
	memset(configs, 0, sizeof(configs));
	memset(stations, 0, sizeof(stations));
	memset(rams, 0, sizeof(rams));
	memset(levels, 0, sizeof(levels));
	memset(raised, 0, sizeof(raised));
	add_port(0, 0, false);
	configs[0].ports[0].frames_per_ms = limits[0];
	configs[0].ports[0].bytes_per_ms = limits[1];
	add_port(1, 0, false);
	add_port(2, 0, true);
	add_port(0, 1, false);
	add_port(3, 1, false);
	n_messages = 0;
	for (uint32_t i = 0; i < STATIONS; i++) {
		stations[i].config = &configs[i];
		configs[i].aia = stations_aia >> i & 1;
		configs[i].n_vcpus = VCPUS;
		for (uint32_t n = 0; n < VCPUS; n++) {
			vcpus[i][n].guest_file_at.a = FILE_OF(i, n);
			stations[i].vcpus[n] = &vcpus[i][n];
		}
	}
	ports_make(&tree, alloc);
	for (uint32_t i = 0; i < STATIONS; i++) {
		ports_add(&stations[i]);
		ports_reset(&stations[i], true);
	}
}

/* --- a driver ------------------------------------------------------------------------------ */

bool driver_is_in_slot(const struct driver *d)
{
	return d->vm->config->virt;
}

static uint64_t slot_of(const struct driver *d)
{
	return (FIRST_SLOT + d->n) * GUEST_SLOT_STEP;
}

static uint64_t low(uint64_t value, uint32_t width)
{
	return width < 8 ? value & ((UINT64_C(1) << 8 * width) - 1) : value;
}

uint64_t slot_in(const struct driver *d, uint32_t offset, uint32_t width)
{
	return low(vm_slot_read(d->vm, slot_of(d) + offset, width), width);
}

void slot_out(const struct driver *d, uint32_t offset, uint64_t value, uint32_t width)
{
	vm_slot_write(d->vm, slot_of(d) + offset, value, width);
}

/* The offset in a slot; *width: of the access there. */
static uint32_t in_slot(uint32_t offset, uint32_t *width)
{
	static const struct {
		uint32_t function, slot;
	} same[] = {{0x00, 0x14}, {0x04, 0x10},  {0x08, 0x24}, {0x0c, 0x20}, {0x14, 0x70},
	            {0x15, 0xfc}, {0x16, 0x30},  {0x18, 0x38}, {0x1c, 0x44}, {0x20, 0x80},
	            {0x24, 0x84}, {0x28, 0x90},  {0x2c, 0x94}, {0x30, 0xa0}, {0x34, 0xa4},
	            {ISR, 0x60},  {0x100, 0x50}, {0x104, 0x50}};

	if (offset >= CONFIG)
		return offset - CONFIG + 0x100;
	for (uint32_t i = 0; i < ARRAY_SIZE(same); i++) {
		if (same[i].function == offset) {
			*width = 4;
			return same[i].slot;
		}
	}
	return offset;
}

uint64_t in(const struct driver *d, uint32_t offset, uint32_t width)
{
	uint32_t wide = width, at = in_slot(offset, &wide);
	uint64_t value;

	if (!driver_is_in_slot(d))
		return low(ports_read(d->vm, d->n * GUEST_PORT_STEP + offset, width), width);
	value = slot_in(d, at, wide);
	if (offset == ISR)
		slot_out(d, 0x64, value, 4);
	return low(value, width);
}

void out(const struct driver *d, uint32_t offset, uint64_t value, uint32_t width)
{
	uint32_t wide = width, at = in_slot(offset, &wide);

	if (driver_is_in_slot(d))
		slot_out(d, at, low(value, width), wide);
	else
		ports_write(d->vm, d->n * GUEST_PORT_STEP + offset,
		            width < 8 ? value | 0x5a5aUL << 8 * width : value, width);
}

uint32_t space(const struct driver *d, uint32_t offset)
{
	return (uint32_t)vpci_read(d->vm, ((2ULL + d->n) << 3) * PCI_PAGE + offset, 4);
}

void set_space(const struct driver *d, uint32_t offset, uint32_t value)
{
	vpci_write(d->vm, ((2ULL + d->n) << 3) * PCI_PAGE + offset, value, 4);
}

uint8_t *driver_area(const struct driver *d, uint32_t queue, uint32_t which)
{
	return &rams[d->vm - stations][2 * QUEUES * d->n + (3 * queue + which) * AREAS];
}

uint8_t *driver_buffer(const struct driver *d, uint32_t queue, uint32_t slot)
{
	return &rams[d->vm - stations]
	            [2 * QUEUES * d->n + QUEUES / 2 + (queue * QUEUE + slot) * ROOM];
}

uint64_t driver_address(const struct driver *d, const uint8_t *at)
{
	return RAM + (uint64_t)(at - rams[d->vm - stations]);
}

void driver_describe(const struct driver *d, uint32_t queue, uint32_t n, uint64_t address,
                     uint32_t size, uint32_t flags, uint32_t next)
{
	uint8_t *at = driver_area(d, queue, VIRTIO_DESCRIPTORS) + 16UL * n;
	uint16_t ends[2] = {(uint16_t)flags, (uint16_t)next};

	memcpy(at, &address, 8);
	memcpy(at + 8, &size, 4);
	memcpy(at + 12, ends, 4);
}

uint16_t *driver_word(const struct driver *d, uint32_t queue, uint32_t which, uint32_t n)
{
	return (uint16_t *)(void *)driver_area(d, queue, which) + n;
}

void driver_offer(struct driver *d, uint32_t queue, uint32_t head)
{
	*driver_word(d, queue, VIRTIO_AVAILABLE, 2 + d->given[queue] % QUEUE) = (uint16_t)head;
	__atomic_store_n(driver_word(d, queue, VIRTIO_AVAILABLE, 1), ++d->given[queue],
	                 __ATOMIC_RELEASE);
	/* The driver looks at the device's wish after it. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void set_queue(const struct driver *d, uint32_t queue)
{
	out(d, 0x16, queue, 2);
	out(d, 0x18, QUEUE, 2);
	for (uint32_t i = 0; i < 3; i++) {
		out(d, 0x20 + 8 * i, driver_address(d, driver_area(d, queue, i)), 4);
		out(d, 0x24 + 8 * i, 0, 4);
	}
	out(d, 0x1c, 1, 2);
}

void driver_start(struct driver *d, uint32_t station, uint32_t n, uint64_t features,
                  uint32_t buffers)
{
	*d = (struct driver){.vm = &stations[station], .n = n, .features = features};
	out(d, STATUS, 0, 1);
	for (uint32_t i = 0; i < PORT_QUEUES; i++)
		memset(driver_area(d, i, 0), 0, 3UL * AREAS);
	if (!driver_is_in_slot(d))
		set_space(d, PCI_COMMAND, MASTERS);
	out(d, STATUS, 3, 1);
	for (uint32_t i = 0; i < 2; i++) {
		out(d, COMMON_FEATURE, i, 4);
		out(d, COMMON_FEATURE + 4, (features | VERSION_1) >> 32 * i, 4);
	}
	out(d, STATUS, 0xb, 1);
	assert_int_equal(in(d, STATUS, 1), 0xb);
	for (uint32_t i = 0; i < PORT_QUEUES; i++)
		set_queue(d, i);
	for (uint32_t i = 0; i < buffers; i++) {
		driver_describe(d, PORT_RECEIVES, i,
		                driver_address(d, driver_buffer(d, PORT_RECEIVES, i)),
		                features & OFFLOADS ? MERGED : HEADER + MOST, 2, 0);
		driver_offer(d, PORT_RECEIVES, i);
	}
	out(d, STATUS, 0xf, 1);
	assert_int_equal(in(d, STATUS, 1), 0xf);
}

uint8_t driver_contents(uint32_t number, uint32_t i)
{
	return (uint8_t)(number * 31 + i * 7 + (i >> 8));
}

bool driver_frame(struct driver *d, const uint8_t to[6], uint32_t number, uint32_t size)
{
	uint32_t slot = d->given[PORT_SENDS] % QUEUE;
	uint8_t *at = driver_buffer(d, PORT_SENDS, slot);

	d->got[PORT_SENDS] = (uint16_t)driver_used(d, PORT_SENDS);
	if ((uint16_t)(d->given[PORT_SENDS] - d->got[PORT_SENDS]) == QUEUE)
		return false;
	/* The device looks at no field of it, if there is no offload. */
	memset(at, d->features & OFFLOADS ? 0 : 0xff, HEADER);
	at += HEADER;
	memcpy(at, to, 6);
	memcpy(at + 6, d->vm->config->ports[d->n].mac, 6);
	memcpy(at + 12, &number, size < 16 ? size - 12 : 4);
	for (uint32_t i = 16; i < size; i++)
		at[i] = driver_contents(number, i);
	driver_describe(d, PORT_SENDS, slot, driver_address(d, at - HEADER), HEADER + size, 0, 0);
	driver_offer(d, PORT_SENDS, slot);
	d->sent++;
	return true;
}

void driver_notify(const struct driver *d)
{
	do {
		driver_vcpu->call.again = false;
		out(d, NOTIFY + 4 * PORT_SENDS, PORT_SENDS, 2);
		/* The hart that has the queue may be a thread that does not run. */
		if (driver_vcpu->call.again)
			sched_yield();
	} while (driver_vcpu->call.again);
}

uint64_t driver_used(const struct driver *d, uint32_t queue)
{
	return __atomic_load_n(driver_word(d, queue, VIRTIO_USED, 1), __ATOMIC_ACQUIRE);
}

/* From somebody of its network, with the header that a device writes for so many buffers. */
static bool is_good(const struct driver *d, const uint8_t *at, uint32_t size, uint32_t buffers)
{
	const uint8_t header[HEADER] = {[10] = (uint8_t)buffers};
	uint32_t number = 0;

	if (size < HEADER + LEAST || memcmp(at, header, HEADER))
		return false;
	at += HEADER;
	size -= HEADER;
	memcpy(&number, at + 12, size < 16 ? size - 12 : 4);
	for (uint32_t i = 16; i < size; i++) {
		if (at[i] != driver_contents(number, i))
			return false;
	}
	return !memcmp(at, broadcast, 6) || !memcmp(at, d->vm->config->ports[d->n].mac, 6);
}

/* Takes the next used buffer, of which it copies the bytes, and gives it back. Returns how many
 * bytes these are. */
static uint32_t take_buffer(struct driver *d, uint8_t *bytes)
{
	uint16_t *ring = driver_word(d, PORT_RECEIVES, VIRTIO_USED, 2);
	uint32_t entry[2];

	memcpy(entry, &ring[4 * (d->got[PORT_RECEIVES]++ % QUEUE)], sizeof(entry));
	if (entry[0] >= QUEUE || entry[1] > (d->features & OFFLOADS ? MERGED : HEADER + MOST)) {
		d->wrong++;
		return 0;
	}
	memcpy(bytes, driver_buffer(d, PORT_RECEIVES, entry[0]), entry[1]);
	driver_offer(d, PORT_RECEIVES, entry[0]);
	return entry[1];
}

uint32_t driver_take(struct driver *d)
{
	uint32_t n = 0;

	while (d->got[PORT_RECEIVES] != driver_used(d, PORT_RECEIVES)) {
		uint8_t bytes[4 * MERGED];
		uint32_t size = take_buffer(d, bytes), buffers = 1;

		if (!size)
			continue;
		for (; buffers < bytes[10] && buffers < 4; buffers++) {
			if (d->got[PORT_RECEIVES] == driver_used(d, PORT_RECEIVES))
				break;
			size += take_buffer(d, &bytes[buffers * MERGED]);
		}
		d->received++;
		d->wrong += !is_good(d, bytes, size, buffers);
		n++;
	}
	return n;
}

struct port_counts driver_counts(const struct driver *d)
{
	struct port_counts counts;

	port_counts_read(d->vm, d->n, &counts);
	return counts;
}
