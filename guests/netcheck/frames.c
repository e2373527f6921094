/* SPDX-License-Identifier: Apache-2.0 */
/* Frames there and back: what the device writes (VIRTIO 1.2, 2.7.8, 5.1.6). */
#include "guests/lib/guest.h"
#include "guests/netcheck/netcheck.h"

#define BURST 16U
#define GUARD 0xa5U

static uint8_t *received(struct nic *n, uint32_t slot)
{
	return n->queues[RECEIVES].buffers[slot];
}

/* Sends one frame, and returns the used entry of its answer, whose buffer stays out. */
static struct used ask(struct nic *n, const uint8_t *at, uint32_t size)
{
	nic_describe(n, SENDS, 0, at, HEADER + size, 0, 0);
	nic_offer(n, SENDS, 0);
	nic_kick(n, SENDS);
	if (!nic_await(n, SENDS, 1) || !nic_await(n, RECEIVES, 1))
		return (struct used){~0U, 0};
	(void)nic_take(n, SENDS);
	return nic_take(n, RECEIVES);
}

/* The first bytes of what came, as the specification has struct virtio_net_hdr. */
static void check_header(struct nic *n)
{
	uint8_t *at = nic_frame(n, 0, 1, 60);
	struct used u = ask(n, at, 60);
	const uint8_t *header = received(n, u.id % SLOTS);

	report(nic_is_answer(n, header, u.len, 1, 60), "5.1.6.4", "a frame comes back");
	report_eq(header[0], 0, "5.1.6.4.1", "flags are 0 without GUEST_CSUM");
	report_eq(header[1], 0, "5.1.6.4.1", "gso_type is GSO_NONE");
	report_eq(header[10] | header[11] << 8, 1, "5.1.6.4.1",
	          "num_buffers is 1 without MRG_RXBUF");
	report_eq(u.len, HEADER + 60, "2.7.8", "len of a received frame is with its header");
	nic_offer(n, RECEIVES, u.id);
	at = nic_frame(n, 0, 2, 60);
	at[0] = 0x80;
	u = ask(n, at, 60);
	report(nic_is_answer(n, received(n, u.id % SLOTS), u.len, 2, 60), "5.1.6.2.2",
	       "an unknown flag of a frame that is sent is ignored");
	nic_offer(n, RECEIVES, u.id);
}

static void check_used(struct nic *n)
{
	struct used u;

	nic_describe(n, SENDS, 5, nic_frame(n, 5, 3, 60), HEADER + 60, 0, 0);
	nic_offer(n, SENDS, 5);
	nic_kick(n, SENDS);
	(void)nic_await(n, SENDS, 1);
	u = nic_take(n, SENDS);
	report_eq(u.id, 5, "2.7.8", "id is the head of the chain");
	report_eq(u.len, 0, "2.7.8", "len of a frame that was sent is 0");
	report(nic_await(n, RECEIVES, 1), "5.1.6.4", "its answer comes");
	u = nic_take(n, RECEIVES);
	report(u.id < SLOTS && n->queues[RECEIVES].desc[u.id].addr == (uint64_t)received(n, u.id),
	       "2.7.8", "id of a received frame is that of its buffer");
	nic_offer(n, RECEIVES, u.id);
	report(n->queues[SENDS].used[0] <= 1 && n->queues[RECEIVES].used[0] <= 1, "2.7.10.2",
	       "flags of both used rings are 0 or 1");
}

static void check_sizes(struct nic *n)
{
	static const uint32_t sizes[] = {60, 61, 62, 63, 64, 65, 127, 999, 1513, 1514};
	bool good = true;

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		good &= nic_exchange(n, 10 + i, sizes[i]);
	report(good, "5.1.6", "frames of 60 to 1514 bytes come back whole");
}

