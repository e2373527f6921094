/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of tools/vm-check in C: runs Tally's own parser on a compiled VM tree. Exit status: 0
 * accepted, 1 refused, 2 could not be checked.
 */
#include <errno.h>
#include <inttypes.h>
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host/host_cpus.h"
#include "core/host/host_memory.h"
#include "core/host/vm_config.h"
#include "core/pmu/budget_hart.h"
#include "core/tree/parse.h"
#include "core/tree/vm_memory.h"
#include "core/tree/vm_refusals.h"
#include "tools/vm_check/harts.h"
#include "tools/vm_check/host.h"
#include "tools/vm_check/memory.h"
#include "tools/vm_check/pmu.h"
#include "tools/vm_check/schedule.h"
#include "tools/vm_check/text.h"

#define QEMU_RAM_BASE UINT64_C(0x80000000)
#define QEMU_COUNTERS UINT64_C(0x7fffd)
#define NOT_COUNTED   UINT64_MAX

struct options {
	const char *file;
	const char *host; /* NULL: not given */
	uint32_t harts;   /* 0: not given */
	struct ram_options ram;
	uint64_t counters; /* NOT_COUNTED: not given */
	bool json;
};

static _Noreturn void die(const char *what, const char *why)
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

/* Of a machine whose tree is not given. */
static uint64_t ram_begin(const struct options *o)
{
	return o->ram.board_ram != RAM_NOT_GIVEN ? o->ram.board_ram : QEMU_RAM_BASE;
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

/* The names of VMs as a list, or for JSON as strings. */
static const char *names_of(const struct vm_tree *tree, uint32_t mask, bool json)
{
	static char text[VM_MAX_VMS * (VM_NAME_MAX + 4)];
	const char *between = "";
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		if (!(mask >> i & 1))
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, json ? "%s\"%s\"" : "%s%s",
		                      between, tree->vms[i].name);
		between = json ? "," : ", ";
	}
	return text;
}

/* Has two buffers, for two calls in one statement. */
static const char *human(uint64_t bytes)
{
	static char texts[2][32];
	static unsigned int turn;
	char *text = texts[turn ^= 1];

	if (bytes < 1024)
		snprintf(text, sizeof(texts[0]), "%" PRIu64 " bytes", bytes);
	else if (bytes < 1 << 20)
		snprintf(text, sizeof(texts[0]), "%.4g KiB", (double)bytes / 1024);
	else if (bytes >> 20 < 1000)
		snprintf(text, sizeof(texts[0]), "%.6g MiB", (double)bytes / (1 << 20));
	else
		snprintf(text, sizeof(texts[0]), "%" PRIu64 " MiB", bytes >> 20);
	return text;
}

/* Whether the VM has all counters that there are, and the host's tree does not say which. */
static bool has_uncounted(const struct vm_config *vm, const struct vm_limits *limits)
{
	return limits->host_tree && !limits->hctrs && vm->pmu_counters == VM_ALL_COUNTERS;
}

/* Why there are none: a line below says it of the hart. */
static const char *counters_of(const struct vm_tree *tree, const struct vm_config *vm,
                               const struct vm_limits *limits)
{
	if (!vm->pmu_counters)
		return "none, because pmu-counters is empty";
	if (pmu_uncounted((uint32_t)(vm - tree->vms)))
		return "none";
	return has_uncounted(vm, limits) ? "as boot counts them"
	                                 : set_list(vm->pmu_counters, false);
}

static const char *json_counters_of(const struct vm_tree *tree, const struct vm_config *vm)
{
	return pmu_uncounted((uint32_t)(vm - tree->vms)) ? "" : set_list(vm->pmu_counters, true);
}

