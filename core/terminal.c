/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/irqchip.h"
#include "arch/riscv/uart.h"
#include "core/console.h"
#include "core/log.h"
#include "core/pcpu.h"
#include "core/platform.h"
#include "core/printf.h"
#include "core/prompt.h"
#include "core/terminal.h"
#include "core/terminal_port.h"
#include "core/vm.h"

/* At most so many typed bytes are passed on in one stay in HS, and none after so many printed ones. */
#define INPUT_BURST  32
#define INPUT_PRINTS 64

/* So long a VM with a full UART may keep what is typed waiting. */
#define INPUT_PATIENCE_S 2UL

static struct console console;
static atomic_ulong hold_deadline = ~0UL; /* so long typed bytes wait. Written under the lock */
/* Boot hart only: when the next line of a command's output is due; whom the program is that asked; what
 * terminal_deadline() says, which may be too early when another hart has ended a hold. */
static uint64_t due[PROMPT_ASKERS] = {~0UL, ~0UL};
static char request_id[CONSOLE_ID_BYTES + 1];
static uint64_t input_deadline = ~0UL;
/* The VM that has let typed bytes wait too long: what is typed for it is lost until it reads. Else a
 * key for Tally would wait as long again for each few bytes before it. Boot hart only. */
static int given_up = -1;

void console_emit(const char *s, size_t n)
{
	log_emit(s, n);
}

void console_life(unsigned int vm, char command)
{
	char line[PROMPT_LINE_BYTES] = "";

	prompt_life_key(&vms[vm], command, line);
	console_tally_puts(&console, line);
}

/* The boot hart reads what is typed. */
static void take_command(enum prompt_asker asker, const char *text)
{
	prompt_begin(asker, text);
	due[asker] = 0;
	pcpu_resched(this_pcpu());
}

void console_command(const char *text)
{
	take_command(PROMPT_PERSON, text);
}

void console_request(const char *id, const char *text)
{
	(void)tally_snprintf(request_id, sizeof(request_id), "%s", id);
	take_command(PROMPT_PROGRAM, text);
}

/* Boot hart, too. */
bool console_break(void)
{
	if (!prompt_repeats(PROMPT_PERSON))
		return false;
	prompt_stop(PROMPT_PERSON);
	due[PROMPT_PERSON] = 0;
	pcpu_resched(this_pcpu());
	return true;
}

/* One line of a command's output, or what comes behind the last one. */
static void prompt_go_on(enum prompt_asker asker, uint64_t now)
{
	char line[PROMPT_LINE_BYTES];
	bool more;

	/* Who goes to a guest looks no longer. */
	if (asker == PROMPT_PERSON && console.focus != CONSOLE_PROMPT && prompt_repeats(asker))
		prompt_stop(asker);
	more = prompt_line(asker, line);
	due[asker] = more ? now + prompt_pause(asker) : ~0UL;
	log_lock();
	if (asker == PROMPT_PERSON && prompt_replaces(asker))
		console_take_back(&console, prompt_replaces(asker));
	if (more && !*line)
		; /* not there yet */
	else if (asker == PROMPT_PROGRAM && more)
		console_answer(&console, request_id, line);
	else if (asker == PROMPT_PROGRAM)
		console_answer_end(&console, request_id, prompt_status(asker));
	else if (more)
		console_tally_puts(&console, line);
	else
		console_prompt_ready(&console);
	log_unlock();
	if (!more)
		terminal_input_room(VUART_RX_BYTES);
}

/* Tally's own lines, for core/log.h. */
static void write_line(const char *text)
{
	console_tally_puts(&console, text);
}

void terminal_init(void)
{
	console_init(&console, platform.interactive, NULL, 0);
	log_set_writer(write_line);
}

void terminal_set_vms(const struct vm_tree *tree, bool interactive)
{
	static const char *names[VM_MAX_VMS];

	for (uint32_t i = 0; i < tree->n_vms; i++)
		names[i] = tree->vms[i].name;
	console_init(&console, interactive, names, tree->n_vms);
}

size_t terminal_vm_write(uint32_t vm, const char *bytes, size_t n)
{
	log_lock();
	n = console_vm_write(&console, vm, bytes, n);
	log_unlock();
	return n;
}

