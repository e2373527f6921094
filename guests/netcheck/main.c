/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the parts in order, and sums up. */
#include "guests/lib/guest.h"
#include "guests/netcheck/netcheck.h"

/* Whether the other station answers, which may begin later. */
static bool meets(struct nic *n)
{
	for (uint32_t i = 0; i < 50; i++) {
		if (nic_exchange(n, i, 60))
			return true;
	}
	return false;
}

/* What needs no other station. */
static void check_device(struct nic *n)
{
	check_space(n);
	check_structures(n);
	check_window(n);
	check_reset(n);
	check_features(n);
	check_queue_registers(n);
	check_config(n);
}

static void check_traffic(struct nic *n)
{
	check_frames(n);
	check_chains(n);
	check_indirect(n);
	check_interrupts(n);
	check_events(n);
	check_broken(n);
	check_resets(n);
	check_wraps(n);
}

/* link=1: only what a change of the link does, which somebody else makes. messages=1: only MSI-X,
 * or what it does about that. */
int guest_main(uint64_t hartid)
{
	static struct nic nic;
	bool link = bootarg_num("link", 0), messages = bootarg_num("messages", 0);

	(void)hartid;
	if (!nic_find(&nic, 0)) {
		report(false, "4.1.2", "there is a network device");
		return report_end() ? 0 : 1;
	}
	if (messages)
		messages_open();
	else
		irq_open();
	if (!link && !messages)
		check_device(&nic);
	if (!peer_open() || !nic_start(&nic, 0, SLOTS) || !meets(&nic))
		report(false, "3.1.1", "the device can be set up, and another station answers");
	else if (link)
		(messages ? check_link_messages : check_link)(&nic);
	else if (messages)
		check_messages(&nic);
	else
		check_traffic(&nic);
	nic_end_peer(&nic);
	return report_end() ? 0 : 1;
}
