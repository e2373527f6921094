/* SPDX-License-Identifier: Apache-2.0 */
/* Two fake harts. Only one is active at a time: the one that the functions of fake_hart.h
 * concern. */
#ifndef TESTS_HOST_FAKE_HARTS_H
#define TESTS_HOST_FAKE_HARTS_H

#include <stdint.h>

#define FAKE_HARTS 2U

/* Adds another hart like the active one, which is hart 0. Called after fake_hart_reset(). */
void fake_harts_begin(void);

/* Makes this hart the active one. A vcpu that is resident on the other remains so. */
void fake_harts_select(uint32_t hart);

/* Makes the other hart active for a moment. Returns the one to return to. */
uint32_t fake_harts_visit(uint32_t hart);
void fake_harts_return(uint32_t before);

/* The vcpu, which is not resident, leaves the active hart, and does not come to another one yet. */
void fake_harts_abandon(uint32_t vcpu);

#endif
