/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans COMMAND...: counts user instructions of the whole guest (like perf's `-a`), and prints at
 * each multiple of FRAME_NS of the guest's clock by how much the count has grown since the one
 * before. The command runs behind each. While it waits for the next one nothing runs in user mode,
 * and the path from the count to the wait is the same each time.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SPANS    2
#define FRAME_NS 500000000L
#define SECOND   1000000000L

static int open_counter(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_HARDWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_HW_INSTRUCTIONS,
	    .exclude_kernel = 1,
	    .pinned = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

static void run(char **command)
{
	pid_t child = fork();

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	int fd = open_counter();
	struct timespec at;
	uint64_t last = 0;

	if (argc < 2 || fd < 0) {
		perror("spans");
		return 1;
	}
	/* By then, the shell that started this waits. */
	usleep(200000);
	puts("spans begin");
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec -= at.tv_nsec % FRAME_NS;
	for (int i = 0; i <= SPANS; i++) {
		uint64_t value = 0;

		at.tv_nsec += FRAME_NS;
		at.tv_sec += at.tv_nsec / SECOND;
		at.tv_nsec %= SECOND;
		if (syscall(SYS_read, fd, &value, sizeof(value)) != sizeof(value) ||
		    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
			return 1;
		printf("span %d: %llu\n", i, (unsigned long long)(value - last));
		fflush(stdout);
		last = value;
		if (i < SPANS)
			run(argv + 1);
	}
	return 0;
}