/* Of several frames by one notification: each buffer is used once, and answers are in order. */
static void check_burst(struct nic *n)
{
	uint64_t heads = 0;
	bool good = true, once = true;

	for (uint32_t i = 0; i < BURST; i++) {
		nic_describe(n, SENDS, i, nic_frame(n, i, 100 + i, 60 + i), HEADER + 60 + i, 0, 0);
		nic_offer(n, SENDS, i);
	}
	nic_kick(n, SENDS);
	report(nic_await(n, SENDS, BURST), "2.7.13", "one notification is enough for 16 buffers");
	for (uint32_t i = 0; i < BURST && nic_waiting(n, SENDS); i++) {
		struct used u = nic_take(n, SENDS);

		once &= u.id < BURST && !(heads & F(u.id));
		heads |= F(u.id);
	}
	report(once && heads == F(BURST) - 1, "2.7.8", "each buffer comes back once");
	for (uint32_t i = 0; i < BURST; i++) {
		struct used u = {0, 0};

		if (nic_await(n, RECEIVES, 1))
			u = nic_take(n, RECEIVES);
		good &=
		    u.len && nic_is_answer(n, received(n, u.id % SLOTS), u.len, 100 + i, 60 + i);
		if (u.len)
			nic_offer(n, RECEIVES, u.id);
	}
	report(good, "5.1.6", "16 answers come in the order of their frames");
	report(!nic_waiting(n, RECEIVES) && !nic_waiting(n, SENDS), "2.7.8", "and nothing else");
}

/* With one buffer to receive, of this size: what is behind it, and before. */
static bool stays_inside(struct nic *n, uint32_t room, uint32_t size, bool comes)
{
	uint8_t *at = received(n, 0);
	bool good = true, came;

	(void)nic_agree(n, F_VERSION_1);
	nic_set_queue(n, RECEIVES, SLOTS);
	nic_set_queue(n, SENDS, SLOTS);
	nic_set_status(n, SET_UP | DRIVER_OK);
	for (uint32_t i = 0; i < ROOM; i++)
		at[i] = GUARD;
	nic_describe(n, RECEIVES, 0, at + 64, room, WRITE, 0);
	nic_offer(n, RECEIVES, 0);
	nic_describe(n, SENDS, 0, nic_frame(n, 0, 4, size), HEADER + size, 0, 0);
	nic_offer(n, SENDS, 0);
	nic_kick(n, SENDS);
	came = nic_await(n, RECEIVES, 1);
	for (uint32_t i = 0; i < ROOM; i++)
		good &= (i >= 64 && i < 64 + room) || at[i] == GUARD;
	if (came)
		good &= nic_is_answer(n, at + 64, nic_take(n, RECEIVES).len, 4, size);
	return good && came == comes;
}

static void check_room(struct nic *n)
{
	report(stays_inside(n, HEADER + 300, 300, true), "2.7.5", "a frame that just fits comes");
	report(stays_inside(n, HEADER + 299, 300, false), "2.7.5",
	       "one that does not is not written beside its buffer");
	report_eq(nic_status(n), SET_UP | DRIVER_OK, "2.1.2", "and that is no error");
	(void)nic_start(n, 0, SLOTS);
	report(nic_exchange(n, 5, 60), "5.1.6", "with larger buffers frames come again");
}

/* Nothing is taken before DRIVER_OK, and all of it after. */
static void check_driver_ok(struct nic *n)
{
	(void)nic_agree(n, F_VERSION_1);
	nic_set_queue(n, RECEIVES, SLOTS);
	nic_set_queue(n, SENDS, SLOTS);
	nic_describe(n, SENDS, 0, nic_frame_away(n, 0, 60), HEADER + 60, 0, 0);
	nic_offer(n, SENDS, 0);
	nic_kick(n, SENDS);
	report(!nic_await(n, SENDS, 1), "2.1.2", "no buffer is used before DRIVER_OK");
	report_eq(irq_take(n), 0, "2.1.2", "no interrupt comes before DRIVER_OK");
	nic_set_status(n, SET_UP | DRIVER_OK);
	nic_kick(n, SENDS);
	report(nic_await(n, SENDS, 1), "2.1.2", "and it is used after");
}

