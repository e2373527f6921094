/* SPDX-License-Identifier: Apache-2.0 */
/* Creates VMs from the VM tree: memory, images, device tree, vcpus. Boot hart only. */
#include <libfdt.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/quirks.h"
#include "core/boot/debug.h"
#include "core/boot/hs_memory.h"
#include "core/boot/page_alloc.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/dispatch/mmio.h"
#include "core/io/bells.h"
#include "core/lib/event_names.h"
#include "core/lib/text.h"
#include "core/life/guest_dt.h"
#include "core/life/seed.h"
#include "core/life/vm_life.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/sched/run_state.h"
#include "core/sched/vcpu_budget.h"
#include "core/tree/vm_memory.h"
#include "core/vcpu/guest_file.h"
#include "core/watch/account.h"
#include "core/watch/samples.h"
#include "core/watch/stays.h"
#include <string.h>
#include "core/io/functions.h"
#include "core/io/operator_function.h"
#include "core/io/ports.h"
#include "core/io/power_key.h"
#include "core/io/wired.h"
#include "core/lib/words.h"
#include "core/life/vm_load.h"
#include "core/pmu/vm_pmu.h"
#include "core/sched/windows.h"
#include "core/vcpu/ledger.h"
#include "core/vcpu/vcpu_registers.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"
#include "core/watch/trace.h"

static void make_vcpu(struct vm *vm, uint32_t id)
{
	static uint16_t n_all;
	struct pcpu *home = pcpu_at(vm->config->vcpus[id].first_hart);
	struct vcpu *vcpu = page_alloc_array(sizeof(*vcpu));

	_Static_assert(VM_MAX_ALL_VCPUS <= MAX_HART_VCPUS, "all may come to one hart");
	vcpu->vm = vm;
	vcpu->id = (uint16_t)id;
	vcpu_set_home(vcpu, home);
	vcpu->slice = (uint32_t)((uint64_t)platform.timebase * vm->config->turn_us / 1000000);
	vcpu->lcofi.limit = vm->config->pmu_overflow_limit;
	vcpu->lcofi_limited = vcpu->lcofi.limit;
	vcpu->has_deadlines = vcpu->lcofi_limited;
	pcpu_add_vcpus(home, 1);
	/* vm_check_exclusive_harts() has made sure that no other vcpu runs there. */
	if (vm->config->no_look)
		home->slice_extra = platform.timebase * PCPU_NO_LOOK_S;
	if (vm->config->aia)
		guest_file_give(vcpu);
	vcpu->index = n_all++;
	vcpu->bit = BIT(vcpu->index);
	vcpu->last_words = vm->config->crash_exits;
	for (uint32_t i = 0; i < n_pcpus; i++)
		hart_stacks[i].pcpu.vcpus[vcpu->index] = vcpu;
	vm->vcpus[id] = vcpu;
	atomic_init(&vcpu->hsm_state, SBI_HSM_STATE_STOPPED);
	requests_init(&vcpu->requests);
	vcpu_block(vcpu, BLOCK_OFF);
	vcpu_budget_make(vcpu);
}

/*
 * Each life of the VM gets a copy of this tree, because building it takes longer than a stay in HS
 * may take. The rest of its room in the guest's RAM is part of it: U-Boot adds to it in place.
 */
static void keep_device_tree(struct vm *vm, const void *dtb)
{
	vm->dtb.size = fdt_totalsize(dtb);
	void *copy = memcpy(page_alloc_array(vm->dtb.size), dtb, vm->dtb.size);

	fdt_set_totalsize(copy, VM_DTB_SIZE);
	vm->dtb.data = copy;
	vm->seed_at = guest_dt_seed_at(dtb);
}

/* A VM has V if the harts of all its vcpus have vector registers of the same length. */
static void make_vectors(struct vm *vm)
{
	uint64_t bytes = vm->vcpus[0]->home->vec_bytes;
	uint64_t image = sizeof(struct vec_image) - 32UL * VEC_MAX_BYTES + 32 * bytes;

	for (uint32_t i = 1; i < vm->config->n_vcpus; i++) {
		if (vm->vcpus[i]->home->vec_bytes != bytes)
			return;
	}
	for (uint32_t i = 0; i < vm->config->n_vcpus && bytes; i++)
		vm->vcpus[i]->vec = page_alloc_array(image);
}

