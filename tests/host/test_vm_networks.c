/* SPDX-License-Identifier: Apache-2.0 */
/* Networks between VMs: what the VM tree's parser makes of them, and what it refuses; and the
 * switch of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/devices/vswitch.h"
#include "core/tree/pci_node.h"
#include "tests/host/board.h"
#include "tests/host/vm_tree.h"

#define LAN   "/networks/lan"
#define ALPHA LAN "/alpha"
#define BETA  LAN "/beta"

static const uint8_t one[VM_MAC_BYTES] = {2, 0, 0, 0, 0, 1}, two[VM_MAC_BYTES] = {2, 0, 0, 0, 0, 2};

/* Both have a port. */
static void *one_network(void)
{
	void *t = good_tree();

	node(t, "/networks");
	node(t, LAN);
	node(t, ALPHA);
	node(t, BETA);
	test_host = NULL;
	return t;
}

static void what_vms_get(void **state)
{
	void *t = one_network();
	const struct vm_tree *tree = accepted(t);
	const struct vm_port *alpha = &tree->vms[0].ports[0], *beta = &tree->vms[1].ports[0];
	uint8_t derived[VM_MAC_BYTES];

	(void)state;
	assert_int_equal(tree->n_networks, 1);
	assert_string_equal(tree->networks[0].name, "lan");
	assert_int_equal(tree->vms[0].n_ports, 1);
	assert_int_equal(tree->vms[1].n_ports, 1);
	assert_int_equal(alpha->network, 0);
	assert_int_equal(alpha->source, 31);
	assert_false(alpha->uplink);
	/* Locally administered, of one station, and the same in each boot. */
	assert_int_equal(alpha->mac[0] & 3, 2);
	assert_int_equal(beta->mac[0] & 3, 2);
	assert_memory_not_equal(alpha->mac, beta->mac, VM_MAC_BYTES);
	memcpy(derived, alpha->mac, sizeof(derived));
	assert_memory_equal(accepted(t)->vms[0].ports[0].mac, derived, sizeof(derived));
	assert_true(pci_node_is_there(&tree->vms[0]));
	assert_int_equal(pci_node_slot(&tree->vms[0], tree->vms[0].n_shared + 2), 29);
	set_bytes(t, BETA, "mac-address", two, sizeof(two));
	set_string(t, BETA, "uplink", "on");
	set_string(t, "/vms/alpha", "shutdown", "key");
	tree = accepted(t);
	assert_memory_equal(tree->vms[1].ports[0].mac, two, sizeof(two));
	assert_true(tree->vms[1].ports[0].uplink);
	assert_int_equal(tree->vms[0].key_source, 31);
	assert_int_equal(tree->vms[0].ports[0].source, 30);
}

static void macs(void **state)
{
	static const uint8_t none[VM_MAC_BYTES], group[VM_MAC_BYTES] = {1, 2, 3, 4, 5, 6};
	void *t = one_network();

	(void)state;
	set_bytes(t, ALPHA, "mac-address", one, 5);
	refused(t, VM_REFUSED_SIZE, ALPHA ": mac-address: is 5 bytes long, not 6");
	set_bytes(t, ALPHA, "mac-address", none, sizeof(none));
	refused(t, VM_REFUSED_VALUE, ALPHA ": mac-address: is no address of one station");
	set_bytes(t, ALPHA, "mac-address", group, sizeof(group));
	refused(t, VM_REFUSED_VALUE, ALPHA ": mac-address: is no address of one station");
	set_bytes(t, ALPHA, "mac-address", one, sizeof(one));
	set_bytes(t, BETA, "mac-address", one, sizeof(one));
	/* Nodes that come later are read first. */
	refused(t, VM_REFUSED_DUPLICATE, ALPHA ": mac-address: is that of VM beta on this network");
	set_bytes(t, BETA, "mac-address", two, sizeof(two));
	(void)accepted(t);
}

static void who_has_a_port(void **state)
{
	void *t = one_network();

	(void)state;
	node(t, LAN "/gamma");
	refused(t, VM_REFUSED_NO_VM, LAN "/gamma: no VM has this name");
	delete_node(t, LAN "/gamma");
	node(t, ALPHA "/child");
	refused(t, VM_REFUSED_UNKNOWN_NODE, ALPHA "/child: no node belongs here");
	delete_node(t, ALPHA "/child");
	set_string(t, ALPHA, "offload", "on");
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY, ALPHA ": offload: is not a property of this node");
	delete_prop(t, ALPHA, "offload");
	delete_node(t, BETA);
	refused(t, VM_REFUSED_NETWORK,
	        LAN ": one VM has a port of it: a network connects two VMs at least");
	delete_node(t, ALPHA);
	refused(t, VM_REFUSED_NETWORK,
	        LAN ": no VM has a port of it: a network connects two VMs at least");
}

