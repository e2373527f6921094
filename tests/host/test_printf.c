/* SPDX-License-Identifier: Apache-2.0 */
/* The formatter: against exact texts, and against the C library where both mean the same. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/lib/printf.h"

static char ours[1000], libc[1000];

/* Some of what follows is odd on purpose. */
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#pragma GCC diagnostic ignored "-Wformat-overflow"

#define SAME(...)                                                                                  \
	do {                                                                                       \
		memset(ours, 0x7f, sizeof(ours));                                                  \
		assert_int_equal(tally_snprintf(ours, sizeof(ours), __VA_ARGS__),                  \
		                 snprintf(libc, sizeof(libc), __VA_ARGS__));                       \
		assert_string_equal(ours, libc);                                                   \
	} while (0)

static void text_is(const char *want, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	assert_int_equal(tally_vsnprintf(ours, sizeof(ours), format, args), strlen(want));
	va_end(args);
	assert_string_equal(ours, want);
}

static void numbers(void **state)
{
	static const char *const formats[] = {"%d", "%u", "%x", "%08d", "%08x", "%02x", "%012u"};
	static const int ints[] = {0, 1, -1, 9, 10, 42, -42, 123456789, INT_MAX, INT_MIN};
	static const char *const long_formats[] = {"%ld",  "%lu", "%lx", "%lld",   "%llu",
	                                           "%llx", "%zu", "%zx", "%020ld", "%016lx"};
	static const long longs[] = {0, -1, 10, LONG_MAX, LONG_MIN, 0x0123456789abcdef};

	(void)state;
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
		for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
			SAME(formats[f], ints[i]);
	for (size_t f = 0; f < sizeof(long_formats) / sizeof(long_formats[0]); f++)
		for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++)
			SAME(long_formats[f], longs[i]);
	text_is("-2147483648 18446744073709551615", "%d %lu", INT_MIN, ULONG_MAX);
	text_is("00000000deadbeef", "%016lx", 0xdeadbeefUL);
}

static void strings(void **state)
{
	static const char unterminated[3] = {'a', 'b', 'c'};

	(void)state;
	SAME("%s", "");
	SAME("%s and %s", "one", "two");
	SAME("[%.3s] [%.0s] [%.*s]", "abcdef", "abc", 2, "abc");
	text_is("abc", "%.3s", unterminated);
	text_is("ab", "%.*s", 2, unterminated);
	text_is("(null)", "%s", (char *)NULL);
	SAME("%c%c%c", 'a', 'b', 'c');
	text_is("", "%c", 0);
}

static void literal_text(void **state)
{
	(void)state;
	SAME("%s", "no conversions");
	text_is("100 %", "100 %%");
	text_is("a%b", "%s%%%s", "a", "b");
	/* After something unknown no argument is trusted any more. */
	text_is("1 %f %s %d", "%u %f %s %d", 1, 2.0, "x", 3);
	text_is("5%", "%d%", 5);
	text_is("%-08", "%-08");
	text_is("%hd", "%hd", 1);
	text_is("%8d", "%8d", 1);
	text_is("%*d", "%*d", 8, 1);
	text_is("%p", "%p", (void *)NULL);
}

static void truncation(void **state)
{
	(void)state;
	for (size_t size = 1; size < 12; size++) {
		memset(ours, 0x7f, sizeof(ours));
		memset(libc, 0x7f, sizeof(libc));
		assert_int_equal(tally_snprintf(ours, size, "%s %d", "value", -42),
		                 size < 10 ? size - 1 : 9);
		assert_int_equal(snprintf(libc, size, "%s %d", "value", -42), 9);
		assert_memory_equal(ours, libc, sizeof(ours));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(strings),
	    cmocka_unit_test(literal_text),
	    cmocka_unit_test(truncation),
	};

	return cmocka_run_group_tests_name("printf", tests, NULL, NULL);
}
