/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers in several parts, and indirect tables (VIRTIO 1.2, 2.7.4, 2.7.5). */
#include "guests/netcheck/netcheck.h"

#define PARTS 8U
#define SIZE  200U

static struct descriptor table[PARTS + 1] __attribute__((aligned(16)));

/* A chain in a table: as the entries of `order` say, of parts as long as `lengths` say; the last
 * part has the rest. */
static void cut(struct descriptor *all, const uint8_t *order, const uint8_t *lengths,
                uint32_t parts, const uint8_t *at, uint32_t size, uint32_t flags)
{
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t len = i + 1 < parts ? lengths[i] : size;

		all[order[i]] = (struct descriptor){(uint64_t)at, len,
		                                    (uint16_t)(flags | (i + 1 < parts ? NEXT : 0)),
		                                    i + 1 < parts ? order[i + 1] : 0};
		at += len;
		size -= len;
	}
}

/* Whether the chain at this head is sent, and its answer comes. */
static bool goes(struct nic *n, uint32_t head, uint32_t number)
{
	struct used u;
	bool good;

	nic_offer(n, SENDS, head);
	nic_kick(n, SENDS);
	if (!nic_await(n, SENDS, 1))
		return false;
	good = nic_take(n, SENDS).id == head;
	if (!nic_await(n, RECEIVES, 1))
		return false;
	u = nic_take(n, RECEIVES);
	good &= nic_is_answer(n, n->queues[RECEIVES].buffers[u.id % SLOTS], u.len, number, SIZE);
	nic_offer(n, RECEIVES, u.id);
	return good;
}

static const uint8_t straight[PARTS] = {0, 1, 2, 3, 4, 5, 6, 7};
static const uint8_t crooked[PARTS] = {9, 3, 40, 0, 63, 7, 1, 2};
static const uint8_t in_table[PARTS] = {0, 5, 2, 4, 1, 3, 6, 7};

static bool cut_goes(struct nic *n, const uint8_t *order, const uint8_t *lengths, uint32_t parts)
{
	static uint32_t number = 200;

	cut(n->queues[SENDS].desc, order, lengths, parts, nic_frame(n, 0, ++number, SIZE),
	    HEADER + SIZE, 0);
	return goes(n, order[0], number);
}

/* Whether a frame comes into one buffer of these parts, after which there is no other. */
static bool comes_in(struct nic *n, uint64_t features, const uint8_t *lengths, uint32_t parts)
{
	uint8_t *at = n->queues[RECEIVES].buffers[0];
	struct used u = {0, 0};

	if (!nic_agree(n, features | F_VERSION_1))
		return false;
	nic_set_queue(n, RECEIVES, SLOTS);
	nic_set_queue(n, SENDS, SLOTS);
	nic_set_status(n, SET_UP | DRIVER_OK);
	if (features & F_INDIRECT_DESC) {
		cut(table, in_table, lengths, parts, at, ROOM, WRITE);
		nic_describe(n, RECEIVES, 9, table, sizeof(table), INDIRECT, 0);
	} else {
		cut(n->queues[RECEIVES].desc, crooked, lengths, parts, at, ROOM, WRITE);
	}
	nic_offer(n, RECEIVES, 9);
	nic_kick(n, RECEIVES);
	nic_describe(n, SENDS, 0, nic_frame(n, 0, 77, SIZE), HEADER + SIZE, 0, 0);
	nic_offer(n, SENDS, 0);
	nic_kick(n, SENDS);
	if (nic_await(n, RECEIVES, 1))
		u = nic_take(n, RECEIVES);
	return u.id == 9 && nic_is_answer(n, at, u.len, 77, SIZE);
}

