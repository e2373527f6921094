/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupts of a hart. */
#ifndef CORE_DISPATCH_INTERRUPTS_H
#define CORE_DISPATCH_INTERRUPTS_H

#include "core/hart/pcpu.h"

/* SGEI has come: messages to guest interrupt files that HS listens to. */
void guest_file_handle_irq(void);

#endif
