/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans COMMAND...: counts user instructions of the whole guest (like perf's `-a`), and prints
 * after each line of input by how much the count has grown since the line before. The command runs
 * in between. While it waits for a line nothing runs in user mode, and the path from the count to
 * the wait is the same each time.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPANS 2

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
	uint64_t last = 0;

	if (argc < 2 || fd < 0) {
		perror("spans");
		return 1;
	}
	/* By then, the shell that started this waits. */
	usleep(200000);
	puts("spans begin");
	fflush(stdout);
	for (int i = 0; i <= SPANS; i++) {
		uint64_t value = 0;
		char line[64];

		if (syscall(SYS_read, fd, &value, sizeof(value)) != sizeof(value) ||
		    syscall(SYS_read, 0, line, sizeof(line)) <= 0)
			return 1;
		printf("span %d: %llu\n", i, (unsigned long long)(value - last));
		fflush(stdout);
		last = value;
		if (i < SPANS)
			run(argv + 1);
	}
	return 0;
}
