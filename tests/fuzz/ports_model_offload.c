/* SPDX-License-Identifier: Apache-2.0 */
/* Networks with offloads: a frame takes several buffers of a receiver, and several stays. Between
 * two of them drivers do anything. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/ports_model.h"

#define NEEDS_CSUM 1U
#define ETHERNET   14U

static uint32_t half(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

/* As docs/networks.md has it. */
bool model_accepts(const uint8_t *header, uint64_t bytes)
{
	uint32_t flags = header[0], kind = header[1], hdr_len = half(header + 2);
	uint32_t gso_size = half(header + 4), start = half(header + 6), offset = half(header + 8);

	if (flags > NEEDS_CSUM)
		return false;
	if (flags == NEEDS_CSUM && (start < ETHERNET || start + offset + 2 > bytes))
		return false;
	if (kind == 0)
		return bytes <= MOST;
	return (kind == 1 || kind == 4) && flags == NEEDS_CSUM && gso_size && hdr_len >= ETHERNET &&
	       hdr_len <= bytes;
}

/* Takes one buffer more. Returns false if there is none that is good. */
static bool take(struct model_way *w, struct model_port *to)
{
	struct model_queue *q = &to->queues[PORT_RECEIVES];
	struct model_buffer b;
	int there = w->n < MODEL_BUFFERS && q->live ? model_peek(to, q, true, 1, &b) : 0;

	if (there < 0 || (there && b.size < MODEL_CHECKED)) {
		model_give_up(q);
		there = 0;
	}
	if (!there)
		return false;
	if (!w->n)
		w->entry = q->next;
	q->next++;
	w->heads[w->n] = b.head;
	w->at[w->n] = b.parts[0].at;
	w->sizes[w->n++] = b.size;
	w->room += b.size;
	return true;
}

/* Returns whether the driver has to be told. */
static bool give_back(struct model_way *w, struct model_port *to)
{
	struct model_queue *q = &to->queues[PORT_RECEIVES];
	uint32_t n = w->n;

	w->n = 0;
	if (!n)
		return false;
	if ((uint16_t)(w->entry + n) == q->next) {
		q->next = w->entry;
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		model_put(to, q, w->heads[i], 0);
	return model_publish(to, q, n);
}

void model_stop_way(struct model_port *p)
{
	struct model_way *w = &p->way;
	struct model_port *to = &model_ports[w->reached];
	struct model_queue *q = &to->queues[PORT_RECEIVES];

	if (w->to && w->n && q->live && w->resets == q->resets)
		q->owed |= give_back(w, to);
	w->to = w->n = w->reached = 0;
}

/* The place of the n-th byte that was taken. *left: bytes from there on in its buffer. */
static uint64_t place(const struct model_way *w, uint64_t n, uint64_t *left)
{
	uint32_t i = 0;

	for (; n >= w->sizes[i]; i++)
		n -= w->sizes[i];
	*left = w->sizes[i] - n;
	return w->at[i] + n;
}

static void copy(const struct model_port *p, struct model_way *w, struct model_port *to,
                 uint64_t end)
{
	require(end <= w->from.size && w->room >= w->from.size);
	while (w->copied < end) {
		uint64_t n = end - w->copied, left, at = place(w, w->copied, &left);
		uint64_t from = model_place(&w->from, w->copied);

		n = n < left ? n : left;
		left = model_left(&w->from, w->copied);
		n = n < left ? n : left;
		memcpy(&model_rams[to->station][at], &model_rams[p->station][from], n);
		w->copied += n;
	}
}

/* All is copied. Returns whether the driver has to be told. */
static bool give(struct model_way *w, struct model_port *to)
{
	struct model_queue *q = &to->queues[PORT_RECEIVES];
	uint64_t rest = w->from.size;

	/* The first buffer has room for it. */
	memcpy(&model_rams[to->station][w->at[0]], w->first, MODEL_CHECKED);
	model_set(to, w->at[0] + 10, 2, w->n);
	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t size = rest < w->sizes[i] ? rest : w->sizes[i];

		model_put(to, q, w->heads[i], size);
		rest -= size;
	}
	to->counts.received++;
	to->counts.received_bytes += w->from.size - HEADER;
	return model_publish(to, q, w->n);
}

/* At the port that the frame has reached; `now`: it stays there. Returns whether the driver has to
 * be told. */
static bool deliver(const struct model_port *p, struct model_way *w, struct model_port *to,
                    const struct model_progress *now)
{
	struct model_queue *q = &to->queues[PORT_RECEIVES];
	bool lost = !q->live || (w->n ? w->resets != q->resets : to->down), tell;

	if (lost) {
		w->n = 0;
		require(!now || !now->n);
		to->counts.lost += !now;
		return !now && q->malformed;
	}
	if (!w->n) {
		w->resets = q->resets;
		w->room = w->copied = 0;
	}
	while (!lost && w->room < w->from.size && !(now && w->n == now->n))
		lost = !take(w, to);
	if (now) {
		require(!lost);
		if (now->n && now->copied)
			copy(p, w, to, now->copied);
		return false;
	}
	if (!lost)
		copy(p, w, to, w->from.size);
	tell = lost ? give_back(w, to) : give(w, to);
	tell |= q->owed | q->malformed;
	q->owed = false;
	to->counts.lost += lost;
	w->n = 0;
	return tell;
}

/* Takes the frame to each of its ports, or as far as it is now. Returns a mask of the ports that
 * have to be told. */
static uint32_t carry(struct model_port *p, struct model_way *w, const struct model_progress *now)
{
	uint32_t told = 0;

	for (; w->reached < MODEL_PORTS; w->reached++) {
		bool stays = now && w->reached == now->reached;

		if (!(w->to >> w->reached & 1))
			continue;
		if (deliver(p, w, &model_ports[w->reached], stays ? now : NULL))
			told |= 1U << w->reached;
		if (stays)
			return told;
	}
	require(!now);
	return told;
}

void model_stay(struct model_port *p, const struct model_progress *now)
{
	struct model_queue *q = &p->queues[PORT_SENDS];
	struct model_way *w = &p->way;
	uint32_t told = 0;

	while (q->live) {
		bool is_last = q->next == now->next, good = true;
		int there = 1;

		if (is_last && !now->to && now->more) {
			require(model_listen(p, q));
			break;
		}
		if (!w->to)
			there = model_peek(p, q, false, MODEL_PARTS, &w->from);
		if (there < 0) {
			model_give_up(q);
			told |= 1U << (p - model_ports);
			break;
		}
		if (!there && !model_listen(p, q))
			break;
		if (!there)
			continue;
		if (!w->to)
			w->to = model_targets(p, &w->from, w->first, &good);
		if (is_last) {
			/* Otherwise the device has found an end before this frame. */
			require(now->to && now->to == w->to);
			told |= carry(p, w, now);
			break;
		}
		told |= carry(p, w, NULL);
		w->to = w->reached = 0;
		told |= model_finish(p, &w->from, good);
	}
	require(q->next == now->next && w->to == now->to);
	model_tell(told);
}
