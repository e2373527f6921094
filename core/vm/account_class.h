/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of an account an exit has (core/vm/account.h). */
#ifndef CORE_VM_ACCOUNT_CLASS_H
#define CORE_VM_ACCOUNT_CLASS_H

#include "core/vm/account.h"

/* Gives each extension that a VM is offered a place. At boot, after vsbi_init() of all VMs. */
void account_class_init(void);

/* Returns the row of the exit that begins, of the resident vcpu, and the kind that it will be
 * accounted to. Of the guest's registers only a0 to a7 are in its context. */
enum account_class account_class_now(const struct vcpu *vcpu, enum vcpu_exit *kind);

#endif