static void print_pmu(const struct vm_tree *tree, const struct vm_config *vm,
                      const struct vm_limits *limits)
{
	printf("  pmu       counters %s; reads %s", counters_of(tree, vm, limits),
	       vm->pmu_trap_reads ? "trap" : "direct");
	if (vm->pmu_snapshot)
		printf("; snapshot");
	if (vm->pmu_freeze_vcpu)
		printf("; freeze vcpu");
	if (vm->pmu_idle_cycles)
		printf("; idle cycles");
	/* The default depends on the snapshot, so the effective value is printed. */
	if (vm->pmu && !vm->pmu_overflow)
		printf("; no overflow interrupts");
	if (vm->pmu_overflow_limit)
		printf("; at most %u overflow interrupts in 10 ms", vm->pmu_overflow_limit);
	printf("\n");
	print_pmu_limits((uint32_t)(vm - tree->vms));
	if (!vm->pmu_events_given)
		return;
	printf("  events   ");
	for (uint32_t i = 0; i < vm->n_pmu_events; i++)
		printf(" 0x%" PRIx32, vm->pmu_events[i]);
	printf("%s\n", vm->n_pmu_events ? "" : vm->n_pmu_raw_events ? " raw ones alone" : " none");
	for (uint32_t i = 0; i < vm->n_pmu_raw_events; i++)
		printf("  raw       0x%" PRIx64 ", where 0x%" PRIx64 " are 1\n",
		       vm->pmu_raw_events[i].selector, vm->pmu_raw_events[i].mask);
}

static void print_selectors(const struct selectors *s)
{
	printf("core        %s: selectors of ", s->core);
	if (s->numbers)
		printf("%" PRIu32 " event%s", s->n_fields, s->n_fields == 1 ? "" : "s");
	else
		printf("a bit for each event");
	printf("; %" PRIu32 " general and cache events\n", s->n_standard);
	for (uint32_t i = 0; i < s->n_runs; i++)
		printf("  events    0x%" PRIx32 " to 0x%" PRIx32 " of 0x%" PRIx64 ": counters %s\n",
		       s->runs[i].first, s->runs[i].last, s->runs[i].base,
		       set_list(s->runs[i].hctrs, false));
}

static const char *restart_name(const struct vm_config *vm)
{
	static const char *const names[] = {
	    [VM_RESTART_NEVER] = "never",
	    [VM_RESTART_ON_FAILURE] = "on-failure",
	    [VM_RESTART_ALWAYS] = "always",
	};

	return names[vm->restart];
}

static const char *bad_access_name(const struct vm_config *vm)
{
	return vm->bad_access_stops ? "stop" : "fault";
}

static void print_shared(const struct vm_tree *tree, const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		const struct vm_shared *shared = &tree->shared[vm->shared[i].number];

		printf("  shared    %s at 0x%" PRIx64 ": %s, to %s\n", shared->name,
		       vm->shared[i].at, human(shared->size),
		       vm->shared[i].writes ? "read and write" : "read");
		if (!vm->shared[i].bell)
			continue;
		printf("  bell      of %s: source %" PRIu32, shared->name, vm->shared[i].bell);
		if (vm->shared[i].identity)
			printf(", identity %" PRIu32, vm->shared[i].identity);
		printf("; registers at 0x%" PRIx64 "\n", GUEST_BELL_BASE + i * GUEST_BELL_STEP);
	}
}

static void print_aia(const struct vm_config *vm, const struct vm_limits *limits)
{
	uint32_t hart = limits->harts.ids[vm->vcpus[0].first_hart];

	printf("  interrupts aia: a guest interrupt file for each vcpu");
	if (limits->host_tree)
		printf(", of at most %" PRIu32
		       " a hart\n            if the hart has fewer than its vcpus need: refused",
		       host_cpu_guest_files(limits->host_tree, hart));
	putchar('\n');
}

