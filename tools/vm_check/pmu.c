/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules are the hypervisor's own, core/pmu/vm_overflow.c. It is given harts that have what the
 * host's tree shows, once with good results of the trials at boot, and once with each bad one.
 */
#include "tools/vm_check/pmu.h"

#include <libfdt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/quirks.h"
#include "core/lib/text.h"
#include "core/log.h"
#include "core/pmu/budget_hart.h"
#include "core/pmu/vm_pmu.h"
#include "tools/vm_check/host.h"
#include "tools/vm_check/text.h"

#define MOST_LINES 16U
/* The longest names all events that a VM tree may list. */
#define LINE_BYTES 1024U

struct lines {
	uint32_t n;
	char line[MOST_LINES][LINE_BYTES];
};

/* What the host's /pmu says of counters. Firmware takes its maps out of the tree that it passes on,
 * so they may be missing. */
struct pmu_maps {
	bool there;
	uint64_t any;          /* counters of any event */
	bool raw;              /* there are counters of raw events */
	uint64_t cycles;       /* counters of cycles */
	uint64_t instructions; /* counters of instructions */
	const fdt32_t *rows;   /* first and last event_idx, and counters */
	int n_rows;
};

/* A hypervisor's variables, for the rules. */
static struct vm all_vms[VM_MAX_VMS];
static struct vcpu all_vcpus[VM_MAX_ALL_VCPUS];
struct vm *vms = all_vms;
uint32_t n_vms;
struct quirks quirks;
union hart_stack hart_stacks[MAX_HARTS];

static bool has_host;
static bool has_table; /* the VM tree has a node /pmu */
static struct pmu_maps maps;
/* Counters that each VM's pmu-counters names, and whether it has the property. */
static uint64_t asked[VM_MAX_VMS];
static bool asks[VM_MAX_VMS];
static const struct selectors *vm_table; /* the VM tree's, or NULL */
static struct lines *collected;
static const char *collected_of; /* the VM whose name is before each line */

static void add_line(const char *format, va_list args)
{
	char line[LINE_BYTES], name[VM_NAME_MAX + 8];
	struct text text = text_begin(line, sizeof(line));
	size_t skip = (size_t)snprintf(name, sizeof(name), "vm %s: ", collected_of);

	text_vadd(&text, format, args);
	if (strncmp(line, name, skip) != 0)
		skip = 0;
	if (collected->n < MOST_LINES)
		strcpy(collected->line[collected->n++], line + skip);
}

/* The rules' words, which boot logs. */
void log_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(format, args);
	va_end(args);
}

static uint64_t cell(const fdt32_t *cells, int i)
{
	return fdt32_ld(&cells[i]);
}

static void read_maps(const void *host)
{
	int node = fdt_node_offset_by_compatible(host, -1, "riscv,pmu");
	int size = 0;
	const fdt32_t *map;

	map = node < 0 ? NULL : fdt_getprop(host, node, "riscv,event-to-mhpmcounters", &size);
	maps.there = map != NULL;
	maps.rows = map;
	maps.n_rows = map ? size / 12 : 0;
	for (int i = 0; map && i + 3 <= size / 4; i += 3) {
		maps.any |= cell(map, i + 2);
		if (cell(map, i) <= SBI_PMU_HW_CPU_CYCLES &&
		    cell(map, i + 1) >= SBI_PMU_HW_CPU_CYCLES)
			maps.cycles |= cell(map, i + 2);
		if (cell(map, i) <= SBI_PMU_HW_INSTRUCTIONS &&
		    cell(map, i + 1) >= SBI_PMU_HW_INSTRUCTIONS)
			maps.instructions |= cell(map, i + 2);
	}
	map = node < 0 ? NULL : fdt_getprop(host, node, "riscv,raw-event-to-mhpmcounters", &size);
	for (int i = 0; map && i + 5 <= size / 4; i += 5) {
		maps.raw |= cell(map, i + 4) != 0;
		maps.any |= cell(map, i + 4);
	}
}

/* Counters of an event by the host's /pmu. */
static uint64_t mapped(uint32_t event_idx)
{
	uint64_t hctrs = 0;

	for (int i = 0; i < maps.n_rows; i++) {
		const fdt32_t *row = &maps.rows[(ptrdiff_t)3 * i];

		if (cell(row, 0) <= event_idx && event_idx <= cell(row, 1))
			hctrs |= cell(row, 2);
	}
	return hctrs;
}

