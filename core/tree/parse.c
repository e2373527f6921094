/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the VM tree into struct vm_tree.
 *
 * The properties of each node are read in one pass and compared with the list of those it may have.
 * So a misspelt property is refused instead of having no effect.
 */
#include "core/tree/parse.h"

#include <libfdt.h>
#include <string.h>

#include "core/host/vm_props.h"
#include "core/host/vm_refusal.h"
#include "core/tree/pmu_node.h"
#include "core/tree/vm_aia.h"
#include "core/tree/vm_devices.h"
#include "core/tree/vm_layout.h"
#include "core/tree/vm_life_config.h"
#include "core/tree/vm_memory_config.h"
#include "core/tree/vm_names.h"
#include "core/tree/vm_operator.h"
#include "core/tree/vm_pmu_config.h"
#include "core/tree/vm_schedule.h"
#include "core/tree/vm_shared.h"
#include "core/tree/vm_turns.h"

struct image_ref {
	uint32_t phandle; /* 0: no VM refers to it */
	struct vm_image image;
};

struct parser {
	struct vm_blob b;
	const struct vm_limits *limits;
	uint32_t n_vcpus; /* of all VMs so far */
	uint32_t n_images;
	struct image_ref images[VM_MAX_IMAGES];
};

enum { IMAGE_DATA, IMAGE_PHANDLE, IMAGE_PROPS };
static const char *const image_props[IMAGE_PROPS] = {"data", "phandle"};

enum { VCPU_HARTS, VCPU_PROPS };
static const char *const vcpu_props[VCPU_PROPS] = {"harts"};

enum {
	VM_MEMORY, /* followed by the others of VM_MEMORY_PROP_NAMES */
	VM_KERNEL = VM_MEMORY + VM_MEMORY_PROPS,
	VM_LOAD_OFFSET,
	VM_INITRD,
	VM_BOOTARGS,
	VM_CONSOLE,
	VM_INTERRUPTS,
	VM_BUDGET,
	VM_LIFE,                             /* followed by the others of VM_LIFE_PROP_NAMES */
	VM_TURNS = VM_LIFE + VM_LIFE_PROPS,  /* followed by those of VM_TURN_PROP_NAMES */
	VM_PMU = VM_TURNS + VM_TURN_PROPS,   /* followed by VM_PMU_PROP_NAMES */
	VM_OPERATOR = VM_PMU + VM_PMU_PROPS, /* followed by VM_OPERATOR_PROP_NAMES */
	VM_PROPS = VM_OPERATOR + VM_OPERATOR_PROPS
};
/* In the order of the enum above. */
static const char *const vm_props[VM_PROPS] = {
    VM_MEMORY_PROP_NAMES, "kernel",           "load-offset",     "initrd",
    "bootargs",           "console",          "interrupts",      "budget",
    VM_LIFE_PROP_NAMES,   VM_TURN_PROP_NAMES, VM_PMU_PROP_NAMES, VM_OPERATOR_PROP_NAMES,
};

static bool parse_image(struct parser *p, int node, struct image_ref *ref)
{
	struct vm_prop props[IMAGE_PROPS];
	const struct vm_prop *data = &props[IMAGE_DATA];
	const struct vm_prop *phandle = &props[IMAGE_PHANDLE];

	if (!vm_read_props(&p->b, node, image_props, IMAGE_PROPS, props) ||
	    !vm_refuse_children(&p->b, node) || !vm_require(&p->b, node, data))
		return false;
	if (!data->size)
		return vm_refuse(&p->b, VM_REFUSED_EMPTY_IMAGE, node, "data", "is empty");
	ref->image = (struct vm_image){data->data, data->size};
	ref->phandle = 0;
	if (!phandle->data)
		return true;
	if (!vm_read_u32(&p->b, node, phandle, &ref->phandle))
		return false;
	for (uint32_t i = 0; i < p->n_images; i++)
		if (ref->phandle && p->images[i].phandle == ref->phandle)
			return vm_refuse(&p->b, VM_REFUSED_DUPLICATE, node, "phandle",
			                 "belongs to another image too");
	return true;
}