static void print_vm(const struct vm_tree *tree, const struct vm_config *vm,
                     const struct vm_limits *limits)
{
	char id[ID_BYTES];

	printf("%s\n  memory    %s\n", vm->name, human(vm->memory));
	for (uint32_t i = 0; i < vm->n_pieces; i++)
		printf("  memory-at 0x%" PRIx64 ": %s\n", vm->pieces[i].base,
		       human(vm->pieces[i].size));
	if (limits->host_tree)
		print_places(vm);
	print_shared(tree, vm);
	for (uint32_t i = 0; i < vm->n_vcpus; i++) {
		bool several = vm->vcpus[i].harts & (vm->vcpus[i].harts - 1);

		printf("  vcpu%" PRIu32 "     hart%s %s", i, several ? "s" : "",
		       hart_list(&limits->harts, vm->vcpus[i].harts, false));
		if (several)
			printf("; begins on %s",
			       id_text(limits->harts.ids[vm->vcpus[i].first_hart], id));
		putchar('\n');
	}
	/* With --harts they are none of the tree's. */
	if (limits->differ)
		print_lacks(limits->host_tree, vm, &limits->harts);
	printf("  kernel    %s at 0x%" PRIx64 ": %s, %s once running\n",
	       vm->kernel_is_image ? "Image" : "raw", vm->ram_base + vm->kernel_offset,
	       human(vm->kernel.size), human(vm->kernel_span));
	if (vm->initrd.data)
		printf("  initrd    at 0x%" PRIx64 ": %s\n", vm->ram_base + vm->initrd_offset,
		       human(vm->initrd.size));
	printf("  dtb       at 0x%" PRIx64 "\n", vm->ram_base + vm->dtb_offset);
	if (vm->bootargs)
		printf("  bootargs  %s\n", vm->bootargs);
	printf("  console   %s\n", vm->console ? "on" : "off");
	if (vm->aia)
		print_aia(vm, limits);
	if (vm->turn_us != VM_TURN_US_DEFAULT)
		printf("  turns     %" PRIu32 " us; share %" PRIu32 "\n", vm->turn_us, vm->share);
	if (vm->no_look)
		printf("  look      off\n");
	if (vm->budget.count)
		printf("  budget    %" PRIu32 " of event 0x%" PRIx32 " a vcpu in %" PRIu32 " us\n",
		       vm->budget.count, vm->budget.event_idx, vm->budget.period_us);
	if (vm->budget.count && limits->no_budget)
		print_budget_limits((uint32_t)(vm - tree->vms));
	if (vm->controls)
		printf("  controls  %s\n", names_of(tree, vm->controls, false));
	if (vm->deferred)
		printf("  boot      defer: waits for its first start\n");
	if (vm->heartbeat_ms)
		printf("  heartbeat %" PRIu32 " ms\n", vm->heartbeat_ms);
	if (vm->crash_exits)
		printf("  crash     its last exits are kept\n");
	printf("  restart   %s; limit %" PRIu32 "; bad access: %s\n", restart_name(vm),
	       vm->restart_limit, bad_access_name(vm));
	if (!vm->pmu)
		printf("  pmu       off\n");
	else
		print_pmu(tree, vm, limits);
	print_devices(vm, limits->host_tree);
}

static void print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_json_pmu(const struct vm_tree *tree, const struct vm_config *vm,
                           const struct vm_limits *limits)
{
	if (has_uncounted(vm, limits) && !pmu_uncounted((uint32_t)(vm - tree->vms)))
		printf("{\"counters\":null");
	else
		printf("{\"counters\":[%s]", json_counters_of(tree, vm));
	printf(",\"reads\":\"%s\",\"snapshot\":%s,\"freeze\":\"%s\","
	       "\"idle_cycles\":%s,\"overflow\":%s,\"overflow_limit\":%u,\"at_boot\":",
	       vm->pmu_trap_reads ? "trap" : "direct", vm->pmu_snapshot ? "true" : "false",
	       vm->pmu_freeze_vcpu ? "vcpu" : "guest", vm->pmu_idle_cycles ? "true" : "false",
	       vm->pmu_overflow ? "true" : "false", vm->pmu_overflow_limit);
	print_json_pmu_limits((uint32_t)(vm - tree->vms));
	printf(",\"events\":");
	if (!vm->pmu_events_given) {
		printf("null,\"raw_events\":[]}");
		return;
	}
	for (uint32_t i = 0; i < vm->n_pmu_events; i++)
		printf("%c%" PRIu32, i ? ',' : '[', vm->pmu_events[i]);
	printf("%s],\"raw_events\":[", vm->n_pmu_events ? "" : "[");
	for (uint32_t i = 0; i < vm->n_pmu_raw_events; i++)
		printf("%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", vm->pmu_raw_events[i].selector,
		       vm->pmu_raw_events[i].mask);
	printf("]}");
}

