/* SPDX-License-Identifier: Apache-2.0 */
/* The shared console: the exact bytes of batch mode, and where input goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/console_log.h"

static int batch(void **state)
{
	(void)state;
	start(false);
	return 0;
}

static void whole_lines_with_prefix(void **state)
{
	(void)state;
	PRINTS(0, "hello", "");
	PRINTS(1, "other\n", "[linux-b] other\n");
	PRINTS(0, " world\r\n", "[linux-a] hello world\n");
	PRINTS(2, "\n", "[c] \n");
	PRINTS(2, "\r\n\r\n", "[c] \n[c] \n");
	PRINTS(2, "a\r\r\nb\n\rc\n\r", "[c] a\n[c] b\n[c] c\n");
	PRINTS(0, "tab\there\n", "[linux-a] tab\there\n");
}

static void lone_cr_keeps_the_text(void **state)
{
	(void)state;
	PRINTS(0, "10 %\r20 %\r30 %\r\n", "[linux-a] 10 %\n[linux-a] 20 %\n[linux-a] 30 %\n");
	/* Redrawn prompt: what was there is not erased from the log. */
	PRINTS(0, "~ # ab\r\033[J~ # abc\r\n", "[linux-a] ~ # ab\n[linux-a] ~ # abc\n");
	PRINTS(0, "\r\033[K\r\033[Kx\n", "[linux-a] x\n");
}

static void backspace(void **state)
{
	(void)state;
	PRINTS(0, "ls -x\b \bl\n", "[linux-a] ls -l\n");
	/* What is behind the cursor is taken off: the line has no middle. */
	PRINTS(0, "abc\b\b\033[K\n", "[linux-a] a\n");
	PRINTS(0, "abc\b\bX\n", "[linux-a] aX\n");
	PRINTS(0, "a\b\b\b\b\bxyz\n", "[linux-a] xyz\n");
	/* A character of several bytes is one step. */
	PRINTS(0,
	       "a\xe2\x82\xac"
	       "b\b\bX\n",
	       "[linux-a] aX\n");
}

static void sequences_are_left_out(void **state)
{
	(void)state;
	PRINTS(0, "a\033[A\033[1;1H\033[31mb\033]0;t\ac\a\0\x0e\x0f\v\fd\x7f\n",
	       "[linux-a] abcd\n");
	PRINTS(0, "abcdef\033[4DX\033[2CY\033[1K\n", "[linux-a] abcdefXY\n");
	PRINTS(0, "\033[?25h\033[1;31m\033[2 q\0337\0338\033cx\033[;Kx\n", "[linux-a] xx\n");
	PRINTS(0, "\033(0x\033#8\033 Fx\033\a\0\177[mx\n", "[linux-a] xxx\n");
	PRINTS(0, "\033[99999999999999999999Dx\033[-1Dx\n", "[linux-a] xx\n");
	/* Strings are meant for the terminal. */
	PRINTS(0, "\033]0;title \xc3\xa9\ax\033]0;\x80\xff\033\\x\n", "[linux-a] xx\n");
	PRINTS(0, "\033Pq#0\033\\\033Xs\033\\\033^p\033\\\033_a\033\\x\n", "[linux-a] x\n");
	/* What follows is never swallowed. */
	PRINTS(0, "\033\nx\033[3\nx\033[1;\rx\n",
	       "[linux-a] \n[linux-a] x\n[linux-a] x\n[linux-a] x\n");
	PRINTS(0, "\033]0;never ended\nx\033]0;never ended\030x\n", "[linux-a] \n[linux-a] xx\n");
	PRINTS(0, "\033[1\033[2Kx\033[1\030x\033[1\032y\033[1\xc3\xa9\n",
	       "[linux-a] xxy\xc3\xa9\n");
}