/* As boot finds the firmware's events, if it has what the map says. The VM tree's table, which
 * takes the place of the map, has been asked by the parser. */
const struct hpm_event *hpm_event_find(const struct hpm *hpm, uint32_t event_idx)
{
	static struct hpm_event event;

	event = (struct hpm_event){.event_idx = event_idx};
	event.hctrs = !maps.there || has_table ? hpm->hctrs : mapped(event_idx);
	return event.hctrs ? &event : NULL;
}

uint64_t host_counters(const void *host)
{
	read_maps(host);
	return maps.any ? (maps.any & VM_ALL_COUNTERS) | HCTRS_FIXED : 0;
}

static void ask(const void *blob, int node, uint32_t vm)
{
	int size = 0;
	const fdt32_t *cells = fdt_getprop(blob, node, "pmu-counters", &size);

	asks[vm] = cells != NULL;
	for (int i = 0; cells && i < size / 4; i++) {
		if (cell(cells, i) < 32)
			asked[vm] |= BIT(cell(cells, i));
	}
}

uint64_t pmu_asked(const void *blob)
{
	int node, above = fdt_subnode_offset(blob, 0, "vms");
	uint64_t all = 0;
	uint32_t n = 0;

	if (above < 0)
		return 0;
	fdt_for_each_subnode(node, blob, above)
	{
		if (n == VM_MAX_VMS)
			break;
		ask(blob, node, n);
		all |= asked[n++];
	}
	return all & VM_ALL_COUNTERS;
}

/* Whether a programmable counter can count cycles or instructions, as far as the maps tell. */
static bool has_programmable(void)
{
	return !maps.there || ((maps.cycles | maps.instructions) & ~HCTRS_FIXED);
}

/* A hart as boot would find it if all that its node promises works. */
static void make_hart(struct pcpu *pcpu, uint64_t hartid, uint64_t isa)
{
	struct hpm *hpm = &pcpu->hpm;
	bool event = has_programmable();

	pcpu->hartid = hartid;
	pcpu->isa = isa;
	hpm->hctrs = isa & BIT(ISA_SSCOFPMF) ? VM_ALL_COUNTERS & ~HCTRS_FIXED : 0;
	hpm->ssccfg = hpm->hctrs && isa & BIT(ISA_SSCCFG);
	hpm->lcofi = hpm->hctrs && isa & BIT(ISA_SSAIA) && event;
	if (hpm->hctrs && !event)
		hpm->no_overflow = "no event to try an overflow with";
}

static void hides_none(bool fails)
{
	for (uint32_t i = 0; i < MAX_HARTS; i++) {
		struct hpm *hpm = &pcpu_at(i)->hpm;

		hpm->flags_hidden = hpm->hctrs && !hpm->ssccfg && !fails;
	}
}

void pmu_harts(const struct vm_limits *limits, bool table)
{
	const void *host = limits->host_tree;
	const struct vm_harts *harts = &limits->harts;

	has_table = table;
	has_host = host != NULL;
	if (!host)
		return;
	read_maps(host);
	for (uint32_t i = 0; i < harts->n; i++)
		make_hart(pcpu_at(i), harts->ids[i], host_isa(host, harts->ids[i]));
	hides_none(false);
}

void pmu_prepare(struct vm_tree *tree)
{
	struct vcpu *vcpu = all_vcpus;

	if (!has_host)
		return;
	n_vms = tree->n_vms;
	vm_table = tree->has_selectors ? &tree->selectors : NULL;
	for (uint32_t i = 0; i < n_vms; i++) {
		/* Those that another VM asks for are no default. */
		if (maps.any && !asks[i])
			tree->vms[i].pmu_counters &= maps.any | HCTRS_FIXED;
		vms[i].config = &tree->vms[i];
		for (uint32_t k = 0; k < tree->vms[i].n_vcpus; k++, vcpu++) {
			vcpu->id = k;
			vcpu->home = pcpu_at(tree->vms[i].vcpus[k].first_hart);
			vms[i].vcpus[k] = vcpu;
		}
	}
}

static void counts_once(bool fails)
{
	quirks.home_counters = fails;
	quirks.no_armed_cache_events = fails;
}

static void as_qemu_10(bool fails)
{
	counts_once(fails);
	hides_none(fails);
}

