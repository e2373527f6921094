/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/ports_model.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define STATUS     0x14U
#define UP         0x0cU /* FEATURES_OK, DRIVER_OK */
#define BROKEN     0x40U
#define UPLINK     2U
#define CHECKED    MODEL_CHECKED
#define MOST_PARTS 6U
#define LARGEST    65550U

struct model_port model_ports[MODEL_PORTS];
uint8_t model_rams[STATIONS][BYTES];

/* --- a VM's memory ---------------------------------------------------------------------------- */

static bool is_inside(uint64_t at, uint64_t size)
{
	return at < BYTES && size <= BYTES - at;
}

uint64_t model_get(const struct model_port *p, uint64_t at, uint32_t width)
{
	uint64_t value = 0;

	memcpy(&value, &model_rams[p->station][at], width);
	return value;
}

void model_set(const struct model_port *p, uint64_t at, uint32_t width, uint64_t value)
{
	memcpy(&model_rams[p->station][at], &value, width);
}

uint64_t model_place(const struct model_buffer *b, uint64_t n)
{
	uint32_t i = 0;

	for (; n >= b->parts[i].size; i++)
		n -= b->parts[i].size;
	return b->parts[i].at + n;
}

uint64_t model_left(const struct model_buffer *b, uint64_t n)
{
	uint32_t i = 0;

	for (; n >= b->parts[i].size; i++)
		n -= b->parts[i].size;
	return b->parts[i].size - n;
}

/* --- queues ------------------------------------------------------------------------------------
 */

static bool walk(const struct model_port *p, const struct model_queue *q, bool writes,
                 uint32_t most, struct model_buffer *b)
{
	uint64_t table = q->desc, n = q->size, at = b->head;
	bool led = !p->indirect;

	for (b->n = 0, b->size = 0; at < n && b->n < most;) {
		uint64_t d = table + 16 * at, address = model_get(p, d, 8) - RAM;
		uint32_t size = (uint32_t)model_get(p, d + 8, 4),
		         flags = (uint32_t)model_get(p, d + 12, 2);

		if (flags & 4) {
			if (led || flags & 1 || size % 16 || !is_inside(address, size))
				return false;
			led = true;
			table = address;
			n = size / 16;
			at = 0;
			continue;
		}
		if (!size || !is_inside(address, size) || !!(flags & 2) != writes)
			return false;
		b->parts[b->n].at = address;
		b->parts[b->n++].size = size;
		b->size += size;
		if (!(flags & 1))
			return true;
		at = model_get(p, d + 14, 2);
	}
	return false;
}

/* 1: there is a buffer; 0: none; -1: the queue is malformed. */
int model_peek(const struct model_port *p, const struct model_queue *q, bool writes, uint32_t most,
               struct model_buffer *b)
{
	uint16_t n = (uint16_t)(model_get(p, q->avail + 2, 2) - q->next);

	if (!n)
		return 0;
	if (n > q->size)
		return -1;
	b->head = (uint32_t)model_get(p, q->avail + 4 + 2 * (q->next % q->size), 2);
	return walk(p, q, writes, most, b) ? 1 : -1;
}

void model_put(const struct model_port *p, struct model_queue *q, uint32_t head, uint64_t len)
{
	uint64_t entry = q->used + 4 + 8 * (q->n_used++ % q->size);

	model_set(p, entry, 4, head);
	model_set(p, entry + 4, 4, len);
}

bool model_publish(const struct model_port *p, struct model_queue *q, uint32_t n)
{
	uint16_t event;

	model_set(p, q->used + 2, 2, q->n_used);
	if (!p->event)
		return !(model_get(p, q->avail, 2) & 1);
	event = (uint16_t)model_get(p, q->avail + 4 + 2 * q->size, 2);
	for (uint32_t i = 1; i <= n; i++) {
		if (event == (uint16_t)(q->n_used - i))
			return true;
	}
	return false;
}

void model_give_up(struct model_queue *q)
{
	q->live = false;
	q->malformed = true;
}

/* --- the switch --------------------------------------------------------------------------------
 */

static bool is_mac(const uint8_t *mac, uint32_t station)
{
	return !memcmp(mac, macs[station], 6);
}

