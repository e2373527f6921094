/* SPDX-License-Identifier: Apache-2.0 */
/* A host's program has a function of this name. */
#ifndef MACHINE_BOOT_REPORT_H
#define MACHINE_BOOT_REPORT_H

#include_next "core/boot/boot_report.h"
#define main tally_main

#endif
