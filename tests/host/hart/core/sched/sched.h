/* SPDX-License-Identifier: Apache-2.0 */
/* A host's C library has a function of this name. */
#ifndef HOST_SCHED_H
#define HOST_SCHED_H

#define sched_yield tally_sched_yield
#include_next "core/sched/sched.h"

#endif
