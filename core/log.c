/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log.h"

#include <stdarg.h>
#include <string.h>

#include "arch/riscv/hart/spinlock.h"
#include "core/console/ring.h"
#include "core/lib/printf.h"

static struct spinlock lock;
/* The lock protects all of these. */
static struct uart uart;
static struct ring ring;
static bool uses_ring;
static uint32_t budget;        /* bytes that the holder may still write */
static unsigned int output_of; /* whose the holder's output is */
static bool left_some;         /* the holder has left output in the ring */
static bool only_looks;        /* log_lock(), not log_lock_for() */
static bool wanted;            /* the first argument of the last wants() */
static void (*wants)(bool more, bool left);

static void plain(const char *text)
{
	log_emit("tally: ", 7);
	log_emit(text, strlen(text));
	log_emit("\n", 1);
}

/* Written at boot, before other harts run. */
static void (*write_line)(const char *text) = plain;

void log_init(hpa_t uart_base, uint32_t uart_shift, uint32_t uart_width)
{
	uart_init(&uart, uart_base, uart_shift, uart_width);
}

void log_set_writer(void (*writer)(const char *text))
{
	write_line = writer;
}

static void (*diverted)(const char *text);

void log_divert(void (*writer)(const char *text))
{
	diverted = writer;
}

/* These are not inlined, because they have many callers. */
__attribute__((noinline)) void log_lock(void)
{
	spin_lock(&lock);
	budget = 0;
	left_some = false;
	only_looks = true;
	output_of = RING_ANSWERS;
}

__attribute__((noinline)) void log_lock_for(unsigned int writer)
{
	log_lock();
	output_of = writer;
	only_looks = false;
	budget = writer == RING_ANSWERS ? 2 * LOG_PUSH : LOG_PUSH;
	if (uses_ring && ring.used)
		budget = LOG_PUSH_LATE;
}

bool log_has_more(void)
{
	return uses_ring && (ring.used || ring.ready);
}

/* Not inlined, because usually the UART has taken all. */
static __attribute__((noinline)) void unlock_late(void)
{
	(void)log_push(budget);
	if (log_has_more() || wanted) {
		wanted = log_has_more();
		wants(wanted, left_some);
	}
	spin_unlock(&lock);
}

__attribute__((noinline)) void log_unlock(void)
{
	bool more = log_has_more();

	/* A look that has printed nothing has nothing to write. Each typed byte makes two. */
	if (only_looks && !left_some ? more != wanted : more || wanted)
		unlock_late();
	else
		spin_unlock(&lock);
}

__attribute__((noinline)) bool log_push(uint32_t most)
{
	const char *at;
	size_t n, done;
	bool takes = true;

	budget = 0;
	while (most && takes) {
		n = uses_ring ? ring_next(&ring, &at) : 0;
		if (!n)
			return false;
		n = n < most ? n : most;
		done = uart_put(&uart, at, n);
		ring_drop(&ring, done);
		takes = done == n;
		most -= (uint32_t)done;
		most -= most < LOG_PUSH_RECORD ? most : LOG_PUSH_RECORD;
	}
	return takes;
}

void log_emit(const char *bytes, size_t n)
{
	size_t done;

	if (!uses_ring) {
		uart_write(&uart, bytes, n);
		return;
	}
	done = ring.used ? 0 : uart_put(&uart, bytes, n < budget ? n : budget);
	budget -= (uint32_t)done;
	/* There is room: each caller has asked for it. */
	if (done < n) {
		(void)ring_add(&ring, output_of, bytes + done, n - done);
		left_some = true;
	}
}

__attribute__((noinline)) size_t log_room(unsigned int which)
{
	return uses_ring ? ring_room(&ring, which) : SIZE_MAX;
}

struct ring *log_ring(void)
{
	return &ring;
}

struct uart *log_uart(void)
{
	return &uart;
}

void log_begin_ring(char *memory, unsigned int n_vms, void (*more)(bool more, bool left))
{
	wants = more;
	ring_init(&ring, memory, n_vms);
	uses_ring = true;
}

/* VMs that wait for room are not told any more. In a panic another hart may be changing the ring,
 * which is then read as it is, once round at most. */
static void stop_ring(void)
{
	size_t left = uses_ring ? ring.size : 0, n;
	const char *at;

	uses_ring = false;
	for (; left && (n = ring_next(&ring, &at)); left -= n) {
		n = n < left ? n : left;
		uart_write(&uart, at, n);
		ring_drop(&ring, n);
	}
}

void log_flush(void)
{
	log_lock();
	stop_ring();
	log_unlock();
}

void log_line(const char *format, ...)
{
	char line[LOG_LINE_BYTES];
	va_list args;

	va_start(args, format);
	tally_vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (diverted)
		diverted(line);
	else
		log_text(line);
}

__attribute__((noinline)) void log_text(const char *line)
{
	log_lock_for(RING_TALLY);
	write_line(line);
	log_unlock();
}

void log_panic(const char *line)
{
	stop_ring();
	write_line(line);
}
