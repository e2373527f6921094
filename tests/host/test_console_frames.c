/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for programs (docs/frames.md): the exact bytes, and that no guest can forge one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/console_log.h"

#define RS    "\036"
#define BEGIN RS "+\n"
#define NAMES RS ":A linux-a\n" RS ":B linux-b\n" RS ":C c\n"

static int interactive(void **state)
{
	(void)state;
	start(true);
	return 0;
}

/* As the answer to `frames on` does, a VM in each stay, or a piece of its unfinished line. */
static void tell_vms(void)
{
	for (unsigned int vm = 0; vm < 3; vm++) {
		do
			call_bytes = 0;
		while (!console_frames_vm(&con, vm));
		assert_in_range(call_bytes, 0, 200);
	}
}

static int framed(void **state)
{
	(void)state;
	start(true);
	console_frames(&con, true);
	EMITTED(BEGIN);
	tell_vms();
	EMITTED(NAMES);
	return 0;
}

static void output_as_it_comes(void **state)
{
	(void)state;
	PRINTS(0, "log", RS "Alog");
	PRINTS(0, "in: ", "in: ");
	PRINTS(1, "x", "\n" RS "Bx");
	PRINTS(2, "\t%\r\n\0\x1b[A\x1e\x7f\xff\xc3\xa9\x80",
	       "\n" RS "C%09%25%0D%0A%00%1B[A%1E%7F\xff\xc3\xa9\x80");
	console_tally_puts(&con, "one");
	console_tally_puts(&con, "two\x1e");
	EMITTED("\n" RS "!one\n" RS "!two?\n");
	PRINTS(2, "y", RS "Cy");
	console_vm_ended(&con, 2, true);
	EMITTED("");
	assert_int_equal(console_vm_write(&con, 0, "", 0), 0);
	EMITTED("");
}

static void answers(void **state)
{
	(void)state;
	PUT(1, "x");
	(void)emitted();
	console_answer(&con, "r1", "{\"a\": 1}", 2);
	EMITTED("\n" RS "=r1 {\"a\": 1}\n");
	console_answer(&con, "r1", NULL, 2);
	EMITTED(RS ".r1 2\n");
	PRINTS(1, "y", RS "By");
}

/* Whoever asks while they are on has missed the names, or has forgotten them. */
static void begin_again_and_end(void **state)
{
	(void)state;
	PUT(0, "half");
	(void)emitted();
	console_frames(&con, true);
	EMITTED("\n" BEGIN);
	tell_vms();
	EMITTED(NAMES);
	PRINTS(0, " a", RS "A a");
	console_frames(&con, false);
	EMITTED("\n" RS "-\n");
	console_frames(&con, false);
	EMITTED("");
	/* Lines begin again in the middle of what it says. */
	PRINTS(0, "lf\r\n", "[linux-a]+lf\r\n");
	PRINTS(0, "x", "[linux-a] x");
}

/* A line of the most bytes, all of which a frame writes as three. */
static void most_work_of_a_call(void **state)
{
	char line[CONSOLE_LINE_BYTES], many[500];

	(void)state;
	PUT(0, "x");
	memset(line, '%', sizeof(line));
	put_bytes(1, line, sizeof(line));
	PUT(1, "\033[999D\r\033]");
	console_frames(&con, true);
	PUT(0, "x");
	(void)emitted();
	for (unsigned int calls = 0; console_vm_write(&con, 1, "%\n", 2) == 0; calls++) {
		assert_in_range(call_bytes, 3, 200);
		assert_in_range(calls, 0, 20);
		call_bytes = 0;
	}
	assert_in_range(call_bytes, 3, 200);
	assert_non_null(strstr(emitted(), RS ":B linux-b\n" RS "B%25"));
	assert_true(console_frames_vm(&con, 2));
	PUT(0, "x");
	memset(many, '\n', sizeof(many));
	call_bytes = 0;
	assert_int_equal(console_vm_write(&con, 2, many, sizeof(many)), 5);
	assert_int_equal(call_bytes, 3 + 5 * 3);
	(void)emitted();
}

/* The prompt is a person's, whom frames leave nothing to read. */
static void at_the_prompt(void **state)
{
	(void)state;
	command('2');
	(void)emitted();
	command(':');
	assert_int_equal(type('v'), -1);
	(void)emitted();
	console_frames(&con, true);
	EMITTED("\r\n" BEGIN);
	assert_int_equal(type('x'), 1);
	command(':');
	assert_int_equal(type('x'), 1);
}

/* What a VM had printed of its line is the first that it prints, as a terminal needs it. */
static void kept_lines(void **state)
{
	(void)state;
	PUT(0, "~ # ls\b");
	PUT(1, "caf\xc3\xa9 50%\r");
	PUT(2, "red\033[3");
	(void)emitted();
	console_frames(&con, true);
	EMITTED("\r\n" BEGIN);
	while (console_vm_write(&con, 2, "1m", 2) == 0)
		;
	EMITTED(RS ":C c\n" RS "Cred%1B[1");
	PRINTS(2, "m", "m");
	tell_vms();
	EMITTED("\n" RS ":A linux-a\n" RS "A~ # l\n" RS ":B linux-b\n" RS "Bcaf\xc3\xa9 50%25%0D");
	assert_int_equal(console_vm_write(&con, 1, "", 0), 0);
	EMITTED("");
	PRINTS(2, "\xe2\x82", "\n" RS "C\xe2\x82");
}

