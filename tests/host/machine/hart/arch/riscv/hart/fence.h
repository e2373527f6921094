/* SPDX-License-Identifier: Apache-2.0 */
/* Fences of the hart that runs now. */
#ifndef MACHINE_FENCE_H
#define MACHINE_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/machine/sees.h"

void hfence_done(bool gstage);
void hfence_gvma_all(void);
void hfence_vvma_all(void);
void fence_i(void);
void reservation_end(uint64_t *scratch);

/* Its harts translate nothing in HS. */
static inline void sfence_vma_all(void)
{
}

/* The order itself is not modelled: harts take turns. */
static inline void fence_memory_then_output(void)
{
	machine_sees();
}

static inline void fence_output_then_memory(void)
{
	machine_sees();
}

static inline void fence_devices(void)
{
	machine_sees();
}

static inline void fence_input_then_memory(void)
{
	machine_sees();
}

static inline void fence_reads_then_output(void)
{
	machine_sees();
}

static inline void fence_acquire_all(void)
{
	machine_sees();
}

static inline void fence_release_all(void)
{
	machine_sees();
}

#endif
