/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/wired.h"

#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/io/external.h"
#include "core/io/vm_interrupts.h"
#include "core/sched/port.h"
#include "core/sched/sched.h"
#include "core/sched/windows.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

/* vm, guest and source are constant after boot. The lock of vm->devices protects the others; if the
 * source follows the windows of a vcpu, its home's `gate` also protects `listens`, `held` and the
 * registers that enable the source, which change at turns of that hart. */
struct wire {
	struct vm *vm;
	uint32_t guest; /* source of the VM's PLIC */
	struct irqchip_source source;
	uint32_t place; /* its destination; it may be completed there at any time */
	bool live;      /* in a life of the VM */
	bool listens;
	bool held;  /* claimed, and the guest has not completed it */
	bool gated; /* off outside the windows of a vcpu, see gated_by[] */
};
/* Its index in wires[] costs one shift. */
_Static_assert(sizeof(struct wire) == 32, "a power of two");

static struct wire wires[VM_MAX_ALL_IRQS];
static const struct vcpu *gated_by[VM_MAX_ALL_IRQS]; /* NULL: not gated */
_Static_assert(VM_MAX_ALL_IRQS <= 64, "masks of wires");
static uint32_t n_wires;
static struct wire *wire_of_source[IRQCHIP_SOURCES + 1];

static void aim(struct wire *wire, uint32_t place)
{
	external_set_affinity(&wire->source, wire->place, place);
	wire->place = place;
}

static void listen(struct wire *wire, bool on)
{
	irqchip_set_enabled(&platform.irqchip, &wire->source, on, wire->held);
	wire->listens = on;
}

static void gate_lock(const struct wire *wire)
{
	if (__builtin_expect(wire->gated, 0))
		spin_lock(&gated_by[wire - wires]->home->gate);
}

static void gate_unlock(const struct wire *wire)
{
	if (__builtin_expect(wire->gated, 0))
		spin_unlock(&gated_by[wire - wires]->home->gate);
}

/* From now on the source follows the windows of this vcpu, or of none. */
static void set_gated(struct wire *wire, const struct vcpu *by)
{
	const struct vcpu **entry = &gated_by[wire - wires];
	uint64_t bit = BIT(wire - wires);

	if (*entry == by)
		return;
	gate_lock(wire);
	if (*entry)
		windows_set_wire(*entry, bit, false);
	gate_unlock(wire);
	*entry = by;
	wire->gated = by;
	gate_lock(wire);
	if (by)
		windows_set_wire(by, bit, true);
	gate_unlock(wire);
}

bool wired_add(struct vm *vm, uint32_t source, enum irqchip_mode mode, uint32_t guest)
{
	struct wire *wire = &wires[n_wires];

	if (vm->wired & 1U << guest)
		return true;
	if (n_wires == VM_MAX_ALL_IRQS || source > IRQCHIP_SOURCES ||
	    platform.irqchip.kind == IRQCHIP_NONE)
		return false;
	wire->place = IRQCHIP_NOWHERE;
	if (!irqchip_use(&platform.irqchip, &wire->source, source,
	                 vm->config->aia ? IRQCHIP_OFF : mode))
		return false;
	/* Any destination, so that the source can always be completed. */
	if (!vm->config->aia)
		aim(wire, hart_stacks[0].pcpu.irq_place);
	wire->vm = vm;
	wire->guest = guest;
	wire_of_source[source] = wire;
	vm->wire_of[guest] = (uint8_t)++n_wires;
	vm->wired |= 1U << guest;
	return true;
}

static struct wire *wire_of(const struct vm *vm, uint32_t guest)
{
	return &wires[vm->wire_of[guest] - 1];
}

/* Configures a source of a VM with an AIA as the guest has it, or as inactive between lives. */
static void route(struct wire *wire)
{
	const struct vaplic *a = &wire->vm->aplic;
	const struct vcpu *vcpu = wire->vm->vcpus[a->vcpu[wire->guest]];
	struct irqchip_route route = {
	    .mode = wire->live ? a->mode[wire->guest] : VAPLIC_INACTIVE,
	    .place = vcpu->home->irq_place,
	    .file = vcpu->guest_file,
	    .identity = a->identity[wire->guest],
	    .on = wire->live && vaplic_sends(a, wire->guest),
	};

	irqchip_route(&platform.irqchip, &wire->source, &route);
}

void wired_update(struct vm *vm, const struct vaplic_change *change)
{
	uint32_t guest;

	for_each_bit (guest, change->routes)
		route(wire_of(vm, guest));
	for_each_bit (guest, change->set)
		irqchip_set_pending(&platform.irqchip, &wire_of(vm, guest)->source, true);
	for_each_bit (guest, change->clear)
		irqchip_set_pending(&platform.irqchip, &wire_of(vm, guest)->source, false);
}

uint32_t wired_bits(struct vm *vm, enum vaplic_needs needs)
{
	uint32_t guest, bits = 0;

	for_each_bit (guest, needs == VAPLIC_NEEDS_NOTHING ? 0 : vm->wired) {
		const struct irqchip_source *source = &wire_of(vm, guest)->source;
		bool bit = irqchip_reads(&platform.irqchip, source, needs == VAPLIC_NEEDS_PENDING);

		bits |= (uint32_t)bit << guest;
	}
	return bits;
}

