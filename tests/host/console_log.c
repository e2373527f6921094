/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/console/port.h"

#include "tests/host/console_log.h"

const char *const names[3] = {"linux-a", "linux-b", "c"};
struct console con;

/* Everything emitted since the last read. */
static char out[1 << 23];
static size_t out_len;
size_t call_bytes, max_call_bytes;

void console_emit(const char *s, size_t n)
{
	assert_true(out_len + n < sizeof(out));
	memcpy(out + out_len, s, n);
	out_len += n;
	call_bytes += n;
	if (call_bytes > max_call_bytes)
		max_call_bytes = call_bytes;
}

char typed_command[CONSOLE_COMMAND_BYTES + 1];
char request_id[CONSOLE_ID_BYTES + 1];
bool request_wrong;

void console_command(const char *id, const char *text)
{
	assert_true(strlen(id) < sizeof(request_id));
	strcpy(request_id, id);
	request_wrong = !text;
	if (!text)
		return;
	assert_true(strlen(text) < sizeof(typed_command));
	strcpy(typed_command, text);
}

const char *console_command_name(unsigned int n)
{
	static const char *const commands[] = {"vms", "exits", "stop", "exit"};

	return n < 4 ? commands[n] : NULL;
}

size_t emitted_bytes(void)
{
	return out_len;
}

const char *emitted(void)
{
	out[out_len] = '\0';
	out_len = 0;
	return out;
}

void start(bool interactive)
{
	memset(&con, 0xa5, sizeof(con));
	console_init(&con, interactive, names, 3);
	out_len = 0;
	max_call_bytes = 0;
}

void put_bytes(unsigned int vm, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		call_bytes = 0;
		assert_int_equal(console_vm_write(&con, vm, s + i, 1), 1);
	}
}

void put(unsigned int vm, const char *s)
{
	put_bytes(vm, s, strlen(s));
}

int type(uint8_t ch)
{
	int target = console_target(&con);
	int vm = console_input(&con, ch);

	assert_true(vm == -1 || vm == target);
	return vm;
}

void command(uint8_t ch)
{
	assert_int_equal(type(0x14), -1);
	EMITTED("");
	assert_int_equal(type(ch), -1);
}
