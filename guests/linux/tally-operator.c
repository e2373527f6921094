/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally-operator: asks Tally from a Linux guest whose VM is an operator. It says "ready". Each line
 * of standard input is a request. Each line of the answer goes to standard output as "= TEXT", and
 * its end as ". STATUS". Tally's tools run it for `--operator`. docs/operator.md has the layout of
 * the function's memory.
 *
 * It is a program in C, since the rings want ordered accesses of a certain width.
 */
#define _GNU_SOURCE /* O_CLOEXEC, getline(), strdup() */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guests/lib/operator.h"

#define PAGE     0x1000UL
#define MEMORY   (4UL << 20)
#define REQUEST  64U
#define UNUSABLE 4 /* exit status: there is no function that it can use */

/* A multiple of three, so that base64 needs no padding, as at the prompt. */
#define LINE_WORDS 18U

static struct operator_function function;
static int lock; /* other programs of this guest may ask, too */

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("tally-operator: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(UNUSABLE);
}

static int open_in(const char *folder, const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		give_up("%s: %s", path, strerror(errno));
	return fd;
}

static uint32_t number_in(const char *folder, const char *name)
{
	char text[32];
	int fd = open_in(folder, name, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return (uint32_t)strtoul(text, NULL, 0);
}

static bool is_operator(const char *folder)
{
	return (number_in(folder, "device") << 16 | number_in(folder, "vendor")) == OPERATOR_ID;
}

/* The folder of the function; a VM has one at most. */
static char *find(void)
{
	glob_t all;
	char *found = NULL;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &all) == 0) {
		for (size_t i = 0; i < all.gl_pathc && !found; i++) {
			if (is_operator(all.gl_pathv[i]))
				found = strdup(all.gl_pathv[i]);
		}
		globfree(&all);
	}
	if (!found)
		give_up("this guest's VM is no operator: no PCI function 1af4:10f1");
	return found;
}

static void *map(int fd, uint64_t size, const char *name)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		give_up("%s: %s", name, strerror(errno));
	return at;
}

static void open_function(const char *folder)
{
	int enable = open_in(folder, "enable", O_WRONLY);

	/* Linux leaves a function off that no driver has. */
	if (write(enable, "1", 1) != 1)
		give_up("%s/enable: %s", folder, strerror(errno));
	close(enable);
	lock = open_in(folder, "resource0", O_RDWR);
	function.page = (uintptr_t)map(lock, PAGE, "resource0");
	function.memory = map(open_in(folder, "resource2", O_RDWR), MEMORY, "resource2");
	if (operator_read(&function, OPERATOR_VERSION) != OPERATOR_LAYOUT)
		give_up("layout %u of the function, and this program knows %u",
		        operator_read(&function, OPERATOR_VERSION), OPERATOR_LAYOUT);
}

static void say(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const char *kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs(kind, stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/* --- samples --------------------------------------------------------------------------------- */

static char *base64(const uint64_t *words, uint32_t n, char *text)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *bytes = (const uint8_t *)words;
	char *to = text;

	for (uint32_t left = 8 * n; left; left -= left < 3 ? left : 3, bytes += 3) {
		uint32_t three = (uint32_t)bytes[0] << 16 | (left > 1 ? bytes[1] : 0U) << 8 |
		                 (left > 2 ? bytes[2] : 0U);

		*to++ = digits[three >> 18];
		*to++ = digits[three >> 12 & 63];
		*to++ = left > 1 ? digits[three >> 6 & 63] : '=';
		*to++ = left > 2 ? digits[three & 63] : '=';
	}
	*to = '\0';
	return text;
}

/* What the rings of all harts have now. Lines are as of the prompt's command of this name, but with
 * the words of the rings as they are. */
static void samples(void)
{
	uint64_t end[OPERATOR_HARTS], words[OPERATOR_SAMPLE_WORDS];
	uint32_t rings = operator_read(&function, OPERATOR_RINGS);

	rings = rings < OPERATOR_HARTS ? rings : OPERATOR_HARTS;
	for (uint32_t ring = 0; ring < rings; ring++)
		end[ring] = __atomic_load_n(&function.memory->samples_written[ring].words,
		                            __ATOMIC_ACQUIRE);
	for (uint32_t ring = 0; ring < rings; ring++) {
		uint32_t hart = operator_read(&function, OPERATOR_HART + 4 * ring), n;

		while (function.memory->samples_taken[ring].words < end[ring] &&
		       (n = operator_sample(&function, ring, words))) {
			for (uint32_t i = 0; i < n; i += LINE_WORDS) {
				char text[4 * (8 * LINE_WORDS / 3) + 1];

				say("= ", "%u words %s", hart,
				    base64(words + i, n - i < LINE_WORDS ? n - i : LINE_WORDS,
				           text));
			}
		}
	}
	if (!rings)
		say("= ", "this VM may not sample: it has no operator-samples-hz");
	say(". ", rings ? "0" : "1");
}

/* --- requests -------------------------------------------------------------------------------- */

/* Takes what has been answered, of other requests too: a program before may have been killed.
 * Returns whether the end of this one has come. */
static bool take(uint64_t tag)
{
	const struct operator_answer *answer;
	bool end = false;

	while ((answer = operator_next(&function))) {
		if (answer->tag == tag && answer->kind == OPERATOR_END) {
			say(". ", "%u", answer->status);
			end = true;
		} else if (answer->tag == tag) {
			say("= ", "%.*s", (int)answer->length, answer->text);
		}
		operator_took(&function);
	}
	return end;
}

static void ask(const char *text)
{
	static uint64_t number;
	uint64_t tag = (uint64_t)getpid() << 32 | ++number;

	while (!operator_ask(&function, tag, text)) {
		operator_ring(&function);
		(void)take(0);
	}
	do
		operator_ring(&function);
	while (!take(tag));
}

static void serve(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	if (strlen(line) > REQUEST) {
		say("= ", "a command has %u characters at most", REQUEST);
		say(". ", "2");
		return;
	}
	while (flock(lock, LOCK_EX) != 0 && errno == EINTR)
		;
	if (strcmp(line, "samples") == 0)
		samples();
	else
		ask(line);
	(void)flock(lock, LOCK_UN);
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	open_function(find());
	puts("ready");
	fflush(stdout);
	while (getline(&line, &size, stdin) > 0) {
		serve(line);
		if (fflush(stdout) != 0)
			return UNUSABLE;
	}
	return 0;
}
