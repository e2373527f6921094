/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI 3.0 chapter 12, the debug console. A write takes all bytes in one call, however many: one
 * ecall, one exit, one instruction of the guest.
 */
#include "guests/bare/pmu/check.h"
#include "guests/bare/vcpu/sbi_calls.h"

#define RAM_BASE 0x80000000UL
#define RAM_TOP  0x81000000UL /* of the 16 MiB that the tests give it */
#define LINE     40UL
#define LINES    100UL

static char text[LINES * LINE];

/* Writes "DBCN NN xxx...\n" repeatedly, each of LINE bytes. */
static void fill(void)
{
	for (uint64_t i = 0; i < LINES * LINE; i++)
		text[i] = "DBCN .. abcdefghijklmnopqrstuvwxyzabcdef\n"[i % LINE];
	for (uint64_t n = 0; n < LINES; n++) {
		text[n * LINE + 5] = (char)('0' + n / 10);
		text[n * LINE + 6] = (char)('0' + n % 10);
		text[n * LINE + LINE - 1] = '\n';
	}
}

static struct sbiret dbcn(unsigned long fid, uint64_t n, uint64_t lo, uint64_t hi)
{
	return sbi_call(SBI_EXT_DBCN, fid, n, lo, hi, 0, 0, 0);
}

static struct sbiret write(uint64_t n, const char *from)
{
	return dbcn(SBI_DBCN_CONSOLE_WRITE, n, (uint64_t)from, 0);
}

/* With no bytes the address must not be checked. */
static void nothing(unsigned long fid)
{
	check_value("0 bytes", dbcn(fid, 0, (uint64_t)text, 0), 0);
	check_value("0 bytes at 0", dbcn(fid, 0, 0, 0), 0);
	check_value("0 bytes at the end of RAM", dbcn(fid, 0, RAM_TOP, 0), 0);
	check_value("0 bytes at the end of all", dbcn(fid, 0, ~0UL, ~0UL), 0);
}

static void wrong(unsigned long fid)
{
	check_error("below RAM", dbcn(fid, 16, RAM_BASE - 16, 0), SBI_ERR_INVALID_PARAM);
	check_error("into RAM", dbcn(fid, 2, RAM_BASE - 1, 0), SBI_ERR_INVALID_PARAM);
	check_error("at its end", dbcn(fid, 1, RAM_TOP, 0), SBI_ERR_INVALID_PARAM);
	check_error("out of it", dbcn(fid, 2, RAM_TOP - 1, 0), SBI_ERR_INVALID_PARAM);
	check_error("far out of it", dbcn(fid, 1UL << 32, RAM_BASE, 0), SBI_ERR_INVALID_PARAM);
	check_error("round the end of all", dbcn(fid, 0UL - RAM_BASE + 1, RAM_BASE, 0),
	            SBI_ERR_INVALID_PARAM);
	check_error("as much as there is", dbcn(fid, ~0UL, (uint64_t)text, 0),
	            SBI_ERR_INVALID_PARAM);
	check_error("above 64 bits", dbcn(fid, 16, (uint64_t)text, 1), SBI_ERR_INVALID_PARAM);
}

static void bytes(void)
{
	static const char line[] = "DBCN bytes\n";

	for (unsigned i = 0; line[i]; i++)
		check_value("a byte",
		            sbi_call(SBI_EXT_DBCN, SBI_DBCN_WRITE_BYTE,
		                     ~0xffUL | (unsigned char)line[i], 0, 0, 0, 0, 0),
		            0);
}

/* Returns what a write of the first n bytes counts while the guest's timer expires. */
static __attribute__((noinline)) uint64_t instructions(uint32_t ctr, uint64_t n)
{
	uint64_t before, after;
	struct sbiret r;

	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + 1, 0, 0, 0, 0, 0);
	before = counter_read(ctr);
	r = write(n, text);
	after = counter_read(ctr);
	check_value("a write", r, n);
	check("its timer pends", csr_read(sip) & IRQ_TIMER, IRQ_TIMER);
	return after - before;
}

static volatile uint64_t timers;

static void timer_came(struct trap_frame *frame)
{
	if (frame->cause == CAUSE_TIMER)
		timers++;
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
}

/* An interrupt during the call is taken after it, when all bytes are written. */
static void interrupted(void)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + 100, 0, 0, 0, 0, 0);
	csr_write(sie, IRQ_TIMER);
	irq_handle_by(timer_came);
	csr_set(sstatus, SSTATUS_SIE);
	check_value("a write with an interrupt", write(sizeof(text), text), sizeof(text));
	csr_clear(sstatus, SSTATUS_SIE);
	irq_handle_by(0);
	csr_write(sie, 0);
	check("the interrupt", timers, 1);
}

void sbi_console(void)
{
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);

	fill();
	nothing(SBI_DBCN_CONSOLE_WRITE);
	nothing(SBI_DBCN_CONSOLE_READ);
	wrong(SBI_DBCN_CONSOLE_WRITE);
	wrong(SBI_DBCN_CONSOLE_READ);
	bytes();
	check_value("a read, nothing typed", dbcn(SBI_DBCN_CONSOLE_READ, 100, (uint64_t)text, 0),
	            0);
	check_error("a counter", r, SBI_SUCCESS);
	check("its start", (uint64_t)pmu_start(BIT(r.value), 1), SBI_SUCCESS);
	check("long writes count as short ones", instructions((uint32_t)r.value, sizeof(text)),
	      instructions((uint32_t)r.value, LINE));
	pmu_reset(BIT(r.value));
	interrupted();
}
