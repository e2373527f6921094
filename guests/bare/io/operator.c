/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a script: asks as an operator, and prints the answers. The script is `script=` or, if that
 * is not there, the text of the initrd. It is WHEN,COMMAND;... with '+' for the spaces of a
 * command. Numbers of requests begin with 1. It sleeps until WHEN, which is
 *   N           a tick of the machine's time; nothing is waited for if that is over
 *   +N          so many ticks after the answer before; +0: at once
 *   key         when a byte is typed
 * Commands that the guest carries out itself:
 *   !           takes all samples from the rings, and prints their words
 *   !state      prints STATE, the INTx bit of the PCI status, and how many interrupts it has taken
 *   !time       prints its time and the machine's
 *   !ring       rings, and there is no request
 *   !mask=N     writes MASK
 *   !intx=N     1: disables INTx in the PCI command; 0: enables it
 *   !leave=N    leaves STATE as it is in its next N interrupts
 * In the exact profile each request of a script without `key` comes at the same instruction in each
 * run.
 *   times=N     so often the whole script
 *   irq=yes     it takes the interrupt of each answer, too, and tells how many there were; with
 *               operator-identity that is a message
 *   irq=aplic   the same, by the level of a source of its APLIC
 *   again=yes   restarts at the end
 */
#include "guests/lib/operator.h"

#include "guests/bare/bare.h"
#include "guests/bare/io/operator_irq.h"

#define UART_RBR ((volatile uint8_t *)0x10000000)
#define UART_LSR ((volatile uint8_t *)0x10000005)
#define LSR_DR   0x01

#define PCI_COMMAND  0x04
#define INTX_DISABLE 0x400U
#define INTX_STATUS  0x80000U

static struct operator_function function;

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

static void take_samples(uint64_t number)
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
}

static void tell_state(uint64_t number)
{
	print("operator: %u: state %u, intx %u, %u interrupts, %u strange\n", number,
	      operator_read(&function, OPERATOR_STATE),
	      !!(operator_in(function.config + PCI_COMMAND) & INTX_STATUS), operator_irqs.came,
	      operator_irqs.strange);
}

/* Carries out a command that begins with '!'. */
static void act(uint64_t number, const char *text)
{
	uint64_t value = 0;
	const char *at = text;

	while (*at && *at++ != '=')
		;
	next_number(&at, &value);
	switch (text[1]) {
	case '\0':
		take_samples(number);
		break;
	case 's':
		tell_state(number);
		break;
	case 't':
		print("operator: %u: time %u of %u\n", number, csr_read(time), machine_time());
		break;
	case 'r':
		operator_ring(&function);
		break;
	case 'm':
		operator_write(&function, OPERATOR_MASK, (uint32_t)value);
		break;
	case 'i':
		*(volatile uint32_t *)(function.config + PCI_COMMAND) = value ? INTX_DISABLE : 0;
		break;
	default:
		operator_irqs.leave = value;
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
			act(++n, text);
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
	if (bootarg("irq"))
		operator_listen(&function, bootarg_is("irq", "aplic"));
	for (uint64_t times = bootarg_num("times", 1); times; times--)
		last = play(script(), last);
	print("operator: ends, %u interrupts\n", operator_irqs.came);
	if (bootarg_is("again", "yes"))
		sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 0;
}