static bool parse_images(struct parser *p, int node)
{
	int child;

	if (!vm_read_props(&p->b, node, NULL, 0, NULL))
		return false;
	fdt_for_each_subnode(child, p->b.blob, node)
	{
		if (p->n_images == VM_MAX_IMAGES)
			return vm_refuse_numbers(&p->b, VM_REFUSED_TOO_MANY, child, "",
			                         "is one image more than #", VM_MAX_IMAGES, 0);
		if (!parse_image(p, child, &p->images[p->n_images]))
			return false;
		p->n_images++;
	}
	return true;
}

static bool find_image(struct parser *p, int node, const struct vm_prop *prop,
                       struct vm_image *image)
{
	uint32_t phandle;

	if (!vm_read_u32(&p->b, node, prop, &phandle))
		return false;
	for (uint32_t i = 0; phandle && i < p->n_images; i++) {
		if (p->images[i].phandle == phandle) {
			*image = p->images[i].image;
			return true;
		}
	}
	return vm_refuse(&p->b, VM_REFUSED_PHANDLE, node, prop->name,
	                 "does not refer to a child of /images");
}

/* A vcpu that moves takes its counts, timer and registers along, so its harts must be alike. */
static bool check_alike(struct parser *p, int node, uint64_t harts, uint32_t first)
{
	const struct vm_harts *all = &p->limits->harts;

	for (uint32_t i = 0; i < all->n && p->limits->differ; i++) {
		const char *why = harts >> i & 1 ? p->limits->differ(first, i) : NULL;

		if (why)
			return vm_refuse_numbers(&p->b, VM_REFUSED_HARTS, node, "harts", why,
			                         all->ids[first], all->ids[i]);
	}
	return true;
}

static bool parse_vcpu(struct parser *p, int node, uint32_t index, uint64_t *harts, uint32_t *first)
{
	char name[] = "vcpu0";
	struct vm_prop props[VCPU_PROPS];

	name[4] = (char)('0' + index);
	if (strcmp(fdt_get_name(p->b.blob, node, NULL), name) != 0)
		return vm_refuse_numbers(&p->b, VM_REFUSED_NO_VCPU, node, "",
		                         "vcpus are vcpu0, vcpu1 and so on: vcpu# belongs here",
		                         index, 0);
	if (!vm_read_props(&p->b, node, vcpu_props, VCPU_PROPS, props) ||
	    !vm_refuse_children(&p->b, node) || !vm_require(&p->b, node, &props[VCPU_HARTS]) ||
	    !vm_read_harts(&p->b, node, &props[VCPU_HARTS], p->limits, harts))
		return false;
	if (!*harts)
		return vm_refuse(&p->b, VM_REFUSED_SIZE, node, "harts", "names no hart");
	*first = vm_hart(&p->limits->harts, fdt32_ld(props[VCPU_HARTS].data));
	return check_alike(p, node, *harts, *first);
}

static bool parse_vcpus(struct parser *p, int node, struct vm_config *vm)
{
	int child;

	fdt_for_each_subnode(child, p->b.blob, node)
	{
		if (vm_is_devices(&p->b, child))
			continue;
		if (vm->n_vcpus == VM_MAX_VCPUS)
			return vm_refuse_numbers(&p->b, VM_REFUSED_TOO_MANY, child, "",
			                         "is one vcpu more than #", VM_MAX_VCPUS, 0);
		if (p->n_vcpus == VM_MAX_ALL_VCPUS)
			return vm_refuse_numbers(&p->b, VM_REFUSED_TOO_MANY, child, "",
			                         "is one vcpu more than # in all VMs together",
			                         VM_MAX_ALL_VCPUS, 0);
		if (!parse_vcpu(p, child, vm->n_vcpus, &vm->vcpus[vm->n_vcpus].harts,
		                &vm->vcpus[vm->n_vcpus].first_hart))
			return false;
		vm->n_vcpus++;
		p->n_vcpus++;
	}
	if (!vm->n_vcpus)
		return vm_refuse(&p->b, VM_REFUSED_NO_VCPU, node, "", "has no vcpu");
	return true;
}

static bool parse_images_of_vm(struct parser *p, int node, const struct vm_prop *props,
                               struct vm_config *vm)
{
	const struct vm_prop *load = &props[VM_LOAD_OFFSET];

	if (!vm_require(&p->b, node, &props[VM_KERNEL]) ||
	    !find_image(p, node, &props[VM_KERNEL], &vm->kernel))
		return false;
	if (props[VM_INITRD].data && !find_image(p, node, &props[VM_INITRD], &vm->initrd))
		return false;
	if (load->data && !vm_read_u64(&p->b, node, load, &vm->kernel_offset))
		return false;
	if (!vm_layout(vm, load->data != NULL, p->b.why)) {
		vm_refusal_set_node(p->b.why, p->b.blob, node);
		return false;
	}
	return true;
}

