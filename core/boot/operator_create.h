/* SPDX-License-Identifier: Apache-2.0 */
/* VMs that are operators (docs/operator.md), at boot. No effect for others. */
#ifndef CORE_BOOT_OPERATOR_CREATE_H
#define CORE_BOOT_OPERATOR_CREATE_H

struct vm;

/* Makes the VM's function, and maps its rings. */
void operator_create(struct vm *vm);

/* Its line of the boot report. */
void operator_report(const struct vm *vm);

#endif
