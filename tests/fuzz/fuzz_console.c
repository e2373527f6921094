/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console that VMs share: VMs print any bytes, Tally prints, a person types, frames begin and
 * end. Of all that comes out it is known who caused it, and it must be theirs by its form alone: a
 * reader that knows nothing else takes it apart. In batch mode each VM's lines are besides those
 * that it would have alone.
 *
 * Bytes: the mode and the number of VMs, then steps; each is a byte that says what, and what it
 * takes.
 */
#include <stdbool.h>
#include <string.h>

#include "core/console/console.h"
#include "core/console/port.h"
#include "tests/fuzz/fuzz.h"

#define VMS      4U
#define MOST     1200U /* bytes that a call on behalf of a VM may print */
#define SAID_MAX 64U
#define RS       '\036'

static const char *const names[VMS] = {"a", "beta", "tally", "a-name-15-chars"};

/* --- the input ------------------------------------------------------------------------------ */

static const uint8_t *next_byte, *end_byte;

static uint8_t take(void)
{
	return next_byte < end_byte ? *next_byte++ : 0;
}

static size_t take_bytes(char *to, size_t most)
{
	size_t n = 1 + take() % most;

	for (size_t i = 0; i < n; i++)
		to[i] = (char)take();
	return n;
}

/* --- what comes out ------------------------------------------------------------------------- */

static char out[1 << 16];
static size_t out_len;

void console_emit(const char *s, size_t n)
{
	require(out_len + n < sizeof(out));
	memcpy(out + out_len, s, n);
	out_len += n;
}

void console_command(const char *id, const char *text)
{
	require(strlen(id) <= CONSOLE_ID_BYTES && !strchr(id, ' '));
	require(!text || strlen(text) <= CONSOLE_COMMAND_BYTES);
	for (; text && *text; text++)
		require(*text >= ' ' && *text <= '~');
}

const char *console_command_name(unsigned int n)
{
	static const char *const commands[] = {"vms", "exits", "stop", "exit"};

	return n < 4 ? commands[n] : NULL;
}

static struct console con, alone[VMS];
static unsigned int n_vms;
static bool framed;         /* until now */
static bool were_framed;    /* ever */
static unsigned int opened; /* whose line or frame is at the end */
static bool cut[VMS];       /* another's line has cut that VM's, which is not at its end */

/* --- the reader ----------------------------------------------------------------------------- */

static const char *at;

static bool comes(const char *text)
{
	size_t n = strlen(text);
	bool is = (size_t)(out + out_len - at) >= n && memcmp(at, text, n) == 0;

	at += is ? n : 0;
	return is;
}

static const char *line_end(void)
{
	return con.interactive && !framed ? "\r\n" : "\n";
}

static void close_open(void)
{
	if (opened != CONSOLE_NOBODY)
		require(comes(line_end()));
	if (opened < VMS && !framed)
		cut[opened] = true;
	opened = CONSOLE_NOBODY;
}

/* A character that may stand in a line: a tab, or one of UTF-8 that is no control. */
static bool character(void)
{
	static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
	size_t left = (size_t)(out + out_len - at), n;
	uint8_t c = (uint8_t)*at;
	uint32_t code;

	if (!left || (c < ' ' && c != '\t') || c == 0x7f || (c >= 0x80 && c < 0xc2) || c > 0xf4)
		return false;
	n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	require(n <= left);
	code = n == 1 ? c : c & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		require(((uint8_t)at[i] & 0xc0) == 0x80);
		code = code << 6 | ((uint8_t)at[i] & 0x3f);
	}
	require(code >= least[n] && code <= 0x10ffff && code >> 11 != 0x1b);
	at += n;
	return true;
}

/* The prompt's line is drawn again, or its cursor moves back. */
static bool drawn(void)
{
	const char *before = at;

	if (opened != CONSOLE_PROMPT)
		return false;
	if (comes("\r\033[K")) {
		require(comes("tally> "));
	} else if (comes("\033[")) {
		while (*at >= '0' && *at <= '9')
			at++;
		require(comes("D"));
	}
	return at != before;
}

