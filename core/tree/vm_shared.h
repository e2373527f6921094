/* SPDX-License-Identifier: Apache-2.0 */
/* The node /shared: memory shared by several VMs. For the parser only. */
#ifndef CORE_TREE_VM_SHARED_H
#define CORE_TREE_VM_SHARED_H

#include "core/host/vm_props.h"

/* Parses the node, after all VMs are parsed. Host memory is not chosen yet. Returns false after the
 * refusal is filled in. */
bool vm_parse_shared(const struct vm_node *n);

/* Bells: interrupts between VMs that share memory. */
#define VM_BELL_PROP_NAMES "bell", "bell-identity"
enum { VM_BELL_SOURCE, VM_BELL_IDENTITY, VM_BELL_PROPS };

/* Parses the bell of the VM's last shared memory, whose size is known. */
bool vm_parse_bell(const struct vm_node *n, const struct vm_prop *props);

/* Checks that need all shared memory. n is the node /shared, or none, with a negative offset. */
bool vm_check_bells(const struct vm_node *n);

/* Checks of the interrupt of a function that Tally emulates, a source of the VM's interrupt
 * controller and perhaps an identity. They return false after the refusal is filled in. */
bool vm_check_source(const struct vm_node *n, const char *property, uint32_t source);
bool vm_check_identity(const struct vm_node *n, const char *property, uint32_t identity);

/* Checks that the VM's UART, devices and bells so far have neither of the two; 0: any may have it.
 * properties: their names. bell: how a refusal calls a bell, "a bell" or "another bell". */
bool vm_check_unused(const struct vm_node *n, const char *const properties[2], const char *bell,
                     uint32_t source, uint32_t identity);

/* Checks that the addresses of the VM's PCI bus with an operator's function are free. */
bool vm_check_operator_bus(const struct vm_node *n, const char *property);

#endif
