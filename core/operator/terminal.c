/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arch/riscv/devices/uart.h"
#include "arch/riscv/hart/csr.h"
#include "core/console/console.h"
#include "core/console/port.h"
#include "core/console/ring.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/io/external.h"
#include "core/io/vm_uart.h"
#include "core/lib/printf.h"
#include "core/life/last_words.h"
#include "core/log.h"
#include "core/operator/prompt.h"
#include "core/operator/terminal.h"
#include "core/vcpu/terminal_port.h"
#include "core/vcpu/vm.h"

/* One stay in HS passes on at most INPUT_BURST typed bytes, and no further one when the console has
 * printed INPUT_PRINTS bytes, or when the stay is too long to begin one. */
#define INPUT_BURST  8
#define INPUT_PRINTS 32

/* How often a hart makes or prints a piece of a command's output, or goes on with typed bytes or
 * with output of its own, each in a stay in HS of its own. Guests run in between. The first
 * interrupt of the host's UART that comes meanwhile turns it off until then. One that comes less
 * than 1 / SOON_HZ before a piece takes it along, so that the piece does not follow at once. */
#define LINES_HZ 20000UL
#define SOON_HZ  200000UL
/* A line longer than LONG_LINE is printed in another stay than it is made in. At a bare prompt one
 * longer than LATE_LINE goes to the ring as a whole: the console looks at each of its bytes, too.
 */
#define LONG_LINE 64U
#define LATE_LINE 256U

/* When typed bytes wait for a VM with a full UART: how often it is checked, and for how long. The
 * same for answers that wait for room, and for output if no interrupt asks for it. */
#define LOOKS_HZ         1000UL
#define INPUT_PATIENCE_S 2UL
/* How often a hart drains the output that it has left: at 115,200 baud a FIFO of 16 bytes is empty
 * after 1.4 ms. The hart that listens has interrupts for it, and only looks for one that was
 * lost. */
#define DRAINS_HZ 2000UL
#define LOST_HZ   100UL

/* One stay writes at most DRAIN_BYTES of the ring to the UART, beside what its own vcpu prints.
 * Where the UART is always empty, as in QEMU, fewer would cost a stay each. */
#define DRAIN_BYTES 64U
/* The most that one line of Tally's emits, with the line that says how many were lost; a line of an
 * answer, or a piece of an unfinished line when frames begin; and a key. */
#define LINES_MOST  640U
#define ANSWER_MOST CONSOLE_CALL_MOST
#define KEY_MOST    1536U

static struct console console;
_Static_assert(VM_NAME_MAX <= CONSOLE_NAME_BYTES, "a VM's name fits");
/* All variables below belong to the boot hart. `due` is the time of the next line of a command's
 * output, ~0 if no command is being answered; request_id is "" if the command was typed. */
static uint64_t due = ~0UL;
static uint64_t rests_until; /* the boot hart serves the UART again, whatever interrupts */
static char request_id[CONSOLE_ID_BYTES + 1];
/* Since when typed bytes wait, or ~0, and for which VM. If they wait too long, all bytes typed for
 * the VM are dropped until it reads again. Otherwise a key for Tally would wait again after every
 * few of its bytes. */
static uint64_t waits_since = ~0UL;
static int waits_for = -1;

/* The hart that the host's UART interrupts, NULL: none. Constant after boot. */
static const struct pcpu *listener;

/* The console's lock protects these. Lines of Tally's for which there was no room; whether the UART
 * interrupts for received bytes, and for an empty transmitter; whether the hart that listens goes
 * on by itself after 1 / LINES_HZ, so that it needs no interrupt for output. */
static uint32_t lost;
static bool hears_input = true, hears_output, goes_on;
/* Each hart drains the ring until what it has left there itself is out: its position, of
 * all bytes that the ring ever had. So output costs time on the harts that print only. */
static uint64_t drains_until[MAX_HARTS];

void console_emit(const char *s, size_t n)
{
	log_emit(s, n);
}

void console_command(const char *id, const char *text)
{
	(void)tally_snprintf(request_id, sizeof(request_id), "%s", id);
	prompt_begin(text);
	due = 0;
}

/* Prints the next line of a command's output. After the last one, ends the answer, or shows the
 * prompt again. Of a long line, and of one that took long to make, this is only done in the next
 * stay. Returns false if there is no room for it yet. */
