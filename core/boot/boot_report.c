/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/sbi.h"
#include "core/boot/debug.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/host/host_tree.h"
#include "core/lib/event_names.h"
#include "core/lib/text.h"
#include "core/lib/words.h"
#include "core/life/seed.h"
#include "core/log.h"
#include "core/pmu/vm_pmu.h"
#include "core/version.h"
#include <string.h>

#define GUEST_ISA_LINE 90U
#define GUEST_ISA_NAME 16U /* a space, the longest name, and NUL */

static void isa_text(uint64_t isa, char *buf, size_t size)
{
	struct text text = text_begin(buf, size);

	for (size_t e = 0; e < ISA_GUEST_FIRST; e++) {
		if (isa & BIT(e))
			text_add(&text, text.length ? " %s" : "%s", isa_names[e]);
	}
}

/* Logs the extensions that a VM has if all its vcpus are on this hart. Each line fits on a
 * screen. */
static void report_guest_isa(const struct pcpu *pcpu)
{
	uint64_t v = (pcpu->vec_bytes ? 0 : BIT(ISA_V)) | BIT(ISA_SSAIA);
	const char *names[ISA_EXTENSIONS + 8];
	char text[ISA_TEXT_BYTES];
	char line[GUEST_ISA_LINE];
	size_t n = isa_guest(pcpu->isa & ~v, pcpu->hpm.lcofi, text, sizeof(text), names);
	struct text seen = text_begin(line, sizeof(line));

	for (size_t i = 0; i < n; i++) {
		text_add(&seen, " %s", names[i]);
		if (i + 1 < n && seen.length < sizeof(line) - GUEST_ISA_NAME)
			continue;
		log_line("hart %lu: guests see%s", pcpu->hartid, line);
		seen = text_begin(line, sizeof(line));
	}
}

/*
 * Logs the events that the hart can count, and those that failed its self-check. Each line fits on
 * a screen.
 */
#define EVENTS_LINE_BYTES 60U
static void report_events(uint64_t hartid, const struct hpm *hpm)
{
	char line[EVENTS_LINE_BYTES + EVENT_NAME_BYTES + SET_TEXT_BYTES];
	char set[SET_TEXT_BYTES];
	struct text counted = text_begin(line, sizeof(line));

	if (hpm->hctrs && !hpm->n_events)
		log_line("hart %lu: no hardware events: the firmware maps none to its counters",
		         hartid);
	for (uint32_t i = 0; i < hpm->n_events; i++) {
		const struct hpm_event *event = &hpm->events[i];
		char name[EVENT_NAME_BYTES];

		event_name(event->event_idx, name);
		if (event->fault)
			log_line("hart %lu: %s is refused: it has %s", hartid, name, event->fault);
		else
			text_add(&counted, "%s%s on %s", counted.length ? "; " : "", name,
			         set_text(event->hctrs ? event->hctrs
			                               : BIT(hpm_fixed_of(event->event_idx)),
			                  set));
		if (counted.length >= EVENTS_LINE_BYTES ||
		    (counted.length && i + 1 == hpm->n_events)) {
			log_line("hart %lu: %s", hartid, line);
			counted = text_begin(line, sizeof(line));
		}
	}
}

void boot_report_missing(const struct pcpu *pcpu)
{
	uint64_t lost = pcpu->listed->isa & ~pcpu->isa;

	for (size_t e = 0; e < ISA_EXTENSIONS; e++) {
		const char *name = isa_names[e];
		bool block = BIT(e) & ISA_CBO;

		if (lost & BIT(e))
			log_line("hart %lu%s no %c%s, which the host's tree promises%s%s",
			         pcpu->hartid, block ? ":" : " has", block ? *name : *name & ~0x20,
			         &name[1], block ? ": it traps, or its block has another size" : "",
			         e == ISA_ZICBOZ ? "; memory is cleared by stores" : "");
	}
	if (pcpu->no_imsic)
		log_line("hart %lu has no IMSIC, which the host's tree promises: no interrupts of "
		         "devices come to it",
		         pcpu->hartid);
}

