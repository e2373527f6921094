/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration space, the capabilities, and the window (VIRTIO 1.2, 4.1.2, 4.1.4, 4.1.4.9). */
#include "guests/lib/guest.h"
#include "guests/netcheck/netcheck.h"

#define CAPS_MOST 48U
#define VENDOR    9U

static bool keeps_ids(const struct nic *n)
{
	uint32_t id = in32(n->page), class = in32(n->page + 8);

	out32(n->page, 0);
	out32(n->page + 8, 0);
	return in32(n->page) == id && in32(n->page + 8) == class;
}

static bool keeps_command(const struct nic *n)
{
	static const uint16_t values[] = {0, PCI_MEMORY, PCI_NO_INTX, PCI_MASTER,
	                                  PCI_MEMORY | PCI_MASTER | PCI_NO_INTX};
	bool good = true;

	for (uint32_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		out16(n->page + PCI_COMMAND, values[i]);
		good &= in16(n->page + PCI_COMMAND) == values[i];
	}
	out16(n->page + PCI_COMMAND, PCI_MEMORY | PCI_MASTER);
	return good;
}

static bool keeps_line(const struct nic *n)
{
	out8(n->page + 0x3c, 0x5a);
	return in8(n->page + 0x3c) == 0x5a && in8(n->page + 0x3d) == 1;
}

void check_space(struct nic *n)
{
	report_eq(in16(n->page), 0x1af4, "4.1.2.1", "PCI vendor ID");
	report_eq(in16(n->page + 2), 0x1041, "4.1.2.1", "PCI device ID is 0x1040 and the type");
	report(in8(n->page + 8) >= 1, "4.1.2.1", "PCI revision ID is 1 or higher");
	report(in16(n->page + 0x2e) >= 0x40, "4.1.2.1",
	       "PCI subsystem device ID is 0x40 or higher");
	report_eq(in32(n->page + 8) >> 8, 0x020000, "PCI", "class code is Ethernet");
	report_eq(in8(n->page + 0x0e) & 0x7f, 0, "PCI", "header type is 0");
	report_eq(in8(n->page + 0x3d), 1, "PCI", "the interrupt pin is INTA");
	report(in16(n->page + PCI_STATUS) & 0x10, "PCI",
	       "the status says that there are capabilities");
	report(keeps_ids(n), "PCI", "IDs and class cannot be written");
	report(keeps_command(n), "PCI", "memory, bus master and INTx disable are kept");
	report(keeps_line(n), "PCI", "the interrupt line is kept, and does not change the pin");
}

/* --- BARs and capabilities ------------------------------------------------------------------ */

/* Returns the size of a BAR, and leaves it as it was. */
static uint64_t size_of(const struct nic *n, uint32_t bar)
{
	uint64_t at = n->page + PCI_BAR + 4UL * bar;
	uint32_t low = in32(at), high = in32(at + 4);
	bool wide = (low & 7) == 4;
	uint64_t mask;

	out16(n->page + PCI_COMMAND, PCI_MASTER);
	out32(at, ~0U);
	mask = in32(at) & ~15U;
	out32(at, low);
	if (wide)
		out32(at + 4, ~0U);
	mask |= (uint64_t)(wide ? in32(at + 4) : ~0U) << 32;
	if (wide)
		out32(at + 4, high);
	out16(n->page + PCI_COMMAND, PCI_MEMORY | PCI_MASTER);
	return ~mask + 1;
}

static bool is_sized(const struct nic *n, uint32_t bar)
{
	uint32_t before = in32(n->page + PCI_BAR + 4UL * bar);
	uint64_t size = size_of(n, bar);

	return size >= 16 && !(size & (size - 1)) && !(n->bars[bar] & (size - 1)) &&
	       in32(n->page + PCI_BAR + 4UL * bar) == before;
}

/* Whether the list ends, is aligned, and each structure is whole and in its BAR. */
static bool is_list_good(const struct nic *n)
{
	uint32_t cap = in8(n->page + PCI_CAPABILITIES), i;
	bool good = true;

	for (i = 0; cap && i < CAPS_MOST; i++, cap = in8(n->page + cap + 1))
		good &= cap >= 0x40 && !(cap & 3);
	return good && i && i < CAPS_MOST;
}

static bool are_structures_good(const struct nic *n)
{
	uint32_t cap = in8(n->page + PCI_CAPABILITIES);
	bool good = true;

	for (uint32_t i = 0; cap && i < CAPS_MOST; i++, cap = in8(n->page + cap + 1)) {
		uint32_t kind = in8(n->page + cap + 3), bar = in8(n->page + cap + 4);
		uint64_t end = (uint64_t)in32(n->page + cap + 8) + in32(n->page + cap + 12);

		if (in8(n->page + cap) != VENDOR || kind == 8 || kind == 9)
			continue;
		good &= kind >= COMMON_CFG && kind <= PCI_CFG;
		good &= in8(n->page + cap + 2) >= (kind == NOTIFY_CFG || kind == PCI_CFG ? 20 : 16);
		good &= kind == PCI_CFG || (bar < 6 && n->bars[bar] && end <= size_of(n, bar));
	}
	return good;
}

static bool is_power(uint32_t value)
{
	return value && !(value & (value - 1));
}