static bool prompt_go_on(uint64_t now)
{
	/* What is to be printed: a line, or the end of the answer (NULL). */
	static struct {
		bool any;
		const char *line;
		enum prompt_status status;
	} made;
	bool printed_later = false;

	log_lock();
	size_t room = log_room(RING_ANSWERS);

	log_unlock();
	if (room < ANSWER_MOST) {
		due = now + platform.timebase / LOOKS_HZ;
		return false;
	}
	due = now + platform.timebase / LINES_HZ;
	if (!made.any) {
		made.status = PROMPT_OK;
		made.line = prompt_line(&made.status);
		made.any = !made.line || *made.line;
		printed_later =
		    (made.line && prompt_line_length() > LONG_LINE) || !pcpu_may_begin(this_pcpu());
	}
	if (!made.any || printed_later)
		return true;
	made.any = false;
	if (!made.line)
		due = ~0UL;
	if (made.line && !*request_id && prompt_line_length() > LATE_LINE)
		log_lock();
	else
		log_lock_for(RING_ANSWERS);
	if (*request_id)
		console_answer(&console, request_id, made.line, made.status);
	else if (made.line)
		console_tally_puts(&console, made.line);
	else
		console_prompt_ready(&console);
	log_unlock();
	return true;
}

/* Says how many of Tally's lines were lost, if there is room for it. */
static void tell_lost(void)
{
	char text[40];

	if (!lost || log_room(RING_TALLY) < LINES_MOST)
		return;
	(void)tally_snprintf(text, sizeof(text), "%u lines were lost", lost);
	console_tally_puts(&console, text);
	lost = 0;
}

/* Prints one of Tally's own lines, for core/log.h. */
static void write_line(const char *text)
{
	if (log_room(RING_TALLY) < LINES_MOST) {
		lost++;
		return;
	}
	tell_lost();
	console_tally_puts(&console, text);
}

__attribute__((cold)) bool terminal_log(const char *line)
{
	log_lock_for(RING_TALLY);
	/* Leaves room for a line that cannot wait. */
	bool room = log_room(RING_TALLY) >= 2UL * LINES_MOST;

	if (room)
		write_line(line);
	log_unlock();
	return room;
}

void terminal_init(void)
{
	console_init(&console, platform.interactive, NULL, 0);
	log_set_writer(write_line);
}

__attribute__((cold)) void terminal_set_vms(const struct vm_tree *tree)
{
	static const char *names[VM_MAX_VMS];

	for (uint32_t i = 0; i < tree->n_vms; i++)
		names[i] = tree->vms[i].name;
	console_init(&console, platform.interactive, names, tree->n_vms);
	if (!platform.frames)
		return;
	terminal_frames(true);
	for (uint32_t i = 0; i < tree->n_vms; i++)
		(void)terminal_frames_vm(i);
}

__attribute__((cold)) void terminal_frames(bool on)
{
	log_lock_for(RING_ANSWERS);
	console_frames(&console, on);
	log_unlock();
}

__attribute__((cold)) bool terminal_frames_vm(uint32_t vm)
{
	log_lock_for(RING_ANSWERS);
	bool all = console_frames_vm(&console, vm);

	log_unlock();
	return all;
}

__attribute__((cold)) bool terminal_help(uint32_t row, struct text *text)
{
	log_lock();
	bool more = console_help(&console, row, text);

	log_unlock();
	return more;
}

/* Keeps `kept` bytes of the VM's room free. */
static size_t vm_write(uint32_t vm, const char *bytes, size_t n, size_t kept)
{
	size_t room = log_room(vm);

	console.room = room < kept ? 0 : room - kept;
	n = console_vm_write(&console, vm, bytes, n);
	last_words_add_output(&vms[vm], bytes, n);
	return n;
}

__attribute__((noinline)) size_t terminal_vm_write(uint32_t vm, const char *bytes, size_t n)
{
	log_lock_for(vm);
	n = vm_write(vm, bytes, n, RING_UART);
	log_unlock();
	return n;
}

bool terminal_vm_put(uint32_t vm, char byte, bool *full)
{
	log_lock_for(vm);
	size_t n = vm_write(vm, &byte, 1, 0);

	*full = log_room(vm) < RING_UART;
	log_unlock();
	return n;
}

bool terminal_vm_waits(uint32_t vm, size_t least)
{
	log_lock();
	bool waits = ring_waits(log_ring(), vm, least);

	log_unlock();
	return waits;
}

__attribute__((cold)) void terminal_vm_ended(uint32_t vm, bool ended)
{
	log_lock_for(vm);
	console_vm_ended(&console, vm, ended);
	log_unlock();
}

/* Whether typed bytes must wait: while a command is being answered, so that there is one at a time,
 * while there is no room for what it may print, and while the VM in focus has a full UART. */
static bool must_wait(uint64_t now)
{
	if (due != ~0UL)
		return true;
	log_lock();
	int vm = console_target(&console);
	size_t room = log_room(RING_ANSWERS);

	log_unlock();
	if (room < KEY_MOST)
		return true;
	if (vm < 0 || vm_input_space(&vms[vm])) {
		waits_since = ~0UL;
		return false;
	}
	if (waits_since == ~0UL || vm != waits_for)
		waits_since = now;
	waits_for = vm;
	return now - waits_since < platform.timebase * INPUT_PATIENCE_S;
}

/* Passes one typed byte on. Returns how many bytes the console printed because of it, or -1 if
 * nothing was typed. */