static void check_queue_sizes(struct nic *n)
{
	uint32_t most;
	bool good = true;

	(void)nic_reset(n);
	nic_select(n, 0);
	most = in16(n->common + QUEUE_SIZE);
	for (uint32_t size = 1; size <= most && size <= MOST; size *= 2) {
		good &= nic_start(n, 0, size);
		for (uint32_t i = 0; i < 5; i++)
			good &= nic_exchange(n, size + i, 70);
	}
	report(good && most <= MOST, "2.7", "queues of each size work, from 1 to the largest");
}

void check_frames(struct nic *n)
{
	nic_quiet(n);
	check_header(n);
	check_used(n);
	check_sizes(n);
	check_burst(n);
	nic_kick(n, SENDS);
	nic_kick(n, RECEIVES);
	nic_kick(n, RECEIVES);
	report(nic_exchange(n, 6, 60) && nic_status(n) == (SET_UP | DRIVER_OK), "2.7.10.2",
	       "notifications without a buffer do no harm");
	check_room(n);
	check_driver_ok(n);
	check_queue_sizes(n);
	(void)nic_start(n, 0, SLOTS);
}

/* --- indexes ---------------------------------------------------------------------------------- */

/* Sends so many frames to nobody, as many at once as QEMU's hub takes. */
static bool pour(struct nic *n, uint32_t frames)
{
	const uint8_t *at = nic_frame_away(n, 0, 60);

	for (uint32_t i = 0; i < BURST; i++)
		nic_describe(n, SENDS, i, at, HEADER + 60, 0, 0);
	for (uint32_t sent = 0; sent < frames;) {
		uint32_t now = frames - sent < BURST ? frames - sent : BURST;

		for (uint32_t i = 0; i < now; i++)
			nic_offer(n, SENDS, i);
		nic_kick(n, SENDS);
		if (!nic_await(n, SENDS, now))
			return false;
		for (uint32_t i = 0; i < now; i++) {
			if (nic_take(n, SENDS).id != i)
				return false;
		}
		sent += now;
	}
	return true;
}

/* The same with answers. */
static bool rally(struct nic *n, uint32_t frames)
{
	for (uint32_t sent = 0; sent < frames; sent += BURST) {
		for (uint32_t i = 0; i < BURST; i++) {
			nic_describe(n, SENDS, i, nic_frame(n, i, sent + i, 60), HEADER + 60, 0, 0);
			nic_offer(n, SENDS, i);
		}
		nic_kick(n, SENDS);
		if (!nic_await(n, SENDS, BURST) || !nic_await(n, RECEIVES, BURST))
			return false;
		for (uint32_t i = 0; i < BURST; i++) {
			struct used u = nic_take(n, RECEIVES);

			(void)nic_take(n, SENDS);
			if (!nic_is_answer(n, received(n, u.id % SLOTS), u.len, sent + i, 60))
				return false;
			nic_offer(n, RECEIVES, u.id);
		}
	}
	return true;
}

void check_wraps(struct nic *n)
{
	bool good = true;

	for (uint32_t events = 0; events < 2; events++) {
		good &= nic_start(n, events ? F_EVENT_IDX : 0, SLOTS);
		good &= pour(n, 65500) && nic_exchange(n, 8, 60) && pour(n, 100);
		good &= n->queues[SENDS].next == 65 && nic_exchange(n, 9, 60);
	}
	report(good, "2.7.6", "indexes of the queue that sends wrap at 65536");
	if (!bootarg_num("long", 0)) {
		report_skip("2.7.6", "those of the queue that receives", "long=1 has them");
		return;
	}
	good = nic_start(n, 0, SLOTS) && rally(n, 65536 + 2 * BURST);
	report(good && n->queues[RECEIVES].next == (uint16_t)(SLOTS + 2 * BURST), "2.7.6",
	       "indexes of the queue that receives wrap at 65536");
}
