/* SPDX-License-Identifier: Apache-2.0 */
/* RAM behind Tally's image. It is linked last, so that it lies behind all of core/. */
#include "tests/host/machine/machine.h"

extern char _image_end[];
char _image_end[MACHINE_RAM] __attribute__((aligned(2 << 20)));
