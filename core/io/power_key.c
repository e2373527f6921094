/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/power_key.h"

#include "core/devices/vinput.h"
#include "core/io/notifier.h"
#include "core/io/virtqueue.h"
#include "core/tree/pci_node.h"
#include "core/vcpu/vm.h"

#define ID    0x10521af4U /* VIRTIO 1.2, 4.1.2: 0x1040 and the type, 18 */
#define CLASS 0x09800001U /* another input device; revision 1 */

/* Parts of BAR 0, in the order of the types of their capabilities, 1 to 4. */
#define PART 0x100U
enum { COMMON, NOTIFY, ISR, CONFIG, PARTS };
#define NOTIFY_STEP 4U /* bytes from one queue to the next */

/* The capabilities, in words of configuration space. The last one is the window, which accesses BAR
 * 0 by configuration space. */
#define CAP_WORDS     5U
#define CAP(i)        (PCI_FIRST_CAP / 4 + (i)*CAP_WORDS)
#define WINDOW_BAR    (CAP(PARTS) + 1)
#define WINDOW_OFFSET (CAP(PARTS) + 2)
#define WINDOW_SIZE   (CAP(PARTS) + 3)
#define WINDOW_DATA   (CAP(PARTS) + 4)

/* Bits of the ISR status, which is the notifier's state. */
#define ISR_QUEUE  1U
#define ISR_CONFIG 2U

enum { EVENTS, STATUS, QUEUES };

/* At most so many buffers of the status queue are returned for a notification, as that is one stay
 * in HS. A driver sends one at a time. */
#define MAX_RETURNED 16

struct power_key {
	struct notifier function;
	struct virtio virtio;
	struct vinput input;
	uint32_t window[WINDOW_DATA - WINDOW_BAR]; /* as the driver has written it */
};

struct event {
	uint16_t type, code;
	uint32_t value;
};

/* --- registers: the caller has the lock ---------------------------------------------------- */

static bool is_live(const struct power_key *k)
{
	return virtio_is_live(&k->virtio) && k->function.pci.header.command & PCI_COMMAND_MASTER;
}

/* Uses n buffers of a queue, each for one of the events, if there are any. Returns false if the
 * queue is malformed: then the driver has to reset the device. */
static bool use(struct power_key *k, uint32_t queue, int32_t n, const struct event *events)
{
	struct virtio_queue *q = &k->virtio.queues[queue];
	bool good = n >= 0;

	for (int32_t i = 0; i < n && good; i++)
		good = virtqueue_use(k->function.vm, q, events ? &events[i] : NULL,
		                     events ? sizeof(*events) : 0);
	if (!good)
		k->virtio.status |= VIRTIO_NEEDS_RESET;
	k->function.state |= good ? ISR_QUEUE : ISR_CONFIG;
	notifier_update(&k->function);
	return good;
}

/* Returns how many buffers a queue has for the device; negative: it is malformed. */
static int32_t available(const struct power_key *k, uint32_t queue)
{
	return is_live(k) ? virtqueue_available(k->function.vm, &k->virtio.queues[queue]) : 0;
}

static uint64_t read_register(struct power_key *k, uint64_t offset, uint32_t width)
{
	uint32_t at = (uint32_t)(offset % PART), value;

	switch (offset / PART) {
	case COMMON:
		return virtio_read(&k->virtio, at);
	case ISR:
		value = at ? 0 : k->function.state;
		k->function.state &= ~value;
		notifier_update(&k->function);
		return value;
	case CONFIG:
		return vinput_read(&k->input, at, width);
	default:
		return 0;
	}
}

static void write_register(struct power_key *k, uint64_t offset, uint32_t value)
{
	uint32_t at = (uint32_t)(offset % PART);
	int32_t n;

	switch (offset / PART) {
	case COMMON:
		virtio_write(&k->virtio, at, value);
		if (!k->virtio.status) {
			k->function.state = 0;
			notifier_update(&k->function);
		}
		break;
	case NOTIFY:
		n = at == STATUS * NOTIFY_STEP ? available(k, STATUS) : 0;
		if (n)
			(void)use(k, STATUS, n < MAX_RETURNED ? n : MAX_RETURNED, NULL);
		break;
	case CONFIG:
		vinput_write(&k->input, at, (uint8_t)value);
		break;
	default:
		break;
	}
}

/* --- the PCI function ---------------------------------------------------------------------- */

static struct power_key *key_of(const struct vpci_function *f)
{
	return (struct power_key *)((uintptr_t)f - offsetof(struct power_key, function.pci));
}

