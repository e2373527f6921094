/* SPDX-License-Identifier: Apache-2.0 */
/* The other harts of the machine. Tally tests what the firmware says about them. */
#ifndef CORE_BOOT_HARTS_H
#define CORE_BOOT_HARTS_H

#include "core/hart/pcpu.h"
#include "core/lib/types.h"

/*
 * Starts the harts that can run guests one after the other, `most` of them with the boot hart,
 * waits for each, and sets n_pcpus. The boot report names each hart that cannot be used, and Tally
 * goes on without it. Boot hart only, once.
 */
void harts_start(uint64_t boot_hartid, uint32_t most);

/* A started hart, whose probes are done, takes part in those that two harts make together, and is
 * online then. Once, before it runs anything else. */
void harts_join(struct pcpu *pcpu);

/* Stops the calling hart, which uses its stack no more once *state is `value`. In entry.S. */
_Noreturn void hart_leaves(atomic_uint *state, uint32_t value);

/* Has another hart begin at the image's entry in place of the boot hart, which calls this before it
 * has started any, and stops the caller (SBI 3.0, HSM). Returns if the firmware does not start it.
 * In entry.S. */
void boot_instead(uint64_t hartid, void *dtb);

#endif
