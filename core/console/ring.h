/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output that the serial line has not taken yet, in order, and a share of it for each writer.
 * No writer can use the share of another one, so no VM can delay or lose what others write. Pure;
 * the caller of each function holds the console lock.
 */
#ifndef CORE_CONSOLE_RING_H
#define CORE_CONSOLE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/console/console.h"

/* Writers: the VMs, and these two. Answers are also the prompt's lines, and what a key prints. */
enum { RING_TALLY = CONSOLE_MAX_VMS, RING_ANSWERS, RING_WRITERS, RING_IDS = 32 };

/*
 * Shares in bytes. Of a VM's share the last RING_END bytes are for its unfinished line when it
 * ends, and the RING_UART bytes before them for its UART: they are enough for any 16 bytes. A VM
 * that waits for room is told when RING_WAKE bytes are free beside RING_END. They are enough for
 * any call beside its UART.
 */
#define RING_SHARE         5120u
#define RING_TALLYS        4096u
#define RING_ANSWERS_SHARE 2560u
#define RING_END           1280u
#define RING_UART          2048u
#define RING_WAKE          (RING_UART + CONSOLE_CALL_MOST)

/* Bytes of memory for a ring of n VMs. */
#define RING_BYTES(n) ((n)*RING_SHARE + RING_TALLYS + RING_ANSWERS_SHARE)

/*
 * Bytes of one writer in a row are a record: a header of two bytes, which its share pays, and the
 * bytes.
 */
struct ring {
	char *bytes;    /* NULL: there is no ring yet */
	uint32_t size;  /* of bytes[] */
	uint32_t head;  /* index of the oldest byte */
	uint32_t used;  /* with headers */
	uint64_t added; /* the same of all that ever was in the ring */
	uint32_t left;  /* bytes of the oldest record after its header; 0: its header is next */
	uint32_t last;  /* index of the newest record's header */
	uint16_t last_length;
	uint8_t writer, last_writer; /* of the oldest record, if left is not 0; of the newest one */
	uint8_t told;                /* VM that ring_told() has returned last */
	bool last_begun;             /* the newest record is the oldest one, without its header */
	uint32_t waiting;            /* VMs to be told of room */
	uint32_t ready;              /* VMs that waited, and have room now */
	uint32_t used_by[RING_IDS];  /* in a panic a header may name any of them */
};

/* Sets up an empty ring in RING_BYTES(n_vms) bytes of memory. */
void ring_init(struct ring *r, char *memory, unsigned int n_vms);

/* Returns how many bytes the writer may still add, in one piece or several; for a VM without its
 * last RING_END bytes. */
size_t ring_room(const struct ring *r, unsigned int writer);

/* Adds n bytes, also of a VM's last RING_END. Returns false, and adds nothing, if they exceed the
 * writer's share. */
bool ring_add(struct ring *r, unsigned int writer, const char *s, size_t n);

/* Returns how many bytes at *at come next, 0 if there are none. */
size_t ring_next(struct ring *r, const char **at);

/* Drops the first n of these. */
void ring_drop(struct ring *r, size_t n);

/* Whether VM vm has fewer than `least` free bytes (at most RING_WAKE). Then ring_told() returns it
 * once it has RING_WAKE. */
bool ring_waits(struct ring *r, unsigned int vm, size_t least);

/* Returns a VM that has waited and has room now, or -1. Each VM has its turn. */
int ring_told(struct ring *r);

#endif
