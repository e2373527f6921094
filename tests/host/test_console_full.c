/* SPDX-License-Identifier: Apache-2.0 */
/* A full-screen program in the VM in focus: its bytes as they are, everybody else's lines aside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/host/console_log.h"

#define ON    "\036tally@! on\r\n"
#define OFF   "\036tally@! off\r\n"
#define ASIDE "\036tally@- "
/* No region, attributes, or hidden cursor; to set the region moves the cursor, which goes back. */
#define AS_BEFORE "\0337\033[r\0338\033[m\033[?25h"

static int interactive(void **state)
{
	(void)state;
	start(true);
	return 0;
}

static void other_screen(void **state)
{
	(void)state;
	PRINTS(0, "# vi\r\n", "[linux-a] # vi\r\n");
	PRINTS(0, "\033[?1049h\033[H\033[Jtext\r\n~\r\n~",
	       ON "\033[?1049h\033[H\033[Jtext\r\n~\r\n~");
	PRINTS(0, "\033[5;1H\033[7m\xe2\x82", "\033[5;1H\033[7m");
	/* Nothing of others touches the screen; a unit of the program's is not cut either. */
	PRINTS(1, "\033[31mx\033[H\r\n", ASIDE "[linux-b] x\r\n");
	console_tally_puts(&con, "one\ntwo");
	EMITTED(ASIDE "tally: one\r\n" ASIDE "tally: two\r\n");
	PRINTS(0, "\xac\a\b\t\v\x0e\x1e\x01", "\xe2\x82\xac\a\b\t\v");
	PRINTS(0, "\033[?1049l", "\033[?1049l" OFF);
	PRINTS(0, "# ", "[linux-a] # ");
	PRINTS(1, "x\n", "\033[m\r\033[K[linux-b] x\r\n[linux-a] # ");
}

/* More than a line holds, without an end of line. */
static void long_output(void **state)
{
	char bytes[3000];

	(void)state;
	PUT(0, "\033[?47h");
	(void)emitted();
	memset(bytes, 'x', sizeof(bytes) - 1);
	bytes[sizeof(bytes) - 1] = '\0';
	put(0, bytes);
	EMITTED(bytes);
	assert_int_equal(console_vm_write(&con, 0, bytes, sizeof(bytes)), 256);
}

static void focus_moves(void **state)
{
	(void)state;
	PUT(0, "\033[?1049hA");
	(void)emitted();
	command('2');
	EMITTED(AS_BEFORE "\033[?1049l" OFF "tally: input goes to linux-b (Ctrl-T ? for help)\r\n");
	PRINTS(1, "# ", "[linux-b] # ");
	PRINTS(0, "\033[2;2Hclock\r\n", "\033[m\r\033[K[linux-a] clock\r\n[linux-b] # ");
	command('1');
	EMITTED("\033[m\r\033[Ktally: input goes to linux-a (Ctrl-T ? for help)\r\n" ON
	        "\033[?1049h\033[H\033[J");
}

static void focus_comes_back(void **state)
{
	(void)state;
	PUT(0, "\033[?1049h");
	(void)emitted();
	command('2');
	PUT(1, "\033[?1047h"); /* both have a program now */
	(void)emitted();
	command('1');
	EMITTED(AS_BEFORE "\033[?1049l" OFF
	                  "tally: input goes to linux-a (Ctrl-T ? for help)\r\n" ON
	                  "\033[?1049h\033[H\033[J");
	/* Unseen, beta's ends. */
	PRINTS(1, "\033[?1047l# ", "");
	command(':');
	assert_null(strstr(emitted(), ON));
	assert_int_equal(type(0x04), -1);
	assert_non_null(strstr(emitted(), ON "\033[?1049h"));
	command('2');
	EMITTED(AS_BEFORE "\033[?1049l" OFF
	                  "tally: input goes to linux-b (Ctrl-T ? for help)\r\n[linux-b] # ");
	console_vm_ended(&con, 0, true);
	command('1');
	assert_null(strstr(emitted(), ON));
}

static void by_key(void **state)
{
	(void)state;
	command('f');
	EMITTED("tally: linux-a has the whole screen (Ctrl-T f)\r\n" ON);
	PRINTS(0, "\033[H\033[JMem:\r\n", "\033[H\033[JMem:\r\n");
	command('f');
	EMITTED(AS_BEFORE "\r\n" OFF "tally: linux-a prints lines again (Ctrl-T f)\r\n");
	PRINTS(0, "# ", "[linux-a] # ");
	command('f');
	(void)emitted();
	console_vm_ended(&con, 0, true);
	EMITTED(AS_BEFORE "\r\n" OFF);
}

/* Not on a console that is a log; and not by anything else. */
static void no_full_screen(void **state)
{
	(void)state;
	PRINTS(0, "\033[?25h\033[?1049$p\033[1049h\033[?104h",
	       "[linux-a] \033[?25h\033[?1049$p\033[1049h\033[?104h");
	PRINTS(1, "\033[?1049hx\n", "\033[m\r\033[K[linux-b] x\r\n[linux-a] ");
	start(false);
	PRINTS(0, "\033[?1049hx\n", "[linux-a] x\n");
	command('f');
	EMITTED("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(other_screen, interactive),
	    cmocka_unit_test_setup(long_output, interactive),
	    cmocka_unit_test_setup(focus_moves, interactive),
	    cmocka_unit_test_setup(focus_comes_back, interactive),
	    cmocka_unit_test_setup(by_key, interactive),
	    cmocka_unit_test_setup(no_full_screen, interactive),
	};

	return cmocka_run_group_tests_name("console_full", tests, NULL, NULL);
}