static void print_json_shared(const struct vm_tree *tree, const struct vm_config *vm)
{
	printf("\"shared\":[");
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		const struct vm_shared *shared = &tree->shared[vm->shared[i].number];

		printf("%s{\"name\":\"%s\",\"at\":%" PRIu64 ",\"size\":%" PRIu64
		       ",\"writes\":%s,\"host\":%" PRIu64,
		       i ? "," : "", shared->name, vm->shared[i].at, shared->size,
		       vm->shared[i].writes ? "true" : "false", shared->host_base);
		if (vm->shared[i].bell)
			printf(",\"bell\":{\"source\":%" PRIu32 ",\"identity\":%" PRIu32
			       ",\"at\":%" PRIu64 "}",
			       vm->shared[i].bell, vm->shared[i].identity,
			       GUEST_BELL_BASE + i * GUEST_BELL_STEP);
		printf("}");
	}
	printf("],");
}

static void print_json_vm(const struct vm_tree *tree, const struct vm_config *vm,
                          const struct vm_limits *limits)
{
	printf("{\"name\":\"%s\",\"memory\":%" PRIu64 ",\"ram_base\":%" PRIu64 ",\"host_memory\":[",
	       vm->name, vm->memory, vm->ram_base);
	for (uint32_t i = 0; vm_piece(vm, i).size; i++)
		printf("%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", vm_piece(vm, i).host,
		       vm_piece(vm, i).size);
	printf("],");
	print_json_shared(tree, vm);
	printf("\"vcpus\":[");
	for (uint32_t i = 0; i < vm->n_vcpus; i++)
		printf("%s{\"harts\":[%s],\"first\":%" PRIu32 "}", i ? "," : "",
		       hart_list(&limits->harts, vm->vcpus[i].harts, true),
		       limits->harts.ids[vm->vcpus[i].first_hart]);
	printf("],");
	if (limits->differ)
		print_json_lacks(limits->host_tree, vm, &limits->harts);
	printf("\"kernel\":{\"image\":%s,\"offset\":%" PRIu64 ",\"size\":%" PRIu64
	       ",\"span\":%" PRIu64 "},\"initrd\":",
	       vm->kernel_is_image ? "true" : "false", vm->kernel_offset, vm->kernel.size,
	       vm->kernel_span);
	if (vm->initrd.data)
		printf("{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 "}", vm->initrd_offset,
		       vm->initrd.size);
	else
		printf("null");
	printf(",\"dtb_offset\":%" PRIu64 ",\"bootargs\":", vm->dtb_offset);
	if (vm->bootargs)
		print_json_string(vm->bootargs);
	else
		printf("null");
	if (vm->budget.count)
		printf(",\"budget\":{\"event\":%" PRIu32 ",\"count\":%" PRIu32
		       ",\"period_us\":%" PRIu32 "}",
		       vm->budget.event_idx, vm->budget.count, vm->budget.period_us);
	else
		printf(",\"budget\":null");
	printf(",\"console\":%s,\"interrupts\":\"%s\",\"restart\":\"%s\",\"restart_limit\":%" PRIu32
	       ",\"boot\":\"%s\",\"heartbeat_ms\":%" PRIu32
	       ",\"crash_exits\":%s,\"bad_access\":\"%s\",\"look\":%s,\"share\":%" PRIu32
	       ",\"turn_us\":%" PRIu32 ",\"controls\":[%s],\"pmu\":",
	       vm->console ? "true" : "false", vm->aia ? "aia" : "plic", restart_name(vm),
	       vm->restart_limit, vm->deferred ? "defer" : "now", vm->heartbeat_ms,
	       vm->crash_exits ? "true" : "false", bad_access_name(vm),
	       vm->no_look ? "false" : "true", vm->share, vm->turn_us,
	       names_of(tree, vm->controls, true));
	if (vm->pmu)
		print_json_pmu(tree, vm, limits);
	else
		printf("null");
	printf(",\"devices\":[");
	print_json_devices(vm, limits->host_tree);
	printf("]}");
}

static void print_json_host(const void *host)
{
	if (!host)
		return;
	printf("\"harts\":");
	print_json_harts(host);
	printf(",\"console_input\":%s,", host_input_lacks(host) ? "false" : "true");
}

