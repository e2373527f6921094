/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_operator.h"

#include <libfdt.h>

#include "core/tree/vm_devices.h"
#include "core/tree/vm_names.h"
#include "core/tree/vm_shared.h"

#define REQUESTS_HZ_DEFAULT 100U
#define REQUESTS_HZ_MAX     10000U
#define IDENTITIES          63U /* of each interrupt file */

static const char *const names[VM_OPERATOR_PROPS] = {VM_OPERATOR_PROP_NAMES};

/* Without `operator` the others would have no effect. */
static bool refuse_others(const struct vm_blob *b, int node, const struct vm_prop *props)
{
	for (uint32_t i = OPERATOR_ACCESS + 1; i < VM_OPERATOR_PROPS; i++) {
		if (props[i].data)
			return vm_refuse(b, VM_REFUSED_MISSING_PROPERTY, node, names[i],
			                 "is that of an operator, and there is no property "
			                 "operator");
	}
	return true;
}

static bool parse_rate(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t *hz)
{
	*hz = REQUESTS_HZ_DEFAULT;
	if (prop->data && !vm_read_u32(b, node, prop, hz))
		return false;
	return (*hz && *hz <= REQUESTS_HZ_MAX) ||
	       vm_refuse_numbers(b, VM_REFUSED_VALUE, node, prop->name,
	                         "# is not 1 to # requests a second", *hz, REQUESTS_HZ_MAX);
}

static bool parse_interrupt(const struct vm_blob *b, int node, const struct vm_prop *props,
                            struct vm_config *vm)
{
	const struct vm_prop *source = &props[OPERATOR_INTERRUPT], *id = &props[OPERATOR_IDENTITY];
	struct vm_operator *o = &vm->operator;

	if (!vm_require(b, node, source) || !vm_read_u32(b, node, source, &o->source))
		return false;
	if (!o->source || o->source > GUEST_PLIC_SOURCES)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, source->name,
		                         "# is no source of the VM's interrupt controller, which "
		                         "are 1 to #",
		                         o->source, GUEST_PLIC_SOURCES);
	if (!id->data)
		return true;
	if (!vm_read_u32(b, node, id, &o->identity))
		return false;
	if (!vm->aia)
		return vm_refuse(b, VM_REFUSED_INTERRUPT, node, id->name,
		                 "is one of an interrupt file, which the VM has with interrupts = "
		                 "\"aia\"");
	return (o->identity && o->identity <= IDENTITIES) ||
	       vm_refuse_numbers(b, VM_REFUSED_VALUE, node, id->name,
	                         "# is no identity that each interrupt file has: these are 1 to #",
	                         o->identity, IDENTITIES);
}

bool vm_parse_operator(const struct vm_blob *b, int node, const struct vm_prop *props,
                       struct vm_config *vm)
{
	static const char *const words[] = {"watch", "control"};
	uint32_t which = 0;

	if (!props[OPERATOR_ACCESS].data)
		return refuse_others(b, node, props);
	if (!vm_read_word(b, node, &props[OPERATOR_ACCESS], words, 2,
	                  "is not \"watch\" or \"control\"", &which) ||
	    !parse_rate(b, node, &props[OPERATOR_REQUESTS_HZ], &vm->operator.requests_hz) ||
	    !parse_interrupt(b, node, props, vm))
		return false;
	vm->operator.access = which ? VM_OPERATOR_CONTROL : VM_OPERATOR_WATCH;
	return true;
}

/* Its interrupt is that of nothing else. */
static bool check_interrupt(const struct vm_blob *b, int node, const struct vm_config *vm)
{
	const struct vm_operator *o = &vm->operator;
	const struct vm_device *device = vm_device_of_irq(vm, o->source);
	const char *property = names[OPERATOR_INTERRUPT];

	if (o->source == GUEST_UART_IRQ && vm->console)
		return vm_refuse_numbers(b, VM_REFUSED_INTERRUPT, node, property,
		                         "source # is that of the VM's UART", o->source, 0);
	if (device)
		return vm_refuse_text(b, VM_REFUSED_INTERRUPT, node, property,
		                      "source %u is that of the VM's device %s", o->source,
		                      device->name);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell == o->source)
			return vm_refuse_numbers(b, VM_REFUSED_INTERRUPT, node, property,
			                         "source # is that of a bell of the VM", o->source,
			                         0);
		if (o->identity && vm->shared[i].identity == o->identity)
			return vm_refuse_numbers(b, VM_REFUSED_INTERRUPT, node,
			                         names[OPERATOR_IDENTITY],
			                         "# is that of a bell of the VM", o->identity, 0);
	}
	return true;
}

/* Without a list a VM may ask about itself alone. */
static bool parse_vms(const struct vm_blob *b, int node, const struct vm_tree *tree, uint32_t self,
                      uint32_t *vms)
{
	struct vm_prop prop = {.name = names[OPERATOR_VMS]};
	int size = 0;

	prop.data = fdt_getprop(b->blob, node, prop.name, &size);
	prop.size = (uint32_t)size;
	if (prop.data)
		return vm_read_names(b, node, &prop, tree, vms);
	*vms = UINT32_C(1) << self;
	return true;
}

bool vm_check_operators(const struct vm_blob *b, int vms, const struct vm_limits *limits,
                        struct vm_tree *tree)
{
	uint32_t n = 0;
	int node;

	fdt_for_each_subnode(node, b->blob, vms)
	{
		struct vm_config *vm = &tree->vms[n++];

		if (vm->operator.access != VM_OPERATOR_NONE &&(
		        !parse_vms(b, node, tree, n - 1, &vm->operator.vms) ||
		        !check_interrupt(b, node, vm) ||
		        !vm_check_bus(b, node, names[OPERATOR_ACCESS], limits, tree, vm)))
			return false;
	}
	return true;
}
