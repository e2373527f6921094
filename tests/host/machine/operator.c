/* SPDX-License-Identifier: Apache-2.0 */
/* Who types: a person and programs, at random; and what they see: each VM's text is its own. */
#include <stdio.h>
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/console/console_line.h"
#include "tests/host/machine/machine.h"

#define KEY         "\x14"
#define RS          '\x1e'
#define LINE_BYTES  65536U
#define TYPED_BYTES 256U

static struct {
	char typed[TYPED_BYTES];
	uint32_t at, n;
	uint64_t next;
	char line[2][LINE_BYTES]; /* the second: a frame within the first */
	uint32_t length[2];
	bool in_frame;
	bool
	    begins; /* frames have begun, and nothing typed was read since: VMs' lines may be due */
} op;

bool operator_shows;
uint64_t operator_seen[VM_MAX_VMS];
uint32_t operator_repeats;

static struct chance *luck(void)
{
	return &machine.chance;
}

void operator_reset(void)
{
	memset(&op, 0, sizeof(op));
	operator_repeats = 0;
	memset(operator_seen, 0, sizeof(operator_seen));
	op.next = 20000;
}

char operator_letter(uint32_t vm)
{
	return (char)('a' + vm);
}

/* --- typing -------------------------------------------------------------------------- */

static uint32_t any_vm(void)
{
	return below(luck(), machine.kind.n_vms + (percent(luck(), 5) ? 1 : 0));
}

static void command(char *to, size_t size)
{
	static const char *const plain[] = {"vms",           "vms --json",
	                                    "exits",         "exits --json",
	                                    "pmu",           "pmu --json",
	                                    "trace on",      "trace off",
	                                    "trace",         "observed",
	                                    "unobserve",     "trace --json",
	                                    "help",          "help too much",
	                                    "frames off",    "frames on",
	                                    "frames",        "no",
	                                    "observed 1",    "unobserve 2",
	                                    "observed 99",   "",
	                                    "observe vm0 x", "frames maybe",
	                                    "trace maybe",   "samples",
	                                    "samples",       "stays on",
	                                    "stays on vm0",  "stays off",
	                                    "stays maybe",   "accounts"};
	static const char *const events[] = {
	    "instructions", "cycles:u", "instructions:k", "0x2:uk",      "0xf0006", "0xf0102",
	    "0xf0100",      "0x3",      "0x20000/0x7",    "steal-ticks", "0xf0001", "0x2/zz",
	    "0x2:zz"};
	static const char *const lives[] = {"start", "start", "start", "stop", "restart"};

	switch (below(luck(), 10)) {
	case 0:
	case 1:
		snprintf(to, size, "%s vm%u", lives[below(luck(), ARRAY_SIZE(lives))], any_vm());
		break;
	case 2:
	case 3:
	case 4:
	case 7:
		snprintf(to, size, "move vm%u %u %u", any_vm(), below(luck(), 4),
		         2 * below(luck(), MACHINE_HARTS + 1) + 1);
		break;
	case 5:
		if (percent(luck(), 40))
			snprintf(to, size, "sample vm%u %s %u%s%s", any_vm(),
			         events[below(luck(), ARRAY_SIZE(events))],
			         99 + below(luck(), 3000), percent(luck(), 30) ? "hz" : "",
			         percent(luck(), 50) ? " 20" : "");
		else
			snprintf(to, size, "observe vm%u %s", any_vm(),
			         events[below(luck(), ARRAY_SIZE(events))]);
		break;
	case 6:
		if (below(luck(), 200) == 0) {
			snprintf(to, size, "poweroff");
			break;
		}
		snprintf(to, size, "%s vm%u", percent(luck(), 50) ? "account" : "trace on",
		         any_vm());
		break;
	default:
		snprintf(to, size, "%s", plain[below(luck(), ARRAY_SIZE(plain))]);
	}
}

