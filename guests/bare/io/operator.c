/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a script: asks as an operator, and prints the answers. The script is `script=` or, if that
 * is not there, the text of the initrd. It is WHEN,COMMAND;... with '+' for the spaces of a
 * command. Numbers of requests begin with 1. It sleeps until WHEN, which is
 *   N           a tick of the machine's time; nothing is waited for if that is over
 *   +N          so many ticks after the answer before; +0: at once
 *   key         when a byte is typed
 * The command `!` takes all samples from the rings, and prints their words.
 * In the exact profile each request of a script without `key` comes at the same instruction in each
 * run.
 *   times=N     so often the whole script
 *   irq=yes     it takes the interrupt of each answer, too, and tells how many there were
 *   again=yes   restarts at the end
 */
#include "guests/lib/operator.h"

#include "guests/bare/bare.h"

#define UART_RBR ((volatile uint8_t *)0x10000000)
#define UART_LSR ((volatile uint8_t *)0x10000005)
#define LSR_DR   0x01

#define PLIC_PRIORITY 0x0c000000UL
#define PLIC_ENABLE   0x0c002000UL
#define PLIC_CLAIM    0x0c200004UL

static struct operator_function function;
static volatile uint64_t came;

static void on_plic(struct trap_frame *frame)
{
	uint32_t source = operator_in(PLIC_CLAIM);

	(void)frame;
	came += operator_read(&function, OPERATOR_STATE);
	operator_write(&function, OPERATOR_STATE, 1);
	*(volatile uint32_t *)PLIC_CLAIM = source;
}

static void listen(void)
{
	uint32_t source = operator_read(&function, OPERATOR_SOURCE);

	irq_handle_by(on_plic);
	*(volatile uint32_t *)(PLIC_PRIORITY + 4 * source) = 1;
	*(volatile uint32_t *)PLIC_ENABLE = 1U << source;
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
}

static uint64_t machine_time(void)
{
	return csr_read(time) + operator_read(&function, OPERATOR_TIME) +
	       ((uint64_t)operator_read(&function, OPERATOR_TIME + 4) << 32);
}

/* Waits until the next request is due, and steps over its WHEN. */
static void wait(const char **at)
{
	bool after = **at == '+';
	uint64_t tick, now;

	*at += after;
	if (next_number(at, &tick)) {
		now = after ? 0 : machine_time();
		if (tick > now)
			sleep_for(tick - now);
		return;
	}
	while (!(*UART_LSR & LSR_DR))
		;
	(void)*UART_RBR;
	*at += sizeof("key,") - 1;
}

static void copy(const char **at, char *text, uint32_t size)
{
	uint32_t n = 0;

	for (; **at && **at != ' ' && **at != ';'; ++*at) {
		if (n + 1 < size)
			text[n++] = (char)(**at == '+' ? ' ' : **at);
	}
	text[n] = '\0';
	*at += **at == ';';
}

/* Prints records until the end of the answer. */
static void answered(uint64_t number)
{
	const struct operator_answer *a;
	bool ends = false;

	while (!ends) {
		for (operator_ring(&function); !ends && (a = operator_next(&function));) {
			ends = a->kind == OPERATOR_END;
			if (a->tag != number)
				print("operator: WRONG tag %u\n", a->tag);
			if (ends)
				print("operator: %u: status %u\n", number, a->status);
			else
				print("operator: %u: %s\n", number, a->text);
			operator_took(&function);
		}
	}
}

static void take(uint64_t number)
{
	uint64_t words[OPERATOR_SAMPLE_WORDS];
	uint32_t n;

	for (uint32_t ring = 0; ring < operator_read(&function, OPERATOR_RINGS); ring++) {
		while ((n = operator_sample(&function, ring, words))) {
			print("operator: %u: hart %u:", number,
			      operator_read(&function, OPERATOR_HART + 4 * ring));
			for (uint32_t i = 0; i < n; i++)
				print(" %x", words[i]);
			print("\n");
		}
	}
	print("operator: %u: status 0\n", number);
}

static const char *script(void)
{
	const char *text = bootarg("script");
	const uint8_t *start;
	uint64_t at = 0;
	uint32_t size;

	if (text)
		return text;
	start = chosen_property("linux,initrd-start", &size);
	for (uint32_t i = 0; start && i < size; i++)
		at = at << 8 | start[i];
	return start ? (const char *)at : "";
}

/* Asks all of the script. Returns the number of the last request; `n` is the one before. */
static uint64_t play(const char *at, uint64_t n)
{
	char text[120];

	while (*at && *at != ' ') {
		wait(&at);
		copy(&at, text, sizeof(text));
		if (text[0] == '!') {
			take(++n);
			continue;
		}
		(void)operator_ask(&function, ++n, text);
		answered(n);
	}
	return n;
}

int operator_kind(uint64_t hartid)
{
	uint64_t last = 0;

	(void)hartid;
	if (!operator_find(&function)) {
		print("operator: there is no function\n");
		return 1;
	}
	print("operator: access %u, %u requests a second, state %u, mask %u\n",
	      operator_read(&function, OPERATOR_ACCESS),
	      operator_read(&function, OPERATOR_REQUESTS_HZ),
	      operator_read(&function, OPERATOR_STATE), operator_read(&function, OPERATOR_MASK));
	if (bootarg_is("irq", "yes"))
		listen();
	for (uint64_t times = bootarg_num("times", 1); times; times--)
		last = play(script(), last);
	print("operator: ends, %u interrupts\n", came);
	if (bootarg_is("again", "yes"))
		sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 0;
}