static bool parse_name(struct parser *p, int node, const struct vm_tree *tree, struct vm_config *vm)
{
	const char *name = fdt_get_name(p->b.blob, node, NULL);

	if (!vm_check_name(&p->b, node, "a VM", VM_NAME_MAX))
		return false;
	if (vm_named(tree, name) < tree->n_vms)
		return vm_refuse(&p->b, VM_REFUSED_DUPLICATE, node, "", "two VMs have this name");
	memcpy(vm->name, name, strlen(name));
	return true;
}

static bool parse_vm(struct parser *p, int node, struct vm_tree *tree, struct vm_config *vm)
{
	struct vm_prop props[VM_PROPS];

	vm->console = true;
	/* Memory and images come late, since a refusal of them hides all others of the VM. */
	if (!parse_name(p, node, tree, vm) ||
	    !vm_read_props(&p->b, node, vm_props, VM_PROPS, props) ||
	    !vm_parse_life(&p->b, node, &props[VM_LIFE], vm) ||
	    !vm_parse_turns(&p->b, node, &props[VM_TURNS], tree->turn_us, vm) ||
	    !vm_read_on(&p->b, node, &props[VM_CONSOLE], &vm->console) ||
	    (props[VM_BOOTARGS].data &&
	     !vm_read_string(&p->b, node, &props[VM_BOOTARGS], VM_BOOTARGS_MAX, &vm->bootargs)))
		return false;
	return parse_vcpus(p, node, vm) &&
	       vm_parse_interrupts(&p->b, node, &props[VM_INTERRUPTS], p->limits, tree, vm) &&
	       vm_parse_operator(&p->b, node, &props[VM_OPERATOR], vm) &&
	       vm_parse_pmu(&p->b, node, &props[VM_PMU], p->limits,
	                    tree->has_selectors ? &tree->selectors : NULL, vm) &&
	       vm_parse_budget(&p->b, node, &props[VM_BUDGET], p->limits, tree, vm) &&
	       vm_parse_memory(&p->b, node, &props[VM_MEMORY], p->limits, tree, vm) &&
	       vm_parse_devices(&p->b, node, p->limits, tree) &&
	       parse_images_of_vm(p, node, props, vm);
}

static bool parse_vms(struct parser *p, int node, struct vm_tree *tree)
{
	static const char *const names[] = {"turn-us", "inexact-counts"};
	struct vm_prop props[2];
	bool inexact = false; /* for the harts' probes: vm_config_parse_early() */
	int child;

	if (!vm_read_props(&p->b, node, names, 2, props) ||
	    !vm_parse_turn(&p->b, node, &props[0], tree) ||
	    !vm_read_on(&p->b, node, &props[1], &inexact))
		return false;
	fdt_for_each_subnode(child, p->b.blob, node)
	{
		if (tree->n_vms == VM_MAX_VMS)
			return vm_refuse_numbers(&p->b, VM_REFUSED_TOO_MANY, child, "",
			                         "is one VM more than #", VM_MAX_VMS, 0);
		if (!parse_vm(p, child, tree, &tree->vms[tree->n_vms]))
			return false;
		tree->n_vms++;
	}
	if (!tree->n_vms)
		return vm_refuse(&p->b, VM_REFUSED_NO_VM, node, "", "there is no VM to run");
	return true;
}

/* Checks that need all VMs. */
static bool check_vms(struct parser *p, int vms, int shared, int schedules, struct vm_tree *tree)
{
	if (shared >= 0 && !vm_parse_shared(&p->b, shared, p->limits, tree))
		return false;
	return vm_parse_controls(&p->b, vms, tree) && vm_check_started(&p->b, vms, tree) &&
	       vm_check_room(&p->b, vms, p->limits, tree) &&
	       vm_check_shared_room(&p->b, shared, p->limits, tree) &&
	       vm_check_bells(&p->b, shared, p->limits, tree) &&
	       vm_check_operators(&p->b, vms, p->limits, tree) &&
	       vm_check_exclusive_harts(&p->b, vms, &p->limits->harts, tree) &&
	       (schedules < 0 || vm_parse_schedules(&p->b, schedules, vms, p->limits, tree));
}

