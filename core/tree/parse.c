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
#include "core/tree/pmu_node.h"
#include "core/tree/vm_groups.h"
#include "core/tree/vm_life_config.h"
#include "core/tree/vm_machine.h"
#include "core/tree/vm_memory.h"
#include "core/tree/vm_names.h"

enum { IMAGE_DATA, IMAGE_PHANDLE, IMAGE_PROPS };
static const char *const image_props[IMAGE_PROPS] = {"data", "phandle"};

static const char *const vcpu_props[] = {"harts"};

enum {
	VM_MEMORY, /* followed by the others of VM_MEMORY_PROP_NAMES */
	VM_KERNEL = VM_MEMORY + VM_MEMORY_PROPS,
	VM_LOAD_OFFSET,
	VM_INITRD,
	VM_BOOTARGS,
	VM_CONSOLE,
	VM_INTERRUPTS,
	VM_MACHINE,
	VM_BUDGET,
	VM_LIFE,                             /* followed by the others of VM_LIFE_PROP_NAMES */
	VM_TURNS = VM_LIFE + VM_LIFE_PROPS,  /* followed by those of VM_TURN_PROP_NAMES */
	VM_PMU = VM_TURNS + VM_TURN_PROPS,   /* followed by VM_PMU_PROP_NAMES */
	VM_OPERATOR = VM_PMU + VM_PMU_PROPS, /* followed by VM_OPERATOR_PROP_NAMES */
	VM_PROPS = VM_OPERATOR + VM_OPERATOR_PROPS
};
/* In the order of the enum above. */
static const char *const vm_props[VM_PROPS] = {
    VM_MEMORY_PROP_NAMES,
    "kernel",
    "load-offset",
    "initrd",
    "bootargs",
    "console",
    "interrupts",
    "machine",
    "budget",
    VM_LIFE_PROP_NAMES,
    VM_TURN_PROP_NAMES,
    VM_PMU_PROP_NAMES,
    VM_OPERATOR_PROP_NAMES,
};

/* Returns the node of the first image with this phandle; negative: there is none. */
static int image_of(const struct vm_node *n, uint32_t phandle)
{
	int node;

	fdt_for_each_subnode(node, n->blob, fdt_subnode_offset(n->blob, 0, "images"))
	{
		if (phandle && fdt_get_phandle(n->blob, node) == phandle)
			break;
	}
	return node;
}

static bool parse_image(const struct vm_node *n)
{
	struct vm_prop props[IMAGE_PROPS];
	const struct vm_prop *data = &props[IMAGE_DATA];
	uint32_t phandle = 0;

	if (!vm_has_room(n, "image", n->tree->n_images, VM_MAX_IMAGES) ||
	    !vm_read_props(n, image_props, IMAGE_PROPS, props) || !vm_refuse_children(n) ||
	    !vm_require(n, data))
		return false;
	if (!data->size)
		return vm_refuse(n, VM_REFUSED_EMPTY_IMAGE, "data", "is empty");
	if (!vm_read_u32(n, &props[IMAGE_PHANDLE], &phandle))
		return false;
	n->tree->n_images++;
	return !phandle || image_of(n, phandle) == n->at ||
	       vm_refuse(n, VM_REFUSED_DUPLICATE, "phandle", "belongs to another image too");
}

static bool find_image(const struct vm_node *n, const struct vm_prop *prop, struct vm_image *image)
{
	uint32_t phandle = 0;
	int node, size = 0;

	if (!vm_read_u32(n, prop, &phandle))
		return false;
	node = image_of(n, phandle);
	if (node >= 0)
		image->data = fdt_getprop(n->blob, node, "data", &size);
	image->size = (uint64_t)size;
	return node >= 0 || !prop->data ||
	       vm_refuse(n, VM_REFUSED_PHANDLE, prop->name, "does not refer to a child of /images");
}