/* Whether another port of the network has it. */
static bool has_port(const struct model_port *p, const uint8_t *mac)
{
	for (uint32_t i = 0; i < MODEL_PORTS; i++) {
		if (model_ports[i].network == p->network && is_mac(mac, model_ports[i].station))
			return true;
	}
	return false;
}

static bool is_uplink(const struct model_port *p)
{
	return p->network == 0 && p->station == UPLINK;
}

static bool may_send(const struct model_port *p, const uint8_t *source)
{
	return is_mac(source, p->station) ||
	       (is_uplink(p) && !(source[0] & 1) && !has_port(p, source));
}

static bool goes_to(const struct model_port *from, const struct model_port *to, const uint8_t *mac)
{
	static const uint8_t reserved[5] = {1, 0x80, 0xc2, 0, 0};

	if (from == to || from->network != to->network)
		return false;
	if (!memcmp(mac, reserved, 5) && mac[5] < 16)
		return false;
	if (mac[0] & 1 || is_mac(mac, to->station))
		return true;
	return is_uplink(to) && !has_port(to, mac);
}

/* --- a notification ----------------------------------------------------------------------------
 */

/* Returns whether the receiver has to be told. */
static bool deliver(const struct model_port *from, const struct model_buffer *b,
                    const uint8_t first[CHECKED], struct model_port *to)
{
	struct model_queue *q = &to->queues[PORT_RECEIVES];
	struct model_buffer room;
	int there = q->live && !to->down ? model_peek(to, q, true, 3, &room) : 0;

	if (there < 0)
		model_give_up(q);
	if (there <= 0 || room.size < b->size) {
		to->counts.lost++;
		return q->malformed;
	}
	q->next++;
	for (uint64_t i = 0; i < b->size; i++)
		model_set(to, model_place(&room, i), 1, model_get(from, model_place(b, i), 1));
	for (uint64_t i = 0; i < CHECKED; i++)
		model_set(to, model_place(&room, i), 1, first[i]);
	to->counts.received++;
	to->counts.received_bytes += b->size - HEADER;
	model_put(to, q, room.head, b->size);
	return model_publish(to, q, 1);
}

uint32_t model_targets(struct model_port *p, const struct model_buffer *b, uint8_t first[CHECKED],
                       bool *good)
{
	uint32_t to = 0;

	memset(first, 0, CHECKED);
	*good = b->size >= CHECKED && b->size <= HEADER + (p->offload ? LARGEST : MOST);
	for (uint64_t i = p->offload ? 0 : HEADER; i < CHECKED && *good; i++)
		first[i] = (uint8_t)model_get(p, model_place(b, i), 1);
	if (!p->offload)
		first[10] = 1;
	else
		*good = *good && model_accepts(first, b->size - HEADER);
	*good = *good && may_send(p, &first[HEADER + 6]);
	p->counts.lost += *good && p->down;
	for (uint32_t i = 0; i < MODEL_PORTS && *good && !p->down; i++)
		to |= goes_to(p, &model_ports[i], &first[HEADER]) ? 1U << i : 0;
	return to;
}

uint32_t model_finish(struct model_port *p, const struct model_buffer *b, bool good)
{
	p->counts.refused += !good;
	p->counts.sent += good;
	p->counts.sent_bytes += good ? b->size - HEADER : 0;
	p->queues[PORT_SENDS].next++;
	model_put(p, &p->queues[PORT_SENDS], b->head, 0);
	return model_publish(p, &p->queues[PORT_SENDS], 1) ? 1U << (p - model_ports) : 0;
}

/* Takes one frame. Returns a mask of the ports that have to be told. */
static uint32_t take(struct model_port *p, const struct model_buffer *b)
{
	uint8_t first[CHECKED];
	bool good;
	uint32_t to = model_targets(p, b, first, &good), told = 0;

	for (uint32_t i = 0; i < MODEL_PORTS; i++) {
		if (to >> i & 1 && deliver(p, b, first, &model_ports[i]))
			told |= 1U << i;
	}
	return told | model_finish(p, b, good);
}

static void tell(struct model_port *p)
{
	bool bad = p->queues[PORT_RECEIVES].malformed || p->queues[PORT_SENDS].malformed;

	if (!p->live || p->broken)
		return;
	p->broken = bad;
	p->isr |= bad ? 2 : 1;
}

