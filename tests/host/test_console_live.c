/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive console: the exact bytes that the terminal gets while a line is open. Nothing is
 * drawn again: what was written stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/console_log.h"

static int interactive(void **state)
{
	(void)state;
	start(true);
	return 0;
}

#define BACK "\b \b"

static void focus_is_shown_as_it_grows(void **state)
{
	(void)state;
	PRINTS(0, "~", "[linux-a] ~");
	PRINTS(0, " # ", " # ");
	PRINTS(0, "ls\r\n", "ls\r\n");
	PRINTS(0, "\r\n", "[linux-a] \r\n");
	PRINTS(1, "boot", "");
	PRINTS(1, "ing\r\n", "[linux-b] booting\r\n");
	PRINTS(0, "\033[31mred\a", "[linux-a] red");
	PRINTS(1, "\033[31mred\a\n", "\r\n[linux-b] red\r\n");
	PRINTS(0, "dish", "[linux-a]+dish");
	PRINTS(0, "\n", "\r\n");
	PRINTS(0, "\x0e\0\v\x7f\033[2J\033[H", "");
}

/* A piece ends where somebody else writes; the next one's line ends once, and only if it has
 * something. */
static void pieces(void **state)
{
	(void)state;
	PRINTS(0, "~ # ", "[linux-a] ~ # ");
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	PRINTS(1, "y\n", "[linux-b] y\r\n");
	PRINTS(0, "l", "[linux-a]+l");
	console_tally_puts(&con, "one");
	console_tally_puts(&con, "two");
	EMITTED("\r\ntally: one\r\ntally: two\r\n");
	PRINTS(0, "s\r", "[linux-a]+s");
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	PRINTS(0, "\n", "");
	PRINTS(0, "~ # ", "[linux-a] ~ # ");
	console_vm_ended(&con, 0, false);
	EMITTED("\r\n");
	PRINTS(0, "a", "[linux-a] a");
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	console_vm_ended(&con, 0, true);
	EMITTED("");
	console_vm_ended(&con, 0, false);
	PRINTS(0, "new life\n", "[linux-a] new life\r\n");
}

static void backspace_within_the_line(void **state)
{
	(void)state;
	PRINTS(0, "ls -x\b \b", "[linux-a] ls -x" BACK " " BACK);
	PRINTS(0, "l\n", "l\r\n");
	PRINTS(0, "abcdef\b\b\b\b", "[linux-a] abcdef" BACK BACK BACK BACK);
	PRINTS(0, "\033[2C\033[KX\b\b\b\b\b\b", "X" BACK BACK BACK);
	PRINTS(0, "\xe2\x82\xac\b", "\xe2\x82\xac" BACK);
	PRINTS(0, "ab", "ab");
	/* Not into the piece before, nor into the prefix. */
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	PRINTS(0, "\b\b", "");
	PRINTS(0, "c\b\b\b", "[linux-a]+c" BACK);
	PRINTS(0, "\n", "\r\n");
}

static void units_are_not_cut(void **state)
{
	(void)state;
	PRINTS(0, "a", "[linux-a] a");
	PRINTS(0, "\xe2\x82", "");
	console_tally_puts(&con, "y");
	EMITTED("\r\ntally: y\r\n");
	PRINTS(0, "\xac", "[linux-a]+\xe2\x82\xac");
	PRINTS(0, "\033[", "");
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	PRINTS(0, "1mz", "[linux-a]+z");
}

static void lone_cr_ends_the_line(void **state)
{
	(void)state;
	PRINTS(0, "10 %", "[linux-a] 10 %");
	PRINTS(0, "\r", "");
	PRINTS(0, "2", "\r\n[linux-a] 2");
	PRINTS(0, "\r\033[Knew", "\r\n[linux-a] new");
	PRINTS(0, "\r\r\n", "\r\n");
	PRINTS(0, "\rnew", "[linux-a] new");
}

