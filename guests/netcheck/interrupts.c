/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts, the ISR status, and what suppresses notifications in both directions (VIRTIO 1.2,
 * 4.1.4.5, 2.7.7, 2.7.10). */
#include "guests/netcheck/netcheck.h"

#define BURST 8U

bool send_away(struct nic *n, uint32_t frames)
{
	const uint8_t *at = nic_frame_away(n, 0, 60);
	bool good;

	for (uint32_t i = 0; i < frames; i++) {
		nic_describe(n, SENDS, i, at, HEADER + 60, 0, 0);
		nic_offer(n, SENDS, i);
	}
	nic_kick(n, SENDS);
	good = nic_await(n, SENDS, frames);
	for (uint32_t i = 0; i < frames && nic_waiting(n, SENDS); i++)
		(void)nic_take(n, SENDS);
	return good;
}

static bool has_status(const struct nic *n)
{
	return in16(n->page + PCI_STATUS) & PCI_INTX;
}

static void set_intx(const struct nic *n, bool enabled)
{
	out16(n->page + PCI_COMMAND,
	      (uint16_t)(PCI_MEMORY | PCI_MASTER | (enabled ? 0 : PCI_NO_INTX)));
}

static void check_isr(struct nic *n)
{
	report(!has_status(n) && !irq_claim(), "4.1.4.5", "no interrupt before a buffer is used");
	report(send_away(n, 1) && has_status(n), "4.1.4.5.1",
	       "the interrupt status of PCI is set with the ISR status");
	report(irq_claim(), "4.1.5.3", "a used buffer interrupts");
	report_eq(in8(n->isr), 1, "4.1.4.5.1", "the ISR status is the queue's bit");
	report_eq(in8(n->isr), 0, "4.1.4.5.1", "reading the ISR status resets it");
	report(!has_status(n), "4.1.4.5.1", "and the interrupt status of PCI");
	irq_done();
	report(!irq_claim(), "4.1.4.5", "and the interrupt");
	(void)send_away(n, 1);
	(void)send_away(n, 1);
	report(irq_claim(), "4.1.5.3", "two buffers interrupt");
	irq_done();
	report(irq_claim(), "PCI", "and again, until the ISR status is read");
	report_eq(in8(n->isr), 1, "4.1.4.5.1", "which has the queue's bit");
	irq_done();
	report(!irq_claim(), "4.1.4.5", "once for both");
}

static void check_intx_disable(struct nic *n)
{
	set_intx(n, false);
	(void)send_away(n, 1);
	report(!irq_claim(), "PCI", "INTx disable keeps the interrupt away");
	report(has_status(n), "4.1.4.5.1", "but not the interrupt status of PCI");
	set_intx(n, true);
	report(irq_claim(), "PCI", "which interrupts when INTx is enabled");
	set_intx(n, false);
	irq_done();
	report(!irq_claim(), "PCI", "INTx disable ends the interrupt");
	report_eq(in8(n->isr), 1, "4.1.4.5.1", "and leaves the ISR status");
	set_intx(n, true);
	report(!irq_claim(), "4.1.4.5", "which was read");
}

static void check_flags(struct nic *n)
{
	n->queues[SENDS].avail[0] = 1;
	(void)send_away(n, 3);
	report_eq(irq_take(n), 0, "2.7.7.2", "NO_INTERRUPT of the queue that sends: no interrupt");
	*nic_used_event(n, SENDS) = n->queues[SENDS].seen;
	(void)send_away(n, 1);
	report_eq(irq_take(n), 0, "2.7.7.2", "without EVENT_IDX used_event is ignored");
	n->queues[SENDS].avail[0] = 0;
	(void)send_away(n, 1);
	report_eq(irq_take(n), 1, "2.7.7.2", "and without the flag there is one");
	n->queues[RECEIVES].avail[0] = n->queues[SENDS].avail[0] = 1;
	report(nic_exchange(n, 500, 60) && !irq_take(n), "2.7.7.2",
	       "NO_INTERRUPT of both queues: frames come without an interrupt");
	n->queues[RECEIVES].avail[0] = 0;
	report(nic_exchange(n, 501, 60) && irq_take(n) == 1, "2.7.7.2",
	       "of the queue that sends only: a received frame interrupts");
	n->queues[SENDS].avail[0] = 0;
}

