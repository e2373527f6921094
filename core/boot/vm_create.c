/* SPDX-License-Identifier: Apache-2.0 */
/* Creates VMs from the VM tree: memory, images, device tree, vcpus. Boot hart only. */
#include <libfdt.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/isa.h"
#include "core/log.h"
#include "core/boot/page_alloc.h"
#include "core/panic.h"
#include "core/vm/platform.h"
#include "core/lib/text.h"
#include <string.h>
#include "core/vm/trace.h"
#include "core/vm/vcpu_registers.h"
#include "core/vm/vm.h"
#include "core/vm/vm_load.h"
#include "core/vm/vm_overflow.h"
#include "core/vm/vm_pmu_policy.h"
#include "core/vsbi/vsbi.h"
#include "core/lib/words.h"
#include "vpmu/bits.h"

static void make_vcpu(struct vm *vm, uint32_t id)
{
	static uint32_t n_all;
	struct pcpu *home = pcpu_of_hart(vm->config->vcpus[id].first_hart);
	struct vcpu *vcpu = page_alloc(
	    ALIGN_UP(sizeof(struct vcpu), PAGE_SIZE) <= PAGE_SIZE ? PAGE_SIZE : 2 * PAGE_SIZE);

	_Static_assert(sizeof(struct vcpu) <= 2 * PAGE_SIZE, "allocated just above");
	_Static_assert(VM_MAX_ALL_VCPUS <= MAX_HART_VCPUS, "all may come to one hart");
	vcpu->vm = vm;
	vcpu->id = id;
	vcpu_goes_to(vcpu, home);
	vcpu->lcofi.limit = vm->config->pmu_overflow_limit;
	vcpu->few_lcofis = vcpu->lcofi.limit;
	pcpu_count_vcpus(home, 1);
	vcpu->index = n_all++;
	vcpu->bit = BIT(vcpu->index);
	for (uint32_t i = 0; i < n_pcpus; i++)
		hart_stacks[i].pcpu.vcpus[vcpu->index] = vcpu;
	vm->vcpus[id] = vcpu;
	atomic_init(&vcpu->hsm_state, SBI_HSM_STATE_STOPPED);
	requests_init(&vcpu->requests);
}

/*
 * Each life of the VM gets a copy of this tree, because building it takes longer than a stay in HS
 * may take.
 */
static void keep_device_tree(struct vm *vm, const void *dtb)
{
	uint64_t room = PAGE_SIZE;

	vm->dtb.size = fdt_totalsize(dtb);
	while (room < vm->dtb.size)
		room *= 2;
	vm->dtb.data = memcpy(page_alloc(room), dtb, vm->dtb.size);
	vm->seed_at = guest_dt_seed_at(dtb);
}

