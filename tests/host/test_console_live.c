/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive console: the exact bytes that the terminal gets while the focus has a line
 * unfinished. */
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

#define ERASE "\033[m\r\033[K"

static void focus_is_shown_as_it_grows(void **state)
{
	(void)state;
	PRINTS(0, "~", "[linux-a] ~");
	PRINTS(0, " # ", " # ");
	PRINTS(0, "l\b \b", "l\b \b");
	PRINTS(0, "ls\r\n", "ls\r\n");
	PRINTS(0, "\r\n", "[linux-a] \r\n");
	PRINTS(1, "boot", "");
	PRINTS(1, "ing\r\n", "[linux-b] booting\r\n");
	PRINTS(0, "\033[31mred\a", "[linux-a] \033[31mred\a");
	PRINTS(1, "\033[31mred\a\n", ERASE "[linux-b] red\r\n[linux-a] red");
	PRINTS(0, "\b\b\b\b\b", "\b\b\b"); /* not into the prefix */
	PRINTS(1, "x\n", ERASE "[linux-b] x\r\n[linux-a] red\033[3D");
	PRINTS(0, "\x0e\0\v\x7f", "");
}

static void sequences_are_not_cut(void **state)
{
	(void)state;
	PRINTS(0, "a", "[linux-a] a");
	PRINTS(0, "\033[3", "");
	PRINTS(1, "x\n", ERASE "[linux-b] x\r\n[linux-a] a");
	PRINTS(0, "1m", "\033[31m");
	PRINTS(0, "\xe2\x82", "");
	console_tally_puts(&con, "y");
	EMITTED(ERASE "tally: y\r\n[linux-a] a");
	PRINTS(0, "\xac", "\xe2\x82\xac");
}

static void lone_cr_spares_the_prefix(void **state)
{
	(void)state;
	PRINTS(0, "10 %", "[linux-a] 10 %");
	PRINTS(0, "\r", "");
	PRINTS(0, "2", "\r[linux-a] 2");
	PRINTS(1, "x\n", ERASE "[linux-b] x\r\n[linux-a] 20 %\033[3D");
	PRINTS(0, "\r\033[Knew", "\r[linux-a] \033[Knew");
	PRINTS(1, "x\n", ERASE "[linux-b] x\r\n[linux-a] new");
	PRINTS(0, "\r\n", "\r\n");
	PRINTS(0, "\rnew", "[linux-a] new");
}

static void focus_change_redraws(void **state)
{
	(void)state;
	PUT(0, "a # ");
	PUT(1, "b # ");
	(void)emitted();
	command('2');
	EMITTED(ERASE "tally: input goes to linux-b (Ctrl-T ? for help)\r\n[linux-b] b # ");
	PRINTS(1, "ls", "ls");
	PRINTS(0, "late", "");
	command('1');
	EMITTED(ERASE "tally: input goes to linux-a (Ctrl-T ? for help)\r\n[linux-a] a # late");
	command('1');
	EMITTED(ERASE "tally: input goes to linux-a (Ctrl-T ? for help)\r\n[linux-a] a # late");
	console_vm_flush(&con, 2);
	EMITTED("");
	PUT(2, "x");
	console_vm_flush(&con, 2);
	EMITTED(ERASE "[c] x\r\n[linux-a] a # late");
	command('3');
	EMITTED(ERASE "tally: input goes to c (Ctrl-T ? for help)\r\n");
	PRINTS(0, "\n", "[linux-a] a # late\r\n");
	console_vm_flush(&con, 1);
	EMITTED("[linux-b] b # ls\r\n");
	PUT(2, "c");
	console_vm_ended(&con, 2, true);
	EMITTED("[c] c\r\n");
}

static void redraw_begins_with_a_whole_character(void **state)
{
	char line[302], want[400];

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line + 44, "\xe2\x82\xac", 3); /* the last 256 bytes begin inside it */
	put_bytes(0, line, 301);
	(void)emitted();
	line[301] = '\0';
	PUT(1, "z\n");
	(void)snprintf(want, sizeof(want), ERASE "[linux-b] z\r\n[linux-a] %s", line + 47);
	EMITTED(want);
	PUT(0, "\b\b");
	(void)emitted();
	(void)snprintf(want, sizeof(want), ERASE "[linux-b] \r\n[linux-a] %s\033[2D", line + 47);
	PRINTS(1, "\n", want);
}

/* Many short lines by one VM: one redraw, and not more of them than fit into the work of a call. */
static void bounded_write(void **state)
{
	char lines[200], want[1000] = ERASE;
	size_t n;

	(void)state;
	memset(lines, '\n', sizeof(lines));
	PUT(0, "~ # ");
	(void)emitted();
	n = console_vm_write(&con, 2, lines, sizeof(lines));
	assert_int_equal(n, 42); /* 6 bytes each after the 7 of the erasure: 42 reach 256 */
	for (size_t i = 0; i < n; i++)
		strcat(want, "[c] \r\n");
	strcat(want, "[linux-a] ~ # ");
	EMITTED(want);
	assert_int_equal(console_vm_write(&con, 2, lines, 2), 2);
	EMITTED(ERASE "[c] \r\n[c] \r\n[linux-a] ~ # ");
	console_vm_flush(&con, 0);
	EMITTED("\r\n");
	/* 8 bytes each: 32 are 256, which is enough. */
	for (size_t i = 0; i + 2 < sizeof(lines); i += 3)
		memcpy(lines + i, "xx\n", 3);
	assert_int_equal(console_vm_write(&con, 2, lines, sizeof(lines)), 32 * 3);
	(void)emitted();
	/* No line ends: nothing to draw. */
	assert_int_equal(console_vm_write(&con, 2, "abc", 3), 3);
	EMITTED("");
	assert_int_equal(console_vm_write(&con, 2, "", 0), 0);
	assert_int_equal(console_vm_write(&con, 3, "abc", 3), 3);
	EMITTED("");
}