static void focus_change(void **state)
{
	(void)state;
	PUT(0, "a # ");
	PUT(1, "b # x\b");
	(void)emitted();
	command('2');
	EMITTED("\r\ntally: input goes to linux-b (Ctrl-T ? for help)\r\n[linux-b] b # ");
	PRINTS(1, "ls", "ls");
	PRINTS(0, "late", "");
	command('1');
	EMITTED("\r\ntally: input goes to linux-a (Ctrl-T ? for help)\r\n[linux-a]+late");
	command('1');
	EMITTED("\r\ntally: input goes to linux-a (Ctrl-T ? for help)\r\n");
	PRINTS(0, "r", "[linux-a]+r");
	PUT(2, "x");
	console_vm_ended(&con, 2, false);
	EMITTED("\r\n[c] x\r\n");
	PRINTS(1, "\n", "");
	PRINTS(1, "z\n", "[linux-b] z\r\n");
	PUT(2, "c");
	console_vm_ended(&con, 2, true);
	EMITTED("[c] c\r\n");
}

/* Many short lines by one VM: no more of them than fit into the work of a call. */
static void bounded_write(void **state)
{
	char lines[200], want[1000] = "\r\n";
	size_t n;

	(void)state;
	memset(lines, '\n', sizeof(lines));
	PUT(0, "~ # ");
	(void)emitted();
	n = console_vm_write(&con, 2, lines, sizeof(lines));
	/* 6 bytes in three pieces each, after the line end: two count as more than 96. */
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++)
		strcat(want, "[c] \r\n");
	EMITTED(want);
	assert_int_equal(console_vm_write(&con, 2, lines, 2), 2);
	EMITTED("[c] \r\n[c] \r\n");
	/* So do two of 8 bytes. */
	for (size_t i = 0; i + 2 < sizeof(lines); i += 3)
		memcpy(lines + i, "xx\n", 3);
	assert_int_equal(console_vm_write(&con, 2, lines, sizeof(lines)), 2 * 3);
	(void)emitted();
	assert_int_equal(console_vm_write(&con, 2, "abc", 3), 3);
	EMITTED("");
	assert_int_equal(console_vm_write(&con, 2, "", 0), 0);
}

/* A call stops after what the last byte made, be it a full line. */
static void most_work_of_a_call(void **state)
{
	char lines[1000];

	(void)state;
	PUT(0, "~");
	lines[0] = '\n';
	memset(lines + 1, 'x', sizeof(lines) - 1);
	call_bytes = 0;
	assert_int_equal(console_vm_write(&con, 2, lines, sizeof(lines)), 1 + 385);
	assert_int_equal(call_bytes, 2 + 6 + (4 + 384 + 2));
	(void)emitted();
	memset(lines, 'x', 384);
	put_bytes(0, lines, 383);
	(void)emitted();
	memset(lines, '\b', 384);
	call_bytes = 0;
	assert_int_equal(console_vm_write(&con, 0, lines, 384), 6); /* 3 bytes each */
	assert_int_equal(call_bytes, 6 * 3);
}

static void long_line_in_focus(void **state)
{
	char line[CONSOLE_LINE_BYTES + 1], want[900];

	(void)state;
	memset(line, 'x', sizeof(line));
	line[CONSOLE_LINE_BYTES] = '\0';
	put(0, line);
	(void)snprintf(want, sizeof(want), "[linux-a] %s", line);
	EMITTED(want);
	PRINTS(0, "y", "\r\n[linux-a]+y");
	PRINTS(1, "z\n", "\r\n[linux-b] z\r\n");
	PRINTS(0, "y\n", "[linux-a]+y\r\n");
}

static void typed(const char *text)
{
	for (; *text != '\0'; text++)
		assert_int_equal(type((uint8_t)*text), -1);
}

