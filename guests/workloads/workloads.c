/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/workloads/workloads.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WALK_SIZE (4UL << 20) /* bytes */
#define LINE      64UL
#define TEXT_SIZE (64UL << 10) /* bytes that gzip compresses at once */
#define TEXT_FILE "/tmp/text"

static volatile uint64_t sink;

/* Four dependent instructions, and those of the loop. No memory access, no system call. */
static void compute(unsigned long n)
{
	uint64_t x = 1;

	for (unsigned long i = 0; i < n; i++)
		x = (x ^ (x >> 7)) * 0x5851f42d4c957f2dUL + i;
	sink = x;
}

static void system_calls(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static uint64_t *walk_first;

/* A cycle through all lines of the memory, in an order that jumps between pages. */
static void prepare_walk(void)
{
	unsigned long lines = WALK_SIZE / LINE, at = 0;
	uint8_t *memory = aligned_alloc(4096, WALK_SIZE);

	if (!memory)
		die("memory");
	for (unsigned long i = 0; i < lines; i++) {
		/* The step is coprime to the number of lines, a power of 2. */
		unsigned long next = (at + 4097) % lines;

		*(uint64_t **)(void *)(memory + at * LINE) =
		    (uint64_t *)(void *)(memory + next * LINE);
		at = next;
	}
	walk_first = (uint64_t *)(void *)memory;
}

static void walk(unsigned long n)
{
	uint64_t *at = walk_first;

	for (unsigned long i = 0; i < n; i++) {
		at[1] += i;
		at = (uint64_t *)at[0];
	}
	sink = at[1];
}

static int there[2], back[2];

static void move_byte(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		die("pipe");
}

/* Sends a byte to another process and back: two context switches per round. */
static void ping_pong(unsigned long n)
{
	pid_t child;

	if (pipe(there) || pipe(back))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		for (unsigned long i = 0; i < n; i++)
			move_byte(there[0], back[1]);
		_exit(0);
	}
	if (write(there[1], "x", 1) != 1)
		die("pipe");
	for (unsigned long i = 1; i < n; i++)
		move_byte(back[0], there[1]);
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

static void forks(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child)
			_exit(0);
		if (waitpid(child, NULL, 0) != child)
			die("waitpid");
	}
}

/* Words in an order that does not repeat soon. Such text compresses to about a third. */
static void prepare_gzip(void)
{
	static const char *const words[] = {
	    "counter", "of", "the",  "hart", "overflow", "a",     "sample", "is", "virtual", "and",
	    "instret", "to", "mode", "mask", "firmware", "event", "cycle",  "in"};
	static char text[TEXT_SIZE];
	uint64_t random = 1;
	size_t used = 0;
	int fd = open(TEXT_FILE, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	while (used + 16 < TEXT_SIZE) {
		const char *word;
		size_t length;

		random = random * 0x5851f42d4c957f2dUL + 0x14057b7ef767814fUL;
		word = words[(random >> 33) % (sizeof(words) / sizeof(words[0]))];
		length = strlen(word);
		memcpy(text + used, word, length);
		text[used + length] = random >> 60 ? ' ' : '\n';
		used += length + 1;
	}
	if (fd < 0 || write(fd, text, used) != (ssize_t)used || close(fd))
		die(TEXT_FILE);
}

/* Busybox, from fork to wait. */
static void gzip(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		int status;
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child) {
			int null = open("/dev/null", O_WRONLY);

			dup2(null, 1);
			execl("/usr/bin/busybox", "gzip", "-c", TEXT_FILE, (char *)NULL);
			_exit(127);
		}
		if (waitpid(child, &status, 0) != child || status)
			die("gzip");
	}
}

const struct workload workloads[] = {
    {"compute", NULL, compute, 30000000},
    {"syscalls", NULL, system_calls, 30000},
    {"memory", prepare_walk, walk, 1500000},
    {"pipe", NULL, ping_pong, 1000},
    {"forks", NULL, forks, 60},
    {"gzip", prepare_gzip, gzip, 1},
    {NULL, NULL, NULL, 0},
};
