/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that reads its own counter through perf's mmap page, without a system call.
 *   user_reads N        N reads of user instructions, 1,000 in a row; prints how many are wrong
 *   user_reads closed   reads after the event was closed, which kills the process
 * Each read of a row must be five more than the one before. The test builds this with
 * guests/lib/count.S and without a C library.
 */
#include "guests/lib/count.h"

#define SYS_write           64
#define SYS_exit            93
#define SYS_munmap          215
#define SYS_mmap            222
#define SYS_close           57
#define SYS_perf_event_open 241

#define IN_A_ROW     1000UL
#define INSTRUCTIONS 1UL /* PERF_COUNT_HW_INSTRUCTIONS */
#define NO_KERNEL    (1UL << 5)
#define USER_READS   (1UL << 2) /* cap_user_rdpmc */

/* The beginning of struct perf_event_mmap_page. */
struct page {
	uint32_t version, compat, lock, index;
	int64_t offset;
	uint64_t enabled, running, capabilities;
};

static uint64_t values[IN_A_ROW];
void begin(const uint64_t *stack) __attribute__((noreturn));

static long syscall(long n, unsigned long a, unsigned long b, unsigned long c, unsigned long d,
                    unsigned long e)
{
	register unsigned long a0 __asm__("a0") = a;
	register unsigned long a1 __asm__("a1") = b;
	register unsigned long a2 __asm__("a2") = c;
	register unsigned long a3 __asm__("a3") = d;
	register unsigned long a4 __asm__("a4") = e;
	register unsigned long a5 __asm__("a5") = 0;
	register long a7 __asm__("a7") = n;

	__asm__ volatile("ecall"
	                 : "+r"(a0)
	                 : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
	                 : "memory");
	return (long)a0;
}

static void __attribute__((noreturn)) leave(unsigned long status)
{
	for (;;)
		syscall(SYS_exit, status, 0, 0, 0, 0);
}

static void say(const char *text)
{
	unsigned long n = 0;

	while (text[n])
		n++;
	syscall(SYS_write, 1, (unsigned long)text, n, 0, 0);
}

static void say_number(uint64_t n)
{
	char text[21];
	unsigned i = sizeof(text) - 1;

	text[i] = 0;
	do {
		text[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	say(text + i);
}

static uint64_t odd_reads(uint32_t ctr, uint64_t n)
{
	uint64_t odd = 0, before = 0;

	for (uint64_t done = 0; done < n; done += IN_A_ROW) {
		reads_of(ctr)(values, IN_A_ROW);
		odd += values[0] <= before && before;
		for (uint64_t i = 1; i < IN_A_ROW; i++)
			odd += values[i] - values[i - 1] != 5;
		before = values[IN_A_ROW - 1];
	}
	return odd;
}

/* Returns the counter of the event, or 0 if it must not be read here. The page counts from 1. */
static uint32_t counter_of(const volatile struct page *page)
{
	if (!(page->capabilities & USER_READS) || page->index < 4)
		return 0;
	return page->index - 1;
}

static void run(const char *arg)
{
	uint64_t attr[8] = {64UL << 32, INSTRUCTIONS, 0, 0, 0, NO_KERNEL, 0, 0}, n = 0;
	long fd = syscall(SYS_perf_event_open, (unsigned long)attr, 0, ~0UL, ~0UL, 0);
	/* PROT_READ, MAP_SHARED */
	long at = syscall(SYS_mmap, 0, 4096, 1, 1, (unsigned long)fd);
	uint32_t ctr = fd < 0 || at <= 0 ? 0 : counter_of((const volatile struct page *)at);

	if (!ctr) {
		say("user_reads: the kernel offers no read from user space\n");
		leave(1);
	}
	if (*arg == 'c') {
		syscall(SYS_munmap, (unsigned long)at, 4096, 0, 0, 0);
		syscall(SYS_close, (unsigned long)fd, 0, 0, 0, 0);
		counter_read(ctr);
		say("user_reads: a closed counter was read\n");
		leave(0);
	}
	for (; *arg >= '0' && *arg <= '9'; arg++)
		n = n * 10 + (uint64_t)(*arg - '0');
	n = odd_reads(ctr, n);
	say("user_reads: counter ");
	say_number(ctr);
	say(", odd ");
	say_number(n);
	say("\n");
	leave(n ? 1 : 0);
}

void begin(const uint64_t *stack)
{
	run(stack[0] > 1 ? (const char *)stack[2] : "1000");
	leave(1);
}

__asm__(".globl _start\n_start:\n\tmv a0, sp\n\tcall begin\n");
