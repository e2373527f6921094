/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_names.h"

#include <libfdt.h>
#include <string.h>

bool vm_is_name(const char *name, uint32_t most)
{
	uint32_t n = 0;

	while (n < most && ((name[n] >= 'a' && name[n] <= 'z') ||
	                    (name[n] >= '0' && name[n] <= '9') || name[n] == '-'))
		n++;
	return n && !name[n];
}

bool vm_check_name(const struct vm_node *n, const char *of, uint32_t most)
{
	return vm_is_name(fdt_get_name(n->blob, n->at, NULL), most) ||
	       vm_refuse(n, VM_REFUSED_NAME, "",
	                 "the name of %s is 1 to %u characters of a-z, 0-9 and -", of, most);
}

uint32_t vm_named(const struct vm_tree *tree, const char *name)
{
	uint32_t i = 0;

	while (i < tree->n_vms && strcmp(tree->vms[i].name, name) != 0)
		i++;
	return i;
}

bool vm_find_named(const struct vm_node *n, const char *property, const char *name, uint32_t *vm)
{
	*vm = vm_named(n->tree, name);
	return *vm < n->tree->n_vms ||
	       vm_refuse(n, VM_REFUSED_NAME, property, "no VM has the name \"%s\"", name);
}

/* Ends after at most VM_MAX_VMS names, because none may come twice. */
bool vm_read_names(const struct vm_node *n, const struct vm_prop *prop, uint32_t *named)
{
	const char *name = prop->data, *end;
	uint32_t vm;

	if (!name)
		return true;
	end = name + prop->size;
	if (!prop->size || end[-1])
		return vm_refuse(n, VM_REFUSED_STRING, prop->name, "is not a list of strings");
	for (; name < end; name += strlen(name) + 1) {
		if (!vm_find_named(n, prop->name, name, &vm))
			return false;
		if (*named >> vm & 1)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, prop->name, "names \"%s\" twice",
			                 name);
		*named |= UINT32_C(1) << vm;
	}
	return true;
}

bool vm_parse_children(const struct vm_node *n, bool (*parse)(const struct vm_node *child))
{
	struct vm_node child = vm_node_at(n, -1);

	if (!vm_read_props(n, NULL, 0, NULL))
		return false;
	fdt_for_each_subnode(child.at, n->blob, n->at)
	{
		if (!parse(&child))
			return false;
	}
	return true;
}

bool vm_each(const struct vm_node *vms, bool (*check)(const struct vm_node *n))
{
	struct vm_node n = vm_node_at(vms, -1);

	n.vm = n.tree->vms;
	fdt_for_each_subnode(n.at, n.blob, vms->at)
	{
		if (!check(&n))
			return false;
		n.vm++;
	}
	return true;
}
