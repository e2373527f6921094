/* SPDX-License-Identifier: Apache-2.0 */
/* What programs ask between the bytes that a person types. */
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

static void request(const char *text)
{
	strcpy(request_id, "none");
	strcpy(typed_command, "none");
	command('=');
	for (; *text != '\0'; text++)
		assert_int_equal(type((uint8_t)*text), -1);
	EMITTED("");
}

static void ids_and_commands(void **state)
{
	char longest[CONSOLE_COMMAND_BYTES + 20] = "a2345678 ";

	(void)state;
	request("r1 vms --json\r");
	assert_string_equal(request_id, "r1");
	assert_string_equal(typed_command, "vms --json");
	assert_false(request_wrong);
	memset(longest + 9, 'x', CONSOLE_COMMAND_BYTES);
	request(longest);
	assert_int_equal(type('\n'), -1);
	assert_string_equal(request_id, "a2345678");
	assert_string_equal(typed_command, longest + 9);
	longest[9 + CONSOLE_COMMAND_BYTES] = 'x';
	request(longest);
	assert_int_equal(type('\r'), -1);
	assert_string_equal(request_id, "a2345678");
	assert_true(request_wrong);
	/* However short the id is, or a command would be carried out that was cut off. */
	request("1 ");
	for (const char *s = longest + 9; *s != '\0'; s++)
		assert_int_equal(type((uint8_t)*s), -1);
	assert_int_equal(type('\r'), -1);
	assert_string_equal(request_id, "1");
	assert_true(request_wrong);
	request("r2 v\x07ms\r");
	assert_string_equal(request_id, "r2");
	assert_true(request_wrong);
	assert_string_equal(typed_command, "none");
}

static void no_id(void **state)
{
	static const char *const wrong[] = {"\r",      " vms\r",          "vms\r",   "r1\tx\r",
	                                    "r1vms\n", "123456789 vms\r", "\x1b[A\r"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		request(wrong[i]);
		assert_string_equal(request_id, "0");
		assert_true(request_wrong);
		assert_int_equal(type('x'), 0);
	}
}

/* Whatever a person has typed, and whoever has the focus, is as it was. */
static void nothing_moves(void **state)
{
	(void)state;
	PRINTS(0, "~ # l", "[linux-a] ~ # l");
	request("1 vms\r");
	console_answer(&con, "1", "a line", 0);
	EMITTED("\036=1 a line\n");
	console_answer(&con, "1", NULL, 2);
	EMITTED("\036.1 2\n");
	PRINTS(0, "s", "s");
	assert_int_equal(type('x'), 0);
	PRINTS(1, "x\n", "\r\n[linux-b] x\r\n");
	command(':');
	for (const char *s = "vm"; *s != '\0'; s++)
		assert_int_equal(type((uint8_t)*s), -1);
	(void)emitted();
	request("2 exits\r");
	assert_int_equal(type('s'), -1);
	EMITTED("s");
	assert_int_equal(type('\r'), -1);
	assert_string_equal(typed_command, "vms");
}

/* A key of Tally's in the middle is the person's, who gave up the request. */
static void a_key_ends_it(void **state)
{
	(void)state;
	request("1 v");
	command('2');
	(void)emitted();
	assert_int_equal(type('x'), 1);
	request("1 v");
	request("2 exits\r");
	assert_string_equal(request_id, "2");
	assert_string_equal(typed_command, "exits");
	request("1 v");
	assert_int_equal(type(0x14), -1);
	assert_int_equal(type(0x14), 1);
	assert_int_equal(type('x'), 1);
}

static void no_guest_makes_a_frame(void **state)
{
	(void)state;
	PRINTS(0, "\036.1 0\r\n", "[linux-a] .1 0\r\n");
	PRINTS(1, "\033[\036m\033]\036\a\xc2\036.1 0\n", "[linux-b] .1 0\r\n");
	console_tally_puts(&con, "\036.1 0");
	EMITTED("tally: ?.1 0\r\n");
	start(false);
	console_answer(&con, "1", "a line", 0);
	EMITTED("\036=1 a line\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(ids_and_commands, interactive),
	    cmocka_unit_test_setup(no_id, interactive),
	    cmocka_unit_test_setup(nothing_moves, interactive),
	    cmocka_unit_test_setup(a_key_ends_it, interactive),
	    cmocka_unit_test_setup(no_guest_makes_a_frame, interactive),
	};

	return cmocka_run_group_tests_name("console_request", tests, NULL, NULL);
}
