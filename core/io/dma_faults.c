/* SPDX-License-Identifier: Apache-2.0 */
/* DMA faults: which hart handles them, and how. */
#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/io/dma_parts.h"
#include "core/io/external.h"
#include "core/sched/sched.h"
#include "core/vcpu/vm.h"

/* --- stays ------------------------------------------------------------------------------- */

static void begin(struct dma_stay *stay, const struct vm *vm)
{
	stay->begun = true;
	stay->vm = vm;
	if (vm)
		sched_account_stay_to(vm->vcpus[0]);
}

/* Directs the interrupt for faults to this hart. */
static void listen_here(void)
{
	struct pcpu *pcpu = this_pcpu();

	dma.listener = pcpu;
	if (!dma.wire.number || pcpu->irq_place == dma.place || pcpu->irq_place == IRQCHIP_NOWHERE)
		return;
	external_set_affinity(&dma.wire, dma.place, pcpu->irq_place);
	dma.place = pcpu->irq_place;
}

bool dma_stay_claim(struct dma_stay *stay, const struct vm *vm)
{
	if (!stay->begun && (!vm || vcpu_home(vm->vcpus[0]) == this_pcpu()))
		begin(stay, vm);
	if (stay->begun && stay->vm == vm)
		return true;
	if (vm && !stay->other)
		stay->other = vm->vcpus[0];
	else if (!vm || stay->other != vm->vcpus[0])
		stay->again = true;
	return false;
}

/* --- one fault --------------------------------------------------------------------------- */

/* Counts a fault of a VM's function. */
static void count(struct dma_stay *stay, struct dma_function *f)
{
	uint64_t window = platform.timebase / 1000 * STORM_MS;

	/* Records may wait in the queue: a window ends only if that was empty since it began. */
	if (!f->faults || (stay->now - f->since >= window && dma.last_empty >= f->since)) {
		f->since = stay->now;
		f->faults = 0;
	}
	if (++f->faults < STORM_FAULTS)
		return;
	_Static_assert(STAY_FAULTS < STORM_FAULTS, "a function is in off[] once");
	stay->off[stay->n_off++] = f->id;
	f->faults = 0;
	if (f->live && !f->off)
		dma_log_off(f);
	f->off = true;
}

static void serve(struct dma_stay *stay, const struct iommu_fault *fault)
{
	struct dma_function *f = dma_function_of(fault->device);
	uint64_t number = dma.served++;

	iommu_drop_fault(&dma.iommu);
	dma_log(stay, f, fault);
	stay->served++;
	/* Faults of an earlier life have no effect in this one. */
	if (!f || number < f->first)
		return;
	count(stay, f);
	if (f->live && f->vm->config->bad_access_stops)
		vm_end(f->vm, f->vm->vcpus[0], VM_END_FAILED,
		       fault->access == IOMMU_READ ? "DMA outside its memory, from"
		                                   : "DMA outside its memory, to",
		       fault->address);
}

/* --- all faults -------------------------------------------------------------------------- */

/* Reads the oldest record. Returns whether the stay may serve it. */
static bool is_next(struct dma_stay *stay, struct iommu_fault *fault)
{
	const struct dma_function *f;

	if (!iommu_first_fault(&dma.iommu, fault))
		return false;
	f = dma_function_of(fault->device);
	return dma_stay_claim(stay, f ? f->vm : NULL);
}

/* Serves some faults. Returns true if none is left. */
static bool serve_some(struct dma_stay *stay)
{
	struct iommu_fault fault;

	if (stay->now - dma.budget_since >= platform.timebase / 1000 * DMA_REST_MS) {
		dma.budget_since = stay->now;
		dma.budget = STAY_FAULTS;
	}
	while (is_next(stay, &fault)) {
		if (!dma.budget || stay->logged) {
			stay->again = true;
			return false;
		}
		dma.budget--;
		listen_here();
		serve(stay, &fault);
	}
	dma_log_lost();
	if (iommu_waiting_faults(&dma.iommu))
		return false;
	dma.last_empty = stay->now;
	/* Later faults interrupt again. */
	iommu_ack_faults(&dma.iommu);
	stay->again |= iommu_waiting_faults(&dma.iommu) > 0;
	return !stay->again;
}

/* While faults are left, the interrupt is not completed, so that a device cannot interrupt more
 * often than DMA_REST_MS permits. */
