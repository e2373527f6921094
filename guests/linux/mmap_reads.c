/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap_reads PAIRS N: opens N events instructions:u, then N events cycles:u, and reads each one
 * through its mmap page and through read(), PAIRS times. The code between the two reads has a known
 * length, so their values are compared exactly. Then it does the same PAIRS / 10 times with the
 * event disabled, when both must be equal. It also counts the pairs during which the vcpu did not
 * run: Tally's steal time increased by most of a time slice, and the pair took that long.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guests/lib/count.h"
#include "guests/linux/pair.h"

#define MAX_EVENTS 4
#define GAP        20000U
#define AWAY       15000U /* ticks of 100 ns; a slice is 20,000 */
/* Tally's own events: exits for trapped CSR reads, and steal time in ticks. */
#define EXITS_CSR 0x8000000000000106ULL
#define STEAL     0x800000000000010aULL

struct event {
	int fd;
	const volatile struct perf_event_mmap_page *page;
};

static struct event steal;

struct tally {
	unsigned long pairs, away, wrong, again;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct event open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;
	struct event event;
	void *page;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = type == PERF_TYPE_HARDWARE;
	event.fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (event.fd < 0)
		die("perf_event_open");
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, event.fd, 0);
	if (page == MAP_FAILED)
		die("mmap");
	event.page = page;
	return event;
}

static void close_event(const struct event *event)
{
	munmap((void *)(uintptr_t)event->page, 4096);
	close(event->fd);
}

static uint64_t read_event(const struct event *event)
{
	uint64_t value;

	if (read(event->fd, &value, sizeof(value)) != sizeof(value))
		die("read");
	return value;
}

/* Sign-extends a counter's value, which has as many bits as the page says. */
static int64_t extend(uint64_t raw, unsigned width)
{
	return (int64_t)(raw << (64 - width)) >> (64 - width);
}

/* Reads a pair, and returns whether the vcpu did not run during it. */
static bool pair_across_a_switch(struct pair *p)
{
	uint64_t stolen = read_event(&steal);

	pair(p);
	stolen = read_event(&steal) - stolen;
	return stolen >= AWAY && p->ended - p->began >= stolen;
}

static void running_pair(const struct event *event, struct tally *t)
{
	uint32_t index = event->page->index;
	struct pair p = {.page = event->page, .fd = event->fd, .gap = GAP};
	uint64_t expected;
	bool away;

	if (!event->page->cap_user_rdpmc || index == 0) {
		fprintf(stderr, "the kernel offers no read from user space\n");
		exit(1);
	}
	/* Indices count from 1. */
	p.csrr = read_of(index - 1);
	away = pair_across_a_switch(&p);
	if (p.lock != p.lock_after || p.index != index) {
		t->again++;
		return;
	}
	expected =
	    (uint64_t)(p.offset + extend(p.raw, event->page->pmc_width)) + PAIR_INSNS + 2 * GAP;
	t->pairs++;
	t->away += away;
	if (p.value != expected && t->wrong++ < 3)
		printf("WRONG: read() %lu, by the page %lu\n", p.value, expected);
}

/* Used when no counter may be read. */
static uint64_t no_csrr(void)
{
	return 0;
}

static void disabled_pair(const struct event *event, struct tally *t)
{
	struct pair p = {.page = event->page, .csrr = no_csrr, .fd = event->fd, .gap = 10 * GAP};

	if (ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0))
		die("PERF_EVENT_IOC_DISABLE");
	t->away += pair_across_a_switch(&p);
	t->pairs++;
	if (p.index || p.value != (uint64_t)p.offset)
		t->wrong++;
	if (ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0))
		die("PERF_EVENT_IOC_ENABLE");
}

static unsigned long measure(const char *name, uint64_t config, unsigned long pairs, unsigned n)
{
	struct event events[MAX_EVENTS], exits_csr = open_event(PERF_TYPE_RAW, EXITS_CSR);
	unsigned long wrong = 0;

	steal = open_event(PERF_TYPE_RAW, STEAL);
	for (unsigned i = 0; i < n; i++)
		events[i] = open_event(PERF_TYPE_HARDWARE, config);
	for (unsigned i = 0; i < n; i++) {
		struct tally on = {0, 0, 0, 0}, off = {0, 0, 0, 0};
		uint64_t exits = read_event(&exits_csr);

		while (on.pairs < pairs)
			running_pair(&events[i], &on);
		exits = read_event(&exits_csr) - exits;
		while (off.pairs < pairs / 10)
			disabled_pair(&events[i], &off);
		printf("mmap_reads: %s %u of %u: %lu pairs, %lu wrong, %lu away", name, i + 1, n,
		       on.pairs, on.wrong, on.away);
		printf("; disabled %lu, %lu wrong, %lu away; exits for reads %lu, again %lu\n",
		       off.pairs, off.wrong, off.away, exits, on.again);
		wrong += on.wrong + off.wrong;
	}
	for (unsigned i = 0; i < n; i++)
		close_event(&events[i]);
	close_event(&exits_csr);
	close_event(&steal);
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned long pairs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
	unsigned long wrong;

	if (n < 1 || n > MAX_EVENTS)
		return 2;
	wrong = measure("instructions", PERF_COUNT_HW_INSTRUCTIONS, pairs, n);
	wrong += measure("cycles", PERF_COUNT_HW_CPU_CYCLES, pairs, n);
	return wrong ? 1 : 0;
}