/* Results of the boot's trials that no tree shows. */
static const struct {
	const char *fails;
	void (*set)(bool fails);
} trials[] = {
    {"the hart shows VS the OF bits of closed counters", hides_none},
    {"the hart counts an event on one counter at a time", counts_once},
    {"it does both, as QEMU 10.0 does", as_qemu_10},
};

/* Returns a home hart of the VM without the extension, or NULL. */
static const struct pcpu *without(const struct vm *vm, enum isa_ext ext)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		if (!(vm->vcpus[i]->home->isa & BIT(ext)))
			return vm->vcpus[i]->home;
	}
	return NULL;
}

/* Of two fixed counters, those that are in the set: "counter 0", "counters 0 and 2". */
static const char *fixed_text(uint64_t hctrs)
{
	return hctrs == HCTRS_FIXED ? "counters 0 and 2"
	                            : (hctrs & HCTRS_INSTRET ? "counter 2" : "counter 0");
}

/* Events that are offered on fixed counters alone. */
static void judge_fixed_events(const struct vm *vm)
{
	bool cycles = !(maps.cycles & ~HCTRS_FIXED);
	bool instructions = !(maps.instructions & ~HCTRS_FIXED);
	const struct pcpu *bare = without(vm, ISA_SMCNTRPMF);

	if (!cycles && !instructions)
		return;
	log_line("%s%s%s: the host's /pmu has only fixed counters for %s, which %s",
	         cycles ? "cycles" : "", cycles && instructions ? " and " : "",
	         instructions ? "instructions" : "", cycles && instructions ? "them" : "it",
	         bare ? "have no filter here: refused" : "cannot overflow");
}

/* Boot counts what there is, and refuses others then. */
static void judge_counters(const struct vm *vm)
{
	uint64_t more = asked[vm - all_vms] & ~(maps.any | HCTRS_FIXED);
	bool one = !(more & (more - 1));

	if (!maps.any || !more)
		return;
	log_line("counter%s %s %s not in the host's /pmu: if the hart lacks %s, boot refuses the "
	         "tree",
	         one ? "" : "s", set_list(more, false), one ? "is" : "are", one ? "it" : "one");
}

/* Counters that an event may have, of those that a VM may have. */
static uint64_t counters_of_event(const struct vm *vm, uint32_t event_idx)
{
	const struct selector_standard *standard =
	    vm_table ? selector_of_standard(vm_table, event_idx) : NULL;
	uint64_t hctrs = mapped(event_idx);

	if (vm_table)
		hctrs = standard ? standard->hctrs : 0;
	else if (!maps.there)
		return VM_ALL_COUNTERS;
	/* Told by judge_fixed_events(). */
	if (event_idx == SBI_PMU_HW_CPU_CYCLES || event_idx == SBI_PMU_HW_INSTRUCTIONS) {
		if (without(vm, ISA_SMCNTRPMF) && !(hctrs & ~HCTRS_FIXED) && maps.there)
			return VM_ALL_COUNTERS;
		hctrs |= event_idx == SBI_PMU_HW_CPU_CYCLES ? HCTRS_CYCLE : HCTRS_INSTRET;
	}
	return hctrs;
}

/* Events that pmu-events lists and no counter of the VM counts: the guest is refused them. */
static void judge_events(const struct vm *vm)
{
	const struct vm_config *config = vm->config;
	const char *source = vm_table ? "the VM tree's /pmu" : "the host's /pmu";
	bool raw = config->n_pmu_raw_events != 0;
	char list[LINE_BYTES];
	struct text text = text_begin(list, sizeof(list));
	uint32_t n = 0;

	for (uint32_t i = 0; i < config->n_pmu_events; i++) {
		uint32_t event_idx = config->pmu_events[i];

		raw |= hw_event_is_raw(event_idx);
		if (event_idx >> 16 > SBI_PMU_TYPE_CACHE ||
		    counters_of_event(vm, event_idx) & config->pmu_counters)
			continue;
		text_add(&text, "%s0x%x", n++ ? ", " : "", event_idx);
	}
	if (n)
		log_line("event%s %s: %s has no counter of this VM for %s: refused to the guest",
		         n == 1 ? "" : "s", list, source, n == 1 ? "it" : "them");
	if (raw && maps.there && !maps.raw)
		log_line(
		    "raw events: the host's /pmu has no counter for them: refused to the guest");
}

