/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for an SMP Linux guest: forks, pipes, and work that makes harts fence each other
 * (memory is unmapped under running threads, code is rewritten), all at once, N rounds of each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3

static long rounds;
static long faults;

static void bad(const char *what)
{
	perror(what);
	__atomic_add_fetch(&faults, 1, __ATOMIC_SEQ_CST);
}

/* Starts children that answer through a pipe. */
static void *forks(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		int fd[2], status;
		long got = -1;
		pid_t child;

		if (pipe(fd) || (child = fork()) < 0) {
			bad("fork");
			break;
		}
		if (child == 0)
			_exit(write(fd[1], &i, sizeof(i)) != sizeof(i));
		if (read(fd[0], &got, sizeof(got)) != sizeof(got) || got != i)
			bad("pipe");
		close(fd[0]);
		close(fd[1]);
		if (waitpid(child, &status, 0) != child || status)
			bad("child");
	}
	return arg;
}

/* Writes, unmaps and maps pages: another hart must not see the old ones. */
static void *pages(void *arg)
{
	const size_t size = 16 * 4096;

	for (long i = 0; i < 4 * rounds; i++) {
		volatile char *p =
		    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED) {
			bad("mmap");
			break;
		}
		for (size_t at = 0; at < size; at += 4096) {
			if (p[at])
				bad("page not new");
			p[at] = (char)(i | 1);
		}
		munmap((void *)p, size);
	}
	return arg;
}

/* Writes a function again and again; each thread has its own, and all harts are fenced. */
static void *code(void *arg)
{
	unsigned int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*function)(void) = (int (*)(void))p;

	for (int i = 0; p != MAP_FAILED && i < 4 * rounds; i++) {
		int value = i % 2000;

		p[0] = 0x00000513U | (unsigned int)value << 20; /* li a0, value */
		p[1] = 0x00008067U;                             /* ret */
		syscall(SYS_riscv_flush_icache, p, p + 2, 0);
		if (function() != value)
			bad("code is old");
	}
	return arg;
}

int main(int argc, char **argv)
{
	void *(*const work[THREADS])(void *) = {forks, pages, code};
	pthread_t threads[2 * THREADS];

	rounds = argc > 1 ? atol(argv[1]) : 100;
	for (int i = 0; i < 2 * THREADS; i++)
		if (pthread_create(&threads[i], NULL, work[i % THREADS], NULL))
			bad("pthread_create");
	for (int i = 0; i < 2 * THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("stress: %ld rounds, %ld faults\n", rounds, faults);
	return faults != 0;
}