void terminal_vm_ended(uint32_t vm, bool ended)
{
	log_lock();
	console_vm_ended(&console, vm, ended);
	log_unlock();
	/* Nothing waits for one that is gone. */
	terminal_input_room(VUART_RX_BYTES);
}

void terminal_enable_input(void)
{
	if (platform.irqchip.kind == IRQCHIP_NONE || !platform.uart_irq)
		return;
	irqchip_enable(&platform.irqchip, platform.uart_irq);
	csr_set(CSR_SIE, BIT(IRQ_SEI));
}

/*
 * Must what is typed wait? For the VM in focus, if its UART is full: it alone reads there, so more room
 * is the worst surprise. For the prompt, while it prints. And while a program's request is answered,
 * whoever it is for: so there is one at a time.
 */
static bool must_wait(bool overdue)
{
	if (due[PROMPT_PROGRAM] != ~0UL)
		return true;
	log_lock();
	int vm = console_target(&console);
	bool prompt = console.focus == CONSOLE_PROMPT;

	log_unlock();
	if (prompt)
		return due[PROMPT_PERSON] != ~0UL && !prompt_repeats(PROMPT_PERSON) && !overdue;
	if (vm < 0)
		return false;
	if (vm_input_space(&vms[vm])) {
		given_up = vm == given_up ? -1 : given_up;
		return false;
	}
	if (overdue)
		given_up = vm;
	return vm != given_up;
}

/* Passes one typed byte on; how many that made the console print. -1: nothing was typed. */
static int pass_byte(void)
{
	uint8_t byte;
	int vm = -1, printed = -1;

	log_lock();
	int typed = uart_read(log_uart());

	if (typed >= 0) {
		console.work = 0;
		vm = console_input(&console, (uint8_t)typed, &byte);
		printed = (int)console.work;
	}
	log_unlock();
	if (vm >= 0)
		vm_input(&vms[vm], byte);
	return printed;
}

/* Lets typed bytes wait in the host's UART until then, ~0: no longer. */
static void hold_input(uint64_t deadline)
{
	log_lock();
	atomic_store(&hold_deadline, deadline);
	uart_listen(log_uart(), deadline == ~0UL);
	log_unlock();
}

void terminal_input_room(size_t space)
{
	/* Half empty, so that an interrupt brings many bytes. */
	if (atomic_load(&hold_deadline) != ~0UL && space >= VUART_RX_BYTES / 2)
		hold_input(~0UL);
}

static void read_typed(bool overdue)
{
	int printed = 0;

	for (int i = 0; i < INPUT_BURST && printed < INPUT_PRINTS; i++) {
		if (must_wait(overdue)) {
			hold_input(csr_read(CSR_TIME) + platform.timebase * INPUT_PATIENCE_S);
			/* A guest that read after the look, and saw no hold, told nobody. */
			if (must_wait(overdue))
				return;
			terminal_input_room(VUART_RX_BYTES);
		}
		int n = pass_byte();

		if (n < 0)
			break;
		printed += n;
	}
	if (overdue)
		terminal_input_room(VUART_RX_BYTES);
}

void terminal_input(void)
{
	uint64_t deadline = atomic_load(&hold_deadline);
	uint64_t now = csr_read(CSR_TIME);
	bool overdue = now >= deadline;
	uint32_t claimed = irqchip_claim(&platform.irqchip);

	for (int i = 0; i < PROMPT_ASKERS; i++) {
		if (now < due[i])
			continue;
		prompt_go_on(i, now);
		break;
	}
	/* An interrupt from before the hold may still come. To listen again now would make another
	 * one at once, without end. */
	if (deadline == ~0UL || overdue)
		read_typed(overdue);
	/* The level is still high if more has come: the next interrupt takes that. */
	if (claimed)
		irqchip_complete(&platform.irqchip, platform.uart_irq);
	input_deadline = atomic_load(&hold_deadline);
	for (int i = 0; i < PROMPT_ASKERS; i++) {
		if (due[i] < input_deadline)
			input_deadline = due[i];
	}
}

uint64_t terminal_deadline(void)
{
	return input_deadline;
}
