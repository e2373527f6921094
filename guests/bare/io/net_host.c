/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A station for other systems: answers ARP requests (RFC 826) for 10.0.0.N and ICMP echo requests
 * (RFC 792) to it; bootargs have N (ip=) and after how many answered echo requests it ends
 * (pings=). It believes what frames say, as nobody depends on it.
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/net.h"

#define TYPE        12U /* offsets in a frame */
#define ARP_OPER    20U
#define ARP_SENDER  22U /* its MAC, then its address */
#define ARP_TARGET  32U
#define ARP_BYTES   42U
#define IP_PROTOCOL 23U
#define IP_SOURCE   26U
#define IP_TARGET   30U
#define ICMP        34U /* behind an IPv4 header without options */

#define ARP  0x0806U
#define IPV4 0x0800U
#define ECHO 8U /* an ICMP type; that of the reply is 0 */

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static bool is_own(const uint8_t at[4], uint64_t n)
{
	return at[0] == 10 && !at[1] && !at[2] && at[3] == n;
}

static void copy(uint8_t *to, const uint8_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = from[i];
}

/* Sends a frame of so many bytes, made of this one: to its sender, from here. */
static void answer(struct port *p, const uint8_t *frame, uint32_t size,
                   void (*make)(uint8_t *to, const uint8_t *from, const struct port *p))
{
	uint8_t *to = port_frame(p);

	copy(to, frame, size);
	copy(to, frame + PORT_MAC, PORT_MAC);
	copy(to + PORT_MAC, p->mac, PORT_MAC);
	make(to, frame, p);
	port_offer(p, size, 1);
	port_notify(p, PORT_SENDS);
}

static void make_arp(uint8_t *to, const uint8_t *from, const struct port *p)
{
	to[ARP_OPER + 1] = 2;
	copy(to + ARP_SENDER, p->mac, PORT_MAC);
	copy(to + ARP_SENDER + PORT_MAC, from + ARP_TARGET + PORT_MAC, 4);
	copy(to + ARP_TARGET, from + ARP_SENDER, PORT_MAC + 4);
}

/* The checksum of the IPv4 header is a sum, and stays as it is. */
static void make_echo(uint8_t *to, const uint8_t *from, const struct port *p)
{
	uint32_t sum = get16(from + ICMP + 2) + (ECHO << 8);

	(void)p;
	copy(to + IP_SOURCE, from + IP_TARGET, 4);
	copy(to + IP_TARGET, from + IP_SOURCE, 4);
	sum = (sum & 0xffff) + (sum >> 16);
	to[ICMP] = 0;
	to[ICMP + 2] = (uint8_t)(sum >> 8);
	to[ICMP + 3] = (uint8_t)sum;
}

int net_host(struct port *p)
{
	uint64_t ip = bootarg_num("ip", 1), pings = bootarg_num("pings", 1), arps = 0, echoes = 0;

	while (echoes < pings) {
		uint32_t size;
		const uint8_t *frame = port_received(p, &size);

		if (!frame) {
			port_wait(p);
			continue;
		}
		if (size >= ARP_BYTES && get16(frame + TYPE) == ARP && frame[ARP_OPER + 1] == 1 &&
		    is_own(frame + ARP_TARGET + PORT_MAC, ip)) {
			answer(p, frame, size, make_arp);
			arps++;
		} else if (size >= ARP_BYTES && get16(frame + TYPE) == IPV4 &&
		           frame[IP_PROTOCOL] == 1 && is_own(frame + IP_TARGET, ip) &&
		           frame[ICMP] == ECHO) {
			answer(p, frame, size, make_echo);
			echoes++;
		}
		port_release(p);
	}
	print("net: it is known, %u answers\n", echoes);
	return !arps;
}
