/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives Ethernet frames by the port of a network that its VM has. MACs are
 * 02:00:00:00:00:NN; bootargs have NN, 255 is broadcast, and 254 the multicast 01:80:c2:00:00:01.
 *   role=echo    sends each frame back to its sender, until one of kind END comes
 *   role=ping    sends frames= of size= bytes to to=, burst= at once, in parts= descriptors each,
 *                and checks that each comes back
 *   role=cost    sends frames= of size= bytes to to=, in parts= descriptors each, and prints the
 *                mean and the most of what a notification takes, in instructions: with -icount a
 *                tick of `time` has 100 of them
 *   role=talk    sends one frame for each entry of script=TO.FROM.SIZE,..., then END to all; FROM 0
 *                is its own MAC; pause=: ticks before, with the port set up
 *   role=listen  counts what comes by its sender until END comes, and prints that; deaf=1: does
 *                not look, and ends after ticks=
 *   role=flood   sends frames of size= bytes to to= until ticks= are over
 *   role=lives   takes frames= frames, checks them and what a life begins with, and restarts; ends
 *                when none comes for half a second
 *   role=host    answers ARP and echo requests: net_host.c
 *   role=large, role=gather: net_large.c, with offload=1
 *   role=link    prints the link's state, and does so after each of changes= changes of it; then it
 *                sends a frame to to=
 *   role=hostile rounds= times: anything in both queues, a notification, perhaps a reset; then
 *                checks memory that no descriptor was for; seed= chooses
 * A ping waits for the other one: it says HELLO to it until it hears an answer. events=1: with
 * event indexes; offload=1: with the offloads of the network; buffers=, bytes=: how many it has for
 * frames to receive, and for how large ones; virt=yes: its VM has machine = "virt", and its port is
 * in a slot.
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/net.h"

enum { HELLO = 1, DATA, END };
#define KIND     14U /* offsets in a frame, behind the type */
#define NUMBER   15U
#define PATTERN  17U
#define LEAST    18U
#define STATIONS 16U

static struct port port;

static void put_mac(uint8_t *at, uint64_t number)
{
	static const uint8_t multicast[PORT_MAC] = {0x01, 0x80, 0xc2, 0, 0, 1};

	for (uint32_t i = 0; i < PORT_MAC; i++)
		at[i] = number == 255 ? 0xff : number == 254 ? multicast[i] : 0;
	if (number < 254) {
		at[0] = 2;
		at[PORT_MAC - 1] = (uint8_t)number;
	}
}

static uint8_t pattern(uint32_t number, uint32_t i)
{
	return (uint8_t)(number * 7 + i * 13 + (i >> 8));
}

/* Makes a frame to a station. from 0: the port's own MAC. */
static void make(uint64_t to, uint64_t from, uint32_t kind, uint32_t number, uint32_t size)
{
	uint8_t *frame = port_frame(&port);

	put_mac(frame, to);
	if (from)
		put_mac(frame + PORT_MAC, from);
	for (uint32_t i = 0; i < PORT_MAC && !from; i++)
		frame[PORT_MAC + i] = port.mac[i];
	frame[12] = 0x88; /* a type for experiments */
	frame[13] = 0xb5;
	if (size >= LEAST) {
		frame[KIND] = (uint8_t)kind;
		frame[NUMBER] = (uint8_t)number;
		frame[NUMBER + 1] = (uint8_t)(number >> 8);
	}
	for (uint32_t i = PATTERN; i < size; i++)
		frame[i] = pattern(number, i);
}

static void send(uint64_t to, uint32_t kind, uint32_t number, uint32_t size, uint32_t parts)
{
	make(to, 0, kind, number, size);
	port_offer(&port, size, parts);
}

static uint32_t number_of(const uint8_t *frame)
{
	return frame[NUMBER] | (uint32_t)frame[NUMBER + 1] << 8;
}

static bool is_wrong(const uint8_t *frame, uint32_t number, uint32_t size, uint32_t expected)
{
	if (size != expected || frame[KIND] != DATA || number_of(frame) != number)
		return true;
	for (uint32_t i = PATTERN; i < size; i++) {
		if (frame[i] != pattern(number, i))
			return true;
	}
	return false;
}

static uint8_t *await(uint32_t *size)
{
	uint8_t *frame;

	while (!(frame = port_received(&port, size)))
		(void)port_wait(&port);
	return frame;
}

/* Sends a frame back, and returns its kind. */
static uint32_t send_back(uint32_t parts)
{
	uint32_t size;
	const uint8_t *frame = await(&size);
	uint8_t *back = port_frame(&port), kind = frame[KIND];

	for (uint32_t i = 0; i < size; i++)
		back[i] = frame[i];
	for (uint32_t i = 0; i < PORT_MAC; i++) {
		back[i] = frame[PORT_MAC + i];
		back[PORT_MAC + i] = port.mac[i];
	}
	port_offer(&port, size, parts);
	port_release(&port);
	port_notify(&port, PORT_SENDS);
	return kind;
}

static int be_host(void)
{
	return net_host(&port);
}

