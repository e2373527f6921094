/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input that waits for room in a VM's UART (core/operator/terminal.h), while another hart runs the
 * VM: its room is looked at from time to time, and no byte is lost. And one command at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/devices/uart.h"
#include "core/console/port.h"
#include "core/console/ring.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/io/dma.h"
#include "core/io/external.h"
#include "core/io/ports.h"
#include "core/io/vm_uart.h"
#include "core/life/vm_log.h"
#include "core/log.h"
#include "core/operator/prompt.h"
#include "core/operator/terminal.h"
#include "core/sched/sched.h"
#include "core/vcpu/terminal_port.h"
#include "core/vcpu/vm.h"

#define ROOM  VUART_RX_BYTES
#define TYPED 8U
#define NEVER UINT64_MAX

uint64_t host_csrs[4096];
struct platform platform = {.timebase = 1000};
static struct vm all_vms[VM_MAX_VMS];
struct vm *vms = all_vms;
uint32_t n_vms = 1;

static union hart_stack hart, other_hart;
static struct pcpu *on = &hart.pcpu;     /* the hart that runs */
static bool listening;                   /* the host's UART interrupts for input */
static bool asks_for_output;             /* and for an empty transmitter */
static size_t line_takes = SIZE_MAX / 2; /* bytes that it takes without waiting */
static char line[1 << 20];               /* and has taken */
static size_t line_length;
static unsigned int typed;   /* not yet read from the host's UART */
static const char *typing;   /* the last of these are typed, NULL: 'x' */
static unsigned int arrived; /* in the VM's */
static size_t room;          /* there */
/* The guest reads everything after this many checks of its room, -1: never. */
static int reads_at;

/* --- what terminal.c wants -----------------------------------------------------------------------
 */

struct pcpu *this_pcpu(void)
{
	return on;
}

void sched_yield(void)
{
}

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift, uint32_t io_width)
{
	(void)uart, (void)base, (void)reg_shift, (void)io_width;
	listening = true;
}

size_t uart_put(struct uart *uart, const char *s, size_t n)
{
	(void)uart;
	n = n < line_takes ? n : line_takes;
	line_takes -= n;
	assert_true(line_length + n < sizeof(line));
	memcpy(line + line_length, s, n);
	line_length += n;
	return n;
}

void uart_write(struct uart *uart, const char *s, size_t n)
{
	line_takes += n;
	assert_int_equal(uart_put(uart, s, n), n);
}

void uart_listen(const struct uart *uart, bool received, bool empty)
{
	(void)uart;
	listening = received;
	asks_for_output = empty;
}

/* Which VMs have been told of room. */
static unsigned int told;

void vm_output_room(struct vm *vm)
{
	told |= 1U << (vm - vms);
}

int uart_read(const struct uart *uart)
{
	(void)uart;
	if (!typed)
		return -1;
	typed--;
	return typing ? typing[strlen(typing) - typed - 1] : 'x';
}

/* Other harts continue when the check is over. */
bool vm_input_space(struct vm *vm)
{
	bool space = room;

	(void)vm;
	if (reads_at >= 0 && reads_at-- == 0)
		room = ROOM;
	return space;
}

static uint64_t byte_costs; /* instructions */

void vm_input(struct vm *vm, uint8_t byte)
{
	(void)vm, (void)byte;
	host_csrs[CSR_INSTRET] += byte_costs;
	if (room) {
		room--;
		arrived++;
	}
}

/* The VMs have no ports. */
void port_counts_read(const struct vm *vm, uint32_t n, struct port_counts *counts)
{
	(void)vm;
	(void)n;
	(void)counts;
	fail();
}

bool dma_log_remaining(struct vm *vm)
{
	(void)vm;
	return false;
}

static unsigned int lines; /* of the command's answer that are still to come */

const char *console_command_name(unsigned int n)
{
	return n ? NULL : "vms";
}

void prompt_begin(const char *text)
{
	(void)text;
	lines = 3;
}

const char *prompt_line(enum prompt_status *status)
{
	*status = PROMPT_OK;
	return lines && lines-- ? "a line" : NULL;
}

static uint32_t length = 6; /* of the lines */

uint32_t prompt_line_length(void)
{
	return length;
}

static bool hears; /* the host's UART interrupts */

static void (*serve_console)(void);

