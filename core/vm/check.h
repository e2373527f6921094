/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants that the code relies on, and that cost too much to be looked at in each exit: they are
 * checked by the build that `make DEBUG=1` makes, and are in no other. One that does not hold ends
 * in a panic that quotes it.
 */
#ifndef CORE_VM_CHECK_H
#define CORE_VM_CHECK_H

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