static void uplinks(void **state)
{
	void *t = one_network();

	(void)state;
	set_string(t, ALPHA, "uplink", "on");
	set_string(t, BETA, "uplink", "on");
	refused(t, VM_REFUSED_NETWORK, ALPHA ": uplink: VM beta has the uplink of this network");
	set_string(t, BETA, "uplink", "off");
	assert_true(accepted(t)->vms[0].ports[0].uplink);
}

static void limits(void **state)
{
	void *t = one_network();
	const struct vm_port *alpha, *beta;

	(void)state;
	alpha = &accepted(t)->vms[0].ports[0];
	assert_int_equal(alpha->frames_per_ms, 0);
	assert_int_equal(alpha->bytes_per_ms, 0);
	set_u32(t, ALPHA, "frames-per-ms", 1);
	set_u32(t, BETA, "bytes-per-ms", 1518);
	alpha = &accepted(t)->vms[0].ports[0];
	beta = &accepted(t)->vms[1].ports[0];
	assert_int_equal(alpha->frames_per_ms, 1);
	assert_int_equal(alpha->bytes_per_ms, 0);
	assert_int_equal(beta->frames_per_ms, 0);
	assert_int_equal(beta->bytes_per_ms, 1518);
	set_u32(t, BETA, "frames-per-ms", 100000);
	set_u32(t, BETA, "bytes-per-ms", 100000000);
	beta = &accepted(t)->vms[1].ports[0];
	assert_int_equal(beta->frames_per_ms, 100000);
	assert_int_equal(beta->bytes_per_ms, 100000000);
	set_u32(t, BETA, "bytes-per-ms", 1517);
	refused(t, VM_REFUSED_VALUE, BETA ": bytes-per-ms: 1517 is not 1518 to 100000000");
	set_u32(t, BETA, "bytes-per-ms", 100000001);
	refused(t, VM_REFUSED_VALUE, BETA ": bytes-per-ms: 100000001 is not 1518 to 100000000");
	set_u64(t, BETA, "bytes-per-ms", 1518);
	refused(t, VM_REFUSED_SIZE, BETA ": bytes-per-ms: is 8 bytes long, not 4: one cell");
	delete_prop(t, BETA, "bytes-per-ms");
	set_u32(t, BETA, "frames-per-ms", 0);
	refused(t, VM_REFUSED_VALUE, BETA ": frames-per-ms: 0 is not 1 to 100000");
	set_u32(t, BETA, "frames-per-ms", 100001);
	refused(t, VM_REFUSED_VALUE, BETA ": frames-per-ms: 100001 is not 1 to 100000");
}

static void offloads(void **state)
{
	void *t = one_network();

	(void)state;
	assert_false(accepted(t)->networks[0].offload);
	set_string(t, LAN, "offload", "on");
	assert_true(accepted(t)->networks[0].offload);
	set_u32(t, BETA, "bytes-per-ms", 65550);
	assert_int_equal(accepted(t)->vms[1].ports[0].bytes_per_ms, 65550);
	set_u32(t, BETA, "bytes-per-ms", 65549);
	refused(t, VM_REFUSED_VALUE, BETA ": bytes-per-ms: 65549 is not 65550 to 100000000");
	set_string(t, LAN, "offload", "off");
	assert_false(accepted(t)->networks[0].offload);
	set_string(t, LAN, "offload", "yes");
	refused(t, VM_REFUSED_VALUE, LAN ": offload: is not \"on\" or \"off\"");
}

static void too_many(void **state)
{
	void *t = one_network();
	char path[64];

	(void)state;
	for (uint32_t i = 0; i < VM_MAX_PORTS; i++) {
		(void)snprintf(path, sizeof(path), "/networks/more%u", i);
		node(t, path);
		(void)snprintf(path, sizeof(path), "/networks/more%u/alpha", i);
		node(t, path);
		(void)snprintf(path, sizeof(path), "/networks/more%u/beta", i);
		node(t, path);
	}
	refused_first(t, VM_REFUSED_TOO_MANY, BETA ": is one port more than 4 of the VM");
	delete_node(t, BETA);
	delete_node(t, ALPHA);
	delete_node(t, LAN);
	assert_int_equal(accepted(t)->vms[0].n_ports, VM_MAX_PORTS);
	node(t, "/networks/UPPER");
	refused(t, VM_REFUSED_NAME,
	        "/networks/UPPER: the name of a network is 1 to 15 characters of a-z, 0-9 and -");
}

/* The lowest slots are those of ports, but for one with a device or whose source is taken. No bus
 * is in the tree for them. */
