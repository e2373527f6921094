/* SPDX-License-Identifier: Apache-2.0 */
/* Two fake harts, of which one is at work at a time: the one that fake_hart.h speaks of. */
#ifndef TESTS_HOST_FAKE_HARTS_H
#define TESTS_HOST_FAKE_HARTS_H

#include <stdint.h>

#define FAKE_HARTS 2U

/* Another hart, just like the one at work, which is hart 0. After fake_hart_reset(). */
void fake_harts_begin(void);

/* This one is at work from now on. A vcpu that is resident on the other stays so. */
void fake_harts_select(uint32_t hart);

/* Does something with the other hart meanwhile. Returns what to return to. */
uint32_t fake_harts_visit(uint32_t hart);
void fake_harts_return(uint32_t before);

/* The vcpu leaves the hart at work for another one, which it does not come to yet. Not resident. */
void fake_harts_abandon(uint32_t vcpu);

#endif
