/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/dma.h"

#include "core/hart/platform.h"
#include "core/io/dma_parts.h"
#include "core/lib/printf.h"
#include "core/log.h"
#include "core/vcpu/vm.h"

struct dma dma;

/* A command may take 1/BOOT_HZ seconds at boot, and 1/LIFE_HZ later. */
#define BOOT_HZ 100U
#define LIFE_HZ 1000U

static uint64_t ram_end(void)
{
	return platform.ram.banks[platform.ram.n - 1].to;
}

static const char *turn_on(const struct host_iommu *host, uint32_t last_id, iommu_alloc_fn *alloc)
{
	return iommu_init(&dma.iommu, host->base, last_id, ram_end() - 1,
	                  platform.timebase / BOOT_HZ, alloc);
}

void dma_init(iommu_alloc_fn *alloc)
{
	const struct host_iommu *host = &platform.iommu;

	dma.alloc = alloc;
	dma.refusal = "the machine has no IOMMU";
	if (!host->size)
		return;
	dma.refusal = "the host's tree does not say by which ids the IOMMU knows PCI functions";
	if (!host->n_ranges)
		return;
	/* The trial maps an id, so it needs one that no device has. The directory may have no room
	 * for one. */
	if (host->unused_id && !turn_on(host, host->unused_id, alloc)) {
		dma.tried = iommu_can_translate(&dma.iommu);
		dma.refusal = iommu_try(&dma.iommu, host->unused_id, ram_end() - 1, alloc);
		if (dma.refusal)
			iommu_off(&dma.iommu);
	} else {
		dma.refusal = turn_on(host, host->last_id, alloc);
	}
	dma.iommu.timeout = platform.timebase / LIFE_HZ;
}

const char *dma_refusal(void)
{
	return dma.refusal;
}

bool dma_has_files(void)
{
	return !dma.refusal && iommu_has_files(&dma.iommu);
}

void dma_add_file(struct vm *vm, uint64_t base, uint32_t n, hpa_t file)
{
	struct iommu_domain *domain = &dma.vms[vm->index].domain;

	_Static_assert(VM_MAX_VCPUS <= IOMMU_FILES, "each vcpu's file has an entry");
	if (!domain->files)
		domain->files = dma.alloc(PAGE_SIZE);
	domain->interrupt_files = base;
	iommu_map_file(domain, n, file);
}

struct dma_function *dma_function_of(uint32_t id)
{
	for (uint32_t i = 0; i < dma.n_functions; i++) {
		if (dma.functions[i].id == id)
			return &dma.functions[i];
	}
	return NULL;
}

const char *dma_add(uint32_t device_id, struct vm *vm, const char *name)
{
	struct iommu_domain *domain = &dma.vms[vm->index].domain;

	if (dma.refusal)
		return dma.refusal;
	if (dma_function_of(device_id))
		return "the IOMMU knows another function by the same id";
	if (!iommu_add(&dma.iommu, device_id, dma.alloc))
		return "its id is too high for the IOMMU";
	iommu_domain_init(domain, vm->gstage.root, vm->index + 1, domain->files,
	                  domain->interrupt_files);
	dma.functions[dma.n_functions++] =
	    (struct dma_function){.vm = vm, .name = name, .id = device_id};
	return NULL;
}

/* Makes a step for one function. Returns true when all of the VM's are attached, or detached. The
 * IOMMU is asked at most once, so this is short however many there are. The caller has the lock. */
static bool step(struct vm *vm, bool attaches)
{
	const struct iommu_domain *domain = &dma.vms[vm->index].domain;
	struct iommu_work *work = &dma.vms[vm->index].work;
	uint32_t *next = &dma.vms[vm->index].next;

	if (dma.vms[vm->index].attaches != attaches) {
		dma.vms[vm->index].attaches = attaches;
		*next = 0;
		*work = (struct iommu_work){0};
	}
	while (*next < dma.n_functions && dma.functions[*next].vm != vm)
		(*next)++;
	if (*next == dma.n_functions)
		return true;
	if (attaches ? iommu_attach(&dma.iommu, dma.functions[*next].id, domain, work)
	             : iommu_detach(&dma.iommu, dma.functions[*next].id, domain, work)) {
		(*next)++;
		*work = (struct iommu_work){0};
		vm->life.waiting = false;
	}
	return false;
}

bool dma_attach(struct vm *vm)
{
	bool done;

	spin_lock(&dma.lock);
	done = step(vm, true);
	spin_unlock(&dma.lock);
	return done;
}

void dma_begin(struct vm *vm)
{
	uint64_t first;

	if (!dma.n_functions)
		return;
	spin_lock(&dma.lock);
	first = dma.served + iommu_waiting_faults(&dma.iommu);
	for (uint32_t i = 0; i < dma.n_functions; i++) {
		struct dma_function *f = &dma.functions[i];

		if (f->vm != vm)
			continue;
		f->faults = 0;
		f->off = false;
		f->first = first;
		f->live = true;
	}
	spin_unlock(&dma.lock);
}

bool dma_end(struct vm *vm)
{
	bool done;

	spin_lock(&dma.lock);
	for (uint32_t i = 0; i < dma.n_functions; i++) {
		if (dma.functions[i].vm == vm)
			dma.functions[i].live = false;
	}
	done = step(vm, false);
	spin_unlock(&dma.lock);
	return done;
}

static const char *heard(char *text, size_t size)
{
	if (dma.wire.number)
		(void)tally_snprintf(text, size, "faults by interrupt %u", dma.wire.number);
	else
		(void)tally_snprintf(text, size, "faults are looked for once a second");
	return text;
}

void dma_report(void)
{
	const struct host_iommu *host = &platform.iommu;
	char by[48];

	if (!host->size)
		return;
	if (dma.refusal) {
		log_line("IOMMU at 0x%lx: not used: %s: no VM can have an isolated function",
		         host->base, dma.refusal);
		return;
	}
	log_line("IOMMU at 0x%lx: %s%s; %s%s", host->base,
	         dma.tried ? "translates as it must" : "taken as it is: it cannot be asked",
	         iommu_has_files(&dma.iommu) ? "" : ", without messages to guests",
	         heard(by, sizeof(by)),
	         host->typed_wires
	             ? "; the host's tree gives its interrupts types, which a PLIC has not"
	             : "");
}
