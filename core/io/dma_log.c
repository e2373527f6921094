/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines about DMA faults: at most one in a second for each VM. A stay makes a line, and another
 * one prints it: both would be too long for one stay. */
#include <stdarg.h>

#include "core/hart/platform.h"
#include "core/io/dma_parts.h"
#include "core/lib/printf.h"
#include "core/log.h"
#include "core/vcpu/vm.h"

#define LINE_S 1UL /* between two lines of a VM */

/* Returns the PCI function of an id of the IOMMU: bus << 8 | device << 3 | number. */
static uint32_t by_map(uint32_t id)
{
	for (uint32_t i = 0; i < platform.iommu.n_ranges; i++) {
		uint32_t offset = id - platform.iommu.ranges[i].id;

		if (offset < platform.iommu.ranges[i].length)
			return platform.iommu.ranges[i].function + offset;
	}
	return id;
}

static const char *access_text(enum iommu_access access)
{
	static const char *const names[] = {
	    [IOMMU_ACCESS] = "access to",     [IOMMU_READ] = "read from",
	    [IOMMU_WRITE] = "write to",       [IOMMU_FETCH] = "fetch from",
	    [IOMMU_MESSAGE] = "interrupt to",
	};

	return names[access];
}

static const char *cause_text(uint32_t cause)
{
	switch (cause) {
	case 20:
	case 21:
	case 23:
		return "outside its memory";
	case 256:
	case 258:
		return "it has no memory";
	case 260:
		return "not an access that it may make";
	case 262:
		return "no interrupt file of its VM";
	default:
		return "refused";
	}
}

/* Makes the line that another stay prints; vm: whose, or NULL. No other line is waiting. */
static __attribute__((format(printf, 3, 4))) void make(struct dma_stay *stay, const struct vm *vm,
                                                       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)tally_vsnprintf(dma.line, sizeof(dma.line), format, args);
	va_end(args);
	dma.line_of = vm;
	stay->logged = stay->again = true;
}

void dma_log_waiting(struct dma_stay *stay)
{
	if (!*dma.line)
		return;
	log_text(dma.line);
	*dma.line = '\0';
	stay->logged = true;
}

/* Makes the line of a fault; `before` is the number of faults that were not logged. */
static void say(struct dma_stay *stay, const struct iommu_fault *fault, uint32_t before)
{
	const struct dma_function *f = dma_function_of(fault->device);
	uint32_t function = by_map(fault->device);
	uint32_t bus = function >> 8, device = function >> 3 & 31;
	char more[32] = "";

	if (before)
		(void)tally_snprintf(more, sizeof(more), "; %u before it", before);
	if (f)
		make(stay, f->vm, "vm %s: DMA of %s (%02x:%02x.%x): %s 0x%lx: %s (cause %u)%s",
		     f->vm->config->name, f->name, bus, device, function & 7,
		     access_text(fault->access), fault->address, cause_text(fault->cause),
		     fault->cause, more);
	else
		make(stay, NULL,
		     "IOMMU: DMA of %02x:%02x.%x, which no VM has: %s 0x%lx (cause %u)%s", bus,
		     device, function & 7, access_text(fault->access), fault->address, fault->cause,
		     more);
}

static uint64_t line_at(const struct dma_log_state *told)
{
	return told->ever ? told->at + platform.timebase * LINE_S : 0;
}

static void note_line(const struct dma_stay *stay, struct dma_log_state *told)
{
	told->ever = true;
	told->at = stay->now;
}

static void say_untold(struct dma_stay *stay, struct dma_log_state *told)
{
	note_line(stay, told);
	if (told != &dma.lost)
		say(stay, &told->last, told->unlogged - 1);
	else if (dma.lost_by_memory)
		make(stay, NULL, "IOMMU: it could not write its queue of faults");
	else
		make(stay, NULL, "IOMMU: more faults than its queue holds: the rest is not known");
	told->unlogged = 0;
}

/* Whether the stay has done nothing yet, and a line can be made. */
static bool is_fresh(const struct dma_stay *stay)
{
	return !stay->logged && !stay->served && !*dma.line;
}

void dma_log(struct dma_stay *stay, const struct dma_function *f, const struct iommu_fault *fault)
{
	struct dma_log_state *told = f ? &dma.vms[f->vm->index].log : &dma.nobody;

	if (!told->unlogged && is_fresh(stay) && line_at(told) <= stay->now) {
		note_line(stay, told);
		say(stay, fault, 0);
		return;
	}
	told->unlogged++;
	told->last = *fault;
	dma.untold = true;
}

static void say_off(struct dma_stay *stay, struct dma_function *f)
{
	f->off_unlogged = false;
	dma.unlogged_offs--;
	make(stay, f->vm, "vm %s: DMA of %s is off until the VM's next life: %u faults in %lu ms",
	     f->vm->config->name, f->name, STORM_FAULTS, STORM_MS);
}

void dma_log_off(struct dma_function *f)
{
	dma.unlogged_offs += !f->off_unlogged;
	f->off_unlogged = true;
}

void dma_log_lost(void)
{
	enum iommu_lost how = iommu_take_lost(&dma.iommu);

	if (how == IOMMU_LOST_NONE)
		return;
	dma.lost.unlogged = 1;
	dma.untold = true;
	dma.lost_by_memory = how == IOMMU_LOST_MEMORY;
}

/* Whether the stay may make a line, which is due. Otherwise another one follows. */
static bool may_make(struct dma_stay *stay)
{
	stay->again |= !is_fresh(stay);
	return is_fresh(stay);
}

static void tell_offs(struct dma_stay *stay)
{
	for (uint32_t i = 0; i < dma.n_functions && dma.unlogged_offs; i++) {
		struct dma_function *f = &dma.functions[i];

		if (f->off_unlogged && dma_stay_claim(stay, f->vm) && may_make(stay))
			say_off(stay, f);
	}
}

uint64_t dma_log_due(struct dma_stay *stay)
{
	uint64_t next = ~0UL;
	bool untold = false;

	/* Until a stay has printed the line that waits, none of another VM is asked for: VMs could
	 * hand each other stays for ever, if the line is nobody's. */
	if (*dma.line && !stay->logged && !stay->served) {
		if (!dma_stay_claim(stay, dma.line_of))
			return next;
		dma_log_waiting(stay);
	}
	tell_offs(stay);
	if (!dma.untold)
		return next;
	for (uint32_t i = 0; i < n_vms + 2; i++) {
		const struct vm *vm = i < n_vms ? &vms[i] : NULL;
		struct dma_log_state *told = vm           ? &dma.vms[i].log
		                             : i == n_vms ? &dma.nobody
		                                          : &dma.lost;
		const struct pcpu *hart = vm ? vcpu_home(vm->vcpus[0]) : dma.listener;
		uint64_t at = line_at(told);

		untold |= told->unlogged > 0;
		if (!told->unlogged || (hart != this_pcpu() && (!vm || at > stay->now)))
			continue;
		if (at > stay->now)
			next = at < next ? at : next;
		/* Lost records belong to no VM. The hart that drains the queue reports them. */
		else if ((told == &dma.lost || dma_stay_claim(stay, vm)) && may_make(stay))
			say_untold(stay, told);
	}
	dma.untold = untold;
	return next;
}

void dma_log_stay_vm(struct dma_stay *stay)
{
	struct dma_log_state *told = &dma.vms[stay->vm->index].log;

	tell_offs(stay);
	if (told->unlogged && is_fresh(stay))
		say_untold(stay, told);
}
