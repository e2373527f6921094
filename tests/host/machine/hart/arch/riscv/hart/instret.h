/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_INSTRET_H
#define MACHINE_INSTRET_H

#include <stdbool.h>

static inline bool instret_counts(void)
{
	return true;
}

#endif
