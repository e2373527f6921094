/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace FOLDER UIO MESSAGES: the other side of guests/bare/io/pace.c, on Linux. FOLDER is that of
 * the bell's PCI function below /sys/bus/pci/devices, which uio_pci_generic serves as UIO. Each
 * message that comes is checked, and answered by one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guests/lib/bell.h"

#define OTHER_KEY    0x9e3779b97f4a7c15UL
#define OWN_KEY      0xc2b2ae3d27d4eb4fUL
#define COMMAND      4
#define INTX_DISABLE 0x400

static struct bell bell;
static volatile uint64_t *own, *other;
static uint64_t slots, done, wrong;

static void __attribute__((noreturn)) give_up(const char *what)
{
	printf("pace: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_in(const char *folder, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_SYNC);
	if (fd < 0)
		give_up(path);
	return fd;
}

static uintptr_t map(const char *folder, const char *name, uint64_t size)
{
	int fd = open_in(folder, name);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		give_up(name);
	close(fd);
	return (uintptr_t)at;
}

/* What has come is answered, each message by one. */
static void answer(uint64_t messages)
{
	uint64_t there = other[0];

	if (there == done)
		return;
	__asm__ volatile("fence r, rw" ::: "memory");
	wrong += there < done || there > messages || there - done > slots;
	for (; done < there && done < messages; done++) {
		volatile uint64_t *from = &other[8 + done % slots * 2];
		volatile uint64_t *to = &own[8 + done % slots * 2];

		wrong += from[0] != done || from[1] != done * OTHER_KEY;
		/* There is room: no more messages are on their way than there are slots. */
		to[0] = done;
		to[1] = done * OWN_KEY;
	}
	__asm__ volatile("fence rw, w" ::: "memory");
	own[1] = done;
	own[0] = done;
	bell_ring(&bell);
}

int main(int argc, char **argv)
{
	uint64_t messages = argc == 4 ? strtoull(argv[3], NULL, 10) : 0, interrupts = 0;
	uint32_t count = 0, first = 0;
	uint16_t command;
	int config, uio;

	if (argc != 4) {
		printf("pace: FOLDER UIO MESSAGES\n");
		return 2;
	}
	config = open_in(argv[1], "config");
	uio = open(argv[2], O_RDWR);
	if (uio < 0)
		give_up(argv[2]);
	bell.page = map(argv[1], "resource0", 4096);
	bell.size = (uint64_t)bell_read(&bell, BELL_SIZE + 4) << 32 | bell_read(&bell, BELL_SIZE);
	bell.memory = map(argv[1], "resource2", bell.size);
	own = (uint64_t *)(bell.memory + bell.size / 2);
	other = (uint64_t *)bell.memory;
	slots = (bell.size / 2 - 64) / 16;
	while (done < messages) {
		/* The driver has turned INTx off when it came. First the reason has to go. */
		bell_take(&bell);
		if (pread(config, &command, sizeof(command), COMMAND) != sizeof(command))
			give_up("config");
		command &= (uint16_t)~INTX_DISABLE;
		if (pwrite(config, &command, sizeof(command), COMMAND) != sizeof(command))
			give_up("config");
		answer(messages);
		bell_write(&bell, BELL_HEARTBEAT, 0);
		if (done == messages)
			break;
		if (read(uio, &count, sizeof(count)) != sizeof(count))
			give_up("read");
		if (!interrupts++)
			first = count;
	}
	printf("pace: %lu messages, %lu wrong, %s interrupts, %ld not read\n", done, wrong,
	       interrupts ? "with" : "without",
	       interrupts ? (long)(count - first) - (long)(interrupts - 1) : 0L);
	return wrong || !interrupts;
}
