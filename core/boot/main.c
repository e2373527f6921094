/* SPDX-License-Identifier: Apache-2.0 */
/* The order of boot. Each step relies on those above it. */
#include <libfdt.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/instret.h"
#include "arch/riscv/hart/isa_trial.h"
#include "arch/riscv/hart/entry.h"
#include "arch/riscv/hart/touch.h"
#include "core/boot/bootargs.h"
#include "core/boot/debug.h"
#include "core/boot/hs_memory.h"
#include "core/boot/page_alloc.h"
#include "core/boot/steps.h"
#include "core/console/ring.h"
#include "core/dispatch/exit.h"
#include "core/hart/hart_kind.h"
#include "core/hart/platform.h"
#include "core/host/fdt_index.h"
#include "core/host/host_claims.h"
#include "core/host/host_memory.h"
#include "core/io/dma.h"
#include "core/io/external.h"
#include "core/log.h"
#include "core/operator/terminal.h"
#include "core/panic.h"
#include "core/pmu/budget_hart.h"
#include "core/sched/sched.h"
#include "core/tree/parse.h"
#include "core/tree/vm_refusals.h"
#include "core/vcpu/ledger.h"
#include <string.h>
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"

extern char _image_start[], _image_end[];

static struct vm_tree *tree;

static void tell_refused(const char *text)
{
	log_line("refused: %s", text);
}

/* Stops the machine, because Tally cannot run the VM tree that the user gave. */
static _Noreturn void stop(void)
{
	machine_off(SBI_SRST_REASON_SYSFAIL);
}

static _Noreturn void refuse(const char *text)
{
	tell_refused(text);
	stop();
}

/* Why the VM tree cannot be used where the boot loader put it, in words that follow its address.
 * NULL: it can, or none was given. */
static const char *misplaced;

static bool is_tree_given(void)
{
	return platform.tree_size && !misplaced;
}

/* The limits of the machine. make_memory() divides RAM, read_vm_tree() sets the rest. */
static struct vm_limits limits;

/*
 * Moves the host's tree to the end of the tables' memory, where nothing else is yet: the firmware
 * or boot loader may have left it where stacks, tables or guests go. keep_host_tree() copies it
 * from there to the first tables.
 */
static const void *set_host_tree_aside(const void *dtb)
{
	uint64_t size = fdt_totalsize(dtb);

	if (size > HOST_TREE_MAX)
		return NULL;
	return memmove((void *)ALIGN_DOWN(limits.guests.kept.to - size, PAGE_SIZE), dtb, size);
}

static void keep_host_tree(const void *aside)
{
	uint64_t room = PAGE_SIZE;

	if (!aside)
		return;
	while (room < fdt_totalsize(aside))
		room *= 2;
	platform.host_tree = memcpy(page_alloc(room), aside, fdt_totalsize(aside));
	fdt_index_moved(aside, platform.host_tree);
}

/* Clears the stacks of the machine's other harts, which follow the image; it has only that of the
 * boot hart. Returns the first address after them, for tables. */
static uint32_t n_stacks = 1;
static uint64_t make_stacks(void)
{
	uint64_t made = (uint64_t)_image_end, end = (uint64_t)&hart_stacks[platform.n_harts];

	n_stacks = platform.n_harts;
	if (end <= made)
		return made;
	memset((void *)made, 0, end - made);
	return end;
}

/* Whether HS can access the VM tree where the boot loader says it is. */
static bool reaches_tree(void)
{
	uint64_t last = platform.tree_base + platform.tree_size - 1;

	return touch(ALIGN_DOWN(platform.tree_base, sizeof(uint64_t))) &&
	       touch(ALIGN_DOWN(last, sizeof(uint64_t)));
}

static _Noreturn void refuse_without_host_tree(void)
{
	refuse("/vms: the host's device tree is larger than 1 MiB");
}

/* Divides Tally's bank, in ascending order: firmware, Tally, stacks, tables | guests.
 * The VM tree stays where it is. HS runs under its map from here on. If there is no VM tree, or it
 * leaves no memory for guests, read_vm_tree() refuses it. */
static void make_memory(uint64_t hartid, const void *dtb)
{
	const struct vm_guests *guests = &limits.guests;
	const struct vm_range tree_at = {platform.tree_base,
	                                 platform.tree_base + platform.tree_size};
	struct host_reserved kept;
	const void *aside;

	ram_try(dtb);
	limits.ram = platform.ram;
	vm_guest_ranges(&platform.ram, &tree_at, &limits.guests);
	if (platform.tree_size)
		misplaced = host_memory_misplaced(dtb, &platform.ram, guests, &tree_at);
	if (is_tree_given() && !reaches_tree())
		misplaced = HOST_MEMORY_UNUSED;
	if (!is_tree_given() || !guests->n)
		return;
	aside = set_host_tree_aside(dtb);
	fdt_index_moved(dtb, aside);
	/* Without a copy of the host's tree, VMs would get the memory that it reserves. */
	if (!aside &&
	    host_reserved_find(dtb, guests->ranges[0].from,
	                       guests->ranges[guests->n - 1].to - guests->ranges[0].from, &kept))
		refuse_without_host_tree();
	page_alloc_init(make_stacks(), guests->kept.to);
	keep_host_tree(aside);
	hs_memory_make(guests);
	hs_memory_use(hartid);
}

/* Without the host's tree the parser has checked only the syntax of devices. */
static void require_host_tree(void)
{
	for (uint32_t i = 0; i < tree->n_vms && !platform.host_tree; i++) {
		if (tree->vms[i].n_devices)
			refuse_without_host_tree();
	}
}

static uint32_t hart_guest_files(uint32_t hart)
{
	return pcpu_at(hart)->guest_files;
}