void check_chains(struct nic *n)
{
	static const uint8_t header[] = {HEADER}, split[] = {5, 7}, in_header[] = {7},
	                     inside[] = {HEADER + 14}, bytes[] = {1, 1, 1, 1, 1},
	                     addresses[] = {HEADER, 6, 6, 2}, three[] = {HEADER, 50};

	report(cut_goes(n, straight, header, 2), "2.7.4.1",
	       "the header in a descriptor of its own");
	report(cut_goes(n, straight, split, 3), "2.7.4.1", "the header in two descriptors");
	report(cut_goes(n, straight, in_header, 2), "2.7.4.1",
	       "header and frame cut in the header");
	report(cut_goes(n, straight, inside, 2), "2.7.4.1", "header and frame cut in the frame");
	report(cut_goes(n, straight, bytes, 6), "2.7.4.1", "descriptors of one byte");
	report(cut_goes(n, crooked, addresses, 5), "2.7.5",
	       "a chain whose next goes back and forth");
	report(comes_in(n, 0, header, 2), "2.7.4.1", "a buffer to receive: header of its own");
	report(comes_in(n, 0, three, 3), "2.7.4.1", "a buffer to receive: three parts");
	report(comes_in(n, 0, split, 3), "2.7.4.1", "a buffer to receive: the header in two parts");
	(void)nic_start(n, 0, SLOTS);
}

/* --- indirect tables ---------------------------------------------------------------------------
 */

/* A table at this place, with `more` further bytes, to which descriptor 0 leads. */
static bool table_goes(struct nic *n, struct descriptor *all, const uint8_t *order, uint32_t parts,
                       uint32_t entries, uint32_t flags)
{
	static const uint8_t lengths[] = {HEADER, 14, 1, 30, 2};
	static uint32_t number = 300;

	cut(all, order, lengths, parts, nic_frame(n, 0, ++number, SIZE), HEADER + SIZE, 0);
	nic_describe(n, SENDS, 0, all, entries * (uint32_t)sizeof(*all), INDIRECT | flags, 0);
	return goes(n, 0, number);
}

/* A chain whose last descriptor leads to a table. */
static bool chain_and_table_go(struct nic *n)
{
	const uint8_t *at = nic_frame(n, 0, 400, SIZE);

	nic_describe(n, SENDS, 8, at, HEADER, NEXT, 3);
	nic_describe(n, SENDS, 3, table, 2 * sizeof(table[0]), INDIRECT, 0);
	table[0] = (struct descriptor){(uint64_t)at + HEADER, 14, NEXT, 1};
	table[1] = (struct descriptor){(uint64_t)at + HEADER + 14, SIZE - 14, 0, 0};
	return goes(n, 8, 400);
}

/* "Anywhere in memory": the specification has no alignment for it. */
static bool misaligned_goes(struct nic *n)
{
	const uint8_t *at = nic_frame(n, 0, 401, SIZE);
	static uint8_t room[64] __attribute__((aligned(16)));
	const struct descriptor d = {(uint64_t)at, HEADER + SIZE, 0, 0};

	for (uint32_t i = 0; i < sizeof(d); i++)
		room[1 + i] = ((const volatile uint8_t *)&d)[i];
	nic_describe(n, SENDS, 0, &room[1], sizeof(d), INDIRECT, 0);
	return goes(n, 0, 401);
}

void check_indirect(struct nic *n)
{
	static const uint8_t header[] = {HEADER}, three[] = {HEADER, 50};

	if (!nic_start(n, F_INDIRECT_DESC, SLOTS)) {
		report_skip("2.7.5.3", "all about indirect tables",
		            "the device does not offer them");
		return;
	}
	report(nic_exchange(n, 299, 60), "2.7.5.3", "with INDIRECT_DESC a frame without a table");
	report(table_goes(n, table, straight, 1, 1, 0), "2.7.5.3", "a table with one descriptor");
	report(table_goes(n, table, straight, 6, 6, 0), "2.7.5.3", "a table with six");
	report(table_goes(n, table, in_table, 6, 6, 0), "2.7.5.3",
	       "a table whose next goes to and fro");
	report(table_goes(n, table, in_table, 6, PARTS, 0), "2.7.5.3",
	       "a table with more descriptors than its chain has");
	report(table_goes(n, table, straight, 3, 3, WRITE), "2.7.5.3.2",
	       "WRITE in the descriptor that leads to a table is ignored");
	report(chain_and_table_go(n), "2.7.5.3.2", "a descriptor, then one that leads to a table");
	report(misaligned_goes(n), "2.7.5.3", "a table at an odd address");
	report(comes_in(n, F_INDIRECT_DESC, header, 2), "2.7.5.3",
	       "a buffer to receive in a table");
	report(comes_in(n, F_INDIRECT_DESC, three, 3), "2.7.5.3", "and one of three parts");
	(void)nic_start(n, 0, SLOTS);
}
