/* SPDX-License-Identifier: Apache-2.0 */
/* The device's own configuration, and its changes (VIRTIO 1.2, 5.1.4, 2.5). */
#include "guests/netcheck/netcheck.h"

#define STATUS 6U
#define MTU    10U

static bool is_mac_good(const struct nic *n)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < MAC; i++)
		any |= n->mac[i];
	return any && !(n->mac[0] & 1);
}

/* The test gives this device the MAC 02:00:00:00:00:01. */
static bool is_mac_given(const struct nic *n)
{
	static const uint8_t given[MAC] = {2, 0, 0, 0, 0, 1};
	bool good = true;

	for (uint32_t i = 0; i < MAC; i++)
		good &= in8(n->config + i) == given[i];
	return good;
}

static bool is_read_only(const struct nic *n)
{
	uint16_t status = in16(n->config + STATUS), mtu = in16(n->config + MTU);

	out8(n->config, 0x0a);
	out16(n->config + STATUS, 0);
	out16(n->config + MTU, 68);
	return is_mac_given(n) && in16(n->config + STATUS) == status &&
	       in16(n->config + MTU) == mtu;
}

void check_config(struct nic *n)
{
	uint8_t generation = in8(n->common + CONFIG_GENERATION);
	uint16_t mtu = in16(n->config + MTU);

	report(is_mac_good(n), "5.1.4", "mac is a station's");
	report(is_mac_given(n), "5.1.4", "mac is the configured one");
	report_eq(in16(n->config + STATUS), 1, "5.1.4", "status is LINK_UP");
	report(mtu >= 1280, "5.1.4.1", "mtu is at least 68, and 1280");
	report_eq(mtu, 1500, "5.1.4.1", "mtu is the configured one");
	(void)nic_agree(n, nic_offered(n));
	report(is_read_only(n), "5.1.4", "mac, status and mtu cannot be written");
	(void)nic_agree(n, F_VERSION_1);
	report_eq(in16(n->config + MTU), mtu, "5.1.4.1", "mtu never changes");
	report_eq(in8(n->common + CONFIG_GENERATION), generation, "2.5.1",
	          "config_generation stays while nothing changes");
}

bool await_link(const struct nic *n, uint32_t status)
{
	for (uint32_t i = 0; i < 5000 && in16(n->config + STATUS) != status; i++)
		pause();
	return in16(n->config + STATUS) == status;
}

void check_link(struct nic *n)
{
	uint8_t generation;

	(void)nic_start(n, 0, SLOTS);
	nic_quiet(n);
	generation = in8(n->common + CONFIG_GENERATION);
	report_eq(in16(n->config + STATUS), 1, "5.1.4", "status is LINK_UP before");
	report(await_link(n, 0), "5.1.4", "status changes when the link goes down");
	report(in8(n->common + CONFIG_GENERATION) != generation, "4.1.4.3.1",
	       "config_generation is another one then");
	generation = in8(n->common + CONFIG_GENERATION);
	report_eq(irq_take(n), 2, "4.1.5.4", "a configuration interrupt");
	report_eq(irq_take(n), 0, "4.1.5.4", "one");
	report(await_link(n, 1), "5.1.4", "status changes when the link goes up");
	report(in8(n->common + CONFIG_GENERATION) != generation, "4.1.4.3.1",
	       "config_generation is another one again");
	report_eq(irq_take(n), 2, "4.1.5.4", "a configuration interrupt again");
	report(nic_exchange(n, 7, 60), "5.1.6", "and frames come and go");
}
