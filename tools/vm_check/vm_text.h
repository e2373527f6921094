/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed of a VM, and the words that its JSON has too. */
#ifndef TOOLS_VM_CHECK_VM_TEXT_H
#define TOOLS_VM_CHECK_VM_TEXT_H

#include "core/host/vm_config.h"

/* Whether the VM has all counters that there are, and the host's tree does not say which. */
bool has_uncounted(const struct vm_config *vm, const struct vm_limits *limits);

/* Whether a device may be the machine's RTC, or have its page or the source of its alarms. */
bool clock_unknown(const struct vm_config *vm, const struct vm_limits *limits);

/* Returns the RTC of the machine that the VM has been given, and NULL if there is none. */
const struct vm_device *machines_rtc(const struct vm_config *vm);

const char *restart_name(const struct vm_config *vm);
const char *shutdown_name(const struct vm_config *vm);
const char *bad_access_name(const struct vm_config *vm);

/* Returns a port's address as text, until the next call. */
const char *mac_text(const struct vm_port *port);

const char *operator_name(const struct vm_operator *o);

void print_vm(const struct vm_tree *tree, const struct vm_config *vm,
              const struct vm_limits *limits);

/* Prints the node /pmu. */
void print_selectors(const struct selectors *s);

#endif