/* Refuses a vcpu for a reason with two ids of harts, each in place of a '#'. */
static bool refuse_harts(const struct vm_node *n, const char *why, uint32_t id, uint32_t other)
{
	const char *first = strchr(why, '#'), *second = strchr(first + 1, '#');

	return vm_refuse(n, VM_REFUSED_HARTS, "harts", "%.*s%u%.*s%u%s", (int)(first - why), why,
	                 id, (int)(second - first - 1), first + 1, other, second + 1);
}

/* A vcpu that moves takes its counts, timer and registers along, so its harts must be alike. */
static bool check_alike(const struct vm_node *n, uint64_t harts, uint32_t first)
{
	const struct vm_harts *all = &n->limits->harts;

	for (uint32_t i = 0; i < all->n && n->limits->differ; i++) {
		const char *why = harts >> i & 1 ? n->limits->differ(first, i) : NULL;

		if (why)
			return refuse_harts(n, why, all->ids[first], all->ids[i]);
	}
	return true;
}

static bool parse_vcpu(const struct vm_node *n)
{
	uint32_t index = n->vm->n_vcpus;
	uint64_t *harts = &n->vm->vcpus[index].harts;
	uint32_t *first = &n->vm->vcpus[index].first_hart;
	char name[] = "vcpu0";
	struct vm_prop prop;

	name[4] = (char)('0' + index);
	if (strcmp(fdt_get_name(n->blob, n->at, NULL), name) != 0)
		return vm_refuse(n, VM_REFUSED_NO_VCPU, "",
		                 "vcpus are vcpu0, vcpu1 and so on: %s belongs here", name);
	if (!vm_read_props(n, vcpu_props, 1, &prop) || !vm_refuse_children(n) ||
	    !vm_require(n, &prop) || !vm_read_mask(n, &prop, NULL, harts))
		return false;
	if (!*harts)
		return vm_refuse(n, VM_REFUSED_SIZE, "harts", "names no hart");
	*first = vm_hart(&n->limits->harts, fdt32_ld(prop.data));
	return check_alike(n, *harts, *first);
}

static bool parse_vcpus(const struct vm_node *n)
{
	struct vm_node child = vm_node_at(n, -1);
	uint32_t others = 0; /* vcpus of earlier VMs */

	for (uint32_t i = 0; i < n->tree->n_vms; i++)
		others += n->tree->vms[i].n_vcpus;
	fdt_for_each_subnode(child.at, n->blob, n->at)
	{
		if (vm_is_devices(&child))
			continue;
		if (!vm_has_room(&child, "vcpu", n->vm->n_vcpus, VM_MAX_VCPUS))
			return false;
		if (others + n->vm->n_vcpus == VM_MAX_ALL_VCPUS)
			return vm_refuse(&child, VM_REFUSED_TOO_MANY, "",
			                 "is one vcpu more than %u in all VMs together",
			                 VM_MAX_ALL_VCPUS);
		if (!parse_vcpu(&child))
			return false;
		n->vm->n_vcpus++;
	}
	return n->vm->n_vcpus || vm_refuse(n, VM_REFUSED_NO_VCPU, "", "has no vcpu");
}

static bool parse_images_of_vm(const struct vm_node *n, const struct vm_prop *props)
{
	struct vm_config *vm = n->vm;

	return vm_require(n, &props[VM_KERNEL]) && find_image(n, &props[VM_KERNEL], &vm->kernel) &&
	       find_image(n, &props[VM_INITRD], &vm->initrd) &&
	       vm_read_u64(n, &props[VM_LOAD_OFFSET], &vm->kernel_offset) &&
	       vm_layout(n, props[VM_LOAD_OFFSET].data != NULL);
}

static bool parse_name(const struct vm_node *n)
{
	const char *name = fdt_get_name(n->blob, n->at, NULL);

	if (!vm_check_name(n, "a VM", VM_NAME_MAX))
		return false;
	if (vm_named(n->tree, name) < n->tree->n_vms)
		return vm_refuse(n, VM_REFUSED_DUPLICATE, "", "two VMs have this name");
	memcpy(n->vm->name, name, strlen(name));
	return true;
}

