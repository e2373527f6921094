/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads registers of a device at at=, `reads=` times: the clock of a goldfish RTC, whose first word
 * is the lower half of the time in nanoseconds and whose second word is the upper half as it was
 * then. Then tries the pages beside it, which are not the guest's.
 */
#include "guests/bare/bare.h"

/* at= in hexadecimal, with 0x before it; without, that of QEMU's clock. */
static uint64_t address(void)
{
	const char *p = bootarg("at");
	uint64_t n = 0;

	if (!p || p[0] != '0' || p[1] != 'x')
		return 0x101000;
	for (p += 2;; p++) {
		if (*p >= '0' && *p <= '9')
			n = n << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			n = n << 4 | (uint64_t)(*p - 'a' + 10);
		else
			return n;
	}
}

static uint64_t load(uint64_t at)
{
	uint32_t value;

	__asm__ volatile("lw %0, (%1)" : "=r"(value) : "r"(at) : "memory");
	return value;
}

static void try_page(const char *name, uint64_t at)
{
	struct trap_seen seen;

	trap_guard();
	load(at);
	seen = trap_unguard();
	if (seen.cause == ~0UL)
		print("device: the page %s can be read\n", name);
	else
		print("device: the page %s: cause %u\n", name, seen.cause);
}

int device(uint64_t hartid)
{
	uint64_t at = address(), reads = bootarg_num("reads", 1000), last = 0;
	bool back = false;

	(void)hartid;
	trap_guard();
	for (uint64_t i = 0; i < reads; i++) {
		uint64_t low = load(at), now = load(at + 4) << 32 | low;

		back |= now < last;
		last = now;
	}
	if (trap_unguard().cause != ~0UL) {
		print("device: cannot be read\n");
		return 0;
	}
	print("device: %u reads, the clock goes %s, year %u\n", reads, back ? "back" : "on",
	      1970 + last / 31556952000000000UL);
	try_page("before", at - 0x1000);
	try_page("behind", at + 0x1000);
	return 0;
}
