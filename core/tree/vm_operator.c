/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include "core/lib/types.h"
#include "core/tree/vm_names.h"
#include "core/tree/vm_shared.h"

#define REQUESTS_HZ_DEFAULT 100U
#define REQUESTS_HZ_MAX     10000U
#define SAMPLES_HZ_MAX      100000U

static const char *const interrupt[] = {"operator-interrupt", "operator-identity"};

/* Without `operator` the others would have no effect. */
static bool refuse_others(const struct vm_node *n)
{
	static const char *const others[] = {"operator-vms", "operator-requests-hz",
	                                     "operator-interrupt", "operator-identity",
	                                     "operator-samples-hz"};

	for (uint32_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (vm_has(n, others[i]))
			return vm_refuse(n, VM_REFUSED_MISSING_PROPERTY, others[i],
			                 "is that of an operator, and there is no property "
			                 "operator");
	}
	return true;
}

/* Without the property *hz stays as it is. */
static bool parse_rate(const struct vm_node *n, const char *name, uint32_t most, const char *what,
                       uint32_t *hz)
{
	if (!vm_has(n, name))
		return true;
	if (!vm_read_u32(n, name, hz))
		return false;
	return (*hz && *hz <= most) || vm_refuse(n, VM_REFUSED_VALUE, name,
	                                         "%u is not 1 to %u %s a second", *hz, most, what);
}

static bool parse_interrupt(const struct vm_node *n)
{
	struct vm_operator *o = &n->vm->operator;

	return vm_require(n, interrupt[0]) && vm_read_u32(n, interrupt[0], &o->source) &&
	       vm_check_source(n, interrupt[0], o->source) &&
	       vm_read_u32(n, interrupt[1], &o->identity) &&
	       (!vm_has(n, interrupt[1]) || vm_check_identity(n, interrupt[1], o->identity));
}

bool vm_parse_operator(const struct vm_node *n)
{
	static const char *const words[] = {"watch", "control"};
	struct vm_operator *o = &n->vm->operator;
	uint32_t which = 0;

	if (!vm_has(n, "operator"))
		return refuse_others(n);
	o->requests_hz = REQUESTS_HZ_DEFAULT;
	if (!vm_read_word(n, "operator", words, 2, &which) ||
	    !parse_rate(n, "operator-requests-hz", REQUESTS_HZ_MAX, "requests", &o->requests_hz) ||
	    !parse_interrupt(n) ||
	    !parse_rate(n, "operator-samples-hz", SAMPLES_HZ_MAX, "samples", &o->samples_hz))
		return false;
	o->access = which ? VM_OPERATOR_CONTROL : VM_OPERATOR_WATCH;
	return true;
}

/* Without a list a VM may ask about itself alone. */
static bool parse_vms(const struct vm_node *n)
{
	uint32_t *vms = &n->vm->operator.vms;

	*vms = vm_has(n, "operator-vms") ? 0 : UINT32_C(1) << (n->vm - n->tree->vms);
	return vm_read_names(n, "operator-vms", vms);
}

bool vm_check_operator(const struct vm_node *n)
{
	const struct vm_operator *o = &n->vm->operator;

	return o->access == VM_OPERATOR_NONE ||
	       (parse_vms(n) && vm_check_unused(n, interrupt, "a bell", o->source, o->identity) &&
	        vm_check_operator_bus(n, "operator"));
}
