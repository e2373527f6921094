/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/irqchip.h"
#include "arch/riscv/uart.h"
#include "core/console/console.h"
#include "core/log.h"
#include "core/vm/pcpu.h"
#include "core/vm/platform.h"
#include "core/lib/printf.h"
#include "core/operator/prompt.h"
#include "core/operator/terminal.h"
#include "core/vm/terminal_port.h"
#include "core/vm/vm.h"

/*
 * One stay in HS passes on at most this many typed bytes, and stops once the console has printed
 * this many.
 */
#define INPUT_BURST  32
#define INPUT_PRINTS 64

/* Between two lines of a command's output guests run: one line a stay in HS. */
#define LINES_HZ 10000UL

/* How long typed bytes wait for a VM whose UART is full. */
#define INPUT_PATIENCE_S 2UL

static struct console console;
/* Typed bytes wait until then; ~0: they do not. Written under the lock. */
static atomic_ulong hold_deadline = ~0UL;
/*
 * Boot hart only: when each asker's next line of output is due, ~0: there is none; and the id of
 * the program's request.
 */
static uint64_t due[PROMPT_ASKERS] = {~0UL, ~0UL};
static char request_id[CONSOLE_ID_BYTES + 1];
/*
 * The VM that has kept typed bytes waiting for too long, -1: none. What is typed for it is
 * dropped until it reads again; otherwise a key for Tally would wait anew behind every few of
 * its bytes. Boot hart only.
 */
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

/* A command begins. The boot hart calls this, since it reads what is typed. */
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

/* Prints the next line of a command's output, or what follows the last one. */
static void prompt_go_on(enum prompt_asker asker, uint64_t now)
{
	char line[PROMPT_LINE_BYTES];
	bool more;

	more = prompt_line(asker, line);
	due[asker] = more ? now + platform.timebase / LINES_HZ : ~0UL;
	log_lock();
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

void terminal_set_vms(const struct vm_tree *tree)
{
	static const char *names[VM_MAX_VMS];

	for (uint32_t i = 0; i < tree->n_vms; i++)
		names[i] = tree->vms[i].name;
	console_init(&console, platform.interactive, names, tree->n_vms);
	if (platform.frames)
		terminal_frames(true);
}

void terminal_frames(bool on)
{
	log_lock();
	if (on)
		console_frames_begin(&console);
	else
		console_frames_end(&console);
	log_unlock();
}

void terminal_frames_kept(uint32_t vm)
{
	log_lock();
	console_frames_kept(&console, vm);
	log_unlock();
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
	/* Typed bytes wait for it no longer. */
	terminal_input_room(VUART_RX_BYTES);
}

/*
 * Must typed bytes wait? Yes while the VM in focus has a full UART, while the prompt prints, and
 * while a program's request is being answered, so that there is one request at a time. Only the
 * VM's own reads can change its room meanwhile, and they only add to it.
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
		return due[PROMPT_PERSON] != ~0UL && !overdue;
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

/*
 * Passes one typed byte on. Returns how many bytes the console printed because of it, -1:
 * nothing was typed.
 */
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

/* Leaves typed bytes in the host's UART until the deadline; ~0: reads them again. */
static void hold_input(uint64_t deadline)
{
	log_lock();
	atomic_store(&hold_deadline, deadline);
	uart_listen(log_uart(), deadline == ~0UL);
	log_unlock();
}

void terminal_input_room(size_t space)
{
	/* Half of the room must be free, so that one interrupt brings many bytes. */
	if (atomic_load(&hold_deadline) != ~0UL && space >= VUART_RX_BYTES / 2)
		hold_input(~0UL);
}

static void read_typed(bool overdue)
{
	int printed = 0;

	for (int i = 0; i < INPUT_BURST && printed < INPUT_PRINTS; i++) {
		if (must_wait(overdue)) {
			hold_input(csr_read(CSR_TIME) + platform.timebase * INPUT_PATIENCE_S);
			/*
			 * A guest that read between the two steps saw no waiting bytes, and so
			 * did not call terminal_input_room().
			 */
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

/*
 * When serve_input() has to be called, whatever is typed: typed bytes have waited for too long, or
 * a command prints its next line. Another hart may end the wait, and the call then finds nothing to
 * do.
 */
static void set_deadline(void)
{
	uint64_t deadline = atomic_load(&hold_deadline);

	for (int i = 0; i < PROMPT_ASKERS; i++) {
		if (due[i] < deadline)
			deadline = due[i];
	}
	this_pcpu()->external_at = deadline;
	pcpu_resched(this_pcpu()); /* so that the timer is set anew */
}

/*
 * The host's external interrupt, or the deadline that it set: passes typed bytes on. What the VM in
 * focus has no room for stays in the host's UART, so that pasted text is not lost.
 */
static void serve_input(void)
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
	/*
	 * An interrupt raised before the wait began may still arrive. Listening again now would
	 * raise another at once, without end.
	 */
	if (deadline == ~0UL || overdue)
		read_typed(overdue);
	/* If more bytes have come the level is still high, and the next interrupt takes them. */
	if (claimed)
		irqchip_complete(&platform.irqchip, platform.uart_irq);
	set_deadline();
}

void terminal_enable_input(void)
{
	if (platform.irqchip.kind == IRQCHIP_NONE || !platform.uart_irq)
		return;
	irqchip_enable(&platform.irqchip, platform.uart_irq);
	pcpu_serve_external(serve_input);
}