/* Returns the extensions that the harts of all vcpus of a VM have with the same parameters. */
static uint64_t common_isa(const struct vm *vm)
{
	const struct cbo_blocks *blocks = &vm->vcpus[0]->home->blocks;
	uint64_t common = ~0UL;

	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		const struct pcpu *home = vm->vcpus[i]->home;

		common &= home->isa;
		if (memcmp(&home->blocks, blocks, sizeof(*blocks)) != 0)
			common &= ~ISA_CBO;
	}
	if (!vm->vcpus[0]->vec)
		common &= ~BIT(ISA_V);
	return common;
}

static void make_device_tree(struct vm *vm, const struct vm_tree *tree)
{
	/* Builds the tree at its final place in the guest's memory, which is large enough. Old
	 * bytes between its parts are cleared. */
	void *dtb = (void *)(vm->memory.a + vm->config->dtb_offset);
	static char isa[ISA_TEXT_BYTES];
	static const char *extensions[ISA_EXTENSIONS + 8];
	static uint32_t n_extensions;
	static uint64_t written; /* what these three are of: most VMs have the same */
	uint64_t common = common_isa(vm), kind;
	const struct cbo_blocks *blocks = &vm->vcpus[0]->home->blocks;
	struct guest_machine machine = {
	    .timebase_frequency = platform.timebase,
	    .isa = isa,
	    .isa_extensions = extensions,
	    .mmu_type = platform.mmu_type,
	    .cbom_block = common & BIT(ISA_ZICBOM) ? blocks->zicbom : 0,
	    .cboz_block = common & BIT(ISA_ZICBOZ) ? blocks->zicboz : 0,
	    .cbop_block = common & BIT(ISA_ZICBOP) ? blocks->zicbop : 0,
	    .seed = seed_is_there(),
	    .host_tree = platform.host_tree,
	    .imsic_ids = platform.imsic.ids,
	    .shared = tree->shared,
	};

	if (!vm->config->aia)
		common &= ~BIT(ISA_SSAIA);
	/* With Svpbmt, a kernel maps memory that is not its RAM uncached, but another VM uses the
	 * same memory through the caches. */
	if (vm->config->n_shared || operator_is(vm))
		common &= ~BIT(ISA_SVPBMT);
	if (vm->no_adue)
		common &= ~BIT(ISA_SVADU);
	vm_clear_range((uint64_t)dtb, VM_DTB_SIZE);
	_Static_assert(ISA_EXTENSIONS < 64, "one bit more");
	kind = common << 1 | vm->pmu_policy.overflow;
	if (!n_extensions || kind != written)
		n_extensions = (uint32_t)isa_guest(common, vm->pmu_policy.overflow, isa,
		                                   sizeof(isa), extensions);
	written = kind;
	machine.n_ext = n_extensions;
	int error = guest_dt_build(dtb, VM_DTB_SIZE, vm->config, &machine);

	if (error)
		panic("vm %s: device tree: libfdt error %d", vm->config->name, error);
	keep_device_tree(vm, dtb);
}

/* Writes the home harts of the VM's vcpus, like "0" or "0 1 1". */
static const char *harts_text(const struct vm *vm, char *buf, size_t size)
{
	struct text text = text_begin(buf, size);

	for (uint32_t i = 0; i < vm->config->n_vcpus; i++)
		text_add(&text, i ? " %lu" : "%lu", vm->vcpus[i]->home->hartid);
	return buf;
}

/* Writes the addresses of the VM's memory, like " at 0x90000000 and 0xa0000000". On a machine with
 * one bank only if the VM has chosen them. */
static const char *places_text(const struct vm_config *config, char *buf, size_t size)
{
	struct text text = text_begin(buf, size);

	for (uint32_t i = 0; i < config->n_pieces; i++)
		text_add(&text, "%s0x%lx", i ? " and " : " at ", config->pieces[i].base);
	if (!config->n_pieces && platform.ram.n > 1)
		text_add(&text, " (lies at 0x%lx)", config->host_base);
	return buf;
}

static void report_budget(const struct vm *vm)
{
	const struct vm_budget *budget = &vm->config->budget;
	char name[EVENT_NAME_BYTES];

	if (!budget->count)
		return;
	event_name(budget->event_idx, name);
	log_line("vm %s: at most %u %s a vcpu in %u us, counted on counter %u", vm->config->name,
	         budget->count, name, budget->period_us, vm->pmu_policy.budget_hctr);
}

