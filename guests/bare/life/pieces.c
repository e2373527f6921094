/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at each piece of its memory, as its device tree describes them: nothing of a former life is
 * there; it can be loaded, stored to, executed and given to the SBI up to both ends, and not beyond
 * them. Fills all of it. Prints a line for each piece, and what it counted of code of known length.
 *   type=1, 2     ends with this reset type; 0: shuts down
 */
#include "guests/bare/bare.h"

#define RET      0x00008067U
#define FILLING  0x5ec2e75ec2e75ec3UL
#define DTB_SIZE 0x10000UL
#define FAR      0x8000000000000001UL

extern char _start[], image_end[];

static uint64_t wrong;

static void check(bool good, const char *what, uint64_t at)
{
	if (good)
		return;
	wrong++;
	print("pieces: WRONG: %s at 0x%x\n", what, at);
}

static uint64_t not_zero(uint64_t from, uint64_t to)
{
	uint64_t found = 0;

	for (const uint64_t *p = (const uint64_t *)from; p < (const uint64_t *)to; p++)
		found += *p != 0;
	return found;
}

static void fill(uint64_t from, uint64_t to)
{
	for (volatile uint64_t *p = (uint64_t *)from; p < (uint64_t *)to; p++)
		*p = FILLING ^ (uint64_t)p;
}

static uint64_t not_filled(uint64_t from, uint64_t to)
{
	uint64_t found = 0;

	for (const volatile uint64_t *p = (uint64_t *)from; p < (uint64_t *)to; p++)
		found += *p != (FILLING ^ (uint64_t)p);
	return found;
}

static uint64_t load_cause(uint64_t at)
{
	trap_guard();
	(void)*(volatile uint64_t *)at;
	return trap_unguard().cause;
}

static uint64_t store_cause(uint64_t at)
{
	trap_guard();
	*(volatile uint64_t *)at = 1;
	return trap_unguard().cause;
}

static uint64_t jump_cause(uint64_t at)
{
	void (*code)(void) = (void (*)(void))at;

	trap_guard();
	code();
	return trap_unguard().cause;
}

/* The last bytes of a piece, which are free. */
static void use_end(uint64_t end)
{
	volatile uint32_t *code = (uint32_t *)(end - 4);
	uint32_t *info = (uint32_t *)(end - 16);
	struct sbiret r;

	*code = RET;
	__asm__ volatile("fence.i");
	check(jump_cause(end - 4) == ~0UL, "code", end - 4);
	info[0] = EVENT_INSTRUCTIONS;
	info[1] = info[2] = info[3] = 0;
	r = sbi_pmu(SBI_PMU_EVENT_GET_INFO, end - 16, 0, 1, 0, 0);
	check(!r.error && info[1] == 1, "event info", end - 16);
	r = sbi_pmu(SBI_PMU_EVENT_GET_INFO, end - 16, 0, 2, 0, 0);
	check(r.error == SBI_ERR_INVALID_ADDRESS, "event info beyond the end", end - 16);
	r = sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, 16, end - 8, 0, 0, 0, 0);
	check(r.error == SBI_ERR_INVALID_PARAM, "text beyond the end", end - 8);
}

static void say(uint64_t at)
{
	static const char text[] = "piece!\n";

	for (uint32_t i = 0; i < 7; i++)
		((volatile char *)at)[i] = text[i];
	check(!sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, 7, at, 0, 0, 0, 0).error, "text", at);
}

/* Nothing is where no piece is. */
static void look_beside(uint64_t at)
{
	check(load_cause(at) == 5, "load beside", at);
	check(store_cause(at) == 7, "store beside", at);
	check(jump_cause(at) == 1, "jump beside", at);
}

/* The image and the device tree are in the first piece. */
static void piece(uint64_t base, uint64_t size, bool first)
{
	uint64_t end = first ? base + size - DTB_SIZE : base + size;
	uint64_t from = first ? (uint64_t)_start : base;
	uint64_t to = first ? ((uint64_t)image_end + 7) & ~7UL : base;
	uint64_t dirty = not_zero(base, from) + not_zero(to, end);

	look_beside(base - 8);
	look_beside(base + size);
	fill(base, from);
	fill(to, end);
	check(!not_filled(base, from) && !not_filled(to, end), "memory", base);
	if (!first)
		use_end(end);
	say(base);
	say(end - 8);
	print("pieces: %x has %x bytes, dirty words %u\n", base, size, dirty);
}

static uint64_t counted(void)
{
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);
	uint64_t n;

	pmu_start(BIT(r.value), FAR);
	n = segment_of((uint32_t)r.value)(1000);
	pmu_reset(BIT(r.value));
	return n;
}

int pieces_kind(uint64_t hartid)
{
	uint64_t base, size;
	uint32_t n = 0;

	(void)hartid;
	for (; memory_node(n, &base, &size); n++)
		piece(base, size, n == 0);
	print("pieces: %u, wrong %u, counted %u\n", (uint64_t)n, wrong, counted());
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, bootarg_num("type", 1), 0, 0, 0, 0, 0);
	return 1;
}