void external_poll_at(enum external_kind what, uint64_t time)
{
	on->poll_times[what] = time;
	on->next_poll = time;
}

bool external_serve_console(void (*serve)(void))
{
	serve_console = serve;
	return hears;
}

bool pcpu_may_begin_late(struct pcpu *pcpu)
{
	(void)pcpu;
	return false;
}

/* --- the tests ------------------------------------------------------------------------------ */

static const struct vm_tree the_tree = {.n_vms = 1, .vms = {{.name = "alpha"}}};

static void begin_with(bool can_interrupt, size_t room_now)
{
	static char memory[RING_BYTES(VM_MAX_VMS)];

	hears = can_interrupt;
	external_poll_at(EXTERNAL_CONSOLE, NEVER);
	/* Of the test before nothing waits. */
	listening = true;
	typed = 0;
	room = ROOM;
	platform.interactive = true;
	terminal_init();
	terminal_set_vms(&the_tree);
	terminal_enable_input(memory);
	host_csrs[CSR_TIME] = 5000;
	serve_console();
	arrived = 0;
	typed = TYPED;
	room = room_now;
	reads_at = -1;
}

static void begin(size_t room_now)
{
	begin_with(true, room_now);
}

/* The host's UART interrupts while it listens and has something, and the timer when it is set. */
static void interrupts(uint64_t until)
{
	for (unsigned int i = 0; host_csrs[CSR_TIME] < until; i++) {
		assert_true(i < 10000);
		assert_true(listening == (hart.pcpu.next_poll == NEVER));
		if (listening && !typed)
			break;
		if (!listening)
			host_csrs[CSR_TIME] = hart.pcpu.next_poll;
		if (host_csrs[CSR_TIME] < until)
			serve_console();
	}
}

static void bytes_wait_for_room(void **state)
{
	(void)state;
	begin(3);
	interrupts(5010);
	assert_int_equal(arrived, 3);
	assert_false(listening);
	room = 2;
	interrupts(5012);
	assert_int_equal(arrived, 5);
	assert_false(listening);
	room = ROOM;
	interrupts(5014);
	assert_true(listening);
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
			interrupts(NEVER);
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
	interrupts(5010);
	assert_int_equal(typed, TYPED);
	terminal_vm_ended(0, true);
	interrupts(5012);
	assert_int_equal(typed, 0);
	assert_true(listening);
}

/* Bytes for a VM that never reads are kept for two seconds, and those after them are not. */
static void patience(void **state)
{
	(void)state;
	begin(0);
	interrupts(7000);
	assert_int_equal(typed, TYPED);
	interrupts(7001);
	assert_true(listening);
	assert_int_equal(typed, 0);
	typed = TYPED;
	serve_console();
	assert_int_equal(typed, 0);
	assert_int_equal(arrived, 0);
	/* It reads again. */
	room = 3;
	typed = TYPED;
	interrupts(8000);
	assert_int_equal(arrived, 3);
	assert_int_equal(typed, TYPED - 3);
}

/* What is typed waits while a command is answered, a line in each call. */
static void one_command_at_a_time(void **state)
{
	(void)state;
	begin(ROOM);
	serve_console();
	assert_int_equal(arrived, TYPED);
	console_command("", "vms");
	typed = TYPED;
	for (unsigned int left = 3; left > 0; left--) {
		serve_console();
		assert_int_equal(lines, left - 1);
		assert_int_equal(typed, TYPED);
		assert_false(listening);
		host_csrs[CSR_TIME] = hart.pcpu.next_poll;
	}
	/* The end of the answer is a stay of its own, too. */
	serve_console();
	assert_int_equal(typed, TYPED);
	host_csrs[CSR_TIME] = hart.pcpu.next_poll;
	serve_console();
	assert_int_equal(typed, 0);
	/* As many may be typed behind them: those are the next stay's. */
	assert_false(listening);
	host_csrs[CSR_TIME] = hart.pcpu.next_poll;
	serve_console();
	assert_true(listening);
}

/* What a stay has not done follows 50 us later, and nothing of the UART interrupts in between:
 * typed bytes, pieces of an answer, and output, however fast the line takes it. An interrupt
 * shortly before a piece takes it along. */
