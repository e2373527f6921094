/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes are a host's device tree. A VM is given each node of it, then the first four that it
 * could have alone together, then PCI functions: each promise of the parser holds, and the guest's
 * tree is a device tree with as many nodes. Nothing of Tally's own is ever given. The bytes choose
 * whether the VM has an AIA, or machine = "virt".
 */
#include <stdlib.h>
#include <string.h>

#include <libfdt.h>

#include "core/host/host_tree.h"
#include "core/life/guest_dt.h"
#include "core/tree/parse.h"
#include "tests/fuzz/fuzz.h"
#include "tests/host/vm_tree.h"
#include "tools/vm_check/tree.h"

#define MOST_NODES    48
#define MOST_TOGETHER 4

static const void *host;
static bool aia, virt;
static const char *const kept[] = {"riscv,plic0",   "riscv,aplic",     "riscv,imsics",
                                   "sifive,clint0", "riscv,iommu",     "sifive,test0",
                                   "syscon-reboot", "syscon-poweroff", "qemu,fw-cfg-mmio"};

static void *begin_vm(void)
{
	void *t = good_tree();

	set_u32(t, "/vms/beta", "restart-limit", 0);
	if (aia)
		set_string(t, "/vms/beta", "interrupts", "aia");
	if (virt)
		set_string(t, "/vms/beta", "machine", "virt");
	node(t, "/vms/beta/devices");
	return t;
}

static void give(void *t, int which, const char *path)
{
	char at[] = "/vms/beta/devices/a";

	at[sizeof(at) - 2] = (char)('a' + which);
	set_string(t, at, "host", path);
	set_string(t, at, "dma", "none");
	set_bytes(t, at, "dma-unchecked", "", 0);
}

static void give_function(void *t, int which, const char *name)
{
	char at[] = "/vms/beta/devices/a";

	at[sizeof(at) - 2] = (char)('a' + which);
	set_string(t, at, "pci", name);
	set_string(t, at, "dma", "isolated");
}

/* There is a bus behind an IOMMU that Tally drives. */
static void check_bus(void)
{
	int bridge = fdt_node_offset_by_compatible(host, -1, "pci-host-ecam-generic");

	while (bridge >= 0 && host_tree_is_disabled(host, bridge))
		bridge = fdt_node_offset_by_compatible(host, bridge, "pci-host-ecam-generic");
	require(bridge >= 0 && fdt_getprop(host, bridge, "iommu-map", NULL));
	require(fdt_node_offset_by_compatible(host, -1, "riscv,iommu") >= 0);
}

static void check_given(const struct vm_config *vm)
{
	/* Its vcpu is on hart 0. */
	require(vm->aia == aia && (!aia || tree_guest_files(host, 0)));
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		int given = vm->devices[i].node;

		if (vm->devices[i].pci.given) {
			check_bus();
			continue;
		}
		require(given > 0 && given != host_tree_console(host));
		require(!host_tree_is_disabled(host, given));
		require(fdt_first_subnode(host, given) < 0);
		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			require(!host_tree_says(host, given, "compatible", kept[k]));
	}
}

/* Whether a device has the page of a virtio-mmio slot. */
static bool is_taken(const struct vm_config *vm, uint64_t slot)
{
	bool taken = false;

	for (uint32_t i = 0; i < vm->n_devices; i++)
		for (uint32_t k = 0; k < vm->devices[i].n_regions; k++)
			taken |=
			    slot - vm->devices[i].regions[k].base < vm->devices[i].regions[k].size;
	return taken;
}

static void check_guest_tree(const struct vm_config *vm)
{
	static _Alignas(8) uint8_t dt[VM_DTB_SIZE];
	static const char *const extensions[] = {"i"};
	const struct guest_machine machine = {.timebase_frequency = 10000000,
	                                      .isa = "rv64i",
	                                      .isa_extensions = extensions,
	                                      .n_ext = 1,
	                                      .mmu_type = "riscv,sv39",
	                                      .host_tree = host};
	int child, n = 0, wanted = 2 + vm->aia + (virt ? 8 : 0);
	bool bus = false, clock = !is_taken(vm, 0x101000);

	for (uint32_t i = 0; i < vm->n_devices; i++) {
		bus |= vm->devices[i].pci.given;
		wanted += !vm->devices[i].pci.given;
		clock &= vm->devices[i].reset != VM_RESET_GOLDFISH_RTC;
	}
	require(vm->rtc == clock);
	wanted += clock;
	for (uint64_t slot = 0x10001000; virt && slot < 0x10009000; slot += 0x1000)
		wanted -= is_taken(vm, slot);
	require(!guest_dt_build(dt, sizeof(dt), vm, &machine));
	require(!fdt_check_full(dt, sizeof(dt)));
	fdt_for_each_subnode(child, dt, fdt_subnode_offset(dt, 0, "soc"))
	{
		n += fdt_getprop(dt, child, "reg", NULL) != NULL;
	}
	require(n == wanted + bus);
}

static uint32_t guest_files(uint32_t hart)
{
	return tree_guest_files(host, test_limits.harts.ids[hart]);
}

/* Returns whether the VM can have its devices. */
static bool try_tree(const void *t)
{
	static struct vm_tree out;
	struct vm_limits limits = test_limits;
	struct vm_refusal why;
	bool good;

	limits.host_tree = host;
	limits.guest_files = guest_files;
	good = vm_config_parse(t, fdt_totalsize(t), &limits, &out, &why);
	check_promises(good, &limits, &out, &why, t, fdt_totalsize(t));
	if (good) {
		check_given(&out.vms[1]);
		check_guest_tree(&out.vms[1]);
	}
	return good;
}

static void try_all(void)
{
	char path[128], together[MOST_TOGETHER][sizeof(path)];
	int n = 0, tried = 0;
	void *t;

	for (int at = 0; at >= 0 && tried < MOST_NODES; at = fdt_next_node(host, at, NULL)) {
		if (fdt_get_path(host, at, path, sizeof(path)))
			continue;
		tried++;
		t = begin_vm();
		give(t, 0, path);
		if (try_tree(t) && n < MOST_TOGETHER)
			memcpy(together[n++], path, sizeof(path));
	}
	t = begin_vm();
	for (int i = 0; i < n; i++)
		give(t, i, together[i]);
	try_tree(t);
	give_function(t, n, "00:01.0");
	give_function(t, n + 1, "1af4:1041");
	try_tree(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < sizeof(struct fdt_header) || fdt_check_header(data) ||
	    fdt_totalsize(data) > size || fdt_check_full(data, size))
		return 0;
	host = data;
	aia = fdt_boot_cpuid_phys(data) & 1;
	virt = !aia && fdt_size_dt_struct(data) & 4;
	try_all();
	return 0;
}