static bool check_shutdown(const struct vm_node *n)
{
	return n->vm->shutdown != VM_SHUTDOWN_SYSRQ || n->vm->console ||
	       vm_refuse(n, VM_REFUSED_REFERENCE, "shutdown", "\"sysrq\" needs the console");
}

static bool parse_vm(const struct vm_node *n)
{
	struct vm_config *vm = n->vm;
	struct vm_prop props[VM_PROPS];

	if (!vm_has_room(n, "VM", n->tree->n_vms, VM_MAX_VMS))
		return false;
	vm->console = true;
	/* Memory and images come late, since a refusal of them hides all others of the VM. */
	if (!parse_name(n) || !vm_read_props(n, vm_props, VM_PROPS, props) ||
	    !vm_parse_life(n, &props[VM_LIFE]) || !vm_parse_turns(n, &props[VM_TURNS]) ||
	    !vm_read_on(n, &props[VM_CONSOLE], &vm->console) || !check_shutdown(n) ||
	    !vm_read_string(n, &props[VM_BOOTARGS], VM_BOOTARGS_MAX, &vm->bootargs) ||
	    !parse_vcpus(n) || !vm_parse_interrupts(n, &props[VM_INTERRUPTS]) ||
	    !vm_parse_machine(n, &props[VM_MACHINE]) ||
	    !vm_parse_operator(n, &props[VM_OPERATOR]) || !vm_parse_pmu(n, &props[VM_PMU]) ||
	    !vm_parse_budget(n, &props[VM_BUDGET]) || !vm_parse_memory(n, &props[VM_MEMORY]) ||
	    !vm_parse_devices(n) || !parse_images_of_vm(n, props))
		return false;
	n->tree->n_vms++;
	return true;
}

static bool parse_vms(const struct vm_node *n)
{
	static const char *const names[] = {"turn-us", "inexact-counts", "time-epoch"};
	struct vm_prop props[3];
	bool inexact = false; /* for the harts' probes: vm_config_parse_early() */

	if (!vm_read_props(n, names, 3, props) || !vm_parse_turn(n, &props[0]) ||
	    !vm_read_on(n, &props[1], &inexact) ||
	    !vm_read_u32(n, &props[2], &n->tree->time_epoch) || !vm_each(n, parse_vm))
		return false;
	return n->tree->n_vms || vm_refuse(n, VM_REFUSED_NO_VM, "", "there is no VM to run");
}

/* A hart that contradicts the table may count other events. Harts on which no guest counts do not
 * matter. */
static bool check_table(const struct vm_node *n)
{
	const struct vm_limits *limits = n->limits;
	const struct vm_tree *tree = n->tree;
	uint64_t harts = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++)
		for (uint32_t k = 0; k < tree->vms[i].n_vcpus && tree->vms[i].pmu_counters; k++)
			harts |= tree->vms[i].vcpus[k].harts;
	for (uint32_t i = 0; i < limits->harts.n && limits->contradicts; i++) {
		const char *what = harts >> i & 1 ? limits->contradicts(i) : NULL;

		if (what)
			return vm_refuse(n, VM_REFUSED_CONTRADICTED, "", "%s", what);
	}
	return true;
}

enum { IMAGES, VMS, PMU, SHARED, SCHEDULES, NETWORKS, ROOT_NODES };

/* One after the other for each VM, because walking over the nodes takes longer. */
static bool check_own_devices(const struct vm_node *n)
{
	return vm_choose_rtc(n) && vm_check_operator(n) && vm_check_key(n) && vm_check_ports(n);
}

/* Checks that need all VMs. The offsets of nodes that are not there are negative. */
static bool check_vms(const struct vm_node *nodes)
{
	const struct vm_node *vms = &nodes[VMS], *shared = &nodes[SHARED];

	return (shared->at < 0 || vm_parse_shared(shared)) &&
	       (nodes[NETWORKS].at < 0 || vm_parse_networks(&nodes[NETWORKS])) &&
	       vm_each(vms, vm_parse_controls) && vm_check_started(vms) &&
	       vm_each(vms, vm_check_guards) && vm_place_memory(vms) && vm_place_shared(shared) &&
	       vm_check_bells(shared) && vm_each(vms, check_own_devices) &&
	       vm_each(vms, vm_check_exclusive_harts) &&
	       (nodes[SCHEDULES].at < 0 || vm_parse_schedules(&nodes[SCHEDULES], vms)) &&
	       (nodes[PMU].at < 0 || check_table(&nodes[PMU]));
}