static int be_large(void)
{
	return net_large(&port);
}

static int gather(void)
{
	return net_gather(&port);
}

static int echo(void)
{
	uint32_t parts = (uint32_t)bootarg_num("parts", 1), n = 0;

	for (uint32_t kind = 0; kind != END;) {
		kind = send_back(parts);
		n += kind == DATA;
	}
	print("net: %u frames sent back\n", n);
	return 0;
}

/* Says HELLO until the other one answers. */
static void meet(uint64_t to)
{
	uint32_t size;

	csr_clear(sie, IRQ_EXTERNAL);
	while (!port_received(&port, &size)) {
		send(to, HELLO, 0, LEAST, 1);
		port_notify(&port, PORT_SENDS);
		sleep_for(MS);
	}
	/* Answers to all. */
	for (sleep_for(10 * MS); port_received(&port, &size);)
		port_release(&port);
	csr_set(sie, IRQ_EXTERNAL);
}

static int ping(void)
{
	uint64_t to = bootarg_num("to", 0), frames = bootarg_num("frames", 1), wrong = 0;
	uint32_t length = (uint32_t)bootarg_num("size", 60), got;
	uint32_t burst = (uint32_t)bootarg_num("burst", 1),
	         parts = (uint32_t)bootarg_num("parts", 1);

	meet(to);
	for (uint32_t n = 0; n < frames; n += burst) {
		for (uint32_t i = 0; i < burst; i++)
			send(to, DATA, n + i, length, parts);
		port_notify(&port, PORT_SENDS);
		for (uint32_t i = 0; i < burst; i++) {
			const uint8_t *frame = await(&got);

			wrong += is_wrong(frame, n + i, got, length);
			port_release(&port);
		}
	}
	send(to, END, 0, LEAST, 1);
	port_notify(&port, PORT_SENDS);
	(void)await(&got);
	print("net: %u frames there and back, %u wrong\n", frames, wrong);
	return 0;
}

/* With -icount, and times of one tick, a notification is repeated in different phases of a tick. */
static int cost(void)
{
	uint64_t to = bootarg_num("to", 0), frames = bootarg_num("frames", 1), all = 0, most = 0;
	uint32_t length = (uint32_t)bootarg_num("size", 60);

	for (uint64_t n = 0; n < frames; n++) {
		uint64_t before, took;

		send(to, DATA, (uint32_t)n, length, (uint32_t)bootarg_num("parts", 1));
		before = csr_read(time);
		port_notify(&port, PORT_SENDS);
		took = csr_read(time) - before;
		all += took;
		most = took > most ? took : most;
		sleep_for(MS / 10);
	}
	send(to, END, 0, LEAST, 1);
	port_notify(&port, PORT_SENDS);
	print("net: a notification takes %u instructions, at most %u\n", 100 * all / frames,
	      100 * most);
	return 0;
}

/* Takes the next entry, TO.FROM.SIZE. */
static bool next_entry(const char **script, uint64_t entry[3])
{
	const char *s = *script;

	if (!s || *s < '0' || *s > '9')
		return false;
	for (uint32_t i = 0; i < 3; i++) {
		for (entry[i] = 0; *s >= '0' && *s <= '9'; s++)
			entry[i] = 10 * entry[i] + (uint64_t)(*s - '0');
		if (*s == '.' || *s == ',')
			s++;
	}
	*script = s;
	return true;
}

static int talk(void)
{
	const char *script = bootarg("script");
	uint64_t entry[3];

	sleep_for(bootarg_num("pause", 0));
	while (next_entry(&script, entry)) {
		make(entry[0], entry[1], DATA, 0, (uint32_t)entry[2]);
		port_offer(&port, (uint32_t)entry[2], 1);
		port_notify(&port, PORT_SENDS);
	}
	send(255, END, 0, LEAST, 1);
	port_notify(&port, PORT_SENDS);
	print("net: has talked\n");
	return 0;
}

static int listen(void)
{
	uint64_t by[STATIONS] = {0}, strange = 0;
	uint32_t size, kind = 0;

	if (bootarg_num("deaf", 0)) {
		sleep_for(bootarg_num("ticks", 0));
		return 0;
	}
	while (kind != END) {
		const uint8_t *frame = await(&size);

		kind = size >= LEAST ? frame[KIND] : DATA;
		if (kind == DATA && frame[PORT_MAC] == 2 && frame[11] < STATIONS)
			by[frame[11]]++;
		else
			strange += kind != END;
		port_release(&port);
	}
	for (uint32_t i = 0; i < STATIONS; i++) {
		if (by[i])
			print("net: %u frames of %u\n", by[i], (uint64_t)i);
	}
	print("net: %u strange\n", strange);
	return 0;
}

static bool is_over(uint64_t until)
{
	return csr_read(time) >= until;
}

static int pour(void)
{
	uint64_t until = csr_read(time) + bootarg_num("ticks", 0), n = 0;

	for (; !is_over(until); n++) {
		send(bootarg_num("to", 0), DATA, (uint32_t)n, (uint32_t)bootarg_num("size", 60), 1);
		port_notify(&port, PORT_SENDS);
	}
	print("net: %u frames sent\n", n);
	return 0;
}

