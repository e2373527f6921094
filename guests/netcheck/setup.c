/* SPDX-License-Identifier: Apache-2.0 */
/* The common configuration: reset, features and their negotiation, queues
 * (VIRTIO 1.2, 4.1.4.3, 2.2, 5.1.3, 6). */
#include "guests/netcheck/netcheck.h"

static bool is_power(uint32_t value)
{
	return value && !(value & (value - 1));
}

/* --- reset ----------------------------------------------------------------------------------- */

static bool all_queues(const struct nic *n, uint32_t offset, uint32_t value)
{
	bool good = true;

	for (uint32_t i = 0; i < in16(n->common + NUM_QUEUES); i++) {
		nic_select(n, i);
		good &= in16(n->common + offset) == value;
	}
	return good;
}

static bool are_sizes_good(const struct nic *n)
{
	bool good = true;

	for (uint32_t i = 0; i < in16(n->common + NUM_QUEUES); i++) {
		nic_select(n, i);
		good &=
		    is_power(in16(n->common + QUEUE_SIZE)) && in16(n->common + QUEUE_SIZE) <= 32768;
	}
	return good;
}

static bool are_notifications_inside(const struct nic *n)
{
	bool good = true;

	for (uint32_t i = 0; i < in16(n->common + NUM_QUEUES); i++) {
		nic_select(n, i);
		good &= (uint64_t)in16(n->common + QUEUE_NOTIFY_OFF) * n->multiplier + 2 <=
		        n->structures[NOTIFY_CFG].length;
	}
	return good;
}

void check_reset(struct nic *n)
{
	report(nic_reset(n), "4.1.4.3.1", "device_status is 0 after a reset");
	report_eq(in16(n->common + NUM_QUEUES), 2 + !!(nic_offered(n) & F_CTRL_VQ), "5.1.2",
	          "num_queues: one to receive, one to send, and control if it is offered");
	report(are_sizes_good(n), "4.1.4.3.1", "queue_size is a power of 2 after a reset");
	report(all_queues(n, QUEUE_ENABLE, 0), "4.1.4.3.1", "queue_enable is 0 after a reset");
	report(all_queues(n, QUEUE_MSIX_VECTOR, NO_VECTOR), "4.1.5.1.2.1",
	       "queue_msix_vector is unmapped");
	report_eq(in16(n->common + CONFIG_MSIX_VECTOR), NO_VECTOR, "4.1.5.1.2.1",
	          "config_msix_vector is unmapped");
	out16(n->common + CONFIG_MSIX_VECTOR, 0);
	report_eq(in16(n->common + CONFIG_MSIX_VECTOR), NO_VECTOR, "4.1.5.1.2.1",
	          "config_msix_vector cannot be mapped without MSI-X");
	report(are_notifications_inside(n), "4.1.4.4.1", "each queue's notification is inside");
	nic_select(n, in16(n->common + NUM_QUEUES));
	report_eq(in16(n->common + QUEUE_SIZE), 0, "4.1.4.3.1",
	          "queue_size behind the last queue is 0");
	nic_select(n, 0xffff);
	report_eq(in16(n->common + QUEUE_SIZE), 0, "4.1.4.3.1", "queue_size of queue 65535 is 0");
	report_eq(in8(n->isr), 0, "2.4.1", "the ISR status is 0 after a reset");
	report_eq(in16(n->page + PCI_STATUS) & PCI_INTX, 0, "2.4.1", "no interrupt after a reset");
}

/* --- features -------------------------------------------------------------------------------- */

/* Bits that need others (5.1.3.1), each with those of which one must be there. */
static const struct {
	uint64_t bit, needs;
} needs[] = {
    {F(7), F(1)},   {F(8), F(1)},         {F(9), F(7) | F(8)},    {F(10), F(1)},
    {F(11), F(0)},  {F(12), F(0)},        {F(13), F(11) | F(12)}, {F(14), F(0)},
    {F(18), F(17)}, {F(19), F(17)},       {F(21), F(17)},         {F(22), F(17)},
    {F(23), F(17)}, {F(61), F(7) | F(8)}, {F(60), F(17)},         {F(2), F(17)},
};