static void in_slots(void **state)
{
	void *t = one_network();
	const struct vm_config *vm;

	(void)state;
	set_string(t, "/vms/beta", "machine", "virt");
	vm = &accepted(t)->vms[1];
	assert_int_equal(vm->ports[0].source, 1);
	assert_int_equal(vm_port_at(vm, 0), 0x10001000);
	assert_false(pci_node_is_there(vm));
	assert_int_equal(vm_pci_ports(vm), 0);
	assert_int_equal(vm_pci_ports(vm - 1), 1);
	assert_int_equal(vm_port_at(vm - 1, 0), GUEST_PORT_BASE);
	node(t, "/networks/more");
	node(t, "/networks/more/alpha");
	node(t, "/networks/more/beta");
	use_board("plic");
	delete_node(board, "/soc/virtio_mmio@10001000");
	give(t, "/vms/beta", "clock", "/soc/rtc@101000", "none");
	for (uint32_t slot = 0; slot < 8; slot++) {
		const fdt32_t reg[] = {0, cpu_to_fdt32(0x10001000 + slot * 0x1000), 0,
		                       cpu_to_fdt32(0x1000)};

		set_bytes(board, "/soc/rtc@101000", "reg", reg, sizeof(reg));
		vm = &accepted(t)->vms[1];
		assert_int_equal(vm->ports[0].source, slot ? 1 : 2);
		assert_int_equal(vm->ports[1].source, slot > 1 ? 2 : 3);
		assert_int_equal(vm_port_at(vm, 1), slot > 1 ? 0x10002000 : 0x10003000);
	}
	test_host = NULL;
}

/* One device may be in the place of all slots. */
static void no_slot(void **state)
{
	const fdt32_t reg[] = {0, cpu_to_fdt32(0x10001000), 0, cpu_to_fdt32(0x8000)};
	void *t = one_network();

	(void)state;
	set_string(t, "/vms/beta", "machine", "virt");
	use_board("plic");
	delete_node(board, "/soc/virtio_mmio@10001000");
	give(t, "/vms/beta", "clock", "/soc/rtc@101000", "none");
	set_bytes(board, "/soc/rtc@101000", "reg", reg, sizeof(reg));
	refused(t, VM_REFUSED_INTERRUPT,
	        "/vms/beta: no virtio-mmio slot of the VM is left for its port of network lan");
	test_host = NULL;
}

/* --- the switch ---------------------------------------------------------------------------- */

/* An address as it is written, with the first byte highest. */
#define MAC(written) __builtin_bswap64(UINT64_C(written) << 16)

#define A MAC(0x020000000001)
#define B MAC(0x020000000002)
#define C MAC(0x020000000003)

static void a_switch(void **state)
{
	struct vswitch s = {.n = 3, .uplink = VSWITCH_PORTS, .macs = {A, B, C}};
	const uint8_t bytes[ETHERNET_MAC] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc};
	uint16_t halves[ETHERNET_MAC / 2];

	(void)state;
	memcpy(halves, bytes, sizeof(halves));
	assert_int_equal(vswitch_mac(halves), MAC(0x123456789abc));
	assert_int_equal(vswitch_targets(&s, 0, B), 2);
	assert_int_equal(vswitch_targets(&s, 2, A), 1);
	assert_int_equal(vswitch_targets(&s, 1, B), 0); /* its own */
	assert_int_equal(vswitch_targets(&s, 1, MAC(0xffffffffffff)), 5);
	assert_int_equal(vswitch_targets(&s, 0, MAC(0x333300000001)), 6);
	assert_int_equal(vswitch_targets(&s, 0, MAC(0x020000000004)), 0);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(vswitch_targets(&s, 0, MAC(0x0180c2000000) + (i << 40)), 0);
	assert_int_equal(vswitch_targets(&s, 0, MAC(0x0180c2000010)), 6);
	assert_true(vswitch_accepts(&s, 0, A));
	assert_false(vswitch_accepts(&s, 0, B));
	assert_false(vswitch_accepts(&s, 0, MAC(0x020000000004)));
	s.uplink = 2;
	assert_int_equal(vswitch_targets(&s, 0, MAC(0x020000000004)), 4);
	assert_int_equal(vswitch_targets(&s, 2, MAC(0x020000000004)), 0);
	assert_true(vswitch_accepts(&s, 2, MAC(0x020000000004)));
	assert_true(vswitch_accepts(&s, 2, C));
	assert_false(vswitch_accepts(&s, 2, A));
	assert_false(vswitch_accepts(&s, 2, MAC(0xffffffffffff)));
	assert_false(vswitch_accepts(&s, 0, MAC(0x020000000004)));
}

int test_vm_networks(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_vms_get),   cmocka_unit_test(macs),
	    cmocka_unit_test(who_has_a_port), cmocka_unit_test(uplinks),
	    cmocka_unit_test(limits),         cmocka_unit_test(offloads),
	    cmocka_unit_test(too_many),       cmocka_unit_test(in_slots),
	    cmocka_unit_test(no_slot),        cmocka_unit_test(a_switch),
	};

	return cmocka_run_group_tests_name("vm_networks", tests, NULL, NULL);
}