/* A VM has V if the harts of all its vcpus have vector registers of the same length. */
static void make_vectors(struct vm *vm)
{
	uint64_t bytes = vm->vcpus[0]->home->vec_bytes;
	uint64_t image = sizeof(struct vec_image) - 32 * VEC_MAX_BYTES + 32 * bytes;

	for (uint32_t i = 1; i < vm->config->n_vcpus; i++) {
		if (vm->vcpus[i]->home->vec_bytes != bytes)
			return;
	}
	for (uint32_t i = 0; i < vm->config->n_vcpus && bytes; i++)
		vm->vcpus[i]->vec = page_alloc(image <= PAGE_SIZE ? PAGE_SIZE : 2 * PAGE_SIZE);
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

static void make_device_tree(struct vm *vm)
{
	/* Builds the tree at its final place in the guest's memory, which is large enough. */
	void *dtb = (void *)(vm->memory.a + vm->config->dtb_offset);
	char isa[ISA_TEXT_BYTES];
	const char *extensions[ISA_EXTENSIONS + 8];
	uint64_t common = common_isa(vm);
	const struct cbo_blocks *blocks = &vm->vcpus[0]->home->blocks;
	struct guest_machine machine = {
	    .ram_base = VM_RAM_BASE,
	    .timebase_frequency = platform.timebase,
	    .isa = isa,
	    .isa_extensions = extensions,
	    .mmu_type = platform.mmu_type,
	    .cbom_block = common & BIT(ISA_ZICBOM) ? blocks->zicbom : 0,
	    .cboz_block = common & BIT(ISA_ZICBOZ) ? blocks->zicboz : 0,
	    .cbop_block = common & BIT(ISA_ZICBOP) ? blocks->zicbop : 0,
	    .seed = seed_is_there(),
	};

	machine.n_ext =
	    (uint32_t)isa_guest(common, vm->pmu_policy.overflow, isa, sizeof(isa), extensions);
	int error = guest_dt_build(dtb, VM_DTB_SIZE, vm->config, &machine);

	if (!error)
		error = fdt_pack(dtb);
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

static void report_vm(const struct vm *vm)
{
	const struct vm_config *config = vm->config;
	char harts[4 * VM_MAX_VCPUS];
	char counters[SET_TEXT_BYTES];

	log_line("vm %s: %lu MiB, %u vcpu%s on hart%s %s, %s%s", config->name, config->memory >> 20,
	         config->n_vcpus, config->n_vcpus == 1 ? "" : "s", config->n_vcpus == 1 ? "" : "s",
	         harts_text(vm, harts, sizeof(harts)),
	         counters_text(vm->pmu_policy.hctrs, counters), config->pmu ? "" : ", no PMU");
	if (vm->pmu_policy.overflow && config->pmu_overflow_limit)
		log_line(
		    "vm %s: at most %u overflow interrupts a vcpu in %u ms, the rest held back",
		    config->name, config->pmu_overflow_limit, LCOFI_WINDOW_MS);
	vm_overflow_report(vm);
}

static void make_vm(struct vm *vm, const struct vm_config *config, bool vmids)
{
	vm->vmid = vmids ? vm->index + 1 : 0;
	vm->memory = guest_memory_alloc(config->memory);
	gstage_init(&vm->gstage, (uint32_t)vm->vmid, page_alloc);
	gstage_map(&vm->gstage, (gpa_t){VM_RAM_BASE}, vm->memory, config->memory, page_alloc);
	make_vectors(vm);
	vm_pmu_policy_make(vm);
	vsbi_init(vm);
	for (uint32_t i = 0; i < config->n_vcpus; i++)
		vpmu_init(&vm->vcpus[i]->pmu, &vm->pmu_policy);
	make_device_tree(vm);
	vm_load_begin(vm);
	while (vm_load_slice(vm))
		;
	report_vm(vm);
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
	return !platform.no_vmids;
}

void vms_create(const struct vm_tree *tree)
{
	bool vmids = have_vmids(tree->n_vms);

	n_vms = tree->n_vms;
	vms_start_counting(n_vms);
	/*
	 * Create all vcpus first, because the policy of a VM may depend on which vcpus are alone on
	 * a hart.
	 */
	for (uint32_t i = 0; i < n_vms; i++) {
		vms[i].index = i;
		vms[i].config = &tree->vms[i];
		vms[i].pmu_table = (struct vpmu_table){
		    .selectors = tree->has_selectors ? &tree->selectors : NULL,
		    .allowed = tree->vms[i].pmu_raw_events,
		    .n_allowed = tree->vms[i].n_pmu_raw_events,
		};
		for (uint32_t k = 0; k < tree->vms[i].n_vcpus; k++)
			make_vcpu(&vms[i], k);
	}
	for (uint32_t i = 0; i < n_vms; i++) {
		make_vm(&vms[i], &tree->vms[i], vmids);
	}
	trace_init();
}

void vms_start(void)
{
	/* The clocks of all guests start at 0 together. */
	uint64_t now = csr_read(CSR_TIME);

	for (uint32_t i = 0; i < n_vms; i++)
		vm_begin(&vms[i], now);
}
