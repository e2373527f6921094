/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>

#include "core/tree/vm_names.h"

#define REQUESTS_HZ_DEFAULT 100U
#define REQUESTS_HZ_MAX     10000U
#define SAMPLES_HZ_MAX      100000U

static const char *const names[VM_OPERATOR_PROPS] = {VM_OPERATOR_PROP_NAMES};

/* Without `operator` the others would have no effect. */
static bool refuse_others(const struct vm_node *n, const struct vm_prop *props)
{
	for (uint32_t i = OPERATOR_ACCESS + 1; i < VM_OPERATOR_PROPS; i++) {
		if (props[i].data)
			return vm_refuse(n, VM_REFUSED_MISSING_PROPERTY, names[i],
			                 "is that of an operator, and there is no property "
			                 "operator");
	}
	return true;
}

/* Without the property *hz stays as it is. */
static bool parse_rate(const struct vm_node *n, const struct vm_prop *prop, uint32_t most,
                       const char *what, uint32_t *hz)
{
	if (!prop->data)
		return true;
	if (!vm_read_u32(n, prop, hz))
		return false;
	return (*hz && *hz <= most) || vm_refuse(n, VM_REFUSED_VALUE, prop->name,
	                                         "%u is not 1 to %u %s a second", *hz, most, what);
}

static bool parse_interrupt(const struct vm_node *n, const struct vm_prop *props)
{
	const struct vm_prop *source = &props[OPERATOR_INTERRUPT], *id = &props[OPERATOR_IDENTITY];
	struct vm_operator *o = &n->vm->operator;

	if (!vm_require(n, source) || !vm_read_u32(n, source, &o->source))
		return false;
	if (!vm_check_source(n, source->name, o->source) || !vm_read_u32(n, id, &o->identity))
		return false;
	return !id->data || vm_check_identity(n, id->name, o->identity);
}

bool vm_parse_operator(const struct vm_node *n, const struct vm_prop *props)
{
	static const char *const words[] = {"watch", "control"};
	struct vm_operator *o = &n->vm->operator;
	uint32_t which = 0;

	if (!props[OPERATOR_ACCESS].data)
		return refuse_others(n, props);
	o->requests_hz = REQUESTS_HZ_DEFAULT;
	if (!vm_read_word(n, &props[OPERATOR_ACCESS], words, 2, &which) ||
	    !parse_rate(n, &props[OPERATOR_REQUESTS_HZ], REQUESTS_HZ_MAX, "requests",
	                &o->requests_hz) ||
	    !parse_interrupt(n, props) ||
	    !parse_rate(n, &props[OPERATOR_SAMPLES_HZ], SAMPLES_HZ_MAX, "samples", &o->samples_hz))
		return false;
	o->access = which ? VM_OPERATOR_CONTROL : VM_OPERATOR_WATCH;
	return true;
}

/* Without a list a VM may ask about itself alone. */
static bool parse_vms(const struct vm_node *n)
{
	struct vm_prop prop = {.name = names[OPERATOR_VMS]};
	uint32_t *vms = &n->vm->operator.vms;
	int size = 0;

	prop.data = fdt_getprop(n->blob, n->at, prop.name, &size);
	prop.size = (uint32_t)size;
	*vms = prop.data ? 0 : UINT32_C(1) << (n->vm - n->tree->vms);
	return vm_read_names(n, &prop, vms);
}

bool vm_check_operator(const struct vm_node *n)
{
	const struct vm_operator *o = &n->vm->operator;

	return o->access == VM_OPERATOR_NONE ||
	       (parse_vms(n) &&
	        vm_check_unused(n, &names[OPERATOR_INTERRUPT], "a bell", o->source, o->identity) &&
	        vm_check_operator_bus(n, names[OPERATOR_ACCESS]));
}