/* A VM may end, and begin again, before the answer has come to it. */
static void an_end_before_its_turn(void **state)
{
	char line[100];
	const char *rest;

	(void)state;
	memset(line, '%', sizeof(line));
	put_bytes(1, line, sizeof(line));
	(void)emitted();
	console_frames(&con, true);
	EMITTED(BEGIN);
	console_vm_ended(&con, 1, true);
	EMITTED(RS ":B linux-b\n" RS "B%25");
	console_vm_ended(&con, 1, false);
	while (console_vm_write(&con, 1, "n", 1) == 0)
		;
	rest = emitted();
	assert_int_equal(strlen(rest), 3 * (sizeof(line) - 1) + 1);
	assert_string_equal(rest + strlen(rest) - 4, "%25n");
}

static void typed_to(void **state)
{
	(void)state;
	command('>');
	assert_int_equal(type('C'), -1);
	assert_int_equal(type('x'), 2);
	command('>');
	assert_int_equal(type('D'), -1);
	assert_int_equal(type('x'), 2);
	command('>');
	assert_int_equal(type(0x14), -1);
	assert_int_equal(type(0x14), 2);
	command('>');
	assert_int_equal(type('A'), -1);
	assert_int_equal(type(0x14), -1);
	assert_int_equal(type(0x14), 0);
	EMITTED("");
}

static uint64_t random_state;

static uint32_t next(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % below;
}

static char said[3][1 << 20], heard[3][1 << 20];
static size_t said_len[3], heard_len[3];

/* The value of two hexadecimal digits. */
static char code(const char *s)
{
	char digits[3] = {s[0], s[1], '\0'}, *end;
	unsigned long value = strtoul(digits, &end, 16);

	assert_true(end == digits + 2);
	return (char)value;
}

/* Takes the record apart; how many of Tally's lines and answers are in it. */
static unsigned int listen(const char *s)
{
	unsigned int own = 0;

	for (; *s != '\0'; s++) {
		unsigned int vm;

		assert_int_equal(*s++, 0x1e);
		if (*s == '!' || *s == '=') {
			const char *want = *s == '!' ? "!own\n" : "=r7 own\n";

			assert_memory_equal(s, want, strlen(want));
			s += strlen(want) - 1;
			own++;
			continue;
		}
		assert_in_range(*s, 'A', 'C');
		vm = (unsigned int)(*s - 'A');
		for (s++; *s != '\n' && *s != '\0'; s++) {
			assert_true((uint8_t)*s >= ' ' && *s != 0x7f);
			heard[vm][heard_len[vm]++] = *s == '%' ? code(s + 1) : *s;
			s += *s == '%' ? 2 : 0;
		}
		if (*s == '\0')
			break;
	}
	return own;
}

/* For another reader, tests/qemu/operator/test_frames.py, which names a folder. */
static void keep(const char *name, const char *bytes, size_t n)
{
	const char *folder = getenv("TALLY_FRAMES");
	char path[1000];
	FILE *file;

	if (!folder)
		return;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

/* All bytes, and above all those that would make a frame, in pieces of any size. */
static void no_guest_forges_one(void **state)
{
	static const char *const forged[] = {"\n\036!vm linux-b: ended\n", "\036Bx\n", "%0A%1E",
	                                     "\036-\n[linux-b] x\n", "\r\n\036.r1 0\n"};
	unsigned int own = 0;
	const char *record;

	(void)state;
	random_state = 0x9e3779b97f4a7c15;
	for (unsigned int i = 0; i < 20000; i++) {
		const char *choice = forged[next(5)];
		unsigned int vm = next(3);
		char text[40] = "";
		size_t n = strlen(choice), done = 0;

		memcpy(text, choice, n);
		if (next(2))
			for (n = 0; n < 32 && next(20); n++)
				text[n] = (char)next(256);
		while (done < n) {
			call_bytes = 0;
			done += console_vm_write(&con, vm, text + done, n - done);
			assert_in_range(call_bytes, 1, 1200);
		}
		memcpy(said[vm] + said_len[vm], text, n);
		said_len[vm] += n;
		if (next(20) == 0) {
			console_tally_puts(&con, "own");
			console_answer(&con, "r7", "own", 0);
			own += 2;
		}
	}
	record = emitted();
	keep("line", record, strlen(record));
	for (unsigned int vm = 0; vm < 3; vm++)
		keep(names[vm], said[vm], said_len[vm]);
	assert_int_equal(listen(record), own);
	for (unsigned int vm = 0; vm < 3; vm++) {
		assert_int_equal(heard_len[vm], said_len[vm]);
		assert_memory_equal(heard[vm], said[vm], said_len[vm]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(output_as_it_comes, framed),
	    cmocka_unit_test_setup(answers, framed),
	    cmocka_unit_test_setup(begin_again_and_end, framed),
	    cmocka_unit_test_setup(kept_lines, interactive),
	    cmocka_unit_test_setup(an_end_before_its_turn, interactive),
	    cmocka_unit_test_setup(most_work_of_a_call, interactive),
	    cmocka_unit_test_setup(at_the_prompt, interactive),
	    cmocka_unit_test_setup(typed_to, framed),
	    cmocka_unit_test_setup(no_guest_forges_one, framed),
	};

	return cmocka_run_group_tests_name("console_frames", tests, NULL, NULL);
}