void check_interrupts(struct nic *n)
{
	(void)nic_start(n, 0, SLOTS);
	nic_quiet(n);
	check_isr(n);
	check_intx_disable(n);
	check_flags(n);
}

/* --- event indexes -----------------------------------------------------------------------------
 */

/* Whether frames, from the next one on, interrupt if the driver asks for the one with this distance
 * from the next used index. */
static uint32_t with_event(struct nic *n, uint32_t distance, uint32_t frames)
{
	*nic_used_event(n, SENDS) = (uint16_t)(n->queues[SENDS].seen + distance);
	fence();
	return send_away(n, frames) ? irq_take(n) : ~0U;
}

static void check_used_event(struct nic *n)
{
	report_eq(with_event(n, 0, 1), 1, "2.7.7.2", "used_event is the next buffer: an interrupt");
	report_eq(with_event(n, 1, 1), 0, "2.7.7.2", "the one after it: none");
	report_eq(with_event(n, 0xffff, 1), 0, "2.7.7.2", "the one before it: none");
	report_eq(with_event(n, 3, 3), 0, "2.7.7.2", "three buffers before it: none");
	report_eq(with_event(n, 3, 4), 1, "2.7.7.2", "and with it: an interrupt");
	report_eq(with_event(n, 2, BURST), 1, "2.7.7.2", "in the middle of eight: an interrupt");
	n->queues[SENDS].avail[0] = 1;
	report_eq(with_event(n, 0, 1), 1, "2.7.7.2", "with EVENT_IDX flags are ignored");
	n->queues[SENDS].avail[0] = 0;
	*nic_used_event(n, SENDS) = (uint16_t)(n->queues[SENDS].seen + 99);
	*nic_used_event(n, RECEIVES) = (uint16_t)(n->queues[RECEIVES].seen + 1);
	report(nic_exchange(n, 510, 60) && !irq_take(n), "2.7.7.2",
	       "of received frames: none for the first one");
	report(nic_exchange(n, 511, 60) && irq_take(n) == 1, "2.7.7.2",
	       "and an interrupt for the second one, as used_event says");
}

/* A driver that notifies only if it must, one frame after the other, and several at once. */
static bool obeys(struct nic *n, uint32_t burst)
{
	const uint8_t *at = nic_frame_away(n, 0, 60);

	for (uint32_t round = 0; round < 40; round++) {
		uint16_t before = n->queues[SENDS].next;
		uint16_t event;

		for (uint32_t i = 0; i < burst; i++) {
			nic_describe(n, SENDS, i, at, HEADER + 60, 0, 0);
			nic_offer(n, SENDS, i);
		}
		event = *nic_avail_event(n, SENDS);
		if ((uint16_t)(n->queues[SENDS].next - event - 1) <
		    (uint16_t)(n->queues[SENDS].next - before))
			nic_kick(n, SENDS);
		if (!nic_await(n, SENDS, burst))
			return false;
		while (nic_waiting(n, SENDS))
			(void)nic_take(n, SENDS);
	}
	return true;
}

void check_events(struct nic *n)
{
	if (!nic_start(n, F_EVENT_IDX, SLOTS)) {
		report_skip("2.7.7", "all about event indexes", "the device does not offer them");
		return;
	}
	nic_quiet(n);
	check_used_event(n);
	report(obeys(n, 1) && obeys(n, BURST), "2.7.10.2",
	       "a driver that notifies only as avail_event says gets on");
	report(!n->queues[SENDS].used[0] && !n->queues[RECEIVES].used[0], "2.7.10.2",
	       "with EVENT_IDX flags of both used rings are 0");
	(void)nic_start(n, 0, SLOTS);
}
