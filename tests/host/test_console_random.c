/* SPDX-License-Identifier: Apache-2.0 */
/* The shared console under random talk: each VM's text must be found in what comes out, complete
 * and in order, whoever talked in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/console_log.h"

#define ROWS  60000u
#define WIDTH 1200u

/* A screen without end: rows of text, a cursor. It knows what a terminal must know here. */
static char *rows[ROWS];
static size_t row, col;

static void screen_put(char ch)
{
	if (rows[row] == NULL)
		rows[row] = calloc(1, WIDTH);
	assert_non_null(rows[row]);
	assert_true(col < WIDTH - 1);
	rows[row][col++] = ch;
}

static void screen(const char *s, bool lf_returns)
{
	row = 0;
	col = 0;
	for (; *s != '\0'; s++) {
		if (*s == '\r') {
			col = 0;
		} else if (*s == '\n') {
			assert_true(++row < ROWS);
			col = lf_returns ? 0 : col;
		} else {
			assert_in_range(*s, ' ', '~');
			screen_put(*s);
		}
	}
}

static uint64_t random_state;

static uint32_t next(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % below;
}

/* What each VM has printed, and what the screen shows of it, both without line ends in pieces. */
static char said[3][1 << 20], shown[3][1 << 20];
static size_t said_len[3], shown_len[3];

/* In one piece or byte by byte. */
static void print(unsigned int vm, const char *s, size_t n)
{
	if (next(2)) {
		put_bytes(vm, s, n);
		return;
	}
	for (size_t done = 0; done < n;) {
		size_t took;

		call_bytes = 0;
		took = console_vm_write(&con, vm, s + done, n - done);
		assert_in_range(took, 1, n - done);
		done += took;
	}
}

/* VM vm prints n bytes, in lines of line_bytes at most. */
static void say(unsigned int vm, unsigned int n, unsigned int line_bytes)
{
	static unsigned int since[3];
	char text[100];
	size_t len = 0;

	for (unsigned int i = 0; i < n; i++) {
		bool end = next(line_bytes / 2) == 0 || since[vm] == line_bytes;
		char ch = end ? '\n' : (char)(' ' + next(95));

		since[vm] = end ? 0 : since[vm] + 1;
		assert_true(said_len[vm] + 4 < sizeof(said[vm]));
		said[vm][said_len[vm]++] = ch;
		if (end && next(2))
			text[len++] = '\r';
		text[len++] = ch;
	}
	print(vm, text, len);
}

/* Sorts the rows back by their prefixes. */
static unsigned int sort_rows(size_t n_rows)
{
	unsigned int tally = 0;

	for (size_t r = 0; r < n_rows; r++) {
		const char *text = rows[r] != NULL ? rows[r] : "";
		unsigned int vm;

		if (strncmp(text, "tally: ", 7) == 0) {
			tally++;
			continue;
		}
		for (vm = 0; vm < 3; vm++) {
			size_t n = strlen(names[vm]);

			if (text[0] != '[' || strncmp(text + 1, names[vm], n) != 0 ||
			    text[n + 1] != ']')
				continue;
			assert_true(text[n + 2] == ' ' || text[n + 2] == '+');
			if (text[n + 2] == '+') {
				assert_true(shown_len[vm] > 0);
				shown_len[vm]--; /* takes back the line end */
			}
			assert_true(shown_len[vm] + WIDTH < sizeof(shown[vm]));
			shown_len[vm] +=
			    (size_t)sprintf(shown[vm] + shown_len[vm], "%s\n", text + n + 3);
			break;
		}
		if (vm == 3)
			fail_msg("row %zu has no owner: '%s'", r, text);
	}
	return tally;
}

static void random_talk(bool is_interactive)
{
	unsigned int tally = 0, vm;

	start(is_interactive);
	random_state = 0x9e3779b97f4a7c15;
	memset(said_len, 0, sizeof(said_len));
	memset(shown_len, 0, sizeof(shown_len));
	for (unsigned int i = 0; i < 40000; i++) {
		call_bytes = 0;
		switch (next(40)) {
		case 0:
			console_tally_puts(&con, "one");
			tally++;
			break;
		case 1:
			assert_int_equal(type(0x14), -1);
			assert_int_equal(type((uint8_t)('1' + next(3))), -1);
			tally++;
			break;
		default:
			/* Also lines of several pieces. */
			vm = next(3);
			say(vm, 1 + next(25), vm == 2 ? 2000 : 250);
			break;
		}
	}
	assert_in_range(max_call_bytes, 256, 1200);
	for (vm = 0; vm < 3; vm++) {
		put(vm, "$\n"); /* so that none ends with an empty line */
		strcpy(said[vm] + said_len[vm], "$\n");
	}
	screen(emitted(), !is_interactive);
	assert_int_equal(col, 0);
	assert_int_equal(sort_rows(row), tally);
	for (vm = 0; vm < 3; vm++) {
		shown[vm][shown_len[vm]] = '\0';
		assert_int_equal(shown_len[vm], said_len[vm] + 2);
		assert_string_equal(shown[vm], said[vm]);
	}
	for (size_t r = 0; r < ROWS; r++) {
		free(rows[r]);
		rows[r] = NULL;
	}
}

static void random_batch(void **state)
{
	(void)state;
	random_talk(false);
}

static void random_interactive(void **state)
{
	(void)state;
	random_talk(true);
}

/* One byte of any kind, by any VM. */
static void any_byte(void)
{
	uint32_t r = next(8);
	char ch = r == 0   ? '\033'
	          : r == 1 ? '['
	          : r == 2 ? "\r\n\b09JKCDm"[next(11)]
	                   : (char)next(256);

	put_bytes(next(3), &ch, 1);
}

/* Each line of the record has an owner, and no control byte but backspaces in what is erased. */
static void lines_have_owners(bool is_interactive)
{
	const char *end = is_interactive ? "\r\n" : "\n";

	for (const char *s = emitted(); *s != '\0';) {
		size_t n = strcspn(s, end);

		assert_memory_equal(s + n, end, strlen(end));
		assert_true(strncmp(s, "[linux-a]", 9) == 0 || strncmp(s, "[linux-b]", 9) == 0 ||
		            strncmp(s, "[c]", 3) == 0 ||
		            (is_interactive && strncmp(s, "tally: input", 12) == 0));
		for (size_t i = 0; i < n; i++) {
			if (is_interactive && strncmp(s + i, "\b \b", 3) == 0)
				i += 2;
			else
				assert_true((uint8_t)s[i] >= 0x20 ? s[i] != 0x7f : s[i] == '\t');
		}
		s += n + strlen(end);
	}
}

/* All bytes, valid or not, by VMs in and out of focus: nothing but whole lines leaves in batch
 * mode, each piece of a line has its owner's name in both. */
static void random_bytes(void **state)
{
	bool is_interactive = false;

	(void)state;
	do {
		start(is_interactive);
		random_state = 0x2545f4914f6cdd1d;
		for (unsigned int i = 0; i < 1000000; i++) {
			any_byte();
			if (is_interactive && next(100) == 0)
				console_set_focus(&con, next(3));
			assert_true(con.lines[0].len <= CONSOLE_LINE_BYTES);
		}
		for (unsigned int vm = 0; vm < 3; vm++)
			console_vm_ended(&con, vm, true);
		assert_in_range(max_call_bytes, 1, 1200);
		lines_have_owners(is_interactive);
		is_interactive = !is_interactive;
	} while (is_interactive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_batch),
	    cmocka_unit_test(random_interactive),
	    cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests_name("console_random", tests, NULL, NULL);
}