static void report_vm(const struct vm *vm)
{
	const struct vm_config *config = vm->config;
	char harts[11 * VM_MAX_VCPUS];
	char places[24 * VM_MAX_PIECES];
	char counters[SET_TEXT_BYTES];

	log_line("vm %s: %lu MiB%s, %u vcpu%s on hart%s %s, %s%s%s", config->name,
	         config->memory >> 20, places_text(config, places, sizeof(places)), config->n_vcpus,
	         config->n_vcpus == 1 ? "" : "s", config->n_vcpus == 1 ? "" : "s",
	         harts_text(vm, harts, sizeof(harts)),
	         counters_text(vm->pmu_policy.hctrs, counters), config->pmu ? "" : ", no PMU",
	         config->aia ? ", AIA" : "");
	if (vm->pmu_policy.overflow && config->pmu_overflow_limit)
		log_line(
		    "vm %s: at most %u overflow interrupts a vcpu in %u ms, the rest held back",
		    config->name, config->pmu_overflow_limit, LCOFI_WINDOW_MS);
	if (config->turn_us != VM_TURN_US_DEFAULT)
		log_line("vm %s: turns of %u us on harts that it shares", config->name,
		         config->turn_us);
	if (config->no_look)
		log_line("vm %s: not looked at while it computes: a trap loop goes unnoticed",
		         config->name);
	if (config->heartbeat_ms)
		log_line("vm %s: has failed if it does not ring for %u ms", config->name,
		         config->heartbeat_ms);
	if (config->deferred)
		log_line("vm %s: waits for its first start: boot is \"defer\"", config->name);
	report_budget(vm);
	vm_overflow_report(vm);
}

static void map_devices(struct vm *vm)
{
	struct vm_range pages[VM_MAX_DEVICE_PAGES];
	uint32_t n = vm_device_pages(vm->config, pages);

	for (uint32_t i = 0; i < n; i++)
		gstage_map_data(&vm->gstage, (gpa_t){pages[i].from}, (hpa_t){pages[i].from},
		                pages[i].to - pages[i].from, true, page_alloc);
}

/* "vm alpha: clock is /soc/rtc@101000: registers 101000 to 101fff, interrupt 11 as 1" */
static void report_device(const struct vm *vm, const struct vm_device *device)
{
	char line[200];
	struct text text = text_begin(line, sizeof(line));

	for (uint32_t i = 0; i < device->n_regions; i++)
		text_add(&text, "%s %lx to %lx", i ? "," : "registers", device->regions[i].base,
		         device->regions[i].base + device->regions[i].size - 1);
	for (uint32_t i = 0; i < device->n_irqs; i++)
		text_add(&text, "%s %u as %u", i ? "," : "; interrupt", device->irqs[i].source,
		         device->irqs[i].guest);
	if (device->pci.by_id)
		log_line("vm %s: %s, %s, is %02x:%02x.%x", vm->config->name, device->name,
		         device->host, device->pci.bdf >> 8, device->pci.bdf >> 3 & 31,
		         device->pci.bdf & 7);
	log_line("vm %s: %s is %s: %s", vm->config->name, device->name, device->host, line);
	if (device->pci.forced)
		log_line("vm %s: WARNING: %s may stop the machine", vm->config->name, device->name);
	if (device->dma == VM_DMA_TRUSTED)
		log_line("vm %s: WARNING: %s may write all memory: the counts of every VM rest on "
		         "the drivers of VM %s",
		         vm->config->name, device->name, vm->config->name);
}

/* "vm alpha: has shared ring at 0x100000000, to read, bell 3 at 0x30100000" */
static void report_shared(const struct vm *vm, const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < vm->config->n_shared; i++) {
		const struct vm_shared *shared = &tree->shared[vm->config->shared[i].number];
		char bell[48];
		struct text text = text_begin(bell, sizeof(bell));

		if (vm->config->shared[i].bell)
			text_add(&text, ", bell %u at 0x%lx", vm->config->shared[i].bell,
			         GUEST_BELL_BASE + i * GUEST_BELL_STEP);
		log_line("vm %s: has shared %s at 0x%lx, to %s%s", vm->config->name, shared->name,
		         vm->config->shared[i].at,
		         vm->config->shared[i].writes ? "read and write" : "read", bell);
	}
}

/* "vm alpha: has a port of network lan, 02:11:22:33:44:55, the uplink, offload, bytes-per-ms 90000"
 */
