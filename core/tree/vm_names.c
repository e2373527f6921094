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

bool vm_check_name(const struct vm_blob *b, int node, const char *of, uint32_t most)
{
	return vm_is_name(fdt_get_name(b->blob, node, NULL), most) ||
	       vm_refuse_text(b, VM_REFUSED_NAME, node, "",
	                      "the name of %s is 1 to %u characters of a-z, 0-9 and -", of, most);
}

uint32_t vm_named(const struct vm_tree *tree, const char *name)
{
	uint32_t i = 0;

	while (i < tree->n_vms && strcmp(tree->vms[i].name, name) != 0)
		i++;
	return i;
}

bool vm_find_named(const struct vm_blob *b, int node, const char *property,
                   const struct vm_tree *tree, const char *name, uint32_t *vm)
{
	*vm = vm_named(tree, name);
	return *vm < tree->n_vms || vm_refuse_text(b, VM_REFUSED_NAME, node, property,
	                                           "no VM has the name \"%s\"", name);
}

/* Ends after at most VM_MAX_VMS names, because none may come twice. */
bool vm_read_names(const struct vm_blob *b, int node, const struct vm_prop *prop,
                   const struct vm_tree *tree, uint32_t *named)
{
	const char *name = prop->data, *end = name + prop->size;
	uint32_t vm;

	if (!prop->size || end[-1])
		return vm_refuse(b, VM_REFUSED_STRING, node, prop->name,
		                 "is not a list of strings");
	for (; name < end; name += strlen(name) + 1) {
		if (!vm_find_named(b, node, prop->name, tree, name, &vm))
			return false;
		if (*named >> vm & 1)
			return vm_refuse_text(b, VM_REFUSED_DUPLICATE, node, prop->name,
			                      "names \"%s\" twice", name);
		*named |= UINT32_C(1) << vm;
	}
	return true;
}