static void utf8(void **state)
{
	(void)state;
	PRINTS(
	    0, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc2\xa0\xef\xbf\xbf\xf4\x8f\xbf\xbf\n",
	    "[linux-a] \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc2\xa0\xef\xbf\xbf\xf4\x8f\xbf\xbf\n");
	/* C1 controls, as bytes and as characters: some terminals obey them. */
	PRINTS(0,
	       "\x9b"
	       "1A\xc2\x9b"
	       "1A\xff\n",
	       "[linux-a] ?1A?1A?\n");
	/* Bytes that begin nothing, overlong forms, surrogates, beyond the last character. */
	PRINTS(0, "\x80\xbf\xf8\xff\n", "[linux-a] ????\n");
	PRINTS(0, "\xc0\xaf\xc1\xbf\xe0\x82\x9b\xe0\x9f\xbf\xf0\x8f\xbf\xbf\n",
	       "[linux-a] ?????\n");
	PRINTS(0, "\xed\xa0\x80\xed\xbf\xbf\xf4\x90\x80\x80\xf5\x80\x80\x80\xf7\xbf\xbf\xbf\n",
	       "[linux-a] ?????\n");
	/* Cut short. */
	PRINTS(0, "\xe2\x82z\xe2\x82\xc3\xa9\xe2\x82\033[mx\n", "[linux-a] z\xc3\xa9x\n");
}

static void nobody_fakes_a_prefix(void **state)
{
	(void)state;
	PRINTS(0, "x\r[linux-b] fake\n", "[linux-a] x\n[linux-a] [linux-b] fake\n");
	PRINTS(0, "\033[2K\b\b\b\b\btally: fake\n", "[linux-a] tally: fake\n");
	PRINTS(0, "\xe2\n[linux-b] fake\n", "[linux-a] \n[linux-a] [linux-b] fake\n");
}

static void long_lines_in_pieces(void **state)
{
	char line[2000], want[2200];

	(void)state;
	memset(line, 'x', CONSOLE_LINE_BYTES);
	strcpy(line + CONSOLE_LINE_BYTES, "\n");
	snprintf(want, sizeof(want), "[linux-a] %s", line);
	put(0, line);
	EMITTED(want); /* just fits: one piece */

	memset(line, 'x', 1100);
	strcpy(line + 1100, "\n");
	snprintf(want, sizeof(want), "[linux-a] %.384s\n[linux-a]+%.384s\n[linux-a]+%.332s\n", line,
	         line, line);
	put(0, line);
	EMITTED(want);
	PRINTS(0, "next\n", "[linux-a] next\n");

	/* No character is cut in two. */
	memset(line, 'x', 383);
	strcpy(line + 383, "\xe2\x82\xacy\n");
	snprintf(want, sizeof(want), "[linux-a] %.383s\n[linux-a]+\xe2\x82\xacy\n", line);
	put(0, line);
	EMITTED(want);
}

static void the_end_of_a_life(void **state)
{
	(void)state;
	console_vm_ended(&con, 0, true);
	EMITTED("");
	PUT(0, "last words");
	console_vm_ended(&con, 0, true);
	EMITTED("[linux-a] last words\n");
	console_vm_ended(&con, 0, false);
	EMITTED("");
	PUT(1, "x\r");
	console_vm_ended(&con, 1, true);
	EMITTED("[linux-b] x\n");
	/* Nothing of the old life reaches the new one. */
	PUT(1, "\033[");
	console_vm_ended(&con, 1, false);
	PRINTS(1, "Hello\n", "[linux-b] Hello\n");
	PUT(1, "\xe2\x82");
	console_vm_ended(&con, 1, false);
	PRINTS(1, "\xac\n", "[linux-b] ?\n");
}

static void tally_lines(void **state)
{
	(void)state;
	console_tally_puts(&con, "one line");
	EMITTED("tally: one line\n");
	console_tally_puts(&con, "");
	EMITTED("tally: \n");
	console_tally_puts(&con, "a\033[2Jb\r\n\tc\xff");
	EMITTED("tally: a?[2Jb??\tc?\n");
	PUT(0, "half a ");
	console_tally_puts(&con, "in between");
	EMITTED("tally: in between\n");
	PRINTS(0, "line\n", "[linux-a] half a line\n");
	console_init(&con, true, NULL, 0);
	console_tally_puts(&con, "early");
	EMITTED("tally: early\r\n");
}

static void input_follows_the_focus(void **state)
{
	(void)state;
	for (unsigned int ch = 0; ch < 256; ch++)
		if (ch != 0x14)
			assert_int_equal(type((uint8_t)ch), 0);
	command('n');
	EMITTED("tally: input goes to linux-b (Ctrl-T ? for help)\n");
	assert_int_equal(type('n'), 1);
	command('n');
	EMITTED("tally: input goes to c (Ctrl-T ? for help)\n");
	assert_int_equal(type('x'), 2);
	command('n');
	EMITTED("tally: input goes to linux-a (Ctrl-T ? for help)\n");
	command('p');
	EMITTED("tally: input goes to c (Ctrl-T ? for help)\n");
	command('2');
	EMITTED("tally: input goes to linux-b (Ctrl-T ? for help)\n");
	assert_int_equal(type('x'), 1);
	assert_int_equal(type(0x14), -1);
	assert_int_equal(type(0x14), 1);
	assert_int_equal(type('n'), 1);
	EMITTED("");
}

