/* SPDX-License-Identifier: Apache-2.0 */
/* A host's program has a function of this name. */
#ifndef MACHINE_ENTRY_H
#define MACHINE_ENTRY_H

#define main tally_main
#include_next "arch/riscv/hart/entry.h"

#endif