static __attribute__((noinline)) void report_ports(const struct vm *vm, const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < vm->config->n_ports; i++) {
		const struct vm_port *p = &vm->config->ports[i];

		char limits[96];
		struct text text = text_begin(limits, sizeof(limits));

		if (vm->config->virt)
			text_add(&text, ", virtio-mmio at 0x%lx", vm_port_at(vm->config, i));
		if (p->frames_per_ms)
			text_add(&text, ", frames-per-ms %u", p->frames_per_ms);
		if (p->bytes_per_ms)
			text_add(&text, ", bytes-per-ms %u", p->bytes_per_ms);
		log_line("vm %s: has a port of network %s, %02x:%02x:%02x:%02x:%02x:%02x%s%s%s",
		         vm->config->name, tree->networks[p->network].name, p->mac[0], p->mac[1],
		         p->mac[2], p->mac[3], p->mac[4], p->mac[5],
		         p->uplink ? ", the uplink" : "",
		         tree->networks[p->network].offload ? ", offload" : "", limits);
	}
}

/* Maps each vcpu's own interrupt file, and no other file. */
static void map_files(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus && vm->config->aia; i++) {
		gstage_map_data(&vm->gstage, (gpa_t){GUEST_IMSIC_BASE + i * GUEST_IMSIC_STEP},
		                vm->vcpus[i]->guest_file_at, PAGE_SIZE, true, page_alloc);
		hs_memory_add_pages(vm->vcpus[i]->guest_file_at.a, PAGE_SIZE, "the IMSICs");
	}
}

static void make_wires(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_devices; i++) {
		const struct vm_device *device = &vm->config->devices[i];

		for (uint32_t n = 0; n < device->n_irqs; n++) {
			enum vm_irq_mode mode = device->irqs[n].mode;

			_Static_assert((int)VM_IRQ_RISING == (int)IRQCHIP_RISING &&
			                   (int)VM_IRQ_LOW == (int)IRQCHIP_LOW,
			               "both are sourcecfg.SM");
			if (!wired_add(vm, device->irqs[n].source,
			               mode == VM_IRQ_UNKNOWN ? IRQCHIP_HIGH
			                                      : (enum irqchip_mode)mode,
			               device->irqs[n].guest))
				platform_lacks("vm %s: device %s: the machine has no interrupt %u",
				               vm->config->name, device->name,
				               device->irqs[n].source);
		}
	}
}

/* The memory is not cleared here: the lead hart clears it before the VM starts. */
static void make_memory(struct vm *vm)
{
	vm->memory = (hpa_t){vm->config->host_base};
	gstage_init(&vm->gstage, (uint32_t)vm->vmid, page_alloc);
	for (uint32_t i = 0; vm_piece(vm->config, i).size; i++) {
		struct vm_piece piece = vm_piece(vm->config, i);

		gstage_map(&vm->gstage, (gpa_t){piece.guest}, (hpa_t){piece.host}, piece.size,
		           page_alloc);
	}
}

/* Shared memory is cleared only here: its contents outlive the VMs. */
static void clear_shared(const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_shared; i++) {
		const struct vm_shared *shared = &tree->shared[i];

		vm_clear_range(shared->host_base, shared->size);
		log_line("shared %s: %lu KiB at 0x%lx", shared->name, shared->size >> 10,
		         shared->host_base);
	}
}

static void map_shared(struct vm *vm, const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < vm->config->n_shared; i++) {
		const struct vm_shared *shared = &tree->shared[vm->config->shared[i].number];

		gstage_map_data(&vm->gstage, (gpa_t){vm->config->shared[i].at},
		                (hpa_t){shared->host_base}, shared->size,
		                vm->config->shared[i].writes, page_alloc);
	}
}

/* If boot has found harts that set A and D in page tables which the G-stage makes read-only, a VM
 * that could have its page tables in shared memory has no Svadu. This applies to all harts, because
 * its vcpus may move. */
static void keep_from_shared(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_shared && quirks.ad_past_gstage; i++)
		vm->no_adue |= !vm->config->shared[i].writes;
	for (uint32_t i = 0; i < n_pcpus && vm->no_adue; i++) {
		struct pcpu *pcpu = &hart_stacks[i].pcpu;

		if (!(pcpu->isa & BIT(ISA_SVADU)))
			continue;
		pcpu->switches_adue = true;
		pcpu->more_registers = true;
	}
}

/* Buffers for its last words: the end of its text and, if wanted, its last exits. */
static void make_last_words(struct vm *vm)
{
	_Static_assert(LAST_BYTES <= PAGE_SIZE && sizeof(struct last_exits) <= PAGE_SIZE, "a page");
	for (uint32_t i = 0; i < ARRAY_SIZE(vm->last.texts) && vm->config->console; i++)
		vm->last.texts[i].bytes = page_alloc(PAGE_SIZE);
	for (uint32_t set = 0; set < 2; set++) {
		for (uint32_t i = 0; i < vm->config->n_vcpus && vm->config->crash_exits; i++)
			vm->last.exits[set][i] = page_alloc(PAGE_SIZE);
	}
}

