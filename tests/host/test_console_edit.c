/* SPDX-License-Identifier: Apache-2.0 */
/* The line that is typed at the prompt: cursor, last commands, Tab. The exact bytes of each key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/console_log.h"

#define UP    "\x1b[A"
#define DOWN  "\x1b[B"
#define RIGHT "\x1b[C"
#define LEFT  "\x1b[D"
#define AGAIN "\r\x1b[Ktally> "

static int at_the_prompt(void **state)
{
	(void)state;
	start(true);
	command(':');
	(void)emitted();
	return 0;
}

/* Each byte comes alone, as if in a read of its own. */
static void typed(const char *text)
{
	for (; *text != '\0'; text++)
		assert_int_equal(type((uint8_t)*text), -1);
}

static void entered(const char *text, const char *command)
{
	typed_command[0] = '\0';
	typed(text);
	typed("\r");
	assert_string_equal(typed_command, command);
	console_prompt_ready(&con);
	(void)emitted();
}

static void the_cursor_moves(void **state)
{
	(void)state;
	typed("vs" LEFT);
	EMITTED("vs" AGAIN "vs\x1b[1D");
	typed("m");
	EMITTED(AGAIN "vms\x1b[1D");
	typed(LEFT LEFT LEFT);
	EMITTED(AGAIN "vms\x1b[2D" AGAIN "vms\x1b[3D");
	typed("\b\x7f");
	EMITTED("");
	typed("x" RIGHT "\x7f");
	EMITTED(AGAIN "xvms\x1b[3D" AGAIN "xvms\x1b[2D" AGAIN "xms\x1b[2D");
	typed("\x1b[F");
	EMITTED(AGAIN "xms");
	typed(RIGHT "\b\x1b[H");
	EMITTED("\b \b" AGAIN "xm\x1b[2D");
	typed("\x1bOC\x1bOD");
	EMITTED(AGAIN "xm\x1b[1D" AGAIN "xm\x1b[2D");
	/* Others' lines come in between. The cursor is where it was. */
	PRINTS(0, "x\n", "\r\n[linux-a] x\r\n");
	typed("y");
	EMITTED("tally> yxm\x1b[2D");
	PRINTS(0, "x\n", "\r\n[linux-a] x\r\n");
	typed("\r");
	EMITTED("tally> yxm\r\n");
	assert_string_equal(typed_command, "yxm");
}

/* Terminals send Home, End and Delete as numbers, too. F5 is no Home, Ctrl and Delete nothing. */
static void keys_with_numbers(void **state)
{
	(void)state;
	typed("vxms\x1b[1~" RIGHT);
	(void)emitted();
	typed("\x1b[3~");
	EMITTED(AGAIN "vms\x1b[2D");
	typed("\x1b[4~\x1b[3~\x1b[7~");
	EMITTED(AGAIN "vms" AGAIN "vms\x1b[3D");
	typed("\x1b[8~\x1b[15~\x1b[3;5~\x1b[2~\x1b[~");
	EMITTED(AGAIN "vms");
	typed("\x1b[1~\x1b[3~\x1b[3~\x1b[3~\x1b[3~");
	EMITTED(AGAIN "vms\x1b[3D" AGAIN "ms\x1b[2D" AGAIN "s\x1b[1D" AGAIN);
	entered("", "");
}

/* ESC alone loses the next character at most, and no control character. */
static void a_lone_escape(void **state)
{
	(void)state;
	entered("\x1bxvms", "vms");
	entered("vms\x1b", "vms");
	entered("vms\x1b[", "vms");
	entered("vms\x1b[1;5", "vms");
	entered("vm\x1b\x1b\x1b[Ds", "vsm");
	entered("v\x1b[1\x7f\x1b[Zms", "vms");
}

