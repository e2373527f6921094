/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing to be fenced. */
#ifndef HOST_FENCE_H
#define HOST_FENCE_H

static inline void hfence_vvma_all(void)
{
}

static inline void fence_i(void)
{
}

#endif
