/* SPDX-License-Identifier: Apache-2.0 */
/* The cutter of terminal output: which units come out of which bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/console/ansi.h"

static char units[4096];

/* Units as text: characters as they are, controls as <hex>, sequences as {number letter}. */
static const char *cut(const char *in, size_t n)
{
	struct ansi a;
	size_t at = 0;

	ansi_init(&a);
	units[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		enum ansi_token token = ansi_feed(&a, (uint8_t)in[i]);
		size_t room = sizeof(units) - at;

		assert_in_range(a.len, 0, 4);
		if (token == ANSI_CHAR) {
			at += (size_t)snprintf(units + at, room, "%.*s", a.len, a.bytes);
		} else if (token == ANSI_CONTROL) {
			assert_int_equal(a.len, 1);
			at += (size_t)snprintf(units + at, room, "<%02x>", (uint8_t)a.bytes[0]);
		} else if (token == ANSI_CSI) {
			assert_int_equal(a.len, 1);
			at += (size_t)snprintf(units + at, room, "{%d%c}", a.number, a.bytes[0]);
		}
	}
	return units;
}

#define CUT(in) cut(in, sizeof(in) - 1)

static void text_and_controls(void **state)
{
	(void)state;
	assert_string_equal(CUT("plain ~ text"), "plain ~ text");
	assert_string_equal(CUT("a\r\n\t\b\a\0\x7f"), "a<0d><0a><09><08><07><00><7f>");
}

static void utf8(void **state)
{
	(void)state;
	assert_string_equal(CUT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "é€😀");
	assert_string_equal(CUT("\xc2\xa0"), "\xc2\xa0");
	/* C1 controls, as bytes and as characters: some terminals obey them. */
	assert_string_equal(CUT("\x9b"
	                        "1A"),
	                    "?1A");
	assert_string_equal(CUT("\xc2\x9b"
	                        "1A"),
	                    "?1A");
	/* Bytes that begin nothing, overlong forms, surrogates, beyond the last character. */
	assert_string_equal(CUT("\x80\xbf\xc0\xc1\xf5\xff"), "??????");
	assert_string_equal(CUT("\xe0\x9f\xbf"), "??");
	assert_string_equal(CUT("\xf0\x8f\xbf\xbf"), "???");
	assert_string_equal(CUT("\xed\xa0\x80"), "??");
	assert_string_equal(CUT("\xf4\x90\x80\x80"), "???");
	/* Cut short. */
	assert_string_equal(CUT("\xe2\x82z"), "z");
	assert_string_equal(CUT("\xe2\x82\xc3\xa9"), "é");
	assert_string_equal(CUT("\xe2\x82\n"), "<0a>");
	assert_string_equal(CUT("\xe2\x82\033[m"), "{0m}");
}

static void sequences(void **state)
{
	(void)state;
	assert_string_equal(CUT("\033[m\033[31mred\033[0K\033[12D"), "{0m}{31m}red{0K}{12D}");
	/* Of any other form: left out. */
	assert_string_equal(CUT("\033[?25h\033[1;31m\033[2 q\0337\0338\033cx\033[;Kx"), "xx");
	assert_string_equal(CUT("\033(0x\033#8\033([mx\033(]y"), "xmxy");
	assert_string_equal(CUT("\033 Fx\033\a\0\177[mx"), "x{0m}x");
	/* The next line is never swallowed. */
	assert_string_equal(CUT("\033\nx\033[3\nx\033[1;\rx"), "<0a>x<0a>x<0d>x");
	assert_string_equal(CUT("\033[1\033[2Kx"), "{2K}x");
	assert_string_equal(CUT("\033[1\030x\033[1\032y"), "xy");
	assert_string_equal(CUT("\033[\a1\0A\033[1\x7f"
	                        "B"),
	                    "{1A}{1B}");
	assert_string_equal(CUT("\033[1\xc3\xa9"), "é");
	assert_string_equal(CUT("\033[254D\033[255D\033[256D\033[99999999999D"),
	                    "{254D}{255D}{255D}{255D}");
	assert_string_equal(CUT("\033[9;99999999999Dx\033[-1Dx"), "xx");
}

static void strings_are_left_out(void **state)
{
	(void)state;
	assert_string_equal(CUT("\033]0;title \xc3\xa9\ax"), "x");
	assert_string_equal(CUT("\033]0;title\033\\x"), "x");
	assert_string_equal(CUT("\033Pq#0\033\\\033Xs\033\\\033^p\033\\\033_a\033\\x"), "x");
	assert_string_equal(CUT("\033]0;\x80\xff\ax"), "x");
	assert_string_equal(CUT("\033]0;never ended\nx"), "<0a>x");
	assert_string_equal(CUT("\033]0;never ended\030x"), "x");
}

/* What is not complete, and the other half behind it, are one unit for another reader. */
static void unfinished(void **state)
{
	static const char *const halves[][2] = {
	    {"x", ""},           {"\xf0\x9f\x98", "\xf0\x9f\x98"}, {"\033", "\033"},
	    {"\033[3", "\033["}, {"\033]0;ti", "\033_"},           {"\xe2\x82z", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		struct ansi a;

		ansi_init(&a);
		for (const char *s = halves[i][0]; *s != '\0'; s++)
			(void)ansi_feed(&a, (uint8_t)*s);
		assert_string_equal(ansi_unfinished(&a), halves[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_and_controls), cmocka_unit_test(utf8),
	    cmocka_unit_test(sequences),         cmocka_unit_test(strings_are_left_out),
	    cmocka_unit_test(unfinished),
	};

	return cmocka_run_group_tests_name("ansi", tests, NULL, NULL);
}