/* The VM's lines, with the trials' results as they are set. */
static void judge(struct vm *vm, struct lines *lines)
{
	const struct pcpu *none = without(vm, ISA_SSCOFPMF), *bare = without(vm, ISA_SMCNTRPMF);
	uint64_t wanted = vm->config->pmu_counters;
	uint64_t lost;

	lines->n = 0;
	collected = lines;
	collected_of = vm->config->name;
	vm_overflow_policy(vm);
	vm_overflow_report(vm);
	if (none) {
		log_line("no hardware counters: hart %lu has no sscofpmf", none->hartid);
		return;
	}
	lost = wanted & HCTRS_FIXED & ~vm_pmu_hctrs(BIT(3), vm->pmu_policy.hart_flags);
	if (lost)
		log_line("no %s: the guest reads the hart's own OF bits", fixed_text(lost));
	if (bare && has_programmable() && quirks.home_counters && !vm->pmu_policy.hart_flags)
		log_line("cycles and instructions under one filter at a time: hart %lu has no "
		         "smcntrpmf",
		         bare->hartid);
	if (maps.there)
		judge_fixed_events(vm);
	judge_counters(vm);
	if (wanted)
		judge_events(vm);
}

static bool has_line(const struct lines *lines, const char *line)
{
	for (uint32_t i = 0; i < lines->n; i++) {
		if (strcmp(lines->line[i], line) == 0)
			return true;
	}
	return false;
}

/* Prints one limit. JSON: its characters are all plain, but for quotation marks. */
static void print_limit(const char *cause, const char *line, bool json, bool *begun)
{
	char text[2 * LINE_BYTES];

	snprintf(text, sizeof(text), "%s%s%s%s", cause ? "if " : "", cause ? cause : "",
	         cause ? ": " : "", line);
	if (!json) {
		printf("            %s\n", text);
		return;
	}
	printf("%s\"", *begun ? "," : "");
	*begun = true;
	for (const char *c = text; *c; c++)
		printf(*c == '"' ? "\\%c" : "%c", *c);
	printf("\"");
}

/* Whether the VM has overflow interrupts: as JSON says it. */
static const char *overflow_word(struct vm *vm)
{
	bool good = vm_overflow_offered(vm), always = good;

	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		trials[i].set(true);
		always &= vm_overflow_offered(vm);
		trials[i].set(false);
	}
	return always ? "true" : good ? "null" : "false";
}

static void print_all(struct vm *vm, bool json)
{
	struct lines good, bad;
	bool begun = false;

	judge(vm, &good);
	for (uint32_t i = 0; i < good.n; i++)
		print_limit(NULL, good.line[i], json, &begun);
	for (size_t t = 0; t < sizeof(trials) / sizeof(trials[0]); t++) {
		trials[t].set(true);
		judge(vm, &bad);
		trials[t].set(false);
		for (uint32_t i = 0; i < bad.n; i++) {
			if (has_line(&good, bad.line[i]))
				continue;
			print_limit(trials[t].fails, bad.line[i], json, &begun);
			if (good.n < MOST_LINES)
				strcpy(good.line[good.n++], bad.line[i]);
		}
	}
}

bool pmu_uncounted(uint32_t vm)
{
	return has_host && without(&vms[vm], ISA_SSCOFPMF);
}

void print_budget_limits(uint32_t vm)
{
	const struct vm_config *config = vms[vm].config;
	uint64_t harts = 0;

	if (!has_host)
		return;
	for (uint32_t i = 0; i < config->n_vcpus; i++)
		harts |= config->vcpus[i].harts;
	for (size_t t = 0; t < sizeof(trials) / sizeof(trials[0]); t++) {
		const char *why;

		trials[t].set(true);
		why = budget_refusal(harts, config->budget.event_idx);
		trials[t].set(false);
		if (why)
			printf("            if %s: refused: %s\n", trials[t].fails, why);
	}
}

void print_pmu_limits(uint32_t vm)
{
	if (has_host)
		print_all(&vms[vm], false);
}

void print_json_pmu_limits(uint32_t vm)
{
	if (!has_host) {
		printf("null");
		return;
	}
	printf("{\"overflow\":%s,\"limits\":[", overflow_word(&vms[vm]));
	print_all(&vms[vm], true);
	printf("]}");
}
