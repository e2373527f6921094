/* SPDX-License-Identifier: Apache-2.0 */
/* The harts of the machine. The firmware's reports about them are tested. */
#ifndef CORE_BOOT_HARTS_H
#define CORE_BOOT_HARTS_H

#include "core/hart/pcpu.h"

/* Sets up CSRs, counters and interrupts of the calling hart. Its pcpu is zero except for `listed`.
 * Returns the reason why no guest can run on it, or NULL. */
const char *pcpu_init(struct pcpu *pcpu, uint64_t hartid, uint32_t index);

/*
 * Starts the harts that can run guests, one after the other, waits for each, and sets n_pcpus to
 * the number of harts in use, including the boot hart: at most `most`. The boot report names each
 * hart that cannot be used, and Tally continues without it. Boot hart only, once.
 */
void harts_start(uint64_t boot_hartid, uint32_t most);

/* Called by a started hart, after its own probes: takes part in the probes that need two harts;
 * then it is online. Once, before it runs anything else. */
void harts_join(struct pcpu *pcpu);

/* Stops the calling hart, which no longer uses its stack once *state is `value`. In entry.S. */
_Noreturn void hart_stop_self(atomic_uint *state, uint32_t value);

/* Starts another hart at the image's entry in place of the boot hart, which calls this before it
 * has started any, and stops the caller (SBI 3.0, HSM). Returns if the firmware does not start it.
 * In entry.S. */
void boot_on_other_hart(uint64_t hartid, void *dtb);

#endif
