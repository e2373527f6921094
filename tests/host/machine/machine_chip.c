/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's PLIC and the clocks on its wires, each of which may belong to a VM. The clock of a
 * VM in a life raises its wire at random, and its guest lowers it, mostly before it completes the
 * interrupt. What must hold: an interrupt is of its VM and of its life; none is lost; a device is
 * reset while its source is off and completed; no completion goes where the PLIC ignores it.
 */
#include <stdlib.h>

#include "arch/riscv/devices/device_reset.h"
#include "arch/riscv/devices/irqchip.h"
#include "arch/riscv/devices/pci.h"
#include "arch/riscv/devices/rtc.h"
#include "arch/riscv/hart/csr.h"
#include "core/io/bells.h"
#include "core/io/ports_parts.h"
#include "tests/host/machine/machine.h"

#define UART_IRQ 10U
#define NOBODY   (~0U)

struct source {
	bool on, wire, pending, claimed;
	uint32_t place;             /* where it is enabled */
	bool came;                  /* since the last reset of its device */
	struct irqchip_route route; /* of a VM with an AIA; then it is never claimed */
};

/* Clocks, then the IOMMU's wires. */
#define SOURCES (MACHINE_CLOCKS + MACHINE_IOMMU_WIRES)
static struct source sources[SOURCES];

/* NULL: the UART's, which has a wire of its own. */
static struct source *source_of(uint32_t number)
{
	if (number == UART_IRQ)
		return NULL;
	if (number - MACHINE_CLOCK_IRQ >= SOURCES)
		machine_differs("a source that is not there: %u", number);
	return &sources[number - MACHINE_CLOCK_IRQ];
}

static bool is_level(const struct source *s)
{
	return s->route.mode == IRQCHIP_HIGH || s->route.mode == IRQCHIP_LOW;
}

/* The rectified input of a source that has a route. */
static bool input(const struct source *s)
{
	switch (s->route.mode) {
	case IRQCHIP_RISING:
	case IRQCHIP_HIGH:
		return s->wire;
	case IRQCHIP_FALLING:
	case IRQCHIP_LOW:
		return !s->wire;
	default:
		return false;
	}
}

/* A message takes the pending bit with it. */
static void forward(struct source *s)
{
	const struct irqchip_route *r = &s->route;

	if (!r->on || !s->pending)
		return;
	s->pending = false;
	aia_message(MACHINE_IMSIC_BASE +
	                (((uint64_t)r->place << MACHINE_FILE_BITS) + r->file) * PAGE_SIZE,
	            r->identity);
}

static void gateway(struct source *s)
{
	s->pending |= s->wire && !s->claimed;
}

static void set_wire(struct source *s, bool high)
{
	bool before = input(s);

	s->wire = high;
	if (!s->route.mode) {
		gateway(s);
		return;
	}
	s->pending |= !before && input(s);
	s->pending &= !is_level(s) || input(s);
	forward(s);
}

static struct source *clock_of(const struct vm *vm)
{
	/* It is the first device, if there is one. */
	return vm->config->n_devices && vm->config->devices[0].n_irqs
	           ? &sources[vm->config->devices[0].irqs[0].source - MACHINE_CLOCK_IRQ]
	           : NULL;
}

/* The IOMMU's wires change by themselves. */
static void look_at_wires(void)
{
	for (uint32_t i = 0; i < MACHINE_IOMMU_WIRES; i++) {
		sources[MACHINE_CLOCKS + i].wire = dma_wire(i);
		gateway(&sources[MACHINE_CLOCKS + i]);
	}
}

size_t uart_takes(void)
{
	return machine.time < machine.uart_until ? 0 : 16;
}

static bool uart_interrupts(void)
{
	return (machine.uart_listens && operator_has_typed()) ||
	       (machine.uart_sends && uart_takes());
}

bool chip_interrupts(uint32_t hart)
{
	look_at_wires();
	for (uint32_t i = 0; i < SOURCES; i++) {
		const struct source *s = &sources[i];

		if (s->on && s->pending && s->place == hart)
			return true;
	}
	return hart == 0 && uart_interrupts();
}

void chip_raises(void)
{
	struct vm *vm = &vms[below(&machine.chance, n_vms)];
	struct source *s = clock_of(vm);

	if (!s || vm->state != VM_RUNNING || s->wire)
		return;
	s->came = true;
	set_wire(s, true);
}

void chip_lowers(const struct vm *vm)
{
	struct source *s = clock_of(vm);

	if (s)
		set_wire(s, false);
}

/* While all harts are asleep: it interrupts the home of the vcpu that has it enabled. */
static void look_at_place(const struct vm *vm, const struct source *s)
{
	int context = vplic_context(&vm->plic, 1);

	if (s->on != (context >= 0))
		machine_differs("vm%u has its source %s, and the machine not", vm->index,
		                context >= 0 ? "on" : "off");
	if (s->on && s->place != vm->vcpus[context]->home->irq_place)
		machine_differs("vm%u's source goes to hart %u", vm->index, s->place);
}

