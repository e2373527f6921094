/* SPDX-License-Identifier: Apache-2.0 */
/* Two reads of one event with code of known length in between, for C and assembly. */
#ifndef GUESTS_LINUX_PAIR_H
#define GUESTS_LINUX_PAIR_H

/* Offsets in struct pair. */
#define PAIR_PAGE       0
#define PAIR_CSRR       8
#define PAIR_FD         16
#define PAIR_GAP        24
#define PAIR_BEGAN      32
#define PAIR_LOCK       40
#define PAIR_INDEX      48
#define PAIR_OFFSET     56
#define PAIR_RAW        64
#define PAIR_LOCK_AFTER 72
#define PAIR_VALUE      80
#define PAIR_ENDED      88
/* Offsets in struct perf_event_mmap_page. */
#define PAGE_LOCK   8
#define PAGE_INDEX  12
#define PAGE_OFFSET 16

/* Instructions after the csrr up to the ecall of read(), including that. */
#define PAIR_INSNS 11

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct pair {
	/* Inputs: the event's page, the function that reads its counter, its file, and the rounds
	 * between the reads (> 0). */
	const volatile void *page;
	uint64_t (*csrr)(void);
	int64_t fd;
	uint64_t gap;
	/* Outputs. */
	uint64_t began; /* rdtime */
	uint64_t lock, index;
	int64_t offset;
	uint64_t raw;
	uint64_t lock_after;
	uint64_t value; /* read() */
	uint64_t ended; /* rdtime */
};
_Static_assert(offsetof(struct pair, raw) == PAIR_RAW && offsetof(struct pair, ended) == PAIR_ENDED,
               "the numbers above");

void pair(struct pair *p);
#endif

#endif