static void help_and_keys_without_meaning(void **state)
{
	static const char *const help[] = {
	    "Ctrl-T, then 1..9, n, p: that, the next, the one before gets the input;",
	    "  g, s, r: starts, stops, restarts it; :: the prompt;",
	    "  Ctrl-T: sends Ctrl-T; ?: this help",
	    "* 1 linux-a",
	    "  2 linux-b (ended)",
	    "  3 c",
	};
	static const char none[] = "?40fw\r\xff";
	char line[80];
	struct text text;

	(void)state;
	console_vm_ended(&con, 1, true);
	for (uint32_t i = 0; i < 6; i++) {
		text = text_begin(line, sizeof(line));
		assert_int_equal(console_help(&con, i, &text), i < 5);
		assert_string_equal(line, help[i]);
	}
	/* Each stay prints a line, so it is an answer of the prompt. */
	for (size_t i = 0; i < sizeof(none) - 1; i++) {
		typed_command[0] = '\0';
		command((uint8_t)none[i]);
		assert_string_equal(typed_command, "keys");
		EMITTED("");
	}
	assert_int_equal(type('x'), 0);
}

/* For the VM in focus, ended or not. */
static void life_commands(void **state)
{
	(void)state;
	command('s');
	assert_string_equal(typed_command, "stop linux-a");
	assert_string_equal(request_id, "");
	console_vm_ended(&con, 2, true);
	command('3');
	(void)emitted();
	command('g');
	assert_string_equal(typed_command, "start c");
	command('r');
	assert_string_equal(typed_command, "restart c");
	EMITTED("");
}

static void ended_vm_gets_nothing(void **state)
{
	(void)state;
	PUT(0, "bye");
	console_vm_ended(&con, 0, true);
	EMITTED("[linux-a] bye\n");
	assert_int_equal(console_target(&con), -1);
	assert_int_equal(type('x'), -1);
	EMITTED("");
	console_vm_ended(&con, 1, true);
	command('n');
	EMITTED("tally: input goes to c (Ctrl-T ? for help)\n");
	command('n');
	EMITTED("tally: input goes to c (Ctrl-T ? for help)\n");
	command('1');
	EMITTED("tally: input goes to linux-a (Ctrl-T ? for help)\n");
	assert_int_equal(type('x'), -1);
	command('3');
	EMITTED("tally: input goes to c (Ctrl-T ? for help)\n");
	console_vm_ended(&con, 0, false); /* restarted */
	command('n');
	EMITTED("tally: input goes to linux-a (Ctrl-T ? for help)\n");
	assert_int_equal(type('x'), 0);
}

static void no_vm_at_all(void **state)
{
	(void)state;
	console_init(&con, false, NULL, 0);
	assert_int_equal(console_target(&con), -1);
	assert_int_equal(type('x'), -1);
	assert_int_equal(type(0x14), -1);
	assert_int_equal(type(0x14), -1);
	command('n');
	EMITTED("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(whole_lines_with_prefix, batch),
	    cmocka_unit_test_setup(lone_cr_keeps_the_text, batch),
	    cmocka_unit_test_setup(backspace, batch),
	    cmocka_unit_test_setup(sequences_are_left_out, batch),
	    cmocka_unit_test_setup(utf8, batch),
	    cmocka_unit_test_setup(nobody_fakes_a_prefix, batch),
	    cmocka_unit_test_setup(long_lines_in_pieces, batch),
	    cmocka_unit_test_setup(the_end_of_a_life, batch),
	    cmocka_unit_test_setup(tally_lines, batch),
	    cmocka_unit_test_setup(input_follows_the_focus, batch),
	    cmocka_unit_test_setup(help_and_keys_without_meaning, batch),
	    cmocka_unit_test_setup(life_commands, batch),
	    cmocka_unit_test_setup(ended_vm_gets_nothing, batch),
	    cmocka_unit_test_setup(no_vm_at_all, batch),
	};

	return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