bool chip_disturbs(const struct vcpu *vcpu)
{
	const struct source *s = clock_of(vcpu->vm);

	/* Somebody may be about to change it. */
	if (!s || vcpu->vm->config->aia || vcpu->vm->devices.next != vcpu->vm->devices.serving)
		return false;
	return s->on && s->place == vcpu->home->irq_place &&
	       vplic_context(&vcpu->vm->plic, 1) == (int)vcpu->id;
}

/* The source of a VM with an AIA is as its guest has it, in its life, and sends nothing else. */
static void look_at_route(const struct vm *vm, const struct source *s)
{
	const struct irqchip_route *r = &s->route;
	const struct vcpu *vcpu = vm->vcpus[vm->aplic.vcpu[1]];

	if (s->on || s->claimed)
		machine_differs("vm%u's source is claimed, and sends messages", vm->index);
	if (vm->state == VM_OFF && r->mode)
		machine_differs("vm%u is off, and its source is on", vm->index);
	if (vm->state != VM_RUNNING)
		return;
	if (r->mode != vm->aplic.mode[1] || r->on != vaplic_sends(&vm->aplic, 1))
		machine_differs("vm%u has its source otherwise than the machine", vm->index);
	if (r->on && (r->place != vcpu->home->irq_place || r->file != vcpu->guest_file ||
	              r->identity != vm->aplic.identity[1]))
		machine_differs("vm%u's source sends to file %u of hart %u", vm->index, r->file,
		                r->place);
}

/* The level of a function that Tally makes is what its registers say, and a high one has its
 * interrupt. */
static void look_at_level(const struct vm *vm, const struct notifier *n, const char *what)
{
	bool level = n->state & n->mask && !(n->pci.header.command & PCI_COMMAND_INTX_DISABLE);
	uint32_t bit = BIT(n->source);

	if (level != !!(vm->plic.level & bit) ||
	    (vm->config->aia && level != !!(vm->aplic.level & bit)))
		machine_differs("vm%u's %s is %s", vm->index, what, level ? "low" : "high");
	if (level && !vm->config->aia && !((vm->plic.pending | vm->plic.claimed) & bit))
		machine_differs("vm%u's %s has lost an interrupt", vm->index, what);
}

/* Outside of a life nothing rings, and no frame comes. */
static void look_at_functions(const struct vm *vm)
{
	const struct bell *bell = bell_of(vm, 0);

	if (vm->state != VM_RUNNING)
		return;
	if (bell && (!bell->function.alive || bell->lives != vm->life.number))
		machine_differs("vm%u's bell is in another life", vm->index);
	if (bell)
		look_at_level(vm, &bell->function, "bell");
	if (vm->config->n_ports)
		look_at_level(vm, &vm->ports[0]->device.function, "port");
}

void chip_look(bool asleep)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		const struct vm *vm = &vms[i];
		const struct source *s = clock_of(vm);
		uint32_t got = vm->plic.pending | vm->plic.claimed | vm->plic.asked;

		if (asleep)
			look_at_functions(vm);
		if (vm->config->aia) {
			if (asleep && s)
				look_at_route(vm, s);
			continue;
		}
		got &= ~(BIT(GUEST_UART_IRQ) | BIT(vm->config->rtc_source));
		if (vm->bell_of[0])
			got &= ~BIT(MACHINE_BELL);
		if (vm->config->n_ports)
			got &= ~BIT(vm->config->ports[0].source);
		if (got & ~(uint64_t)vm->wired)
			machine_differs("vm%u has an interrupt of somebody else's: %x", i, got);
		if (got && !s->came && vm->state == VM_RUNNING)
			machine_differs("vm%u has an interrupt of a life before", i);
		if (asleep && s && s->wire && !got && vm->state == VM_RUNNING &&
		    vplic_context(&vm->plic, 1) >= 0)
			machine_differs("vm%u has lost an interrupt", i);
		if (asleep && s && vm->state == VM_RUNNING)
			look_at_place(vm, s);
		if (asleep && s && s->on && vm->state == VM_OFF)
			machine_differs("vm%u is off, and its source is on", i);
	}
}

/* --- as the registers say ------------------------------------------------------------ */

void irqchip_init(const struct irqchip *chip)
{
	(void)chip;
	for (uint32_t i = 0; i < SOURCES; i++)
		sources[i] = (struct source){.place = NOBODY};
}

void irqchip_init_hart(const struct irqchip *chip, uint32_t place)
{
	(void)chip;
	if (place != machine.now)
		machine_differs("hart %u is at %u", machine.now, place);
}

