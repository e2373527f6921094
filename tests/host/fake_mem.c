/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/fake_mem.h"

#include <string.h>

#include "tests/host/fake_hardware.h"

#define PAGE    4096U
#define PAGES   ((uint32_t)(FAKE_RAM_SIZE / PAGE))
#define TOUCHES 256U

struct touch {
	uint64_t gpa;
	uint32_t n;
	bool write;
};

static uint8_t ram[FAKE_VCPUS + 1][FAKE_RAM_SIZE];
static uint32_t dirty[FAKE_VCPUS + 1]; /* pages that are not all zero */
static struct touch touches[TOUCHES];
static uint32_t n_touches;

void fake_mem_reset(void)
{
	for (uint32_t vcpu = 0; vcpu <= FAKE_VCPUS; vcpu++) {
		for (uint32_t page = 0; page < PAGES; page++)
			if (dirty[vcpu] & 1U << page)
				memset(ram[vcpu] + page * PAGE, 0, PAGE);
		dirty[vcpu] = 0;
	}
	n_touches = 0;
}

bool fake_mem_is_ram(uint64_t gpa, uint64_t n)
{
	if (!n)
		return fake.config.nothing_is_ram || (gpa >= FAKE_RAM && gpa < FAKE_RAM_END);
	return gpa >= FAKE_RAM && n <= FAKE_RAM_SIZE && gpa - FAKE_RAM <= FAKE_RAM_SIZE - n;
}

void fake_mem_peek(uint32_t vcpu, uint64_t gpa, void *to, uint32_t n)
{
	memcpy(to, ram[vcpu] + (gpa - FAKE_RAM), n);
}

void fake_mem_poke(uint32_t vcpu, uint64_t gpa, const void *from, uint32_t n)
{
	uint64_t at = gpa - FAKE_RAM;

	if (!n)
		return;
	for (uint64_t page = at / PAGE; page <= (at + n - 1) / PAGE; page++)
		dirty[vcpu] |= 1U << page;
	memcpy(ram[vcpu] + at, from, n);
}

uint64_t fake_mem_peek64(uint32_t vcpu, uint64_t gpa)
{
	uint64_t value;

	fake_mem_peek(vcpu, gpa, &value, sizeof(value));
	return value;
}

void fake_mem_forget(void)
{
	n_touches = 0;
}

uint32_t fake_mem_touches(void)
{
	return n_touches;
}

bool fake_mem_touched(uint64_t base, uint32_t words, uint8_t *reads, uint8_t *writes)
{
	memset(reads, 0, words);
	memset(writes, 0, words);
	for (uint32_t i = 0; i < n_touches; i++) {
		const struct touch *t = &touches[i];
		uint8_t *count = t->write ? writes : reads;
		uint64_t first = (t->gpa - base) / 4;

		if (t->gpa < base || (t->gpa | t->n) & 3 || first + t->n / 4 > words)
			return false;
		for (uint32_t w = 0; w < t->n / 4; w++)
			count[first + w]++;
	}
	return true;
}

/* --- port ---------------------------------------------------------------------------- */

static bool note(uint64_t gpa, uint32_t n, bool write)
{
	fake_require(fake.resident != NOBODY, "guest memory touched with no vcpu resident");
	hardware_work_in_hs();
	if (!n || !fake_mem_is_ram(gpa, n))
		return false;
	if (n_touches == TOUCHES) {
		fake_require(false, "more touches of guest memory than any call needs");
		return false;
	}
	touches[n_touches++] = (struct touch){gpa, n, write};
	return true;
}

bool vpmu_port_guest_read(uint64_t gpa, void *to, uint32_t n)
{
	if (!note(gpa, n, false))
		return false;
	fake_mem_peek(fake.resident, gpa, to, n);
	return true;
}

bool vpmu_port_guest_write(uint64_t gpa, const void *from, uint32_t n)
{
	if (!note(gpa, n, true))
		return false;
	fake_mem_poke(fake.resident, gpa, from, n - fake.config.port_short_write);
	return true;
}

bool vpmu_port_guest_ram(uint64_t gpa, uint64_t n)
{
	fake_require(fake.resident != NOBODY, "guest memory asked about with no vcpu resident");
	hardware_work_in_hs();
	return fake_mem_is_ram(gpa, n);
}
