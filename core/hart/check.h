/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants that are too expensive to check at each exit. Only a build with `make DEBUG=1` checks
 * them. If one does not hold, Tally panics and quotes it.
 */
#ifndef CORE_HART_CHECK_H
#define CORE_HART_CHECK_H

#include "core/panic.h"

#ifdef TALLY_DEBUG
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			check_failed(#condition, __FILE__, __LINE__);                              \
	} while (0)
#else
#define CHECK(condition) ((void)sizeof(!(condition)))
#endif

_Noreturn void check_failed(const char *condition, const char *file, int line);

#endif
