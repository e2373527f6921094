/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload NAME,NAME... [PARTS [SLOT]]: runs PARTS parts of each workload, default 3, and prints
 * how many ticks of `time` each took. With -icount shift=0 a tick is 100 instructions of all
 * privilege modes, by this process or by anything else.
 *
 * Before, a shorter part runs and is not timed. Then the process sleeps until `time` is a multiple
 * of SLOT milliseconds. So guests that are started together measure together, and what came before
 * has no influence.
 */
#include <fcntl.h>
#include <linux/random.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "guests/workloads/workloads.h"

#define TIMEBASE  10000000UL /* Hz, of every machine here */
#define MAX_PARTS 16UL
#define WARM_UP   8UL /* fraction of a part */

void die(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * Gives the kernel a seed, the same everywhere. Guests of KVM have no other. Until a kernel has one
 * it computes a key for each random number: 17,500 instructions in each fork, which have nothing to
 * do with a PMU.
 */
static void seed(void)
{
	struct {
		struct rand_pool_info info;
		uint32_t words[16];
	} pool = {.info = {.entropy_count = 512, .buf_size = sizeof(pool.words)}};
	int fd = open("/dev/urandom", O_WRONLY);

	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &pool) || close(fd))
		die("/dev/urandom");
}

static inline uint64_t rdtime(void)
{
	uint64_t now;

	__asm__ volatile("rdtime %0" : "=r"(now)::"memory");
	return now;
}

/* Sleeps until shortly before the slot, and waits awake for the rest. */
static void wait_for_slot(unsigned long ms)
{
	uint64_t slot = ms * (TIMEBASE / 1000);
	uint64_t end = (rdtime() / slot + 1) * slot;

	for (;;) {
		uint64_t left = end - rdtime();
		struct timespec ts;

		/* Negative after the end. */
		if ((int64_t)left <= 20000)
			break;
		left -= 20000;
		ts.tv_sec = (time_t)(left / TIMEBASE);
		ts.tv_nsec = (long)(left % TIMEBASE * 100);
		nanosleep(&ts, NULL);
	}
	while ((int64_t)(end - rdtime()) > 0) {
	}
}

static const struct workload *find(const char *name)
{
	const struct workload *w = workloads;

	while (w->name && strcmp(w->name, name) != 0)
		w++;
	return w->name ? w : NULL;
}

static void measure(const struct workload *w, unsigned long parts, unsigned long slot)
{
	uint64_t ticks[MAX_PARTS];

	if (w->prepare)
		w->prepare();
	w->part(w->n / WARM_UP ? w->n / WARM_UP : 1);
	if (slot)
		wait_for_slot(slot);
	uint64_t begin = rdtime();
	for (unsigned long i = 0; i < parts; i++) {
		uint64_t start = rdtime();

		w->part(w->n);
		ticks[i] = rdtime() - start;
	}
	printf("work %s %lu:", w->name, begin);
	for (unsigned long i = 0; i < parts; i++)
		printf(" %lu", ticks[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	unsigned long parts = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;
	unsigned long slot = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

	if (argc < 2 || !parts || parts > MAX_PARTS)
		parts = 0;
	if (parts)
		seed();
	for (char *name = parts ? strtok(argv[1], ",") : NULL; name; name = strtok(NULL, ",")) {
		const struct workload *w = find(name);

		if (!w) {
			parts = 0;
			break;
		}
		measure(w, parts, slot);
		fflush(stdout);
	}
	if (!parts)
		fprintf(stderr, "usage: workload NAME,NAME... [PARTS [SLOT]]\n");
	return parts ? 0 : 2;
}