/* Lines of one owner, or the beginning of one that stays open; nothing else. */
static void lines_of(unsigned int owner)
{
	while (at < out + out_len) {
		if (opened != owner) {
			close_open();
			if (owner == CONSOLE_PROMPT) {
				require(comes("tally> "));
			} else {
				require(comes("[") && comes(names[owner]) && comes("]"));
				require(comes("+") || (!cut[owner] && comes(" ")));
				cut[owner] = false;
			}
			opened = owner;
		}
		while (comes("\b \b") || drawn() || character())
			;
		if (at == out + out_len) {
			require(con.interactive);
			break;
		}
		require(comes(line_end()));
		opened = CONSOLE_NOBODY;
	}
}

static uint8_t digit(char c)
{
	require((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
	return (uint8_t)(c <= '9' ? c - '0' : c - 'A' + 10);
}

/* What frames say that a VM printed. */
static size_t frames_of(unsigned int owner, char *data)
{
	size_t n = 0;

	if (at < out + out_len && opened != owner) {
		close_open();
		require(at[0] == RS && at[1] == (char)('A' + owner));
		at += 2;
		opened = owner;
	}
	for (; at < out + out_len; n++) {
		require((uint8_t)*at >= ' ' && *at != 0x7f);
		data[n] = *at++;
		if (data[n] != '%')
			continue;
		require(out + out_len - at >= 2);
		data[n] = (char)(digit(at[0]) << 4 | digit(at[1]));
		require((uint8_t)data[n] < ' ' || data[n] == 0x7f || data[n] == '%');
		at += 2;
	}
	return n;
}

/* A line of Tally's, whatever it says. */
static void own_line(void)
{
	close_open();
	require(framed ? comes("\036!") : comes("tally: "));
	while (at < out + out_len && (*at == '\t' || (*at >= ' ' && *at <= '~')))
		at++;
	require(comes(line_end()));
}

/* Tally's lines; then perhaps what is typed at the prompt, or what a VM in focus has not finished,
 * as it is shown again. */
static void own_lines(void)
{
	static const char *const first[] = {"tally> ", "\r\ntally> "};

	while (at < out + out_len) {
		size_t left = (size_t)(out + out_len - at);
		bool prompt = (left >= 7 && memcmp(at, first[0], 7) == 0) ||
		              (left >= 9 && memcmp(at, first[1], 9) == 0);

		bool again = left >= 2 && at[0] == '\r' && at[1] == '\033';

		if (opened == CONSOLE_PROMPT && !prompt && (again || *at != '\r') &&
		    con.focus == opened)
			lines_of(CONSOLE_PROMPT);
		else if (prompt)
			lines_of(CONSOLE_PROMPT);
		else if (*at == '[' && !framed)
			lines_of(con.focus);
		else if (left == strlen(line_end()) && opened != CONSOLE_NOBODY)
			close_open();
		else
			own_line();
	}
}

/* --- the steps ------------------------------------------------------------------------------ */

/* A VM's lines in batch mode. */
static void as_if_alone(unsigned int vm, const char *bytes, size_t n)
{
	static char shared[sizeof(out)];
	size_t shared_len = out_len;

	memcpy(shared, out, out_len);
	out_len = 0;
	for (size_t done = 0; done < n;)
		done += console_vm_write(&alone[vm], 0, bytes + done, n - done);
	require(out_len == shared_len && memcmp(out, shared, out_len) == 0);
}

static void vm_prints(unsigned int vm)
{
	static char data[sizeof(out)];
	char bytes[SAID_MAX];
	size_t n = take_bytes(bytes, sizeof(bytes)), got;

	for (size_t done = 0; done < n;) {
		size_t before = out_len, took;

		/* Its line may end without a byte. */
		cut[vm] = cut[vm] && !memchr(bytes, '\n', n) && !memchr(bytes, '\r', n);
		took = console_vm_write(&con, vm, bytes + done, n - done);
		require(took >= 1 && took <= n - done && out_len - before <= MOST);
		done += took;
	}
	at = out;
	if (!framed) {
		lines_of(vm);
		if (!con.interactive && !were_framed)
			as_if_alone(vm, bytes, n);
		return;
	}
	got = frames_of(vm, data);
	require(got == n && memcmp(data, bytes, n) == 0);
}

/* A VM's name, and what was printed of its line, in pieces. */
static void frames_begin_of(unsigned int vm)
{
	static char data[sizeof(out)];
	char letter[] = {'\036', ':', (char)('A' + vm), ' ', '\0'};
	bool all = false;
	size_t n = 0;

	for (bool first = true; !all; first = false) {
		out_len = 0;
		all = console_frames_vm(&con, vm);
		require(out_len <= 256);
		at = out;
		if (first) {
			close_open();
			require(comes(letter) && comes(names[vm]) && comes("\n"));
		}
		n += frames_of(vm, data);
		require(n <= CONSOLE_LINE_BYTES + 8 && !memchr(data, '\n', n));
	}
}

/* Frames begin: what was printed of a line comes first, and is told at once, as the prompt does. */
static void frames_begin(void)
{

	console_frames(&con, true);
	memset(cut, 0, sizeof(cut));
	at = out;
	if (opened != CONSOLE_NOBODY)
		require(comes(line_end()));
	opened = CONSOLE_NOBODY;
	framed = were_framed = true;
	require(comes("\036+\n"));
	require(at == out + out_len);
	for (unsigned int vm = 0; vm < n_vms; vm++)
		frames_begin_of(vm);
}

static void frames_end(void)
{
	console_frames(&con, false);
	at = out;
	if (framed) {
		close_open();
		require(comes("\036-\n"));
	}
	require(at == out + out_len);
	framed = false;
}

static void answers(uint8_t what)
{
	char text[SAID_MAX + 1];

	for (size_t i = 0; i < SAID_MAX; i++)
		text[i] = (char)(' ' + take() % 95);
	text[take() % SAID_MAX] = '\0';
	console_answer(&con, "id", what & 8 ? text : NULL, what & 3);
	at = out;
	if (framed)
		close_open();
	if (what & 8)
		require(comes("\036=id ") && comes(text) && comes("\n"));
	else
		require(comes("\036.id ") && digit(*at++) == (what & 3) && comes("\n"));
	require(at == out + out_len);
}

static void tally_prints(void)
{
	char text[SAID_MAX + 1];
	size_t n = take_bytes(text, SAID_MAX);

	text[n] = '\0';
	console_tally_puts(&con, text);
	at = out;
	own_line();
	require(at == out + out_len);
}

/* A person types, or a program. Nobody gets a byte who is not in focus and alive. */
static void typed(uint8_t ch)
{
	int target = console_target(&con), vm;

	out_len = 0;
	vm = console_input(&con, ch);
	require(vm == -1 || (vm == target && vm < (int)n_vms));
	at = out;
	own_lines();
}

static void step(void)
{
	static const char keys[] = "np123456789?:>=gsr\024";
	uint8_t what = take();
	unsigned int vm = (what >> 3) % n_vms;

	out_len = 0;
	switch (what & 7) {
	case 0:
	case 1:
		vm_prints(vm);
		break;
	case 2:
		tally_prints();
		break;
	case 3:
		typed(CONSOLE_KEY);
		typed((uint8_t)keys[take() % (sizeof(keys) - 1)]);
		break;
	case 4:
		typed(take());
		break;
	case 5:
		console_vm_ended(&con, vm, what & 0x80);
		at = out;
		if (!framed)
			lines_of(vm);
		require(at == out + out_len);
		cut[vm] = false;
		were_framed = true; /* alone it has not ended */
		break;
	case 6:
		if (what & 8)
			frames_begin();
		else
			frames_end();
		break;
	default:
		answers(what);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t mode;

	next_byte = data;
	end_byte = data + size;
	mode = take();
	n_vms = 1 + (mode >> 1) % VMS;
	memset(&con, 0xa5, sizeof(con));
	console_init(&con, mode & 1, names, n_vms);
	for (unsigned int vm = 0; vm < n_vms; vm++)
		console_init(&alone[vm], false, names + vm, 1);
	framed = were_framed = false;
	memset(cut, 0, sizeof(cut));
	opened = CONSOLE_NOBODY;
	while (next_byte < end_byte)
		step();
	return 0;
}