void check_structures(struct nic *n)
{
	const struct structure *s = n->structures;

	report(is_sized(n, s[COMMON_CFG].bar), "PCI", "the BAR has a size, and keeps its address");
	report(is_list_good(n), "PCI", "the list of capabilities is aligned and ends");
	report(are_structures_good(n), "4.1.4.2", "each structure is whole and inside its BAR");
	report(s[COMMON_CFG].count, "4.1.4.3.1", "there is a common configuration");
	report(s[NOTIFY_CFG].count, "4.1.4.4.1", "there is a notification structure");
	report(s[ISR_CFG].count, "4.1.4.5.1", "there is an ISR status");
	report(s[DEVICE_CFG].count, "4.1.4.6", "there is a device configuration");
	report(s[PCI_CFG].count, "4.1.4.9.1", "there is a window in configuration space");
	report(!(s[COMMON_CFG].offset & 3) && s[COMMON_CFG].length >= 56, "4.1.4.3.1",
	       "the common configuration is aligned and has all fields");
	report(!(s[NOTIFY_CFG].offset & 1) && s[NOTIFY_CFG].length >= 2, "4.1.4.4.1",
	       "the notification structure is aligned");
	report(!n->multiplier || (is_power(n->multiplier) && n->multiplier > 1), "4.1.4.4.1",
	       "notify_off_multiplier is 0 or an even power of 2");
	report(s[ISR_CFG].length >= 1, "4.1.4.5", "the ISR status has a byte");
	report(!(s[DEVICE_CFG].offset & 3) && s[DEVICE_CFG].length >= 12, "4.1.4.6.1",
	       "the device configuration is aligned and has mac, status and mtu");
}

/* --- the window ------------------------------------------------------------------------------ */

static void point(const struct nic *n, uint32_t kind, uint32_t offset, uint32_t length)
{
	uint64_t cap = n->page + n->structures[PCI_CFG].cap;

	out8(cap + 4, (uint8_t)n->structures[kind].bar);
	out32(cap + 8, n->structures[kind].offset + offset);
	out32(cap + 12, length);
}

static uint32_t window_read(const struct nic *n, uint32_t kind, uint32_t offset, uint32_t length)
{
	uint64_t data = n->page + n->structures[PCI_CFG].cap + 16;

	point(n, kind, offset, length);
	return length == 1 ? in8(data) : length == 2 ? in16(data) : in32(data);
}

static void window_write(const struct nic *n, uint32_t kind, uint32_t offset, uint32_t length,
                         uint32_t value)
{
	uint64_t data = n->page + n->structures[PCI_CFG].cap + 16;

	point(n, kind, offset, length);
	if (length == 1)
		out8(data, (uint8_t)value);
	else if (length == 2)
		out16(data, (uint16_t)value);
	else
		out32(data, value);
}

static bool keeps_window(const struct nic *n)
{
	uint64_t cap = n->page + n->structures[PCI_CFG].cap;

	point(n, DEVICE_CFG, 4, 2);
	return in8(cap + 4) == n->structures[DEVICE_CFG].bar &&
	       in32(cap + 8) == n->structures[DEVICE_CFG].offset + 4 && in32(cap + 12) == 2;
}

void check_window(struct nic *n)
{
	if (!bootarg_num("window", 1)) {
		report_skip("4.1.4.9", "accesses by the window",
		            "bootargs say that there are none");
		return;
	}
	(void)nic_reset(n);
	nic_set_status(n, ACKNOWLEDGE | DRIVER);
	report(keeps_window(n), "4.1.4.9", "bar, offset and length of the window are kept");
	report_eq(window_read(n, COMMON_CFG, DEVICE_STATUS, 1), ACKNOWLEDGE | DRIVER, "4.1.4.9.1",
	          "the window reads one byte");
	report_eq(window_read(n, COMMON_CFG, NUM_QUEUES, 2), in16(n->common + NUM_QUEUES),
	          "4.1.4.9.1", "the window reads two bytes");
	window_write(n, COMMON_CFG, DEVICE_FEATURE_SELECT, 4, 1);
	report_eq(in32(n->common + DEVICE_FEATURE_SELECT), 1, "4.1.4.9.1",
	          "the window writes four bytes");
	report_eq(window_read(n, COMMON_CFG, DEVICE_FEATURE, 4), in32(n->common + DEVICE_FEATURE),
	          "4.1.4.9.1", "the window reads four bytes");
	window_write(n, COMMON_CFG, QUEUE_SELECT, 2, 1);
	report_eq(in16(n->common + QUEUE_SELECT), 1, "4.1.4.9.1", "the window writes two bytes");
	window_write(n, COMMON_CFG, DEVICE_STATUS, 1, 0);
	report_eq(nic_status(n), 0, "4.1.4.9.1", "the window writes one byte");
	report_eq(window_read(n, DEVICE_CFG, 0, 1), n->mac[0], "4.1.4.9.1",
	          "the window reads the device configuration");
	if (nic_start(n, 0, SLOTS)) {
		nic_describe(n, SENDS, 0, nic_frame_away(n, 0, 60), HEADER + 60, 0, 0);
		nic_offer(n, SENDS, 0);
		nic_select(n, SENDS);
		window_write(n, NOTIFY_CFG, in16(n->common + QUEUE_NOTIFY_OFF) * n->multiplier, 2,
		             SENDS);
	}
	report(nic_await(n, SENDS, 1), "4.1.4.9.1", "the window notifies");
	report_eq(window_read(n, ISR_CFG, 0, 1), 1, "4.1.4.9.1", "the window reads the ISR status");
	report_eq(in8(n->isr), 0, "4.1.4.9.1", "and that resets it");
}