void wired_begin(struct vm *vm)
{
	uint32_t guest;

	for_each_bit (guest, vm->wired) {
		wire_of(vm, guest)->live = true;
		if (vm->config->aia)
			route(wire_of(vm, guest));
	}
}

void wired_end(struct vm *vm)
{
	uint32_t guest;

	for_each_bit (guest, vm->wired) {
		struct wire *wire = wire_of(vm, guest);

		wire->live = false;
		if (vm->config->aia) {
			route(wire);
			continue;
		}
		set_gated(wire, NULL);
		listen(wire, false);
		if (wire->held)
			irqchip_complete(&platform.irqchip, &wire->source, wire->place, false);
		wire->held = false;
	}
}

bool wired_drain(struct vm *vm)
{
	bool drained = true;
	uint32_t guest;

	/* Its sources are inactive, and all earlier MSIs went to its own interrupt files. */
	if (vm->config->aia)
		return true;
	for_each_bit (guest, vm->wired) {
		struct wire *wire = wire_of(vm, guest);
		bool forgotten = irqchip_forget(&platform.irqchip, &wire->source);

		/* Moves the interrupt to this hart, which completes it. */
		if (!forgotten && this_pcpu()->irq_place != IRQCHIP_NOWHERE)
			aim(wire, this_pcpu()->irq_place);
		if (wire->listens == forgotten)
			listen(wire, !forgotten);
		drained &= forgotten;
	}
	return drained;
}

static void follow(struct wire *wire)
{
	struct vm *vm = wire->vm;
	int context = wire->live ? vplic_context(&vm->plic, wire->guest) : -1;
	const struct vcpu *vcpu = context < 0 ? NULL : vm->vcpus[context];
	const struct pcpu *home = vcpu ? vcpu_home(vcpu) : NULL;
	bool on;

	if (home && home->irq_place != wire->place && home->irq_place != IRQCHIP_NOWHERE)
		aim(wire, home->irq_place);
	set_gated(wire, home && home->has_schedule ? vcpu : NULL);
	gate_lock(wire);
	/* Outside its vcpu's windows the source is off; the interrupt waits for the next window. */
	on = vcpu && !vcpu_is_away(vcpu);
	if (wire->listens != on)
		listen(wire, on);
	gate_unlock(wire);
}

void wired_turn(uint64_t off, uint64_t on)
{
	uint32_t i;

	for_each_bit (i, off)
		listen(&wires[i], false);
	for_each_bit (i, on)
		listen(&wires[i], true);
}

void wired_update_routes(struct vm *vm)
{
	uint32_t guest;

	for_each_bit (guest, vm->config->aia ? 0 : vm->wired)
		follow(wire_of(vm, guest));
}

static void complete(struct wire *wire)
{
	wire->held = false;
	irqchip_complete(&platform.irqchip, &wire->source, wire->place, wire->listens);
}

static void hold(struct wire *wire)
{
	wire->held = true;
	irqchip_hold(&platform.irqchip, &wire->source);
}

/* Not inlined, so that a wire that is not gated is asked once. */
static __attribute__((noinline, cold)) void complete_gated(struct wire *wire)
{
	gate_lock(wire);
	complete(wire);
	gate_unlock(wire);
}

static __attribute__((noinline, cold)) void hold_gated(struct wire *wire)
{
	gate_lock(wire);
	hold(wire);
	gate_unlock(wire);
}

void wired_complete(struct vm *vm, uint32_t guest)
{
	struct wire *wire = wire_of(vm, guest);

	if (!wire->held)
		return;
	if (__builtin_expect(wire->gated, 0))
		complete_gated(wire);
	else
		complete(wire);
}

/* The caller holds vm->devices. */
static void take(struct wire *wire)
{
	struct vm *vm = wire->vm;

	if (!wire->live) {
		/* Off until the next call of wired_drain(), or a wire that stays high would
		 * interrupt for ever. */
		if (wire->listens)
			listen(wire, false);
		irqchip_complete(&platform.irqchip, &wire->source, wire->place, false);
		return;
	}
	if (!wire->source.edge) {
		/* The message was on its way when the source was held; if the wire is high at the
		 * completion, it interrupts again. Or the wire is low by now. */
		if (wire->held || irqchip_is_low(&platform.irqchip, &wire->source))
			return;
		if (__builtin_expect(wire->gated, 0))
			hold_gated(wire);
		else
			hold(wire);
	}
	vplic_request(&vm->plic, wire->guest);
	vm_update_interrupts(vm);
}

/* Returns the vcpu that pays for the interrupt. */
static struct vcpu *wire_owner(const struct wire *wire)
{
	int context = vplic_context(&wire->vm->plic, wire->guest);

	return wire->vm->vcpus[context > 0 ? context : 0];
}

void wired_handle_irq(uint32_t source)
{
	struct wire *wire;

	/* Left on by whatever ran before Tally: no VM has it. It is never completed. */
	if (source > IRQCHIP_SOURCES || !wire_of_source[source]) {
		irqchip_hold(&platform.irqchip, &(struct irqchip_source){.number = source});
		return;
	}
	wire = wire_of_source[source];
	spin_lock(&wire->vm->devices);
	sched_account_stay_to(wire_owner(wire));
	take(wire);
	spin_unlock(&wire->vm->devices);
}