void model_tell(uint32_t ports)
{
	for (uint32_t i = 0; i < MODEL_PORTS; i++) {
		if (ports >> i & 1)
			tell(&model_ports[i]);
	}
}

bool model_listen(const struct model_port *p, const struct model_queue *q)
{
	if (p->event)
		model_set(p, q->used + 4 + 8 * q->size, 2, q->next);
	return model_get(p, q->avail + 2, 2) != q->next;
}

uint32_t model_notify(struct model_port *p)
{
	struct model_queue *q = &p->queues[PORT_SENDS];
	uint32_t told = 0, n = 0;
	struct model_buffer b;

	while (q->live && n < 100000) {
		int there = model_peek(p, q, false, MOST_PARTS, &b);

		if (there < 0) {
			model_give_up(q);
			told |= 1U << (p - model_ports);
		} else if (there) {
			told |= take(p, &b);
			n++;
		} else if (!model_listen(p, q)) {
			break;
		}
	}
	model_tell(told);
	return n;
}

/* --- what is set up ----------------------------------------------------------------------------
 */

void model_make(bool offload)
{
	static const uint8_t where[MODEL_PORTS][3] = {
	    {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 1}, {3, 0, 1}};

	memset(model_rams, 0, sizeof(model_rams));
	for (uint32_t i = 0; i < MODEL_PORTS; i++)
		model_ports[i] =
		    (struct model_port){.station = where[i][0],
		                        .network = where[i][2],
		                        .offload = offload && !where[i][2],
		                        .d = {.vm = &stations[where[i][0]], .n = where[i][1]}};
}

static uint64_t area(const struct model_port *p, uint32_t which)
{
	return in(&p->d, 0x20 + 8 * which, 4) | in(&p->d, 0x24 + 8 * which, 4) << 32;
}

/* Returns whether its areas are aligned and inside. */
static bool start(const struct model_port *p, struct model_queue *q)
{
	uint32_t more = p->event ? 2 : 0;

	q->size = (uint32_t)in(&p->d, 0x18, 2);
	q->desc = area(p, 0) - RAM;
	q->avail = area(p, 1) - RAM;
	q->used = area(p, 2) - RAM;
	return !(q->desc % 16 | q->avail % 2 | q->used % 4) && is_inside(q->desc, 16UL * q->size) &&
	       is_inside(q->avail, 4 + 2UL * q->size + more) &&
	       is_inside(q->used, 4 + 8UL * q->size + more);
}

void model_changed(struct model_port *p)
{
	const struct driver *d = &p->d;
	uint64_t queue = in(d, 0x16, 2), word = in(d, 0x08, 4), status = in(d, STATUS, 1);
	bool live;

	if (!status)
		p->isr = 0;
	p->broken = status & BROKEN;
	live = (status & (UP | BROKEN)) == UP && space(d, PCI_COMMAND) & 4;
	/* They cannot change any more. */
	if (status & 8) {
		out(d, 0x08, 0, 4);
		p->indirect = in(d, 0x0c, 4) & INDIRECT;
		p->event = in(d, 0x0c, 4) & EVENT_IDX;
		out(d, 0x08, word, 4);
	}
	for (uint32_t i = 0; i < PORT_QUEUES; i++) {
		struct model_queue *q = &p->queues[i];
		bool enabled;

		out(d, 0x16, i, 2);
		enabled = in(d, 0x1c, 2);
		if (!status)
			q->next = q->n_used = 0;
		if (!enabled) {
			q->resets++;
			q->owed = false;
		}
		if (!live || !enabled) {
			q->live = q->malformed = false;
			if (i == PORT_SENDS)
				model_stop_way(p);
		} else if (!q->started) {
			q->live = start(p, q);
			q->malformed = !q->live;
			p->isr |= q->live ? 0 : 2;
			p->broken |= !q->live;
		}
		q->started = live && enabled;
	}
	p->live = live;
	out(d, 0x16, queue, 2);
}

void model_reset(struct model_port *p, bool alive)
{
	p->isr = 0;
	p->broken = p->live = false;
	for (uint32_t i = 0; i < PORT_QUEUES; i++)
		p->queues[i] = (struct model_queue){.resets = p->queues[i].resets + 1};
	model_stop_way(p);
	if (alive)
		p->counts = (struct port_counts){0};
}