static void last_commands(void **state)
{
	char text[] = "0", longest[CONSOLE_COMMAND_BYTES + 1];

	(void)state;
	typed(UP DOWN);
	EMITTED("");
	entered("one", "one");
	entered("", "");
	entered("two", "two");
	entered("two", "two");
	typed("thr" UP);
	EMITTED("thr" AGAIN "two");
	typed(UP UP);
	EMITTED(AGAIN "one");
	typed(DOWN DOWN DOWN);
	EMITTED(AGAIN "two" AGAIN);
	entered(UP UP, "one");
	entered(UP UP "\b", "tw");
	/* Ctrl-C drops the line, and begins anew. */
	typed(UP UP "\x03" UP);
	(void)emitted();
	entered("", "tw");
	for (; text[0] < '9'; text[0]++)
		entered(text, text);
	/* The oldest that is kept, of eight. */
	entered(UP UP UP UP UP UP UP UP UP UP, "1");
	memset(longest, 'y', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	entered(longest, longest);
	entered(UP "z", longest);
	entered(UP LEFT "z", longest);
}

static void tab_completes(void **state)
{
	(void)state;
	typed("v\t");
	EMITTED("v" AGAIN "vms ");
	typed("\x03");
	(void)emitted();
	typed("st\tli\t");
	EMITTED("st" AGAIN "stop li" AGAIN "stop linux-");
	typed("\t");
	EMITTED("\r\ntally: linux-a linux-b\r\ntally> stop linux-");
	entered("b\t", "stop linux-b ");
	/* A command is no VM, and a VM no command. Names that are whole get their blank. */
	typed("c\t\tstop v\t\t");
	EMITTED("cstop v");
	typed("\x03"
	      "exit\t");
	(void)emitted();
	typed("\t");
	EMITTED("\r\ntally: exits exit\r\ntally> exit");
	entered("s\tc\t", "exits c ");
	/* Within the line, and of all. */
	typed("s a" LEFT LEFT "\t");
	EMITTED("s a" AGAIN "s a\x1b[1D" AGAIN "s a\x1b[2D" AGAIN "stop a\x1b[2D" AGAIN
	        "stop  a\x1b[2D");
	typed("\x03\t\t");
	EMITTED("\r\ntally> \r\ntally: vms exits stop exit\r\ntally> ");
}

/* Where there is no room for the whole word, there is none of it. */
static void tab_at_the_end(void **state)
{
	char text[CONSOLE_COMMAND_BYTES + 1];

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text + CONSOLE_COMMAND_BYTES - 6, "linux\t", 7);
	typed(text);
	(void)emitted();
	typed("\t");
	text[CONSOLE_COMMAND_BYTES - 1] = '\0';
	typed("\r");
	assert_int_equal(strlen(typed_command), CONSOLE_COMMAND_BYTES);
	assert_string_equal(typed_command + CONSOLE_COMMAND_BYTES - 7, " linux-");
	console_prompt_ready(&con);
	typed(" ");
	typed(text);
	(void)emitted();
	typed("\t\t");
	assert_null(strchr(emitted(), '-'));
}

/* The longest answer of a key fits into the room that terminal.c leaves for it. */
static void most_of_a_key(void **state)
{
	static char long_names[CONSOLE_MAX_VMS][CONSOLE_NAME_BYTES + 1];
	const char *all[CONSOLE_MAX_VMS];

	(void)state;
	for (unsigned int i = 0; i < CONSOLE_MAX_VMS; i++) {
		memset(long_names[i], 'a', CONSOLE_NAME_BYTES);
		long_names[i][CONSOLE_NAME_BYTES - 1] = (char)('a' + i);
		all[i] = long_names[i];
	}
	console_init(&con, true, all, CONSOLE_MAX_VMS);
	command(':');
	typed("stop a\t\t");
	(void)emitted();
	typed("\t");
	assert_in_range(emitted_bytes(), 1, 1536);
	assert_in_range(emitted_bytes(), CONSOLE_MAX_VMS * (CONSOLE_NAME_BYTES + 1), 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(the_cursor_moves, at_the_prompt),
	    cmocka_unit_test_setup(keys_with_numbers, at_the_prompt),
	    cmocka_unit_test_setup(a_lone_escape, at_the_prompt),
	    cmocka_unit_test_setup(last_commands, at_the_prompt),
	    cmocka_unit_test_setup(tab_completes, at_the_prompt),
	    cmocka_unit_test_setup(tab_at_the_end, at_the_prompt),
	    cmocka_unit_test_setup(most_of_a_key, at_the_prompt),
	};

	return cmocka_run_group_tests_name("console_edit", tests, NULL, NULL);
}