/* Logs the result of the hart's self-check if it counts wrong. */
static void report_inexact(const struct pcpu *pcpu)
{
	const struct hpm_inexact *found = &pcpu->hpm.inexact;

	if (found->where)
		log_line("%shart %lu: %s: %s it counts %ld for %lu instructions",
		         platform.inexact ? "WARNING: tally.inexact-counts: " : "", pcpu->hartid,
		         platform.inexact ? "counts are wrong" : "hardware counters are refused",
		         found->where, found->counted, found->known);
}

/* Logs how visible OF is to guests whose reads of scountovf do not trap. */
static void report_flags(const struct pcpu *pcpu)
{
	const struct hpm *hpm = &pcpu->hpm;

	if (!hpm->ssccfg && hpm->hs_lcofi)
		log_line("hart %lu: OF is %s where hcounteren is 0; a start while an LCOFI pends "
		         "%s it; a start far from the wrap %s the next overflow",
		         pcpu->hartid, hpm->flags_hidden ? "hidden" : "shown",
		         hpm->start_sets_flag ? "sets" : "keeps",
		         hpm->far_loses ? "loses" : "keeps");
}

/* Logs fixed counters that no guest can have. */
static void report_fixed(const struct pcpu *pcpu)
{
	uint64_t lost = pcpu->hpm.fixed_only & ~pcpu->hpm.fixed;

	if (lost)
		log_line("hart %lu: %s%s%s: the firmware offers only fixed counters, which have no "
		         "filter here",
		         pcpu->hartid, lost & BIT(HCTR_CYCLE) ? "cycles" : "",
		         lost == HCTRS_FIXED ? " and " : "",
		         lost & HCTRS_INSTRET ? "instructions" : "");
	if (pcpu->hpm.instret_differs)
		log_line("hart %lu: guests do not get instret: it counts their instructions "
		         "otherwise than the other counters do",
		         pcpu->hartid);
}

/* Logs all about a hart except inexact counts. */
static void report_hart(const struct pcpu *pcpu)
{
	const struct hpm *hpm = &pcpu->hpm;
	char text[SET_TEXT_BYTES];
	char lacks[128];

	isa_text(pcpu->isa, text, sizeof(text));
	log_line("hart %lu: %s", pcpu->hartid, text);
	boot_report_missing(pcpu);
	hart_lacks(pcpu, lacks, sizeof(lacks));
	log_line("hart %lu: %s of %u bits, back end %s, overflow %s%s%s", pcpu->hartid,
	         counters_text(hpm->hctrs, text), hpm->width, hpm->delegated ? "ssccfg" : "sbi",
	         !hpm->lcofi         ? "not available to guests"
	         : hpm->ssccfg       ? "to guests"
	         : hpm->flags_hidden ? "to guests that read its OF bits"
	                             : "to a vcpu alone on it",
	         lacks[0] ? ": " : "", lacks);
	if (hpm->unreadable & BIT(HCTR_CYCLE))
		log_line("hart %lu: the firmware keeps cycle from HS (mcounteren)", pcpu->hartid);
	if (hpm->unreadable & ~HCTRS_FIXED)
		log_line("hart %lu: the firmware keeps %s from HS (mcounteren)", pcpu->hartid,
		         counters_text(hpm->unreadable & ~HCTRS_FIXED, text));
	if (hpm->undelegated)
		log_line("hart %lu: no back end ssccfg: it has %s", pcpu->hartid, hpm->undelegated);
	else if (platform.backend == HPM_SSCCFG && !hpm->ssccfg)
		log_line(
		    "hart %lu: back end ssccfg was asked for, but its counters are not delegated",
		    pcpu->hartid);
	if (pcpu->guest_files)
		log_line("hart %lu: %u guest interrupt file%s", pcpu->hartid, pcpu->guest_files,
		         pcpu->guest_files == 1 ? "" : "s");
	else if (platform.imsic.ids)
		log_line("hart %lu: no guest interrupt files: %s", pcpu->hartid,
		         pcpu->no_guest_files_reason);
	report_flags(pcpu);
	report_events(pcpu->hartid, hpm);
	report_fixed(pcpu);
	hart_table_report(pcpu);
	report_guest_isa(pcpu);
}

