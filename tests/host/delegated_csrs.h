/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delegated way to the counters of a combining hart (Ssccfg): what csr_read() and csr_write()
 * of siselect, sireg, sireg2 and scountinhibit do in HS.
 */
#ifndef TESTS_HOST_DELEGATED_CSRS_H
#define TESTS_HOST_DELEGATED_CSRS_H

#include <stdint.h>

/* A defect of all harts: mhpmevent of this counter reads 0 in these bits. 0: none. */
void delegated_csrs_lose(uint32_t counter, uint64_t bits);

/* The firmware has stopped or started counters, or another hart is the active one. */
void delegated_csrs_show(void);

#endif