/* A hart that contradicts the table may count other events. Harts on which no guest counts do not
 * matter. */
static bool check_table(struct parser *p, int node, const struct vm_tree *tree)
{
	uint64_t harts = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++)
		for (uint32_t k = 0; k < tree->vms[i].n_vcpus && tree->vms[i].pmu_counters; k++)
			harts |= tree->vms[i].vcpus[k].harts;
	for (uint32_t i = 0; i < p->limits->harts.n && p->limits->contradicts; i++) {
		const char *what = harts >> i & 1 ? p->limits->contradicts(i) : NULL;

		if (what)
			return vm_refuse(&p->b, VM_REFUSED_CONTRADICTED, node, "", what);
	}
	return true;
}

/* The images are parsed first, wherever they are in the tree, because VMs refer to them. */
static bool parse_root(struct parser *p, struct vm_tree *tree)
{
	enum { IMAGES, VMS, PMU, SHARED, SCHEDULES, ROOT_NODES };
	static const char *const names[ROOT_NODES] = {"images", "vms", "pmu", "shared",
	                                              "schedules"};
	static const char *const root_props[] = {"compatible"};
	struct vm_prop props[1];
	int size = 0;
	const char *compatible = fdt_getprop(p->b.blob, 0, "compatible", &size);
	int nodes[ROOT_NODES] = {-1, -1, -1, -1, -1};
	int child;

	/* Checked first: if the tree is something else, no other refusal makes sense. */
	if (!compatible || !fdt_stringlist_contains(compatible, size, VM_TREE_COMPATIBLE))
		return vm_refuse(&p->b, VM_REFUSED_COMPATIBLE, 0, "compatible",
		                 "is not \"" VM_TREE_COMPATIBLE "\"");
	if (!vm_read_props(&p->b, 0, root_props, 1, props))
		return false;
	fdt_for_each_subnode(child, p->b.blob, 0)
	{
		const char *name = fdt_get_name(p->b.blob, child, NULL);
		uint32_t i = 0;

		while (i < ROOT_NODES && strcmp(name, names[i]) != 0)
			i++;
		if (i == ROOT_NODES)
			return vm_refuse(&p->b, VM_REFUSED_UNKNOWN_NODE, child, "",
			                 "no node of this name belongs here");
		if (nodes[i] >= 0)
			return vm_refuse(&p->b, VM_REFUSED_DUPLICATE, child, "", "is there twice");
		nodes[i] = child;
	}
	if (nodes[IMAGES] < 0 || nodes[VMS] < 0)
		return vm_refuse(&p->b, VM_REFUSED_MISSING_NODE, 0, "",
		                 nodes[IMAGES] < 0 ? "has no node /images" : "has no node /vms");
	tree->has_selectors = nodes[PMU] >= 0;
	if (nodes[PMU] >= 0 && !pmu_node_parse(&p->b, nodes[PMU], &tree->selectors))
		return false;
	return parse_images(p, nodes[IMAGES]) && parse_vms(p, nodes[VMS], tree) &&
	       check_vms(p, nodes[VMS], nodes[SHARED], nodes[SCHEDULES], tree) &&
	       (nodes[PMU] < 0 || check_table(p, nodes[PMU], tree));
}

bool vm_config_parse_early(const void *blob, uint64_t blob_size, struct selectors *out,
                           bool *inexact)
{
	struct vm_refusal why;
	struct vm_blob b = {blob, &why};
	const char *word;
	int size, node;

	memset(out, 0, sizeof(*out));
	*inexact = false;
	if (!vm_blob_check(&b, blob_size))
		return false;
	word = fdt_getprop(blob, fdt_subnode_offset(blob, 0, "vms"), "inexact-counts", &size);
	*inexact = word && size == sizeof("on") && memcmp(word, "on", sizeof("on")) == 0;
	node = fdt_subnode_offset(blob, 0, "pmu");
	return node >= 0 && pmu_node_parse(&b, node, out);
}

bool vm_config_parse(const void *blob, uint64_t blob_size, const struct vm_limits *limits,
                     struct vm_tree *out, struct vm_refusal *why)
{
	struct parser p = {.limits = limits};

	memset(out, 0, sizeof(*out));
	memset(why, 0, sizeof(*why));
	p.b = (struct vm_blob){blob, why};
	return vm_blob_check(&p.b, blob_size) && parse_root(&p, out);
}
