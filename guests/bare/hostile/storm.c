/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that tries to keep the hypervisor busy for a long time with one request. Each part
 * repeats the most expensive calls; again=yes: all of them without an end. Tally's last line of
 * this guest says how long the longest stay in HS was.
 */
#include "guests/bare/bare.h"

#define UART ((volatile uint8_t *)0x10000000)
#define PLIC 0x0c000000UL
#define RAM  0x80000000UL

void secondary(void);

static volatile uint64_t interrupts;

static void dbcn(const char *text, uint64_t n, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, n, (unsigned long)text, 0, 0, 0, 0);
}

/* A text that is expensive to print: newlines, tabs, cursor moves, parts of UTF-8 characters. */
static void storm_dbcn(void)
{
	static const char *const patterns[] = {
	    "\n",         "\n\r",   "\r\n\b",   "x",        "\t", "\b",   "\x1b[D",
	    "\x1b[9999C", "\x1b[K", "\xf0\x9f", "\xc3\xa9", "\r", "ab\r", "\x1b[99999999"};
	static char text[1280];

	for (uint64_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		uint64_t n = str_len(patterns[p]);

		for (uint64_t i = 0; i < sizeof(text); i++)
			text[i] = patterns[p][i % n];
		dbcn(text, sizeof(text), 1);
		dbcn(text, 0, 3);
		dbcn((const char *)RAM, 100, 1);
	}
	for (int i = 0; i < 600; i++)
		sbi_call(SBI_EXT_DBCN, SBI_DBCN_WRITE_BYTE, i % 60 ? 'y' : '\n', 0, 0, 0, 0, 0);
	for (int i = 0; i < 20; i++)
		sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_READ, sizeof(text), (unsigned long)text, 0,
		         0, 0, 0);
	dbcn("\n", 1, 1);
}

static void storm_uart(void)
{
	for (int i = 0; i < 1000; i++)
		UART[0] = '\n';
	for (int i = 0; i < 2000; i++)
		UART[0] = 'z';
	/* Every register, with interrupts on and off, in loopback. */
	for (int i = 0; i < 500; i++) {
		UART[1] = (uint8_t)(i & 15);
		UART[4] = (uint8_t)(i & 16);
		UART[2] = 7;
		UART[0] = '\r';
		for (int r = 0; r < 8; r++)
			(void)UART[r];
	}
	UART[1] = 0;
	UART[4] = 0;
	UART[0] = '\n';
}

static void storm_plic(void)
{
	for (int i = 0; i < 200; i++)
		for (unsigned long at = 0; at < 64; at++) {
			*(volatile uint32_t *)(PLIC + 4 * at) = (uint32_t)i;
			*(volatile uint32_t *)(PLIC + 0x2000 + 4 * at) = ~0U;
			(void)*(volatile uint32_t *)(PLIC + 0x201004);
			*(volatile uint32_t *)(PLIC + 0x201004) = (uint32_t)at;
		}
	for (unsigned long at = 0; at < 64; at++)
		*(volatile uint32_t *)(PLIC + 0x2000 + 4 * at) = 0;
}

static void storm_rfence(void)
{
	static const unsigned long sizes[] = {0, 1, 4096, 1UL << 21, 1UL << 30, 1UL << 40, ~0UL};

	for (unsigned long fid = 0; fid < 7; fid++)
		for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (unsigned long i = 0; i < 20; i++) {
				sbi_call(SBI_EXT_RFENCE, fid, ~0UL, ~0UL, 0, sizes[s], i, 0);
				sbi_call(SBI_EXT_RFENCE, fid, ~0UL, 0, RAM, sizes[s], ~0UL, 0);
			}
}

/* Timer and IPI: the handler requests the next one, 2,000 times each. */
static void again(struct trap_frame *frame)
{
	interrupts++;
	if (frame->cause == CAUSE_SOFT)
		csr_clear(sip, IRQ_SOFT);
	if (interrupts < 2000) {
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, interrupts & 1 ? 0 : csr_read(time), 0,
		         0, 0, 0, 0);
		return;
	}
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	/* If one were pending at each return, the interrupted code would never run. */
	if (interrupts >= 4000)
		return;
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, ~0UL, 0, 0, 0, 0, 0);
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 0, ~0UL, 0, 0, 0, 0);
}

static void storm_interrupts(void)
{
	irq_handle_by(again);
	csr_set(sie, IRQ_TIMER | IRQ_SOFT);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, 0, 0, 0, 0, 0, 0);
	csr_set(sstatus, SSTATUS_SIE);
	while (interrupts < 4000)
		;
	csr_clear(sstatus, SSTATUS_SIE);
	csr_clear(sie, IRQ_TIMER | IRQ_SOFT);
	irq_handle_by(0);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
}

static void part(const char *name, void (*run)(void))
{
	run();
	print("storm: %s done\n", name);
}

int storm(uint64_t hartid)
{
	uint64_t others = 0;

	print("storm: begins\n");
	for (unsigned long i = 0; i < 64; i++)
		others += i != hartid && !sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, i,
		                                   (unsigned long)secondary, 0, 0, 0, 0)
		                              .error;
	print("storm: %u other vcpus\n", others);
	do {
		interrupts = 0;
		part("PLIC", storm_plic);
		part("RFENCE", storm_rfence);
		part("interrupts", storm_interrupts);
		part("PMU", storm_pmu);
		if (bootarg_is("quiet", "yes"))
			continue;
		part("DBCN", storm_dbcn);
		part("UART", storm_uart);
	} while (bootarg_is("again", "yes"));
	return 0;
}