static void prompt_edits_and_tells(void **state)
{
	char longest[CONSOLE_COMMAND_BYTES + 11];

	(void)state;
	PUT(0, "~ # ");
	(void)emitted();
	command(':');
	EMITTED("\r\ntally: input goes to the prompt (Ctrl-T ? for help)\r\ntally> ");
	assert_int_equal(console_target(&con), -1);
	typed("\bvmx\x7fs");
	EMITTED("vmx" BACK "s");
	/* Others' lines leave the command as it is, which is shown again with the next key. */
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	PRINTS(0, "more", "");
	typed("x");
	EMITTED("tally> vmsx");
	typed("\b");
	EMITTED(BACK);
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	typed("\r");
	EMITTED("tally> vms\r\n");
	assert_string_equal(typed_command, "vms");
	console_tally_puts(&con, "a line");
	EMITTED("tally: a line\r\n");
	console_prompt_ready(&con);
	EMITTED("tally> ");
	typed("x\x03");
	EMITTED("x\r\ntally> ");
	assert_string_equal(typed_command, "vms");
	memset(longest, 'y', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	typed(longest);
	typed("\r");
	longest[CONSOLE_COMMAND_BYTES] = '\0';
	assert_string_equal(typed_command, longest);
}

/* Arrows and the like add nothing to the line. */
static void keys_that_the_prompt_does_not_know(void **state)
{
	static const char *const keys[] = {"\x1b[A", "\x1b[1;5C", "\x1b[3~", "\x1bOP", "\x1bx"};

	(void)state;
	command(':');
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		(void)emitted();
		typed("v");
		typed(keys[i]);
		typed("ms\x1b[\r");
		EMITTED("vms\r\n");
		assert_string_equal(typed_command, "vms");
		console_prompt_ready(&con);
	}
}

#define TOLD "tally: input goes to linux-b (Ctrl-T ? for help)\r\n[linux-b] # "

static void prompt_is_left(void **state)
{
	static const char *const ways[] = {"exit\r", "\x04", "\x14\x14", "vm\x14\x14",
	                                   "\x14"
	                                   "2"};

	(void)state;
	command('2');
	(void)emitted();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		command(':');
		PUT(1, "\n# ");
		typed_command[0] = '\0';
		(void)emitted();
		typed(ways[i]);
		assert_non_null(strstr(emitted(), TOLD));
		assert_string_equal(typed_command, "");
		assert_int_equal(type('x'), 1);
		console_prompt_ready(&con);
		EMITTED("");
	}
}

/* About the VM from which the user came. */
static void keys_at_the_prompt(void **state)
{
	(void)state;
	command('2');
	(void)emitted();
	command(':');
	(void)emitted();
	command('s');
	assert_string_equal(typed_command, "stop linux-b");
	command(':');
	EMITTED("");
	typed("\x04"); /* it did not become its own way back */
	EMITTED("\r\ntally: input goes to linux-b (Ctrl-T ? for help)\r\n");
	command(':');
	(void)emitted();
	command('n');
	EMITTED("\r\ntally: input goes to c (Ctrl-T ? for help)\r\n");
	assert_int_equal(type('x'), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(focus_is_shown_as_it_grows, interactive),
	    cmocka_unit_test_setup(pieces, interactive),
	    cmocka_unit_test_setup(backspace_within_the_line, interactive),
	    cmocka_unit_test_setup(units_are_not_cut, interactive),
	    cmocka_unit_test_setup(lone_cr_ends_the_line, interactive),
	    cmocka_unit_test_setup(focus_change, interactive),
	    cmocka_unit_test_setup(bounded_write, interactive),
	    cmocka_unit_test_setup(most_work_of_a_call, interactive),
	    cmocka_unit_test_setup(long_line_in_focus, interactive),
	    cmocka_unit_test_setup(prompt_edits_and_tells, interactive),
	    cmocka_unit_test_setup(keys_that_the_prompt_does_not_know, interactive),
	    cmocka_unit_test_setup(prompt_is_left, interactive),
	    cmocka_unit_test_setup(keys_at_the_prompt, interactive),
	};

	return cmocka_run_group_tests_name("console_live", tests, NULL, NULL);
}