static uint64_t work(struct dma_stay *stay)
{
	uint64_t next, soon = platform.timebase / 1000 * DMA_REST_MS;
	bool none_left;

	/* First, because records may come all the time. */
	(void)dma_log_due(stay);
	none_left = serve_some(stay);
	if (stay->other && !none_left && dma.listener == this_pcpu())
		dma.listener = vcpu_home(stay->other);
	next = dma_log_due(stay);
	if (none_left && dma.held) {
		dma.held = false;
		irqchip_complete(&platform.irqchip, &dma.wire, dma.place, true);
	}
	if (!dma.wire.number && dma.listener == this_pcpu() && stay->now + platform.timebase < next)
		next = stay->now + platform.timebase;
	if (stay->again && stay->now + soon < next)
		next = stay->now + soon;
	return next;
}

static void turn_all_off(const struct dma_stay *stay)
{
	for (uint32_t i = 0; i < stay->n_off; i++)
		pci_block_function(stay->off[i]);
}

void dma_serve(const struct vm *vm)
{
	struct dma_stay stay;
	uint64_t next;

	/* Not off[], which would take a hundred instructions. */
	stay.begun = stay.again = stay.logged = false;
	stay.vm = NULL;
	stay.other = NULL;
	stay.served = stay.n_off = 0;

	spin_lock(&dma.lock);
	stay.now = csr_read(CSR_TIME);
	if (vm) {
		begin(&stay, vm);
		listen_here();
	}
	next = work(&stay);
	spin_unlock(&dma.lock);
	external_poll_at(EXTERNAL_DMA, next);
	turn_all_off(&stay);
	if (stay.other)
		vcpu_request(stay.other, REQ_FAULTS);
}

bool dma_handle_irq(uint32_t source)
{
	if (!dma.wire.number || source != dma.wire.number)
		return false;
	spin_lock(&dma.lock);
	dma.held = true;
	irqchip_hold(&platform.irqchip, &dma.wire);
	spin_unlock(&dma.lock);
	dma_serve(NULL);
	return true;
}

bool dma_log_remaining(struct vm *vm)
{
	struct dma_stay stay = {.begun = true, .vm = vm};
	struct iommu_fault fault;

	if (!dma.n_functions)
		return false;
	spin_lock(&dma.lock);
	stay.now = csr_read(CSR_TIME);
	/* Another VM's line, too: this one's end does not wait for that one's hart. */
	dma_log_waiting(&stay);
	while (stay.served < STAY_FAULTS && !stay.logged && is_next(&stay, &fault))
		serve(&stay, &fault);
	if (!stay.served)
		dma_log_stay_vm(&stay);
	spin_unlock(&dma.lock);
	turn_all_off(&stay);
	return stay.logged || stay.served;
}

static enum irqchip_mode mode_of(uint32_t type)
{
	return type == 1   ? IRQCHIP_RISING
	       : type == 2 ? IRQCHIP_FALLING
	       : type == 8 ? IRQCHIP_LOW
	                   : IRQCHIP_HIGH;
}

/* Returns the lead hart of a VM that has a function, or this hart if there is none. */
static const struct pcpu *first_listener(void)
{
	return dma.n_functions ? vcpu_home(dma.functions[0].vm->vcpus[0]) : this_pcpu();
}

void dma_listen(void)
{
	const struct host_iommu *host = &platform.iommu;
	uint32_t wire;

	if (dma.refusal)
		return;
	dma.listener = first_listener();
	wire = iommu_wire(&dma.iommu, host->n_wires);
	if (wire < host->n_wires && dma.listener->irq_place != IRQCHIP_NOWHERE &&
	    irqchip_use(&platform.irqchip, &dma.wire, host->wires[wire].source,
	                mode_of(host->wires[wire].type))) {
		dma.place = dma.listener->irq_place;
		external_set_affinity(&dma.wire, IRQCHIP_NOWHERE, dma.place);
		irqchip_set_enabled(&platform.irqchip, &dma.wire, true, false);
	} else {
		dma.wire.number = 0;
		/* Without an interrupt, this hart is the first to poll. */
		dma.listener = this_pcpu();
	}
	/* Faults that are recorded already do not interrupt, so the first look is by time. */
	if (dma.n_functions || iommu_waiting_faults(&dma.iommu))
		external_poll_at(EXTERNAL_DMA, csr_read(CSR_TIME) + platform.timebase);
}