/* Runs without the map of HS, which makes the VM tree read-only. */
static void tell_all_refused(void *unused)
{
	(void)unused;
	vm_config_refusals((void *)platform.tree_base, platform.tree_size, &limits, tree,
	                   tell_refused);
}

#define CLAIMS_SIZE (sizeof(struct host_claims) + HOST_CLAIMS * sizeof(struct host_claim))

static void read_vm_tree(void)
{
	struct vm_refusal refusal;

	limits.differ = harts_differ;
	limits.unusable = hart_why_unused;
	limits.contradicts = hart_contradiction;
	limits.guest_files = hart_guest_files;
	limits.no_budget = budget_refusal;
	limits.host_tree = platform.host_tree;
	limits.hctrs = this_pcpu()->hpm.hctrs ? this_pcpu()->hpm.hctrs | HCTRS_FIXED : 0;

	if (misplaced) {
		log_line("refused: /chosen: linux,initrd-start: 0x%lx %s", platform.tree_base,
		         misplaced);
		stop();
	}
	if (!is_tree_given())
		refuse("/chosen: linux,initrd-start: no VM tree was given as the initrd");
	if (!limits.guests.n)
		refuse("/vms: memory: the machine has none beside Tally and the VM tree");
	limits.ssccfg = true;
	for (uint32_t i = 0; i < n_pcpus; i++) {
		const struct pcpu *pcpu = pcpu_at(i);

		limits.harts.ids[limits.harts.n++] = (uint32_t)pcpu->hartid;
		limits.ssccfg &= pcpu->hpm.delegated;
		if (pcpu->ad_ignores_gstage)
			limits.ad_ignores_gstage |= BIT(i);
	}
	tree = page_alloc_array(sizeof(*tree));
	limits.claims = page_alloc_uncleared(CLAIMS_SIZE);
	limits.claims->state = HOST_CLAIMS_UNKNOWN;
	limits.claims->room = HOST_CLAIMS;
	if (vm_config_parse((const void *)platform.tree_base, platform.tree_size, &limits, tree,
	                    &refusal)) {
		require_host_tree();
		ram_report_use(tree, &limits);
		page_alloc_trim(limits.claims, CLAIMS_SIZE, 0);
		limits.claims = NULL;
		page_alloc_trim(tree, sizeof(*tree),
		                (uint64_t)&tree->vms[tree->n_vms] - (uint64_t)tree);
		vms = page_alloc_array(tree->n_vms * sizeof(vms[0]));
		return;
	}
	hs_memory_call_unmapped(tell_all_refused, NULL);
	stop();
}

/* Reads the parts of the VM tree that the harts' probes need. Errors of the tree are reported
 * later. */
static void read_table(void)
{
	static struct selectors table;
	bool inexact = false;

	if (is_tree_given() && vm_config_parse_early((const void *)platform.tree_base,
	                                             platform.tree_size, &table, &inexact))
		platform.table = &table;
	platform.inexact |= inexact;
}

/* Runs this hart's vcpus for ever. */
static _Noreturn void run(struct pcpu *pcpu)
{
	sched_check_notified(pcpu);
	struct vcpu *vcpu = sched_next(pcpu);

	pcpu_top(pcpu)->stay_start = csr_read(CSR_INSTRET);
	exit_enter(pcpu, vcpu); /* it continues the long call of a vcpu that has moved here */
}

void secondary_main(uint64_t hartid, uint64_t index)
{
	struct pcpu *pcpu = this_pcpu();

	hs_memory_use(hartid);
	pcpu->unfit_reason = pcpu_init(pcpu, hartid, (uint32_t)index);
	if (pcpu->unfit_reason)
		hart_stop_self(&pcpu->boot_state, PCPU_LEFT);
	debug_trip(pcpu);
	harts_join(pcpu);
	run(pcpu);
}

void main(uint64_t hartid, void *dtb)
{
	const char *kept = isa_refusal();
	uint64_t instret = kept ? 0 : csr_read(CSR_INSTRET);
	uint64_t time = kept ? 0 : csr_read(CSR_TIME);
	bool counts = !kept && instret_counts();

	host_dt_read(dtb, hartid, (struct vm_range){(uint64_t)_image_start, (uint64_t)_image_end});
	log_init((hpa_t){platform.uart_base}, platform.uart_shift, platform.uart_width);
	if (kept)
		platform_lacks(BOOT_HART_UNFIT, hartid, kept);
	terminal_init();
	ledger_open();
	this_pcpu()->listed = platform_hart(hartid);
	boot_report_require(this_pcpu()->listed, dtb);
	bootargs_report();
	make_memory(hartid, dtb);
	read_table();
	const char *why = pcpu_init(this_pcpu(), hartid, 0);

	if (why) {
		boot_report_missing(this_pcpu());
		platform_lacks(BOOT_HART_UNFIT, hartid, why);
	}
	harts_start(hartid, n_stacks);
	debug_trip(this_pcpu());
	if (is_tree_given() && limits.guests.n)
		dma_init(page_alloc);
	boot_report_machine();
	read_vm_tree();
	clock_init(tree);
	terminal_set_vms(tree);
	if (!pci_assign(tree, tell_refused))
		stop();
	vsbi_base_init();
	external_init();
	vms_create(tree);
	dma_listen();
	dma_report();
	terminal_enable_input(page_alloc_array(RING_BYTES(n_vms)));
	log_line("%lu %s from entry to the first guest, but for clearing and loading it",
	         counts ? csr_read(CSR_INSTRET) - instret
	                : (csr_read(CSR_TIME) - time) / (platform.timebase / 1000),
	         counts ? "instructions" : "milliseconds");
	vms_start();
	run(this_pcpu());
}