static void print_host(const void *host)
{
	if (!host)
		return;
	print_harts(host);
	if (host_input_lacks(host))
		printf("console input by %s\n", host_input_lacks(host));
}

/* Where the boot loader puts the VM tree. */
static struct vm_range tree_at;

static void print_accepted(const struct vm_tree *tree, const struct options *o,
                           const struct vm_limits *limits)
{
	uint64_t available = vm_guest_sum(&limits->guests);
	uint64_t sum = 0;

	if (o->json) {
		printf("{");
		print_json_host(limits->host_tree);
		if (tree->has_selectors)
			printf("\"core\":\"%s\",", tree->selectors.core);
		printf("\"vms\":[");
	} else {
		print_host(limits->host_tree);
		if (tree->has_selectors)
			print_selectors(&tree->selectors);
	}
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		sum += tree->vms[i].memory;
		if (o->json) {
			printf("%s", i ? "," : "");
			print_json_vm(tree, &tree->vms[i], limits);
		} else {
			print_vm(tree, &tree->vms[i], limits);
		}
	}
	for (uint32_t i = 0; i < tree->n_shared; i++)
		sum += vm_shared_room(&tree->shared[i]);
	if (o->json) {
		printf("],");
		print_json_schedules(tree);
		if (o->host)
			print_json_banks(tree, limits);
		print_json_tree_place(tree, limits, &tree_at);
		printf("\"guest_memory\":%" PRIu64 "}\n", available);
		return;
	}
	print_schedules(tree);
	if (o->host) {
		print_shared_places(tree);
		print_banks(tree, limits);
	}
	print_tree_place(tree, limits, &tree_at);
	printf("%" PRIu32 " VM%s, %s of the %s there are for VMs\n", tree->n_vms,
	       tree->n_vms == 1 ? "" : "s", human(sum), human(available));
}