static void guests_run_in_between(void **state)
{
	static const uint64_t pause = 500; /* ticks */
	char text[32];

	(void)state;
	begin(ROOM);
	platform.timebase = 10000000;
	typed = 2 * TYPED;
	for (unsigned int stay = 0; stay < 2; stay++) {
		serve_console();
		assert_int_equal(arrived, (stay + 1) * TYPED);
		assert_false(listening);
		assert_int_equal(hart.pcpu.next_poll, host_csrs[CSR_TIME] + pause);
		host_csrs[CSR_TIME] = hart.pcpu.next_poll;
	}
	serve_console();
	assert_true(listening);
	memset(text, 'y', sizeof(text));
	line_takes = 0;
	while (terminal_vm_write(0, text, sizeof(text)))
		;
	assert_true(asks_for_output);
	line_takes = SIZE_MAX / 2;
	for (unsigned int stay = 0; log_has_more(); stay++) {
		size_t before = line_length;

		assert_true(stay < 10000);
		serve_console();
		assert_true(line_length - before <= 64);
		assert_false(asks_for_output);
		if (log_has_more())
			assert_int_equal(hart.pcpu.next_poll, host_csrs[CSR_TIME] + pause);
		host_csrs[CSR_TIME] += pause;
	}
	console_command("", "vms");
	assert_int_equal(lines, 3);
	serve_console();
	assert_int_equal(lines, 2);
	line_takes = 0;
	assert_int_equal(terminal_vm_write(0, "some\n", 5), 5);
	assert_false(asks_for_output);
	host_csrs[CSR_TIME] = hart.pcpu.next_poll - 51;
	serve_console();
	assert_int_equal(lines, 2);
	host_csrs[CSR_TIME] += 2;
	serve_console();
	assert_int_equal(lines, 1);
	assert_false(listening);
	assert_false(asks_for_output);
	assert_int_equal(hart.pcpu.next_poll, host_csrs[CSR_TIME] + pause);
	for (line_takes = SIZE_MAX / 2; !listening; host_csrs[CSR_TIME] = hart.pcpu.next_poll)
		serve_console();
	assert_int_equal(lines, 0);
	platform.timebase = 1000;
}

/* The UART interrupts before the pause is over: for an empty transmitter, as where the line takes a
 * few bytes at a time, or for a typed byte. Then it is turned off until the pause is over. */
static void interrupts_do_not_follow_at_once(void **state)
{
	static const uint64_t pause = 500; /* ticks */
	char text[32];

	(void)state;
	begin(ROOM);
	platform.timebase = 10000000;
	typed = 0;
	memset(text, 'y', sizeof(text));
	line_takes = 0;
	while (terminal_vm_write(0, text, sizeof(text)))
		;
	host_csrs[CSR_TIME] += pause;
	for (unsigned int piece = 0; piece < 100; piece++) {
		uint64_t until = host_csrs[CSR_TIME] + pause;
		size_t before = line_length;

		assert_true(asks_for_output);
		assert_true(listening);
		line_takes = 16;
		serve_console();
		assert_int_equal(line_length - before, 16);
		assert_true(asks_for_output);
		assert_true(listening);
		line_takes = 16;
		typed = piece & 1;
		host_csrs[CSR_TIME] += 1 + 4 * piece;
		serve_console();
		assert_int_equal(line_length - before, 16);
		assert_int_equal(typed, piece & 1);
		assert_false(asks_for_output);
		assert_false(listening);
		assert_int_equal(hart.pcpu.next_poll, until);
		/* Other output on the hart, and what it asks for. */
		line_takes = 0;
		(void)terminal_vm_write(0, text, sizeof(text));
		assert_false(asks_for_output);
		assert_false(listening);
		assert_int_equal(hart.pcpu.next_poll, until);
		host_csrs[CSR_TIME] = until;
		serve_console();
		assert_int_equal(typed, 0);
		host_csrs[CSR_TIME] += pause;
	}
	platform.timebase = 1000;
}

/* A stay that is long already passes no further byte on, and writes nothing: all that follows a
 * pause later, in the next one. */