static bool are_needs_met(uint64_t features)
{
	for (uint32_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (features & needs[i].bit && !(features & needs[i].needs))
			return false;
	}
	return true;
}

/* Each feature with all that it may need, and nothing else. */
static bool each_alone(const struct nic *n, uint64_t offered)
{
	for (uint32_t bit = 0; bit < 64; bit++) {
		uint64_t with = F(bit) | F_VERSION_1;

		for (uint32_t round = 0; round < 3; round++) {
			for (uint32_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
				with |= with & needs[i].bit ? needs[i].needs & offered : 0;
		}
		if (offered & F(bit) && (!nic_agree(n, with) || nic_accepted(n) != with))
			return false;
	}
	return true;
}

/* The device may also ignore the bit: then the driver reads 0. */
static bool refuses_others(const struct nic *n, uint64_t offered)
{
	for (uint32_t bit = 0; bit < 64; bit++) {
		if (!(offered & F(bit)) && nic_agree(n, F(bit) | F_VERSION_1) &&
		    nic_accepted(n) & F(bit))
			return false;
	}
	return true;
}

static uint32_t word(const struct nic *n, uint32_t select)
{
	out32(n->common + DEVICE_FEATURE_SELECT, select);
	return in32(n->common + DEVICE_FEATURE);
}

static bool keeps_selects(const struct nic *n)
{
	out32(n->common + DEVICE_FEATURE_SELECT, 0x12345678);
	out32(n->common + DRIVER_FEATURE_SELECT, 0x9abcdef0);
	return in32(n->common + DEVICE_FEATURE_SELECT) == 0x12345678 &&
	       in32(n->common + DRIVER_FEATURE_SELECT) == 0x9abcdef0;
}

static void check_negotiation(struct nic *n, uint64_t offered)
{
	report(nic_agree(n, offered), "2.2.2", "all that is offered is accepted");
	report(nic_agree(n, F_VERSION_1), "2.2.2", "VERSION_1 alone is accepted");
	report(each_alone(n, offered), "2.2.2", "each feature with what it needs is accepted");
	report(refuses_others(n, offered), "2.2.2", "each bit that is not offered is refused");
	/* It may (6.2). */
	report(!nic_agree(n, offered & ~F_VERSION_1), "6.2", "all without VERSION_1 is refused");
	report(!nic_agree(n, 0), "6.2", "nothing at all is refused");
	report_eq(nic_status(n), ACKNOWLEDGE | DRIVER, "3.1.1",
	          "a refusal leaves ACKNOWLEDGE and DRIVER");
	nic_set_status(n, FAILED | ACKNOWLEDGE | DRIVER);
	report_eq(nic_status(n), FAILED | ACKNOWLEDGE | DRIVER, "2.1", "FAILED is kept");
	report(nic_agree(n, F_VERSION_1), "2.1", "and a reset ends it");
}

void check_features(struct nic *n)
{
	uint64_t offered = nic_offered(n);

	report(offered & F_VERSION_1, "6.2", "VERSION_1 is offered");
	report(offered & F_MAC && offered & F_STATUS && offered & F_MTU, "5.1.3",
	       "MAC, STATUS and MTU are offered");
	/* Not said by the specification, but what all checks below need. */
	report(offered & F_INDIRECT_DESC && offered & F_EVENT_IDX, "6",
	       "INDIRECT_DESC and EVENT_IDX are offered");
	report_eq(offered >> 41 & 0x1ff, 0, "2.2", "bits 41 to 49 are not offered");
	report(!word(n, 2) && !word(n, 3) && !word(n, ~0U), "4.1.4.3.1", "no bits from 64 on");
	report(are_needs_met(offered), "2.2.2", "no feature without one that it needs");
	report(keeps_selects(n), "4.1.4.3", "both selects are kept");
	(void)nic_reset(n);
	nic_set_status(n, ACKNOWLEDGE | DRIVER);
	nic_accept(n, offered);
	report_eq(nic_accepted(n), offered, "4.1.4.3.1", "driver_feature is kept, in both words");
	check_negotiation(n, offered);
}

/* --- queues ---------------------------------------------------------------------------------- */

static bool keeps_areas(const struct nic *n)
{
	static const uint32_t fields[] = {QUEUE_DESC, QUEUE_DRIVER, QUEUE_DEVICE};
	bool good = true;

	for (uint32_t i = 0; i < 12; i++) {
		nic_select(n, i / 6);
		out32(n->common + fields[i % 6 / 2] + 4 * (i & 1), 0x1000 * i + 0x80000000);
	}
	for (uint32_t i = 0; i < 12; i++) {
		nic_select(n, i / 6);
		good &=
		    in32(n->common + fields[i % 6 / 2] + 4 * (i & 1)) == 0x1000 * i + 0x80000000;
	}
	return good;
}

static uint32_t put16(const struct nic *n, uint32_t offset, uint32_t value)
{
	out16(n->common + offset, (uint16_t)value);
	return in16(n->common + offset);
}

static uint32_t first_size(const struct nic *n)
{
	nic_select(n, 0);
	return in16(n->common + QUEUE_SIZE);
}

/* What a driver must not write, so no answer is in the specification: here it changes nothing. */
static void check_wrong_writes(struct nic *n, uint32_t most)
{
	bool good = true;

	(void)nic_agree(n, F_VERSION_1);
	nic_select(n, 0);
	good &= put16(n, QUEUE_SIZE, 0) == most && put16(n, QUEUE_SIZE, 3) == most;
	good &= put16(n, QUEUE_SIZE, most - 1) == most && put16(n, QUEUE_SIZE, 2 * most) == most;
	report(good, "4.1.4.3.2", "queue_size 0, no power of 2, or too large changes nothing");
	nic_set_queue(n, 0, 16);
	good = put16(n, QUEUE_ENABLE, 0) == 1;
	report(good, "4.1.4.3.2", "queue_enable cannot be written 0");
	good = put16(n, QUEUE_SIZE, 8) == 16;
	out32(n->common + QUEUE_DESC, 0x1000);
	good &= in32(n->common + QUEUE_DESC) == (uint32_t)(uint64_t)n->queues[0].desc;
	report(good, "4.1.4.3.2", "size and areas of an enabled queue do not change");
	(void)nic_agree(n, F_VERSION_1);
	nic_accept(n, nic_offered(n));
	report_eq(nic_accepted(n), F_VERSION_1, "3.1.1",
	          "features do not change after FEATURES_OK");
}

void check_queue_registers(struct nic *n)
{
	uint32_t most;

	(void)nic_agree(n, F_VERSION_1);
	nic_select(n, 1);
	report_eq(in16(n->common + QUEUE_SELECT), 1, "4.1.4.3", "queue_select is kept");
	nic_select(n, 0);
	most = in16(n->common + QUEUE_SIZE);
	report(put16(n, QUEUE_SIZE, most / 2) == most / 2 && put16(n, QUEUE_SIZE, 16) == 16,
	       "4.1.4.3", "queue_size takes a lower power of 2");
	nic_select(n, 1);
	report_eq(in16(n->common + QUEUE_SIZE), most, "4.1.4.3", "of one queue alone");
	report_eq(put16(n, QUEUE_MSIX_VECTOR, 0), NO_VECTOR, "4.1.5.1.2.1",
	          "queue_msix_vector cannot be mapped without MSI-X");
	report(keeps_areas(n), "4.1.3.2", "addresses are kept, each half for itself");
	(void)nic_agree(n, F_VERSION_1);
	nic_select(n, 0);
	report_eq(put16(n, QUEUE_ENABLE, 1), 1, "4.1.4.3", "queue_enable is kept");
	nic_select(n, 1);
	report_eq(in16(n->common + QUEUE_ENABLE), 0, "4.1.4.3", "of one queue alone");
	(void)nic_reset(n);
	report(all_queues(n, QUEUE_ENABLE, 0) && first_size(n) == most, "4.1.4.3.1",
	       "a reset disables queues, and restores queue_size");
	check_wrong_writes(n, most);
}
