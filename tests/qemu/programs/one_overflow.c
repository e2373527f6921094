/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_overflow PERIOD TIMES: as a record-and-replay tool does, arms a counter of user instructions
 * for one overflow (PERF_EVENT_IOC_REFRESH), executes until its signal, and reads the counter in
 * the handler. Prints the counts that differ from PERIOD, and how many did not.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int event;
static volatile uint64_t seen;

static void overflowed(int number)
{
	uint64_t count = 0;

	(void)number;
	if (read(event, &count, sizeof(count)) != sizeof(count))
		_exit(2);
	seen = count;
}

int main(int argc, char **argv)
{
	unsigned long period = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned long times = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	unsigned long right = 0;
	struct perf_event_attr attr;
	struct sigaction action;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.sample_period = period;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	memset(&action, 0, sizeof(action));
	action.sa_handler = overflowed;
	sigaction(SIGUSR1, &action, NULL);
	if (event < 0 || fcntl(event, F_SETFL, O_ASYNC) || fcntl(event, F_SETSIG, SIGUSR1) ||
	    fcntl(event, F_SETOWN, getpid())) {
		perror("one_overflow");
		return 1;
	}
	for (unsigned long i = 0; i < times; i++) {
		seen = 0;
		ioctl(event, PERF_EVENT_IOC_RESET, 0);
		ioctl(event, PERF_EVENT_IOC_REFRESH, 1);
		while (!seen)
			;
		ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
		if (seen == period)
			right++;
		else
			printf("one_overflow: count %lu\n", (unsigned long)seen);
	}
	printf("one_overflow: %lu of %lu counts are %lu\n", right, times, period);
	return 0;
}