static void type(void)
{
	static const char keys[] = "1234npgsr:?=>\x14x";
	char text[80];
	uint32_t vm;

	command(text, sizeof(text));
	switch (below(luck(), 6)) {
	case 5:
		/* The second may come before the first is taken up. */
		vm = any_vm();
		snprintf(op.typed, sizeof(op.typed), KEY ":%s vm%u\r%s vm%u\rexit\r",
		         below(luck(), 2) ? "stop" : "restart", vm,
		         below(luck(), 3) ? "start" : "stop", vm);
		if (below(luck(), 300) == 0)
			snprintf(op.typed, sizeof(op.typed), KEY ":poweroff\rstop vm%u\r", vm);
		break;
	case 0:
		snprintf(op.typed, sizeof(op.typed), KEY "%c%c",
		         keys[below(luck(), sizeof(keys) - 1)], 'A' + (char)below(luck(), 5));
		break;
	case 1:
		snprintf(op.typed, sizeof(op.typed), KEY ":%s\x7f\x7f%s\r%s", "zz", text,
		         percent(luck(), 70) ? "exit\r" : "");
		break;
	case 2:
		snprintf(op.typed, sizeof(op.typed), "what is typed for a guest%c",
		         3 + below(luck(), 4));
		break;
	default:
		snprintf(op.typed, sizeof(op.typed), KEY "=%u %s\r", below(luck(), 100), text);
	}
	op.at = 0;
	op.n = (uint32_t)strlen(op.typed);
}

bool operator_has_typed(void)
{
	if (op.at == op.n && machine.time >= op.next) {
		op.next =
		    machine.time + 500 + below(luck(), machine.kind.busy_operator ? 1000 : 40000);
		type();
	}
	return op.at < op.n;
}

/* What it has typed is read first. */
uint64_t operator_next(void)
{
	return operator_has_typed() ? ~0UL : op.next;
}

int operator_byte(void)
{
	op.begins = false;
	return operator_has_typed() ? (uint8_t)op.typed[op.at++] : -1;
}

/* --- reading ------------------------------------------------------------------------- */

/* A VM prints its own letter only. */
static void look_at_text(const char *text, const char *end, uint32_t vm, const char *line)
{
	for (; text < end; text++) {
		operator_seen[vm] += *text == operator_letter(vm);
		if (*text == '%' && text + 2 < end && text[-1] != '%')
			text += 2; /* a control byte, in frames */
		else if (*text != operator_letter(vm) && *text != '\r' && *text != '\b' &&
		         *text != ' ')
			machine_differs("on the line of vm%u is something else: %s", vm, line);
	}
}

static void look_at_line(const char *line, uint32_t n)
{
	unsigned int vm;
	int skip = 0;

	if (strncmp(line, "tally: panic:", 13) == 0 || strstr(line, "panic: "))
		machine_differs("%s", line);
	if (line[0] == RS) {
		if (line[1] >= 'A' && line[1] <= 'P')
			look_at_text(line + 2, line + n, (uint32_t)(line[1] - 'A'), line);
		else if (!strchr("!:=.+-", line[1]))
			machine_differs("no frame: %s", line);
		if (line[1] == '+') {
			operator_repeats = ~0U;
			op.begins = true;
		}
	} else if (sscanf(line, "[vm%u]%n", &vm, &skip) == 1 && skip) {
		look_at_text(line + skip + 1, line + n, vm, line);
	} else if (strncmp(line, "tally", 5) != 0 && n && strcmp(line, "\r") != 0) {
		machine_differs("nobody's line: %s", line);
	}
}

bool operator_begins(void)
{
	return op.begins;
}

uint32_t operator_unfinished(void)
{
	return op.length[0] + op.length[1] + (op.begins ? CONSOLE_LINE_BYTES : 0);
}

void operator_output(const char *bytes, size_t n)
{
	if (operator_shows)
		fwrite(bytes, 1, n, stdout);
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == RS && op.length[0]) {
			if (op.in_frame)
				machine_differs("a frame within a frame: %s", op.line[1]);
			op.in_frame = true;
		}
		char *line = op.line[op.in_frame];
		uint32_t *length = &op.length[op.in_frame];

		if (bytes[i] != '\n') {
			line[*length] = bytes[i];
			if (++*length == LINE_BYTES)
				machine_differs("a line has %u bytes", *length);
			continue;
		}
		line[*length] = '\0';
		look_at_line(line, *length);
		*length = 0;
		op.in_frame = false;
	}
}