/* A call stops after what the last byte made, and that is a full line and a redraw at most. */
static void most_work_of_a_call(void **state)
{
	char partial[512], lines[1000];

	(void)state;
	memset(partial, 'y', sizeof(partial));
	put_bytes(0, partial, sizeof(partial));
	memset(lines, '\n', 41);
	memset(lines + 41, 'x', sizeof(lines) - 41);
	call_bytes = 0;
	assert_int_equal(console_vm_write(&con, 2, lines, sizeof(lines)), 41 + 513);
	/* erase; 41 empty lines; a full one; the focus's tail again */
	assert_int_equal(call_bytes, 7 + 41 * 6 + (4 + 512 + 2) + (10 + 256));
}

static void long_line_in_focus(void **state)
{
	char line[600], want[900];

	(void)state;
	memset(line, 'x', 512);
	line[512] = '\0';
	put(0, line);
	snprintf(want, sizeof(want), "[linux-a] %s", line);
	EMITTED(want);
	PRINTS(0, "y", "\r\n[linux-a]+y");
	PRINTS(1, "z\n", ERASE "[linux-b] z\r\n[linux-a]+y");
	line[300] = '\0';
	put(0, line);
	(void)emitted();
	/* Only the tail comes back: what has wrapped still stands above. */
	PUT(1, "z\n");
	snprintf(want, sizeof(want), ERASE "[linux-b] z\r\n[linux-a]+%.256s", line);
	EMITTED(want);
}

#define SHOW "\033[K"

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
	EMITTED(ERASE "tally: input goes to the prompt (Ctrl-T ? for help)\r\ntally> " SHOW);
	assert_int_equal(console_target(&con), -1);
	typed("\bvmx\x7fs");
	EMITTED("vmx\b" SHOW "s");
	/* Others' lines leave it whole, that of the former focus too. */
	PRINTS(1, "x\n", ERASE "[linux-b] x\r\ntally> vms");
	PRINTS(0, "more", "");
	typed("\r");
	EMITTED("\r\n");
	assert_string_equal(typed_command, "vms");
	console_tally_puts(&con, "a line");
	EMITTED("tally: a line\r\n");
	console_prompt_ready(&con);
	EMITTED("tally> " SHOW);
	typed("x\x03");
	EMITTED("x\r\ntally> " SHOW);
	assert_string_equal(typed_command, "vms");
	memset(longest, 'y', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	typed(longest);
	typed("\r");
	longest[CONSOLE_COMMAND_BYTES] = '\0';
	assert_string_equal(typed_command, longest);
}

#define BACK "tally: input goes to linux-b (Ctrl-T ? for help)\r\n[linux-b] # "

static void prompt_is_left(void **state)
{
	static const char *const ways[] = {"exit\r", "\x04", "\x14\x14", "vm\x14\x14",
	                                   "\x14"
	                                   "2"};

	(void)state;
	command('2');
	PUT(1, "# ");
	(void)emitted();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		command(':');
		typed_command[0] = '\0';
		(void)emitted();
		typed(ways[i]);
		assert_non_null(strstr(emitted(), BACK));
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
	assert_int_equal(life_vm, 1);
	command(':');
	EMITTED("");
	typed("\x04"); /* it did not become its own way back */
	EMITTED(ERASE "tally: input goes to linux-b (Ctrl-T ? for help)\r\n");
	command(':');
	(void)emitted();
	command('n');
	EMITTED(ERASE "tally: input goes to c (Ctrl-T ? for help)\r\n");
	assert_int_equal(type('x'), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(focus_is_shown_as_it_grows, interactive),
	    cmocka_unit_test_setup(sequences_are_not_cut, interactive),
	    cmocka_unit_test_setup(lone_cr_spares_the_prefix, interactive),
	    cmocka_unit_test_setup(focus_change_redraws, interactive),
	    cmocka_unit_test_setup(redraw_begins_with_a_whole_character, interactive),
	    cmocka_unit_test_setup(bounded_write, interactive),
	    cmocka_unit_test_setup(most_work_of_a_call, interactive),
	    cmocka_unit_test_setup(long_line_in_focus, interactive),
	    cmocka_unit_test_setup(prompt_edits_and_tells, interactive),
	    cmocka_unit_test_setup(prompt_is_left, interactive),
	    cmocka_unit_test_setup(keys_at_the_prompt, interactive),
	};

	return cmocka_run_group_tests_name("console_live", tests, NULL, NULL);
}