/* Whether the window is at registers, as the driver must see to. */
static bool is_in_page(const struct power_key *k)
{
	const uint32_t *w = k->window;
	uint32_t size = w[2];

	return !(uint8_t)w[0] && (size == 1 || size == 2 || size == 4) && !(w[1] & (size - 1));
}

static uint32_t read_function(const struct vpci_function *f, uint32_t word)
{
	struct power_key *k = key_of(f);

	if (word == WINDOW_DATA)
		return is_in_page(k) ? (uint32_t)read_register(k, k->window[1], k->window[2]) : 0;
	if (word >= WINDOW_BAR && word < WINDOW_DATA)
		return k->window[word - WINDOW_BAR];
	return notifier_read_function(f, word);
}

static void write_function(struct vpci_function *f, uint32_t word, uint32_t value, uint32_t mask)
{
	struct power_key *k = key_of(f);
	uint32_t *w = &k->window[word - WINDOW_BAR];

	if (word == WINDOW_DATA && is_in_page(k))
		write_register(k, k->window[1], value);
	else if (word >= WINDOW_BAR && word < WINDOW_DATA)
		*w = (*w & ~mask) | value;
	else
		notifier_write_function(f, word, value, mask);
}

/* Says where in BAR 0 the parts are (VIRTIO 1.2, 4.1.4). */
static void add_capabilities(struct vpci_function *f)
{
	f->words[PCI_COMMAND / 4] |= (uint32_t)PCI_STATUS_CAPABILITIES << 16;
	f->words[PCI_CAPABILITIES / 4] = PCI_FIRST_CAP;
	for (uint32_t i = 0; i <= PARTS; i++) {
		uint32_t *cap = &f->words[CAP(i)], next = i < PARTS ? CAP(i + 1) * 4 : 0;

		cap[0] = PCI_CAP_VENDOR | next << 8 | (CAP_WORDS * 4) << 16 | (i + 1) << 24;
		if (i == PARTS)
			break;
		cap[2] = i * PART;
		cap[3] = PART;
		if (i == NOTIFY)
			cap[4] = NOTIFY_STEP;
	}
}

void power_key_make(struct vm *vm, void *(*alloc)(size_t size))
{
	static const struct vpci_kind kind = {read_function, write_function};
	const struct pci_bar bars[PCI_BARS] = {
	    [0] = {.size = GUEST_KEY_SIZE, .value = GUEST_KEY_BASE},
	};
	struct power_key *k;

	if (vm->config->shutdown != VM_SHUTDOWN_KEY)
		return;
	k = vm->key = alloc(sizeof(*k));
	k->virtio.offered = VIRTIO_F_VERSION_1;
	k->virtio.n_queues = QUEUES;
	k->function.vm = vm;
	k->function.source = vm->config->key_source;
	notifier_make(&k->function, ID, pci_node_slot(vm->config, vm->config->n_shared + 1), bars);
	k->function.pci.kind = &kind;
	k->function.pci.words[PCI_CLASS / 4] = CLASS;
	add_capabilities(&k->function.pci);
}

void power_key_reset(struct vm *vm, bool alive)
{
	struct power_key *k = vm->key;

	if (!k)
		return;
	spin_lock(&vm->devices);
	k->function.alive = alive;
	notifier_reset(&k->function, ISR_QUEUE | ISR_CONFIG);
	virtio_reset(&k->virtio);
	k->input = (struct vinput){0};
	for (uint32_t i = 0; i < ARRAY_SIZE(k->window); i++)
		k->window[i] = 0;
	spin_unlock(&vm->devices);
}

uint64_t power_key_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	uint64_t value;

	spin_lock(&vm->devices);
	value = read_register(vm->key, offset, width);
	spin_unlock(&vm->devices);
	return value;
}

void power_key_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	(void)width;
	spin_lock(&vm->devices);
	write_register(vm->key, offset, (uint32_t)value);
	spin_unlock(&vm->devices);
}

/* --- the key ------------------------------------------------------------------------------- */

bool power_key_is_live(struct vm *vm)
{
	bool live;

	spin_lock(&vm->devices);
	live = is_live(vm->key);
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
	bool pressed = false;
	int32_t n;

	spin_lock(&vm->devices);
	n = available(vm->key, EVENTS);
	if (n < 0 || n >= most)
		pressed = use(vm->key, EVENTS, n < 0 ? n : most, events);
	spin_unlock(&vm->devices);
	return pressed;
}
