/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QEMU_RAM_BASE UINT64_C(0x80000000)

_Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "vm-check: %s: %s\n", what, why);
	exit(2);
}

/* Reads a number, with a suffix K, M or G if that is allowed. */
static uint64_t number(const char *option, const char *text, bool suffix)
{
	char *end;
	unsigned long long n;
	unsigned int shift = 0;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (suffix && *end) {
		static const char suffixes[] = "KMG";
		const char *s = strchr(suffixes, *end);

		if (s) {
			shift = 10U * (unsigned int)(s - suffixes + 1);
			end++;
		}
	}
	if (end == text || *end || errno || strchr(text, '-') || n << shift >> shift != n)
		die(option, "needs a number");
	return n << shift;
}

uint64_t ram_begin(const struct options *o)
{
	return o->ram.board_ram != RAM_NOT_GIVEN ? o->ram.board_ram : QEMU_RAM_BASE;
}

void parse_options(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--json") == 0) {
			o->json = true;
		} else if (strcmp(argv[i], "--harts") == 0) {
			uint64_t n = number("--harts", value, false);

			if (n < 1 || n > VM_MAX_HARTS)
				die("--harts", "needs a number from 1 to 64");
			o->harts = (uint32_t)n;
			i++;
		} else if (strcmp(argv[i], "--host") == 0) {
			o->host = value;
			i++;
		} else if (strcmp(argv[i], "--memory") == 0) {
			o->ram.size = number("--memory", value, true);
			i++;
		} else if (strcmp(argv[i], "--board-ram") == 0) {
			o->ram.board_ram = number("--board-ram", value, false);
			if (o->ram.board_ram % VM_MEMORY_STEP)
				die("--board-ram", "is not a multiple of 2 MiB");
			i++;
		} else if (strcmp(argv[i], "--tree-at") == 0) {
			o->ram.tree_at = number("--tree-at", value, false);
			i++;
		} else if (strcmp(argv[i], "--counters") == 0) {
			o->counters = number("--counters", value, false);
			i++;
		} else if (argv[i][0] == '-' || o->file) {
			die(argv[i], "unknown argument; see --help");
		} else {
			o->file = argv[i];
		}
	}
	if (!o->file)
		die("no file", "see --help");
	if (o->ram.size != RAM_NOT_GIVEN && o->ram.size > UINT64_MAX - ram_begin(o))
		die("--memory", "is more than there are addresses");
}

void *read_file(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	long length;
	void *data;

	if (!f || fseek(f, 0, SEEK_END) || (length = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		die(name, strerror(errno));
	*size = (size_t)length;
	data = malloc(*size + 1); /* aligned to 16 bytes; 1 more, as malloc(0) may be NULL */
	if (!data || fread(data, 1, *size, f) != *size)
		die(name, "cannot be read");
	fclose(f);
	return data;
}
