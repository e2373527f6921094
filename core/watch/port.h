/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the rooms above that observers call. */
#ifndef CORE_WATCH_PORT_H
#define CORE_WATCH_PORT_H

#include "core/watch/account.h"

/* Assigns a row to each function that a VM is offered. At boot, after vsbi_init() of all VMs. */
void account_class_init(void);

/* Returns the row of an exit of this VM that is accounted to this kind. */
enum account_class account_class(const struct vm *vm, const struct exit_record *exit,
                                 enum vcpu_exit why);

#endif