static void a_stay_that_is_long(void **state)
{
	size_t before;

	(void)state;
	begin(ROOM);
	platform.timebase = 10000000;
	line_takes = 0;
	assert_int_equal(terminal_vm_write(0, "some\n", 5), 5);
	before = line_length;
	line_takes = SIZE_MAX / 2;
	byte_costs = 600;
	serve_console();
	assert_int_equal(arrived, 4); /* of them the last one begins before 2,000 */
	assert_int_equal(line_length, before);
	assert_false(listening);
	assert_false(asks_for_output);
	assert_int_equal(hart.pcpu.next_poll, host_csrs[CSR_TIME] + 500);
	byte_costs = host_csrs[CSR_INSTRET] = 0; /* the next stay */
	host_csrs[CSR_TIME] = hart.pcpu.next_poll;
	serve_console();
	assert_int_equal(arrived, TYPED);
	assert_true(line_length > before);
	assert_false(log_has_more());
	serve_console();
	platform.timebase = 1000;
}

/* The first line of an answer comes in no stay that follows its command at once. */
static void an_answer_begins_later(void **state)
{
	(void)state;
	begin(ROOM);
	platform.timebase = 10000000;
	host_csrs[CSR_TIME] += 500;
	typing = "\x14=1 vm\r";
	typed = (unsigned int)strlen(typing);
	serve_console();
	assert_int_equal(typed, 0);
	assert_int_equal(lines, 3);
	assert_int_equal(hart.pcpu.next_poll, host_csrs[CSR_TIME] + 500);
	for (typing = NULL; lines; host_csrs[CSR_TIME] = hart.pcpu.next_poll)
		serve_console();
	serve_console();
	platform.timebase = 1000;
}

/* A long one is made in one stay and printed in the next, in which no other is made. At a bare
 * prompt it is written to the UART in later ones. */
static void long_lines(void **state)
{
	size_t before;

	(void)state;
	begin(ROOM);
	serve_console();
	length = 289;
	line_takes = SIZE_MAX / 2;
	console_command("", "exits");
	for (unsigned int left = 3; left > 0; left--) {
		for (unsigned int stay = 0; stay < 2; stay++) {
			before = line_length;
			serve_console();
			assert_int_equal(lines, left - 1);
			assert_int_equal(line_length, before);
			assert_false(listening);
			host_csrs[CSR_TIME] = hart.pcpu.next_poll;
		}
	}
	serve_console();
	assert_false(listening);
	host_csrs[CSR_TIME] = hart.pcpu.next_poll;
	serve_console();
	assert_true(listening);
	length = 288;
}

/* The line takes all, until no output waits. */
static void drains(void)
{
	line_takes = SIZE_MAX / 2;
	for (unsigned int i = 0; log_has_more(); i++) {
		assert_true(i < 10000);
		serve_console();
	}
}

/* The UART takes all at once, and much is to be done: the looks at the ring on the way write
 * nothing, and typed bytes are echoed within what a stay writes. */
static void a_stay_writes_little(void **state)
{
	char text[32];
	size_t before;

	(void)state;
	begin(ROOM);
	memset(text, 'y', sizeof(text));
	line_takes = 0;
	while (terminal_vm_write(0, text, sizeof(text)))
		;
	assert_true(terminal_vm_waits(0, RING_WAKE));
	before = line_length;
	line_takes = SIZE_MAX / 2;
	assert_true(terminal_vm_waits(0, RING_WAKE));
	assert_int_equal(line_length, before);
	serve_console();
	assert_int_equal(arrived, TYPED);
	assert_int_equal(line_length - before, 64);
	/* A stay that adds to the ring writes less from it. */
	before = line_length;
	log_line("another line");
	assert_int_equal(line_length - before, 16);
	drains();
	assert_false(terminal_vm_waits(0, RING_WAKE));
}

/* Without interrupts: a guest that prints all the time does not put off the time at which the hart
 * writes what waits. */
static void a_flood_is_drained(void **state)
{
	uint64_t at;

	(void)state;
	begin_with(false, ROOM);
	line_takes = 0;
	assert_int_equal(terminal_vm_write(0, "some\n", 5), 5);
	at = hart.pcpu.next_poll;
	assert_true(at != NEVER);
	host_csrs[CSR_TIME]++;
	assert_int_equal(terminal_vm_write(0, "more\n", 5), 5);
	assert_int_equal(hart.pcpu.next_poll, at);
	host_csrs[CSR_TIME] = at;
	serve_console();
	assert_true(hart.pcpu.next_poll >= at && hart.pcpu.next_poll != NEVER);
	drains();
	assert_int_equal(hart.pcpu.next_poll, NEVER);
}

/* A waiting VM is told of room. */
static void is_told(void)
{
	told = 0;
	for (unsigned int i = 0; !told; i++) {
		assert_true(i < 10000);
		line_takes = 1;
		serve_console();
	}
}