static bool find_nodes(const struct vm_node *n, struct vm_node *nodes)
{
	static const char *const names[ROOT_NODES] = {"images", "vms",       "pmu",
	                                              "shared", "schedules", "networks"};
	struct vm_node child = vm_node_at(n, -1);

	for (uint32_t i = 0; i < ROOT_NODES; i++) {
		nodes[i] = vm_node_at(n, -1);
	}
	fdt_for_each_subnode(child.at, n->blob, n->at)
	{
		const char *name = fdt_get_name(n->blob, child.at, NULL);
		uint32_t i = 0;

		while (i < ROOT_NODES && strcmp(name, names[i]) != 0)
			i++;
		if (i == ROOT_NODES)
			return vm_refuse(&child, VM_REFUSED_UNKNOWN_NODE, "",
			                 "no node of this name belongs here");
		if (nodes[i].at >= 0)
			return vm_refuse(&child, VM_REFUSED_DUPLICATE, "", "is there twice");
		nodes[i].at = child.at;
	}
	for (uint32_t i = IMAGES; i <= VMS; i++)
		if (nodes[i].at < 0)
			return vm_refuse(n, VM_REFUSED_MISSING_NODE, "", "has no node /%s",
			                 names[i]);
	return true;
}

/* The images are parsed first, wherever they are in the tree, because VMs refer to them. */
static bool parse_root(const struct vm_node *n)
{
	static const char *const root_props[] = {"compatible"};
	struct vm_node nodes[ROOT_NODES];
	struct vm_prop prop;
	int size = 0;
	const char *compatible = fdt_getprop(n->blob, n->at, "compatible", &size);

	/* Checked first: if the tree is something else, no other refusal makes sense. */
	if (!compatible || !fdt_stringlist_contains(compatible, size, VM_TREE_COMPATIBLE))
		return vm_refuse(n, VM_REFUSED_COMPATIBLE, "compatible",
		                 "is not \"" VM_TREE_COMPATIBLE "\"");
	if (!vm_read_props(n, root_props, 1, &prop) || !find_nodes(n, nodes))
		return false;
	n->tree->has_selectors = nodes[PMU].at >= 0;
	return (nodes[PMU].at < 0 || pmu_node_parse(&nodes[PMU], &n->tree->selectors)) &&
	       vm_parse_children(&nodes[IMAGES], parse_image) && parse_vms(&nodes[VMS]) &&
	       check_vms(nodes);
}

bool vm_config_parse_early(const void *blob, uint64_t blob_size, struct selectors *out,
                           bool *inexact)
{
	struct vm_refusal why;
	struct vm_node n = {.blob = blob, .why = &why};
	const char *word;
	int size;

	memset(out, 0, sizeof(*out));
	*inexact = false;
	if (!vm_blob_check(&n, blob_size))
		return false;
	word = fdt_getprop(blob, fdt_subnode_offset(blob, 0, "vms"), "inexact-counts", &size);
	*inexact = word && size == sizeof("on") && memcmp(word, "on", sizeof("on")) == 0;
	n.at = fdt_subnode_offset(blob, 0, "pmu");
	return n.at >= 0 && pmu_node_parse(&n, out);
}

bool vm_config_parse(const void *blob, uint64_t blob_size, const struct vm_limits *limits,
                     struct vm_tree *out, struct vm_refusal *why)
{
	const struct vm_node root = {blob, 0, why, limits, out, NULL};

	memset(out, 0, sizeof(*out));
	memset(why, 0, sizeof(*why));
	return vm_blob_check(&root, blob_size) && parse_root(&root);
}