bool irqchip_use(struct irqchip *chip, struct irqchip_source *source, uint32_t number,
                 enum irqchip_mode mode)
{
	(void)chip, (void)mode;
	*source = (struct irqchip_source){.number = number};
	return true;
}

void irqchip_set_affinity(const struct irqchip *chip, const struct irqchip_source *source,
                          uint32_t from, uint32_t to)
{
	struct source *s = source_of(source->number);

	(void)chip;
	machine_sees();
	if (!s)
		return;
	if (s->place != from)
		machine_differs("a source that is at %u is moved from %u", s->place, from);
	s->place = to;
}

void irqchip_set_enabled(const struct irqchip *chip, const struct irqchip_source *source, bool on,
                         bool held)
{
	struct source *s = source_of(source->number);

	(void)chip, (void)held;
	machine_sees();
	if (s)
		s->on = on;
}

uint32_t irqchip_claim(const struct irqchip *chip, uint32_t place)
{
	(void)chip;
	machine_sees();
	if (place == 0 && uart_interrupts())
		return UART_IRQ;
	look_at_wires();
	for (uint32_t i = 0; i < SOURCES; i++) {
		struct source *s = &sources[i];

		if (!s->on || !s->pending || s->place != place)
			continue;
		s->pending = false;
		s->claimed = true;
		return MACHINE_CLOCK_IRQ + i;
	}
	return 0;
}

bool irqchip_is_low(const struct irqchip *chip, const struct irqchip_source *source)
{
	(void)chip, (void)source;
	return false;
}

void irqchip_hold(const struct irqchip *chip, const struct irqchip_source *source)
{
	(void)chip, (void)source;
}

void irqchip_complete(const struct irqchip *chip, const struct irqchip_source *source,
                      uint32_t place, bool listens)
{
	struct source *s = source_of(source->number);

	(void)chip, (void)listens;
	machine_sees();
	if (!s)
		return;
	if (s->place != place)
		machine_differs("a completion at %u, and the source is at %u", place, s->place);
	if (!s->claimed)
		machine_differs("a completion of what was not claimed");
	s->claimed = false;
	gateway(s);
}

bool irqchip_forget(const struct irqchip *chip, const struct irqchip_source *source)
{
	const struct source *s = source_of(source->number);

	(void)chip;
	machine_sees();
	return !s || !s->pending;
}

/* --- devices ------------------------------------------------------------------------- */

bool device_reset_goldfish_rtc(uint64_t base)
{
	struct source *s = &sources[(base - MACHINE_CLOCK_BASE) / PAGE_SIZE];

	if (s->on || s->route.mode)
		machine_differs("a device is reset, and its source is on");
	/* Now and then it takes a while. */
	if (percent(&machine.chance, 10))
		return false;
	s->wire = s->came = false;
	return true;
}

/* It has no battery. */
bool rtc_read(uint64_t base, uint64_t *ns)
{
	*ns = base & 1;
	return true;
}

bool device_reset_ns16550(uint64_t base, uint32_t shift)
{
	(void)shift;
	return base;
}

bool device_reset_virtio_mmio(uint64_t base)
{
	return base;
}

/* --- sources of VMs with an AIA ------------------------------------------------------ */

/* No message of it goes to anybody else. */
static void look_at_target(uint32_t number, const struct irqchip_route *route)
{
	const struct source *s = source_of(number);

	for (uint32_t i = 0; i < n_vms; i++) {
		for (uint32_t k = 0; k < vms[i].config->n_vcpus; k++) {
			const struct vcpu *vcpu = vms[i].vcpus[k];

			if (clock_of(&vms[i]) == s && vcpu->guest_file == route->file &&
			    vcpu->home->irq_place == route->place)
				return;
		}
	}
	machine_differs("source %u sends to file %u of hart %u, which its VM has not", number,
	                route->file, route->place);
}

void irqchip_route(const struct irqchip *chip, const struct irqchip_source *source,
                   const struct irqchip_route *route)
{
	struct source *s = source_of(source->number);

	(void)chip;
	machine_sees();
	if (route->mode)
		look_at_target(source->number, route);
	if (s->route.mode != route->mode) {
		s->route = *route;
		s->pending = is_level(s) && input(s);
	}
	s->route = *route;
	forward(s);
}

void irqchip_set_pending(const struct irqchip *chip, const struct irqchip_source *source, bool on)
{
	struct source *s = source_of(source->number);

	(void)chip;
	machine_sees();
	s->pending = on && s->route.mode && (!is_level(s) || input(s));
	forward(s);
}

bool irqchip_reads(const struct irqchip *chip, const struct irqchip_source *source, bool pending)
{
	const struct source *s = source_of(source->number);

	(void)chip;
	machine_sees();
	return pending ? s->pending : input(s);
}
