/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of properties and nodes of the VM tree, each in a file of its own. For the parser only. A
 * function that refuses something fills in the refusal and returns false.
 */
#ifndef CORE_TREE_VM_GROUPS_H
#define CORE_TREE_VM_GROUPS_H

#include "core/host/vm_props.h"

/* --- vm_memory_config.c: memory */

/* Indices of these properties, and their names in the same order. */
enum { MEMORY_SIZE, MEMORY_AT, VM_MEMORY_PROPS };
#define VM_MEMORY_PROP_NAMES "memory", "memory-at"

/*
 * Parses these properties of a VM. The tree has the earlier VMs. Host memory is set only if the VM
 * has chosen it.
 */
bool vm_parse_memory(const struct vm_node *n, const struct vm_prop *props);

/* Refuses a VM whose chosen memory is followed by something in its guard. All VMs are parsed. */
bool vm_check_guards(const struct vm_node *n);

/* --- vm_layout.c: the addresses of kernel, initrd and device tree in a VM's RAM */

/*
 * On entry first_size, n_pieces, kernel, initrd and, if load_offset_given, kernel_offset of the VM
 * are set. Sets kernel_is_image, kernel_span and the other offsets.
 */
bool vm_layout(const struct vm_node *n, bool load_offset_given);

/* --- vm_turns.c: time slices of vcpus that share a hart, and their budget of events */

/* These properties of a VM node, in the order of VM_TURN_PROP_NAMES. */
enum { TURN_LOOK, TURN_SHARE, VM_TURN_PROPS };
#define VM_TURN_PROP_NAMES "look", "share"

/* Reads a number of microseconds, and refuses one outside these bounds. If the property is not
 * given, *us is not changed. */
bool vm_read_us(const struct vm_node *n, const struct vm_prop *prop, uint32_t least, uint32_t most,
                uint32_t *us);

/* Sets turn_us of the tree. turn is the property turn-us of /vms. */
bool vm_parse_turn(const struct vm_node *n, const struct vm_prop *turn);

/* Sets no_look, share and turn_us of the VM; a share of 1 is turn_us of the tree. props has
 * VM_TURN_PROPS entries. The other vcpus on the VM's harts are not known yet:
 * vm_check_exclusive_harts() checks them. */
bool vm_parse_turns(const struct vm_node *n, const struct vm_prop *props);

/* Sets the VM's budget. Its vcpus and its other properties are parsed already. */
bool vm_parse_budget(const struct vm_node *n, const struct vm_prop *prop);

/* --- vm_aia.c: the property `interrupts` */

/* Sets aia of the VM, whose vcpus are known, and checks that there are guest interrupt files for
 * its vcpus and those of earlier VMs. */
bool vm_parse_interrupts(const struct vm_node *n, const struct vm_prop *prop);

/* Whether a range of guest physical addresses covers one of the VM's interrupt controllers; *chip
 * is the address of the first of them. */
bool vm_covers_chip(const struct vm_config *vm, uint64_t base, uint64_t size, uint64_t *chip);

/* --- vm_operator.c: an operator (docs/operator.md) */

/* These properties of a VM node, in the order of VM_OPERATOR_PROP_NAMES. */
enum {
	OPERATOR_ACCESS,
	OPERATOR_VMS,
	OPERATOR_REQUESTS_HZ,
	OPERATOR_INTERRUPT,
	OPERATOR_IDENTITY,
	OPERATOR_SAMPLES_HZ,
	VM_OPERATOR_PROPS
};
#define VM_OPERATOR_PROP_NAMES                                                                     \
	"operator", "operator-vms", "operator-requests-hz", "operator-interrupt",                  \
	    "operator-identity", "operator-samples-hz"

/* Sets n->vm->operator, except its list of VMs; n->vm->aia is known. props has VM_OPERATOR_PROPS
 * entries. */
bool vm_parse_operator(const struct vm_node *n, const struct vm_prop *props);

/* Sets the list of VMs of a VM's node, and does the checks that need all VMs and bells. */
bool vm_check_operator(const struct vm_node *n);

/* --- vm_pmu_config.c: the PMU */

/* These properties of a VM node, in the order of VM_PMU_PROP_NAMES. */
enum {
	PMU_ON,
	PMU_COUNTERS,
	PMU_READS,
	PMU_EVENTS,
	PMU_RAW_EVENTS,
	PMU_SNAPSHOT,
	PMU_FREEZE,
	PMU_IDLE_CYCLES,
	PMU_OVERFLOW,
	PMU_OVERFLOW_LIMIT,
	VM_PMU_PROPS
};
#define VM_PMU_PROP_NAMES                                                                          \
	"pmu", "pmu-counters", "pmu-reads", "pmu-events", "pmu-raw-events", "pmu-snapshot",        \
	    "pmu-freeze", "pmu-idle-cycles", "pmu-overflow", "pmu-overflow-limit"

/* Sets the pmu members of the VM, which are zero. props has VM_PMU_PROPS entries. */
bool vm_parse_pmu(const struct vm_node *n, const struct vm_prop *props);

/* Refuses a VM that shares its harts and has a property that needs exclusive harts. All VMs of the
 * tree are parsed. */
bool vm_check_exclusive_harts(const struct vm_node *n);

/* --- vm_devices.c: the node `devices` */