static void print_refused(const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static void print_json_refused(const char *line)
{
	static bool begun;

	printf("%s", begun ? "," : "");
	begun = true;
	print_json_string(line);
	print_refused(line);
}

/* The parts of the first one, and all as lines. The blob is changed. */
static void print_all_refused(void *blob, size_t size, const struct vm_limits *limits,
                              struct vm_tree *tree, const struct vm_refusal *why, bool json)
{
	/* Of a refused tree no VM has anything. */
	static const struct vm_tree none;

	if (!json) {
		print_host(limits->host_tree);
		if (limits->host_tree)
			print_banks(&none, limits);
		vm_config_refusals(blob, size, limits, tree, print_refused);
		return;
	}
	printf("{");
	print_json_host(limits->host_tree);
	if (limits->host_tree)
		print_json_banks(&none, limits);
	printf("\"refusal\":{\"node\":");
	print_json_string(why->node);
	printf(",\"property\":");
	print_json_string(why->property);
	printf(",\"reason\":");
	print_json_string(why->reason);
	printf("},\"refusals\":[");
	vm_config_refusals(blob, size, limits, tree, print_json_refused);
	printf("]}\n");
}

/* The refusal of boot that comes before it reads the VM tree. Nothing in the tree can mend it. */
static int print_misplaced(const char *misplaced, bool json)
{
	char reason[128];

	snprintf(reason, sizeof(reason), "0x%" PRIx64 " %s", tree_at.from, misplaced);
	if (json)
		printf("{\"refusal\":{\"node\":\"/chosen\",\"property\":\"linux,initrd-start\","
		       "\"reason\":\"%s\"},\"refusals\":[\"/chosen: linux,initrd-start: %s\"]}\n",
		       reason, reason);
	fprintf(stderr, "/chosen: linux,initrd-start: %s\n", reason);
	return 1;
}

/* Harts 0 to n - 1. */
static struct vm_harts first_harts(uint32_t n)
{
	struct vm_harts harts = {.n = n};

	for (uint32_t i = 0; i < n; i++)
		harts.ids[i] = i;
	return harts;
}

/* The host's tree and harts, for the function below. */
static const void *compared;
static struct vm_harts compared_harts;

/* Of what boot compares, that which the tree shows. */
static const char *differ(uint32_t hart, uint32_t other)
{
	return harts_alike(compared, compared_harts.ids[hart], compared_harts.ids[other])
	           ? NULL
	           : "harts # and # have different extensions";
}

static const char *compared_file;

/* Boot says so, too, and goes on. */
static void tell_broken(const char *name)
{
	fprintf(stderr, "vm-check: %s: %s: " HOST_MEMORY_BROKEN "\n", compared_file, name);
}

static const char *unusable(uint64_t id)
{
	return hart_unused(compared, id);
}

static uint32_t guest_files(uint32_t hart)
{
	return host_cpu_guest_files(compared, compared_harts.ids[hart]);
}

/* What the machine has that the tree is checked against. */
static struct vm_limits limits_of(const struct options *o, size_t tree_size)
{
	struct vm_limits limits = {.hctrs = QEMU_COUNTERS};

	limits.ram =
	    one_bank(ram_begin(o), o->ram.size != RAM_NOT_GIVEN ? o->ram.size : 1ULL << 30);
	if (o->host) {
		size_t size;
		void *host = read_file(o->host, &size);
		const char *wrong = host_is_wrong(host, size);

		compared_file = o->host;
		if (!wrong)
			host_memory_broken(host, tell_broken);
		if (!wrong)
			wrong = host_lacks(host);
		if (wrong)
			die(o->host, wrong);
		limits.host_tree = host;
		limits.hctrs = host_counters(host);
		compared = host;
		/* Other harts than the tree's cannot be compared. */
		limits.differ = o->harts ? NULL : differ;
		limits.unusable = o->harts ? NULL : unusable;
		limits.no_budget = o->harts ? NULL : budget_refusal;
		limits.guest_files = guest_files;
		limits.harts = host_harts(host);
		if (!limits.harts.n && !o->harts) {
			if (!o->json)
				print_harts(host);
			fflush(stdout);
			die(o->host, "has no hart that can run guests");
		}
		wrong = host_memory(host, &o->ram, tree_size, &limits.ram);
		if (wrong)
			die(o->host, wrong);
	}
	if (o->harts || !o->host)
		limits.harts = first_harts(o->harts ? o->harts : 1);
	if (o->counters != NOT_COUNTED)
		limits.hctrs = o->counters;
	compared_harts = limits.harts;
	tree_at = tree_place(limits.host_tree, &o->ram, tree_size, &limits.ram);
	vm_guest_ranges(&limits.ram, &tree_at, &limits.guests);
	return limits;
}

/* Whether a VM tree can be read at all. What is wrong with it is told later. */
static bool is_sound(const void *blob, size_t size)
{
	return size >= sizeof(struct fdt_header) && !fdt_check_header(blob) &&
	       fdt_totalsize(blob) <= size && !fdt_check_full(blob, size);
}

int main(int argc, char **argv)
{
	static struct vm_tree tree;
	struct options o = {.ram = {RAM_NOT_GIVEN, RAM_NOT_GIVEN, RAM_NOT_GIVEN},
	                    .counters = NOT_COUNTED};
	struct vm_limits limits;
	struct vm_refusal why;
	size_t size;
	void *blob;
	const char *misplaced;
	bool sound, accepted;

	parse_options(argc, argv, &o);
	blob = read_file(o.file, &size);
	limits = limits_of(&o, size);
	misplaced = host_memory_misplaced(limits.host_tree, &limits.ram, &limits.guests, &tree_at);
	if (misplaced)
		return print_misplaced(misplaced, o.json);
	sound = is_sound(blob, size);
	pmu_harts(&limits, sound && fdt_subnode_offset(blob, 0, "pmu") >= 0);
	/* What the host's /pmu lacks, boot may find. */
	if (sound && limits.host_tree && limits.hctrs && o.counters == NOT_COUNTED)
		limits.hctrs |= pmu_asked(blob);
	accepted = vm_config_parse(blob, size, &limits, &tree, &why);
	if (accepted)
		pmu_prepare(&tree);
	if (accepted)
		print_accepted(&tree, &o, &limits);
	else
		print_all_refused(blob, size, &limits, &tree, &why, o.json);
	free((void *)(uintptr_t)limits.host_tree);
	free(blob);
	return accepted ? 0 : 1;
}