static int pass_byte(void)
{
	int vm = -1, printed = -1;

	log_lock();
	int typed = uart_read(log_uart());

	if (typed >= 0) {
		console.work = 0;
		console.room = SIZE_MAX;
		vm = console_input(&console, (uint8_t)typed);
		printed = (int)console.work;
	}
	log_unlock();
	if (vm >= 0)
		vm_input(&vms[vm], (uint8_t)typed);
	return printed;
}

/* Passes typed bytes on. Returns the time of the next call, or ~0 if the interrupt of the next byte
 * is enough. None is passed on in a stay that has answered. Bytes for which there is no room stay
 * in the host's UART, so that pasted text is not lost. */
static uint64_t read_typed(uint64_t now, bool answered)
{
	bool wait = answered || must_wait(now);
	int printed = 0, n = 0;

	for (int i = 0; i < INPUT_BURST && printed < INPUT_PRINTS && n >= 0 && !wait &&
	                pcpu_may_begin(this_pcpu());
	     i++) {
		n = pass_byte();
		printed += n;
		wait = must_wait(now);
	}
	log_lock();
	hears_input = !wait && n < 0;
	uart_listen(log_uart(), hears_input, hears_output);
	log_unlock();
	if (hears_input)
		return ~0UL;
	return due != ~0UL ? due
	                   : now + platform.timebase / (wait && !answered ? LOOKS_HZ : LINES_HZ);
}

/* Whether output of the hart is in the ring. */
static bool has_left(const struct pcpu *pcpu)
{
	const struct ring *ring = log_ring();

	return pcpu && drains_until[pcpu->index] > ring->added - ring->used;
}

/* Writes a piece of the ring, if the hart has left output there, and tells a VM that it has room
 * again; but not in a stay that has answered, or that is too long to begin that. Returns whether
 * there is more to do after 1 / LINES_HZ: with the hart's output, if the line takes it, or with
 * another VM. */
static bool drain(bool answered)
{
	struct pcpu *pcpu = this_pcpu();
	bool begins = !answered && pcpu_may_begin(pcpu);

	log_lock_for(RING_TALLY);
	bool takes = log_push(begins && has_left(pcpu) ? DRAIN_BYTES : 0);
	int vm = -1;

	if (begins) {
		tell_lost();
		vm = ring_told(log_ring());
	}
	bool more = !begins || (takes && has_left(pcpu)) || log_ring()->ready;

	if (pcpu == listener)
		goes_on = more;
	log_unlock();
	if (vm >= 0)
		vm_output_room(&vms[vm]);
	return more;
}

/* The UART does not interrupt until the hart that listens serves it again. */
static void rest(void)
{
	log_lock();
	goes_on = true;
	hears_input = hears_output = false;
	uart_listen(log_uart(), false, false);
	log_unlock();
	external_poll_at(EXTERNAL_CONSOLE, rests_until);
}

/* Called on the interrupt of the host's UART, and on each hart at the time that it has set. Drains
 * the ring. Before that the hart that listens prints the next line of a command, or passes typed
 * bytes on: reading input may clear the interrupt of an empty transmitter, and then finds it empty.
 */
static void serve(void)
{
	uint64_t now = csr_read(CSR_TIME), next = ~0UL, soon = now + platform.timebase / LINES_HZ;
	bool answered = false;

	if (this_pcpu() == listener) {
		if (now + platform.timebase / SOON_HZ < rests_until) {
			rest();
			return;
		}
		rests_until = soon;
		answered = now + platform.timebase / SOON_HZ >= due && prompt_go_on(now);
		next = read_typed(now, answered);
		next = next < soon ? soon : next;
	}
	external_poll_at(EXTERNAL_CONSOLE, next);
	if (drain(answered) && next > soon)
		external_poll_at(EXTERNAL_CONSOLE, soon);
}

/* The UART interrupts while the hart that listens has something to drain, and waits for it. Each
 * hart that has comes back all the same, because there may be no interrupt, or one may be lost. A
 * hart that prints all the time must not put that off. */
static __attribute__((cold)) void wants(bool more, bool left)
{
	struct pcpu *pcpu = this_pcpu();
	bool hears;

	if (left)
		drains_until[pcpu->index] = log_ring()->added;
	hears = has_left(listener) && !goes_on;
	if (hears != hears_output) {
		hears_output = hears;
		uart_listen(log_uart(), hears_input, hears_output);
	}
	if (more && (has_left(pcpu) || log_ring()->ready) &&
	    pcpu->poll_times[EXTERNAL_CONSOLE] == ~0UL)
		external_poll_at(EXTERNAL_CONSOLE,
		                 csr_read(CSR_TIME) +
		                     platform.timebase / (pcpu == listener ? LOST_HZ : DRAINS_HZ));
}

__attribute__((cold)) void terminal_enable_input(void *memory)
{
	listener = external_serve_console(serve) ? this_pcpu() : NULL;
	goes_on = false;
	rests_until = 0;
	memset(drains_until, 0, sizeof(drains_until));
	log_begin_ring(memory, n_vms, wants);
}