static void make_vm(struct vm *vm, const struct vm_tree *tree, bool vmids)
{
	const struct vm_config *config = vm->config;

	vm->vmid = vmids ? vm->index + 1 : 0;
	make_memory(vm);
	map_shared(vm, tree);
	keep_from_shared(vm);
	map_devices(vm);
	map_files(vm);
	make_vectors(vm);
	vm_pmu_policy_make(vm);
	vsbi_init(vm);
	for (uint32_t i = 0; i < config->n_vcpus; i++)
		vpmu_init(&vm->vcpus[i]->pmu, &vm->pmu_policy);
	make_wires(vm);
	functions_make(vm);
	operator_create(vm);
	power_key_make(vm, page_alloc_array);
	if (vm->config->n_ports)
		ports_add(vm);
	mmio_init(vm);
	hs_memory_add_devices(config);
	make_device_tree(vm, tree);
	report_vm(vm);
	operator_report(vm);
	report_shared(vm, tree);
	if (vm->config->n_ports)
		report_ports(vm, tree);
	for (uint32_t i = 0; i < config->n_devices; i++)
		report_device(vm, &config->devices[i]);
}

/*
 * Each VM has one VMID, the same on all harts, if every hart has enough of them. Then no VM has
 * VMID 0.
 */
static bool have_vmids(uint32_t n)
{
	for (uint32_t i = 0; i < n_pcpus; i++) {
		if (hart_stacks[i].pcpu.vmids <= n)
			return false;
	}
	return !debug_no_vmids;
}

/* Returns the memory of a VM beside its RAM and its last words, including its elements in arrays:
 * here and in the VM tree. */
static uint64_t size_of_vm(const struct vm *vm, uint64_t tables)
{
	return sizeof(*vm) - sizeof(vm->crash) - sizeof(vm->last) + sizeof(*vm->config) + tables;
}

void vms_create(const struct vm_tree *tree)
{
	bool vmids = have_vmids(tree->n_vms);
	uint64_t tables[VM_MAX_VMS] = {0}, largest = 0;
	uint32_t started = 0;

	n_vms = tree->n_vms;
	/*
	 * Create all vcpus first, because the policy of a VM may depend on which vcpus have a hart
	 * to themselves.
	 */
	for (uint32_t i = 0; i < n_vms; i++) {
		tables[i] = page_alloc_used();
		vms[i].index = i;
		vms[i].config = &tree->vms[i];
		vms[i].heart_at = vms[i].shutdown.at = ~0UL;
		atomic_init(&vms[i].alarm_at, ~0UL);
		started += !tree->vms[i].deferred;
		vms[i].pmu_table = (struct vpmu_table){
		    .selectors = tree->has_selectors ? &tree->selectors : NULL,
		    .allowed = tree->vms[i].pmu_raw_events,
		    .n_allowed = tree->vms[i].n_pmu_raw_events,
		};
		for (uint32_t k = 0; k < tree->vms[i].n_vcpus; k++)
			make_vcpu(&vms[i], k);
		tables[i] = page_alloc_used() - tables[i];
	}
	vms_start_counting(started);
	windows_make(tree, page_alloc_array);
	clear_shared(tree);
	bells_make(tree);
	ports_make(tree, page_alloc_array);
	for (uint32_t i = 0; i < n_vms; i++) {
		tables[i] -= page_alloc_used();
		make_vm(&vms[i], tree, vmids);
		tables[i] = size_of_vm(&vms[i], tables[i] + page_alloc_used());
		if (tables[i] > largest)
			largest = tables[i];
	}
	for (uint32_t i = 0; i < n_vms; i++)
		make_last_words(&vms[i]);
	trace_init(page_alloc_array);
	log_line("tables: %lu KiB, at most %lu of them for a VM", page_alloc_used() >> 10,
	         (largest + 1023) >> 10);
	samples_init(page_alloc_array, page_alloc_uncleared);
	account_init(page_alloc_array);
	ledger_make(page_alloc_array);
}

void vms_start(void)
{
	/* All guests that start now have clocks that start at 0 together. */
	uint64_t now = csr_read(CSR_TIME);

	for (uint32_t i = 0; i < n_vms; i++) {
		for (uint32_t k = 0; k < vms[i].config->n_vcpus; k++)
			vcpu_budget_first(vms[i].vcpus[k]);
		vm_prepare(&vms[i], now);
	}
	windows_start(now);
}
