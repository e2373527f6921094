/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that it shares with other VMs, as its device tree describes it.
 *   role=send, receive  passes messages=, of which slots= at once, from the memory "down", which
 *                       the sender writes, by the memory "up", which the receiver writes. The
 *                       instructions of each message and of each look in vain are known, and so is
 *                       what a counter has to count.
 *   role=probe          each kind of access, and each SBI call that takes an address. What it may
 *                       write keeps the number of its life: it asks for a restart, up to lives=.
 */
#include "guests/bare/bare.h"

#define KEY  0x9e3779b97f4a7c15UL
#define FAR  0x8000000000000001UL
#define NONE ~0UL

/* Instructions of ring.S. */
#define SEND_MESSAGE    15
#define SEND_LOOK       5
#define RECEIVE_MESSAGE 19
#define RECEIVE_LOOK    4

struct looks {
	uint64_t vain, wrong;
};
typedef struct looks (*ring_t)(uint64_t own, uint64_t other, uint64_t messages, uint64_t key,
                               uint64_t slots);
struct looks ring_send(uint64_t own, uint64_t other, uint64_t messages, uint64_t key,
                       uint64_t slots);
struct looks ring_receive(uint64_t own, uint64_t other, uint64_t messages, uint64_t key,
                          uint64_t slots);

static uint64_t wrong;

static void check(bool good, const char *what, uint64_t at)
{
	if (good)
		return;
	wrong++;
	print("shared: WRONG: %s at 0x%x\n", what, at);
}

static bool is(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static uint64_t base_of(const char *name)
{
	struct shared_memory s;

	for (uint32_t n = 0; shared_node(n, &s); n++) {
		if (is(s.name, name))
			return s.base;
	}
	check(false, name, 0);
	return 0;
}

/* Without messages it tells what is counted besides them. */
__attribute__((noinline)) static uint64_t counted(uint32_t ctr, ring_t ring, uint64_t own,
                                                  uint64_t other, uint64_t messages, uint64_t slots,
                                                  struct looks *looks)
{
	uint64_t before = counter_read(ctr);

	*looks = ring(own, other, messages, KEY, slots);
	return counter_read(ctr) - before;
}

static int pass(bool sends)
{
	uint64_t own = base_of(sends ? "down" : "up"), other = base_of(sends ? "up" : "down");
	uint64_t messages = bootarg_num("messages", 1000), slots = bootarg_num("slots", 64);
	uint64_t known = messages * (sends ? SEND_MESSAGE : RECEIVE_MESSAGE), n;
	ring_t ring = sends ? ring_send : ring_receive;
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);
	uint32_t ctr = (uint32_t)r.value;
	struct looks looks = {0, 0};

	if (r.error || wrong || pmu_start(BIT(ctr), FAR))
		return 1;
	n = counted(ctr, ring, own, other, 0, slots, &looks);
	n = counted(ctr, ring, own, other, messages, slots, &looks) - n;
	known += looks.vain * (sends ? SEND_LOOK : RECEIVE_LOOK);
	print("shared: %s %u messages", sends ? "sent" : "received", messages);
	print(", %u wrong, %u instructions too many or too few\n", sends ? 0 : looks.wrong,
	      n - known);
	print("shared: looked in vain %u times\n", looks.vain);
	return 0;
}

static uint64_t load_cause(uint64_t at)
{
	trap_guard();
	(void)*(volatile uint64_t *)at;
	return trap_unguard().cause;
}

/* The three ways to write. None of them changes what is there. */
static struct trap_seen store(uint64_t at)
{
	uint64_t value = *(volatile uint64_t *)at;

	trap_guard();
	*(volatile uint64_t *)at = value;
	return trap_unguard();
}

static uint64_t amo_cause(uint64_t at)
{
	trap_guard();
	__asm__ volatile("amoadd.d zero, zero, (%0)" ::"r"(at) : "memory");
	return trap_unguard().cause;
}

static uint64_t sc_cause(uint64_t at)
{
	trap_guard();
	__asm__ volatile("lr.d t0, (%0)\n\tsc.d t0, t0, (%0)" ::"r"(at) : "t0", "memory");
	return trap_unguard().cause;
}

static uint64_t store_beside(uint64_t at)
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

/* Tally reads and writes a guest's own memory alone. */
static void calls(uint64_t at)
{
	struct sbiret r = sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, 8, at, 0, 0, 0, 0);

	check(r.error == SBI_ERR_INVALID_PARAM, "text to print", at);
	r = sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_READ, 8, at, 0, 0, 0, 0);
	check(r.error == SBI_ERR_INVALID_PARAM, "input", at);
	r = sbi_pmu(SBI_PMU_EVENT_GET_INFO, at, 0, 1, 0, 0);
	check(r.error == SBI_ERR_INVALID_ADDRESS, "event info", at);
	r = sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, at, 0, 0, 0, 0);
	check(r.error == SBI_ERR_INVALID_ADDRESS, "snapshot", at);
	r = sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, 0, at, 0, 0, 0, 0);
	check(r.error == SBI_ERR_INVALID_ADDRESS, "start of a vcpu", at);
	r = sbi_call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, SBI_HSM_SUSPEND_NON_RETENTIVE, at, 0, 0, 0,
	             0);
	check(r.error == SBI_ERR_INVALID_ADDRESS, "end of a suspension", at);
}

static void probe(const struct shared_memory *s)
{
	uint64_t end = s->base + s->size, last = end - 8, store_is = s->writable ? NONE : 7;
	struct trap_seen seen = store(last);

	check(load_cause(s->base) == NONE && load_cause(last) == NONE, "load", s->base);
	check(seen.cause == store_is && (s->writable || seen.tval == last), "store", last);
	check(amo_cause(last) == store_is, "AMO", last);
	check(sc_cause(last) == store_is, "SC", last);
	check(jump_cause(s->base) == 1, "jump", s->base);
	check(jump_cause(last) == 1, "jump", last);
	check(load_cause(s->base - 8) == 5 && load_cause(end) == 5, "load beside", end);
	check(store_beside(s->base - 8) == 7 && store_beside(end) == 7, "store beside", end);
	calls(s->base);
	calls(end - 4096);
}

/* Byte 0 is the last life of the one that writes, from byte 8 on all is filled by its first. */
static uint64_t life_in(const struct shared_memory *s)
{
	volatile uint64_t *word = (uint64_t *)s->base, life = *word;
	uint64_t n = s->size / 8, changed = 0;

	for (uint64_t i = 1; i < n; i++)
		changed += word[i] != (life ? KEY * i : 0);
	check(!changed, "contents", s->base);
	for (uint64_t i = 1; i < n && s->writable && !life; i++)
		word[i] = KEY * i;
	if (s->writable)
		*word = life + 1;
	return life;
}

static int probes(void)
{
	uint64_t lives = bootarg_num("lives", 1), life = 0;
	struct shared_memory s;

	for (uint32_t n = 0; shared_node(n, &s); n++) {
		probe(&s);
		life = life_in(&s);
		print("shared: %s at %x has %x bytes, to ", s.name, s.base, s.size);
		print("%s: life %u, wrong %u\n", s.writable ? "write" : "read", life, wrong);
	}
	if (life + 1 < lives)
		sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 0;
}

int shared_kind(uint64_t hartid)
{
	(void)hartid;
	if (bootarg_is("role", "probe"))
		return probes();
	return pass(bootarg_is("role", "send"));
}