static uint64_t kind;

/* Adds a line without its "hart N" to the hash `kind`. */
static void note_kind(const char *line)
{
	const uint64_t fnv_prime = 0x100000001b3;

	for (line += strlen("hart "); *line >= '0' && *line <= '9';)
		line++;
	do
		kind = (kind ^ (uint8_t)*line) * fnv_prime;
	while (*line++);
}

/* Returns the hash of a hart's lines: harts of one kind have the same. */
static uint64_t kind_of(const struct pcpu *pcpu)
{
	kind = 0;
	log_divert(note_kind);
	report_hart(pcpu);
	log_divert(NULL);
	return kind;
}

/* Logs the later harts of the same kind as this one. */
#define ALIKE_LINE_BYTES 60U
static void report_alike(const uint64_t kinds[MAX_HARTS], uint32_t first)
{
	char line[ALIKE_LINE_BYTES + 32];
	struct text text = text_begin(line, sizeof(line));

	for (uint32_t i = first + 1, last; i < n_pcpus; i = last + 1) {
		uint64_t from = pcpu_at(i)->hartid;

		last = i;
		if (kinds[i] != kinds[first])
			continue;
		while (last + 1 < n_pcpus && kinds[last + 1] == kinds[first] &&
		       pcpu_at(last + 1)->hartid == from + (last + 1 - i))
			last++;
		text_add(&text, text.length ? ", %lu" : "%lu", from);
		if (last > i)
			text_add(&text, " to %lu", pcpu_at(last)->hartid);
		if (text.length < ALIKE_LINE_BYTES)
			continue;
		log_line("harts %s: as hart %lu", line, pcpu_at(first)->hartid);
		text = text_begin(line, sizeof(line));
	}
	if (text.length)
		log_line("harts %s: as hart %lu", line, pcpu_at(first)->hartid);
}

/* Logs the lines of each kind of hart once. */
static void report_harts(void)
{
	uint64_t kinds[MAX_HARTS] = {0};

	for (uint32_t i = 0; i < n_pcpus; i++)
		kinds[i] = n_pcpus > 1 ? kind_of(pcpu_at(i)) : 1;
	for (uint32_t i = 0; i < n_pcpus; i++) {
		uint32_t first = 0;

		while (first < i && kinds[first] != kinds[i])
			first++;
		if (first == i) {
			report_hart(pcpu_at(i));
			report_alike(kinds, i);
		}
	}
	for (uint32_t i = 0; i < n_pcpus; i++)
		report_inexact(pcpu_at(i));
}

static const char *console_input(void)
{
	static const char *const by[] = {
	    [IRQCHIP_NONE] = HOST_NO_CHIP,
	    [IRQCHIP_PLIC] = "PLIC",
	    [IRQCHIP_APLIC] = "APLIC",
	    [IRQCHIP_IMSIC] = "APLIC and IMSIC",
	};

	if (!platform.uart_base)
		return HOST_NO_UART;
	return by[platform.irqchip.kind];
}

void boot_report_machine(void)
{
	uint64_t spec = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0).value;
	uint64_t impl = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_IMP_ID, 0, 0, 0, 0, 0).value;
	uint64_t version = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_IMP_VERSION, 0, 0, 0, 0, 0).value;
	char text[192];

	log_line("version %s on %s, SBI %lu.%lu; %lu MiB of RAM; console input by %s",
	         TALLY_VERSION, firmware_text(impl, version, text), spec >> 24, spec & 0xffffff,
	         vm_ranges_sum(platform.ram.banks, platform.ram.n) >> 20, console_input());
	if (!seed_is_there())
		log_line("guests get no seed for random numbers: the host tree has no "
		         "/chosen/rng-seed of %u bytes",
		         SEED_BYTES);
	ram_report_unused();
	if (platform.harts_unused)
		log_line("%u harts are not used: Tally runs on %u at most", platform.harts_unused,
		         MAX_HARTS);
	report_harts();
	quirks_text(text, sizeof(text));
	log_line("quirks: %s", text);
	debug_report();
}