/* Whether a child of a VM's node is the node `devices`. */
bool vm_is_devices(const struct vm_node *child);

/*
 * Reads the devices of a VM, whose other properties are read already, and checks them against the
 * host's tree, if there is one, and against earlier VMs. n is the VM's node.
 */
bool vm_parse_devices(const struct vm_node *n);

/* Returns a device that has this source of the VM's own interrupt controller, or NULL. */
const struct vm_device *vm_device_of_irq(const struct vm_config *vm, uint32_t number);

/* --- vm_functions.c: PCI functions in that node. The checks need no access to the bus */

/* Reads the name of a function, "BB:DD.F" or "VVVV:DDDD", and `force`. Refuses values of `dma` that
 * no function can have, and a function that acts on the machine (pci_acts.h). */
bool vm_function_parse(const struct vm_node *n, const struct vm_prop *pci,
                       const struct vm_prop *force, struct vm_device *device);

/* Whether two devices name the same function in the same words. */
bool vm_function_is_same(const struct vm_device *a, const struct vm_device *b);

/* Refuses a function that this host cannot isolate, and a function of a VM that has something else
 * at the addresses of its PCI bus. All devices of the VM are known. The host's tree may be NULL. */
bool vm_function_check(const struct vm_node *n, const struct vm_device *device);

/* --- host_devices.c: a device of a VM in the host's tree, limits->host_tree, which is not NULL */

/* Sets node, reset, regions and irqs of a device, except irqs[].guest. Refuses one that a VM cannot
 * have. n is the device's node in the VM tree. */
bool host_device_find(const struct vm_node *n, struct vm_device *device);

/* Refuses a device that shares a page of registers or an interrupt with another node of the host
 * that the VM does not have as well. */
bool host_device_check_unshared(const struct vm_node *n, const struct vm_device *device);

/* --- vm_shared.c, vm_bell.c: the node /shared, memory of several VMs, and its bells */

/* Parses the node, after all VMs are parsed. Host memory is not chosen yet. */
bool vm_parse_shared(const struct vm_node *n);

/* Bells: interrupts between VMs that share memory. */
#define VM_BELL_PROP_NAMES "bell", "bell-identity"
enum { VM_BELL_SOURCE, VM_BELL_IDENTITY, VM_BELL_PROPS };

/* Parses the bell of the VM's last shared memory, whose size is known. */
bool vm_parse_bell(const struct vm_node *n, const struct vm_prop *props);

/* Checks that need all shared memory. n is the node /shared, or none, with a negative offset. */
bool vm_check_bells(const struct vm_node *n);

/* Checks of the interrupt of a function that Tally emulates, a source of the VM's interrupt
 * controller and perhaps an identity. */
bool vm_check_source(const struct vm_node *n, const char *property, uint32_t source);
bool vm_check_identity(const struct vm_node *n, const char *property, uint32_t identity);

/* Checks that the VM's UART, devices and bells so far have neither of the two; 0: any may have it.
 * properties: their names. bell: how a refusal calls a bell, "a bell" or "another bell". */
bool vm_check_unused(const struct vm_node *n, const char *const properties[2], const char *bell,
                     uint32_t source, uint32_t identity);

/* Checks that the addresses of the VM's PCI bus are free, with an operator's function, with a power
 * key, and with ports. */
bool vm_check_port_bus(const struct vm_node *n);
bool vm_check_operator_bus(const struct vm_node *n, const char *property);
bool vm_check_key_bus(const struct vm_node *n, const char *property);

/* --- vm_rtc.c, vm_key.c: the VM's own clock and power key. These come last, and take sources of
 * the VM's interrupt controller that are left */

/* Sets rtc and rtc_source of the VM; returns true. A VM that has an RTC of the machine's, or
 * something else at the RTC's address, has no clock of its own. */
bool vm_choose_rtc(const struct vm_node *n);

/* Sets key_source of a VM with shutdown = "key". Refuses one that has no source left, or something
 * else at the addresses of its PCI bus. */
bool vm_check_key(const struct vm_node *n);

/* --- vm_networks.c: the node /networks (docs/networks.md) */

/* Parses the node, after all VMs are parsed. Sets the ports of VMs, except their sources. */
bool vm_parse_networks(const struct vm_node *n);

/* Sets the sources of a VM's ports, n->vm, after those of its clock and its power key. Refuses a VM
 * that has too few left, or something else at the addresses of its PCI bus. */
bool vm_check_ports(const struct vm_node *n);

/* Returns the highest source that the VM does not have, or 0. Devices have the lowest ones. */
uint32_t vm_highest_irq(const struct vm_config *vm);

/* --- vm_schedule.c, vm_schedule_check.c: the node /schedules, windows of harts in a frame */

/* Parses the node, after all VMs are parsed, and checks that each vcpu of these harts has time.
 * `vms` is the node /vms. */
bool vm_parse_schedules(const struct vm_node *n, const struct vm_node *vms);

/* Part of vm_parse_schedules(). Checks one schedule whose windows are parsed; `first` is the node
 * of the first one. */
bool vm_check_schedule(const struct vm_node *n, const struct vm_node *first,
                       const struct vm_schedule *s);

/* Part of vm_parse_schedules(). Checks a VM that is on harts with schedules. */
bool vm_check_scheduled(const struct vm_node *n);

#endif
