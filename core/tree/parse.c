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
#include "core/tree/vm_devices.h"
#include "core/tree/vm_memory.h"
#include "core/tree/vm_names.h"
#include "core/tree/vm_schedule.h"
#include "core/tree/vm_shared.h"

static const char vm_props[] =
    "memory memory-at kernel load-offset initrd bootargs console interrupts budget "
    "restart restart-limit bad-access controls heartbeat-ms crash-exits boot look share "
    "pmu pmu-counters pmu-reads pmu-events pmu-raw-events pmu-snapshot pmu-freeze "
    "pmu-idle-cycles pmu-overflow pmu-overflow-limit "
    "operator operator-vms operator-requests-hz operator-interrupt operator-identity "
    "operator-samples-hz";

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
	uint32_t phandle = 0, size;

	if (!vm_has_room(n, "image", n->tree->n_images, VM_MAX_IMAGES) ||
	    !vm_check_props(n, "data phandle") || !vm_refuse_children(n) || !vm_require(n, "data"))
		return false;
	vm_prop(n, "data", &size);
	if (!size)
		return vm_refuse(n, VM_REFUSED_EMPTY_IMAGE, "data", "is empty");
	if (!vm_read_u32(n, "phandle", &phandle))
		return false;
	n->tree->n_images++;
	return !phandle || image_of(n, phandle) == n->at ||
	       vm_refuse(n, VM_REFUSED_DUPLICATE, "phandle", "belongs to another image too");
}

static bool find_image(const struct vm_node *n, const char *name, struct vm_image *image)
{
	uint32_t phandle = 0;
	int node, size = 0;

	if (!vm_read_u32(n, name, &phandle))
		return false;
	node = image_of(n, phandle);
	if (node >= 0)
		image->data = fdt_getprop(n->blob, node, "data", &size);
	image->size = (uint64_t)size;
	return node >= 0 || !vm_has(n, name) ||
	       vm_refuse(n, VM_REFUSED_PHANDLE, name, "does not refer to a child of /images");
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

	name[4] = (char)('0' + index);
	if (strcmp(fdt_get_name(n->blob, n->at, NULL), name) != 0)
		return vm_refuse(n, VM_REFUSED_NO_VCPU, "",
		                 "vcpus are vcpu0, vcpu1 and so on: %s belongs here", name);
	if (!vm_check_props(n, "harts") || !vm_refuse_children(n) || !vm_require(n, "harts") ||
	    !vm_read_harts(n, "harts", harts))
		return false;
	if (!*harts)
		return vm_refuse(n, VM_REFUSED_SIZE, "harts", "names no hart");
	*first = vm_hart(&n->limits->harts, fdt32_ld(fdt_getprop(n->blob, n->at, "harts", NULL)));
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

static bool parse_images_of_vm(const struct vm_node *n)
{
	struct vm_config *vm = n->vm;

	return vm_require(n, "kernel") && find_image(n, "kernel", &vm->kernel) &&
	       find_image(n, "initrd", &vm->initrd) &&
	       vm_read_u64(n, "load-offset", &vm->kernel_offset) && vm_layout(n);
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

static bool parse_vm(const struct vm_node *n)
{
	struct vm_config *vm = n->vm;

	if (!vm_has_room(n, "VM", n->tree->n_vms, VM_MAX_VMS))
		return false;
	vm->console = true;
	/* Memory and images come late, since a refusal of them hides all others of the VM. */
	if (!parse_name(n) || !vm_check_props(n, vm_props) || !vm_parse_life(n) ||
	    !vm_parse_turns(n) || !vm_read_on(n, "console", &vm->console) ||
	    !vm_read_string(n, "bootargs", VM_BOOTARGS_MAX, &vm->bootargs) || !parse_vcpus(n) ||
	    !vm_parse_interrupts(n) || !vm_parse_operator(n) || !vm_parse_pmu(n) ||
	    !vm_parse_budget(n) || !vm_parse_memory(n) || !vm_parse_devices(n) ||
	    !parse_images_of_vm(n))
		return false;
	n->tree->n_vms++;
	return true;
}

static bool parse_vms(const struct vm_node *n)
{
	bool inexact = false; /* for the harts' probes: vm_config_parse_early() */

	if (!vm_check_props(n, "turn-us inexact-counts") || !vm_parse_turn(n) ||
	    !vm_read_on(n, "inexact-counts", &inexact) || !vm_each(n, parse_vm))
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

enum { IMAGES, VMS, PMU, SHARED, SCHEDULES, ROOT_NODES };

/* Checks that need all VMs. The offsets of nodes that are not there are negative. */
static bool check_vms(const struct vm_node *nodes)
{
	const struct vm_node *vms = &nodes[VMS], *shared = &nodes[SHARED];

	return (shared->at < 0 || vm_parse_shared(shared)) && vm_each(vms, vm_parse_controls) &&
	       vm_check_started(vms) && vm_each(vms, vm_check_guards) && vm_place_memory(vms) &&
	       vm_place_shared(shared) && vm_check_bells(shared) &&
	       vm_each(vms, vm_check_operator) && vm_each(vms, vm_check_exclusive_harts) &&
	       (nodes[SCHEDULES].at < 0 || vm_parse_schedules(&nodes[SCHEDULES], vms)) &&
	       (nodes[PMU].at < 0 || check_table(&nodes[PMU]));
}

static bool find_nodes(const struct vm_node *n, struct vm_node *nodes)
{
	static const char *const names[ROOT_NODES] = {"images", "vms", "pmu", "shared",
	                                              "schedules"};
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
	struct vm_node nodes[ROOT_NODES];
	int size = 0;
	const char *compatible = fdt_getprop(n->blob, n->at, "compatible", &size);

	/* Checked first: if the tree is something else, no other refusal makes sense. */
	if (!compatible || !fdt_stringlist_contains(compatible, size, VM_TREE_COMPATIBLE))
		return vm_refuse(n, VM_REFUSED_COMPATIBLE, "compatible",
		                 "is not \"" VM_TREE_COMPATIBLE "\"");
	if (!vm_check_props(n, "compatible") || !find_nodes(n, nodes))
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