/* A VM that waited for room can print when it is told of it. If frames have begun meanwhile, that
 * is a piece of its line, and it may wait once more for the rest. */
static void room_is_enough(void **state)
{
	bool full;

	(void)state;
	for (unsigned int frames = 0; frames < 2; frames++) {
		begin(ROOM);
		platform.interactive = false;
		terminal_set_vms(&the_tree);
		line_takes = 0;
		while (terminal_vm_write(0, "0123456789abcdef 0123456789abcd\n", 32))
			;
		for (unsigned int i = 0; i < 384; i++)
			assert_true(terminal_vm_put(0, '\t', &full));
		terminal_frames(frames);
		assert_true(terminal_vm_waits(0, RING_WAKE));
		is_told();
		for (unsigned int i = 0; !terminal_vm_write(0, "\n", 1); i++) {
			assert_true(frames && i < 20);
			if (i > 5 && terminal_vm_waits(0, RING_WAKE))
				is_told();
		}
		line_takes = SIZE_MAX / 2;
		terminal_frames(false);
		drains();
	}
}

/* An unfinished line is sent when frames begin, however full the VM's share is. */
static void frames_wait_for_no_vm(void **state)
{
	const char *sent;
	bool full;

	(void)state;
	begin(ROOM);
	platform.interactive = false;
	terminal_set_vms(&the_tree);
	line_takes = 0;
	while (terminal_vm_write(0, "0123456789abcdef 0123456789abcd\n", 32))
		;
	do
		assert_true(terminal_vm_put(0, '\n', &full));
	while (!full);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(terminal_vm_put(0, "rest"[i], &full));
	terminal_frames(true);
	while (!terminal_frames_vm(0))
		;
	assert_true(terminal_vm_waits(0, RING_UART));
	sent = line + line_length;
	drains();
	assert_non_null(strstr(sent, "\036+\n\036:A alpha\n\036Arest"));
	terminal_frames(false);
	drains();
}

/* After a panic has read the ring, another hart that still holds the lock pushes nothing of it. */
static void a_panic_ends_the_ring(void **state)
{
	const char *said;

	(void)state;
	begin(ROOM);
	line_takes = 0;
	assert_int_equal(terminal_vm_write(0, "some\n", 5), 5);
	log_lock_for(RING_TALLY);
	said = line + line_length;
	log_panic("panic: of a test");
	assert_non_null(strstr(said, "some"));
	assert_non_null(strstr(said, "tally: panic: of a test"));
	assert_false(log_has_more());
	said = line + line_length;
	line_takes = SIZE_MAX / 2;
	(void)log_push(100);
	log_unlock();
	assert_int_equal(line + line_length - said, 0);
}

/* No interrupt comes although the line has taken all: the hart looks after 10 ms. */
static void an_interrupt_is_lost(void **state)
{
	size_t before;

	(void)state;
	begin(ROOM);
	typed = 0;
	line_takes = 0;
	before = line_length;
	assert_int_equal(terminal_vm_write(0, "some\n", 5), 5);
	assert_true(asks_for_output);
	assert_int_equal(hart.pcpu.next_poll, 5010);
	line_takes = SIZE_MAX / 2;
	host_csrs[CSR_TIME] = 5010;
	serve_console();
	assert_true(line_length > before);
	assert_false(asks_for_output);
	assert_int_equal(hart.pcpu.next_poll, NEVER);
}

/* A hart drains what it has left itself. The hart of the host's UART has no interrupt for it. */
static void each_hart_drains_its_own(void **state)
{
	size_t before;
	uint64_t at;

	(void)state;
	begin(ROOM);
	typed = 0;
	other_hart.pcpu.index = 1;
	on = &other_hart.pcpu;
	external_poll_at(EXTERNAL_CONSOLE, NEVER);
	line_takes = 0;
	before = line_length;
	assert_int_equal(terminal_vm_write(0, "some\n", 5), 5);
	at = on->next_poll;
	assert_true(at != NEVER);
	assert_false(asks_for_output);
	on = &hart.pcpu;
	line_takes = SIZE_MAX / 2;
	serve_console();
	assert_int_equal(line_length, before);
	assert_int_equal(on->next_poll, NEVER);
	/* Its own waits behind that. When both are out it is left in peace, whatever follows. */
	line_takes = 0;
	log_line("a line");
	assert_true(asks_for_output);
	on = &other_hart.pcpu;
	assert_int_equal(terminal_vm_write(0, "more\n", 5), 5);
	on = &hart.pcpu;
	line_takes = strlen("[alpha] some\r\ntally: a line\r\n");
	serve_console();
	assert_false(asks_for_output);
	assert_true(log_has_more());
	on = &other_hart.pcpu;
	host_csrs[CSR_TIME] = at;
	line_takes = SIZE_MAX / 2;
	serve_console();
	assert_false(log_has_more());
	assert_int_equal(on->next_poll, NEVER);
	on = &hart.pcpu;
	external_poll_at(EXTERNAL_CONSOLE, NEVER);
}

