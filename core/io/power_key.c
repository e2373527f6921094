/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/power_key.h"

#include "core/devices/vinput.h"
#include "core/io/virtio_pci.h"
#include "core/io/virtqueue.h"
#include "core/tree/pci_node.h"
#include "core/vcpu/vm.h"

enum { EVENTS, STATUS, QUEUES };
#define QUEUE_SIZE 64U

/* Parts of a buffer for an event, which has as many bytes, so no driver needs more. */
#define EVENT_PARTS 8U

/* At most so many buffers of the status queue, and of so few parts, are returned for a
 * notification, as that is one stay in HS. A driver sends one at a time, in one part. */
#define MAX_RETURNED 16
#define STATUS_PARTS 2U

struct power_key {
	struct virtio_pci device; /* comes first */
	struct vinput input;
};

struct event {
	uint16_t type, code;
	uint32_t value;
};

/* --- the device: the caller has the lock --------------------------------------------------- */

/* Uses buffers of a queue if it has so many: each for one of the events, if there are any. Returns
 * whether it has. A malformed queue is one that the driver has to reset. */
static bool use(struct virtio_pci *d, uint32_t queue, int32_t least, int32_t most,
                const struct event *events)
{
	const uint32_t size = events ? sizeof(*events) : 0;
	struct virtio_queue *set_up = &d->virtio.queues[queue];
	struct virtqueue_buffer b;
	struct virtqueue q;
	bool good;
	int32_t n;

	if (!virtio_pci_is_live(d))
		return false;
	good = virtqueue_map(d->function.vm, set_up, d->virtio.accepted, &q);
	n = good ? virtqueue_available(&q) : -1;
	if (n >= 0 && n < least)
		return false;
	good = n > 0;
	for (int32_t i = 0; i < n && i < most; i++) {
		good = virtqueue_peek(&q, events, events ? EVENT_PARTS : STATUS_PARTS, &b) > 0 &&
		       b.size >= size;
		if (!good)
			break;
		if (events) {
			struct event event = events[i];

			virtqueue_copy(&b, (uint8_t *)&event, size, true);
		}
		q.next++;
		(void)virtqueue_return(&q, b.head, size);
	}
	set_up->next = q.next;
	set_up->used = q.n_used;
	virtio_pci_tell(d, queue, good);
	return good;
}

static uint64_t read_config(const struct virtio_pci *d, uint32_t offset, uint32_t width)
{
	return vinput_read(&((const struct power_key *)d)->input, offset, width);
}

static void write_config(struct virtio_pci *d, uint32_t offset, uint8_t value)
{
	vinput_write(&((struct power_key *)d)->input, offset, value);
}

static void notify(struct virtio_pci *d, uint32_t queue)
{
	if (queue == STATUS)
		(void)use(d, STATUS, 1, MAX_RETURNED, NULL);
}

static void changed(struct virtio_pci *d)
{
	(void)d; /* it is looked at when there are events */
}

/* --- the function -------------------------------------------------------------------------- */

void power_key_make(struct vm *vm, void *(*alloc)(size_t size))
{
	static const struct virtio_pci_kind kind = {
	    .id = 0x10521af4U,    /* VIRTIO 1.2, 4.1.2: 0x1040 and the type, 18 */
	    .class = 0x09800001U, /* another input device; revision 1 */
	    .n_queues = QUEUES,
	    .queue_size = QUEUE_SIZE,
	    .features = VIRTIO_F_VERSION_1,
	    .read_config = read_config,
	    .write_config = write_config,
	    .notify = notify,
	    .changed = changed,
	};
	struct power_key *k;

	if (vm->config->shutdown != VM_SHUTDOWN_KEY)
		return;
	k = vm->key = alloc(sizeof(*k));
	k->device.function.vm = vm;
	k->device.function.source = vm->config->key_source;
	virtio_pci_make(&k->device, &kind, pci_node_slot(vm->config, vm->config->n_shared + 1),
	                GUEST_KEY_BASE);
}

void power_key_reset(struct vm *vm, bool alive)
{
	struct power_key *k = vm->key;

	if (!k)
		return;
	spin_lock(&vm->devices);
	virtio_pci_reset(&k->device, alive);
	k->input = (struct vinput){0};
	spin_unlock(&vm->devices);
}

uint64_t power_key_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	return virtio_pci_read(&vm->key->device, offset, width);
}

void power_key_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	virtio_pci_write(&vm->key->device, offset, value, width);
}

/* --- the key ------------------------------------------------------------------------------- */

bool power_key_is_live(struct vm *vm)
{
	bool live;

	spin_lock(&vm->devices);
	live = virtio_pci_is_live(&vm->key->device);
	spin_unlock(&vm->devices);
	return live;
}

bool power_key_press(struct vm *vm)
{
	static const struct event events[] = {
	    {VINPUT_EV_KEY, VINPUT_KEY_POWER, 1},
	    {VINPUT_EV_SYN, 0, 0},
	    {VINPUT_EV_KEY, VINPUT_KEY_POWER, 0},
	    {VINPUT_EV_SYN, 0, 0},
	};
	const int32_t most = ARRAY_SIZE(events);
	bool pressed;

	spin_lock(&vm->devices);
	pressed = use(&vm->key->device, EVENTS, most, most, events);
	spin_unlock(&vm->devices);
	return pressed;
}
