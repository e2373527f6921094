/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blockreads FILE ROUNDS COUNT: in each round reads COUNT blocks of 4 KiB from FILE in order, past
 * the page cache, between two marks. A mark is an instruction that does nothing, of which
 * tools/lib/benchlib/insns.c takes notice. A tenth of a round
 * comes first, without marks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK 4096

/* slti zero, zero, 0x7a1: a hint that means nothing. */
static inline void mark(void)
{
	__asm__ volatile(".4byte 0x7a102013" ::: "memory");
}

int main(int argc, char **argv)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	long rounds, count;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "blockreads FILE ROUNDS COUNT\n");
		return 2;
	}
	rounds = atol(argv[2]);
	count = atol(argv[3]);
	fd = open(argv[1], O_RDONLY | O_DIRECT);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	for (long round = 0; round <= rounds; round++) {
		if (round)
			mark();
		for (long i = 0; i < (round ? count : count / 10); i++) {
			if (pread(fd, block, BLOCK, (off_t)i * BLOCK) != BLOCK) {
				perror("read");
				return 1;
			}
		}
		if (round)
			mark();
	}
	return 0;
}