static void fails(void)
{
	static const struct vm_config config = {.name = "alpha", .n_vcpus = 1};
	static struct vcpu vcpu;

	all_vms[0].config = &config;
	all_vms[0].vcpus[0] = &vcpu;
	all_vms[0].end.why = VM_END_FAILED;
	all_vms[0].end.failure.text = "it broke at";
	all_vms[0].end.failure.value = 0x2a;
	line_takes = 0;
	for (unsigned int i = 0; i < 100; i++)
		log_line("another line of Tally's, which is long enough, number %u", i);
	vm_log_begin(&all_vms[0]);
}

/* The lines about a VM's end wait until the serial line has taken others; but not for ever. */
static void an_end_waits_for_room(void **state)
{
	const char *said;

	(void)state;
	begin(ROOM);
	typed = 0;
	fails();
	for (unsigned int i = 0; i < 100; i++)
		assert_true(vm_log_piece(&all_vms[0]));
	drains();
	said = line + line_length;
	while (vm_log_piece(&all_vms[0]))
		;
	drains();
	assert_non_null(strstr(said, "tally: vm alpha: vcpu 0: exits"));
	assert_non_null(strstr(said, "tally: vm alpha: failed: it broke at 2a"));
	assert_non_null(strstr(said, "tally: vm alpha: vcpu 0: stvec"));
	fails();
	host_csrs[CSR_TIME] += 60 * platform.timebase - 1;
	for (unsigned int i = 0; i < 100; i++)
		assert_true(vm_log_piece(&all_vms[0]));
	host_csrs[CSR_TIME]++;
	for (unsigned int i = 0; vm_log_piece(&all_vms[0]); i++)
		assert_true(i < 100);
	drains();
	assert_non_null(strstr(said, " lines were lost"));
}

/* The lines about an end leave room for one that cannot wait. */
static void an_end_does_not_silence_others(void **state)
{
	const char *said;

	(void)state;
	begin(ROOM);
	typed = 0;
	drains();
	fails();
	for (unsigned int i = 0; log_room(RING_TALLY) < 700; i++) {
		assert_true(i < 10000);
		line_takes = 16;
		serve_console();
	}
	line_takes = 0;
	said = line + line_length;
	for (unsigned int i = 0; i < 100; i++)
		assert_true(vm_log_piece(&all_vms[0]));
	log_line("vm beta: starts again");
	drains();
	assert_non_null(strstr(said, "tally: vm beta: starts again"));
	while (vm_log_piece(&all_vms[0]))
		drains();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bytes_wait_for_room),
	    cmocka_unit_test(a_guest_that_reads_meanwhile),
	    cmocka_unit_test(a_vm_that_ends),
	    cmocka_unit_test(patience),
	    cmocka_unit_test(one_command_at_a_time),
	    cmocka_unit_test(guests_run_in_between),
	    cmocka_unit_test(interrupts_do_not_follow_at_once),
	    cmocka_unit_test(a_stay_that_is_long),
	    cmocka_unit_test(an_answer_begins_later),
	    cmocka_unit_test(long_lines),
	    cmocka_unit_test(an_end_waits_for_room),
	    cmocka_unit_test(a_stay_writes_little),
	    cmocka_unit_test(a_flood_is_drained),
	    cmocka_unit_test(room_is_enough),
	    cmocka_unit_test(frames_wait_for_no_vm),
	    cmocka_unit_test(a_panic_ends_the_ring),
	    cmocka_unit_test(an_interrupt_is_lost),
	    cmocka_unit_test(each_hart_drains_its_own),
	    cmocka_unit_test(an_end_does_not_silence_others),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