static void print_link(void)
{
	print("net: link %s, generation %u\n", port_is_up(&port) ? "up" : "down",
	      (uint64_t)port_generation(&port));
}

static int follow(void)
{
	uint64_t changes = bootarg_num("changes", 0);

	print_link();
	for (uint64_t n = 0; n < changes; n++) {
		while (!(port_wait(&port) & PORT_CHANGED))
			;
		print_link();
		send(bootarg_num("to", 0), DATA, (uint32_t)n, 60, 1);
		port_notify(&port, PORT_SENDS);
	}
	return 0;
}

/* --- memory that frames must not reach ----------------------------------------------------- */

#define GUARD 4096U

/* Of a life: 0 at its beginning. */
static uint8_t guarded[GUARD];

static uint64_t changed_from(uint8_t value)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < GUARD; i++)
		n += ((volatile uint8_t *)guarded)[i] != value;
	return n;
}

static int live(void)
{
	uint64_t strange = changed_from(0), frames = bootarg_num("frames", 1);
	uint32_t size;

	for (uint64_t n = 0; n < frames; n++) {
		uint64_t until = csr_read(time) + 500 * MS;
		const uint8_t *frame;

		while (!(frame = port_received(&port, &size))) {
			if (csr_read(time) >= until)
				return 0;
		}
		strange += is_wrong(frame, number_of(frame), size, 1514);
		port_release(&port);
	}
	print("net: %u strange\n", strange);
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 1;
}

static uint64_t state;

static uint64_t chance(uint64_t below)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (state >> 33) % below;
}

/* Where frames may be read and written. */
static uint8_t reached[2 * PORT_BUFFER];

/* An address there, one outside all RAM, or that of a table. */
static uint64_t any_address(void)
{
	static const uint64_t outside[] = {0, 0x30100000, 0x0c000000, 0x7ffffff0, 1UL << 40, ~0UL};

	if (chance(4))
		return (uint64_t)reached + (chance(2) ? 0 : chance(PORT_BUFFER));
	return chance(2) ? outside[chance(6)]
	                 : (uint64_t)port_rings[0].descriptors + 16 * chance(8);
}

/* Never long enough to leave what may be reached. */
static void spoil(struct port_ring *ring)
{
	for (uint32_t i = 0; i < PORT_QUEUE; i++) {
		struct port_descriptor *d = &ring->descriptors[i];

		d->address = any_address();
		d->length = (uint32_t)(chance(8) ? chance(8) ? 1 + chance(PORT_BUFFER) : 0 : 16);
		d->flags = (uint16_t)chance(8);
		d->next = (uint16_t)(chance(8) ? chance(PORT_QUEUE) : chance(65536));
		ring->available.ring[i] =
		    (uint16_t)(chance(8) ? chance(PORT_QUEUE) : chance(65536));
	}
	ring->available.index += (uint16_t)(chance(16) ? chance(8) : chance(65536));
	ring->available.event = (uint16_t)chance(65536);
}

static int be_hostile(void)
{
	uint64_t rounds = bootarg_num("rounds", 1), changed;

	state = bootarg_num("seed", 1);
	for (uint32_t i = 0; i < GUARD; i++)
		guarded[i] = 0x5a;
	for (uint64_t n = 0; n < rounds; n++) {
		put_mac(&reached[PORT_HEADER], 255);
		for (uint32_t i = 0; i < PORT_MAC; i++)
			reached[PORT_HEADER + PORT_MAC + i] = port.mac[i];
		spoil(&port_rings[PORT_SENDS]);
		spoil(&port_rings[PORT_RECEIVES]);
		port_notify(&port, PORT_SENDS);
		if (chance(2) && !port_open(&port, (uint32_t)chance(4) << 28, PORT_QUEUE, 1518))
			return 1;
	}
	changed = changed_from(0x5a);
	print("net: %u hostile rounds, %u changed\n", rounds, changed);
	return changed != 0;
}

int net(uint64_t hartid)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} roles[] = {{"echo", echo},   {"ping", ping},      {"cost", cost},
	             {"flood", pour},  {"lives", live},     {"hostile", be_hostile},
	             {"talk", talk},   {"listen", listen},  {"host", be_host},
	             {"link", follow}, {"large", be_large}, {"gather", gather}};
	uint32_t features = bootarg_num("events", 0) ? PORT_EVENTS : 0;
	uint32_t count = (uint32_t)bootarg_num("buffers", PORT_QUEUE);

	(void)hartid;
	if (bootarg_num("offload", 0))
		features |= PORT_OFFLOADS;
	if (bootarg_num("parts", 1) > 1)
		features |= PORT_INDIRECT;
	if (!port_open(&port, features, count, (uint32_t)bootarg_num("bytes", 1518))) {
		print("net: there is no port\n");
		return 1;
	}
	for (uint32_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (bootarg_is("role", roles[i].name))
			return roles[i].run();
	}
	return 1;
}
