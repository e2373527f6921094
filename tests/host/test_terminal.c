/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input that waits for room in a VM's UART (core/operator/terminal.h), while another hart runs the
 * VM: when its guest reads, the bytes are passed on at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/uart.h"
#include "core/log.h"
#include "core/vm/pcpu.h"
#include "core/vm/platform.h"
#include "core/operator/prompt.h"
#include "core/operator/terminal.h"
#include "core/vm/terminal_port.h"
#include "core/vm/vm.h"

#define ROOM  VUART_RX_BYTES
#define TYPED 8U
#define NEVER UINT64_MAX

uint64_t host_csrs[4096];
struct platform platform = {.timebase = 1000, .uart_irq = 1, .irqchip = {.kind = IRQCHIP_PLIC}};
struct vm vms[VM_MAX_VMS];
uint32_t n_vms = 1;

static union hart_stack hart;
static bool listening;       /* the host's UART interrupts for input */
static unsigned int typed;   /* not yet read from the host's UART */
static unsigned int arrived; /* in the VM's */
static size_t room;          /* there */
/* The guest reads everything after this many checks of its room, -1: never. */
static int reads_at;

/* --- what terminal.c wants -----------------------------------------------------------------------
 */

struct pcpu *this_pcpu(void)
{
	return &hart.pcpu;
}

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift)
{
	(void)uart, (void)base, (void)reg_shift;
	listening = true;
}

void uart_write(const struct uart *uart, const char *s, size_t n)
{
	(void)uart, (void)s, (void)n;
}

void uart_listen(const struct uart *uart, bool on)
{
	(void)uart;
	listening = on;
}

int uart_read(const struct uart *uart)
{
	(void)uart;
	if (!typed)
		return -1;
	typed--;
	return 'x';
}

void irqchip_enable(const struct irqchip *chip, uint32_t irq)
{
	(void)chip, (void)irq;
}

uint32_t irqchip_claim(const struct irqchip *chip)
{
	(void)chip;
	return 1;
}

void irqchip_complete(const struct irqchip *chip, uint32_t irq)
{
	(void)chip, (void)irq;
}

static void guest_reads(void)
{
	room = ROOM;
	terminal_input_room(room);
}

/* Other harts continue when the check is over. */
bool vm_input_space(struct vm *vm)
{
	bool space = room;

	(void)vm;
	if (reads_at >= 0 && reads_at-- == 0)
		guest_reads();
	return space;
}

void vm_input(struct vm *vm, uint8_t byte)
{
	(void)vm, (void)byte;
	if (room) {
		room--;
		arrived++;
	}
}

void prompt_life_key(struct vm *vm, char key, char line[PROMPT_LINE_BYTES])
{
	(void)vm, (void)key, (void)line;
}

void prompt_begin(enum prompt_asker asker, const char *text)
{
	(void)asker, (void)text;
}

bool prompt_line(enum prompt_asker asker, char line[PROMPT_LINE_BYTES])
{
	(void)asker, (void)line;
	return false;
}

enum prompt_status prompt_status(enum prompt_asker asker)
{
	(void)asker;
	return PROMPT_OK;
}

void pcpu_serve_external(void (*serve)(void))
{
	hart.pcpu.external = serve;
}

/* --- the tests ------------------------------------------------------------------------------ */

static void begin(size_t room_now)
{
	static struct vm_tree tree = {.n_vms = 1, .vms = {{.name = "alpha"}}};

	listening = true;
	typed = TYPED;
	arrived = 0;
	room = room_now;
	reads_at = -1;
	platform.interactive = true;
	terminal_set_vms(&tree);
	terminal_enable_input();
	terminal_vm_ended(0, false);
	terminal_input_room(ROOM);
}

/* The host's UART interrupts while it listens and has something. */
static void interrupts(void)
{
	for (unsigned int i = 0; listening && typed; i++) {
		assert_true(i < 100);
		hart.pcpu.external();
	}
	/* Its own interrupt is the only one that sets the timer. */
	assert_true(listening == (hart.pcpu.external_at == NEVER));
}

static void bytes_wait_for_room(void **state)
{
	(void)state;
	begin(3);
	interrupts();
	assert_int_equal(arrived, 3);
	assert_false(listening);
	guest_reads();
	assert_true(listening);
	interrupts();
	assert_int_equal(arrived, TYPED);
}

/* The guest reads after any check of its room, and nothing is left waiting. */
static void a_guest_that_reads_meanwhile(void **state)
{
	(void)state;
	for (int at = 0; at < (int)TYPED; at++) {
		for (size_t room_now = 0; room_now < TYPED; room_now++) {
			begin(room_now);
			reads_at = at;
			interrupts();
			/* No check came afterwards, so it reads now. */
			if (reads_at >= 0)
				guest_reads();
			interrupts();
			assert_int_equal(typed, 0);
			assert_int_equal(arrived, TYPED);
		}
	}
}

/* A byte for it must not wait long, because nobody reads there any more. */
static void a_vm_that_ends(void **state)
{
	(void)state;
	begin(0);
	interrupts();
	assert_false(listening);
	terminal_vm_ended(0, true);
	assert_true(listening);
	interrupts();
	assert_int_equal(typed, 0);
}

/* Bytes for a VM that never reads are kept for two seconds. */
static void patience(void **state)
{
	(void)state;
	begin(0);
	host_csrs[CSR_TIME] = 5000;
	interrupts();
	assert_int_equal(hart.pcpu.external_at, 7000);
	host_csrs[CSR_TIME] = 7000;
	hart.pcpu.external();
	assert_true(listening);
	assert_int_equal(typed, 0);
	assert_int_equal(arrived, 0);
	host_csrs[CSR_TIME] = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bytes_wait_for_room),
	    cmocka_unit_test(a_guest_that_reads_meanwhile),
	    cmocka_unit_test(a_vm_that_ends),
	    cmocka_unit_test(patience),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
