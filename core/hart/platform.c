/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/platform.h"

struct platform platform;

struct platform_hart *platform_hart(uint64_t hartid)
{
	for (uint32_t i = 0; i < platform.n_harts; i++) {
		if (platform.harts[i].hartid == hartid)
			return &platform.harts[i];
	}
	return NULL;
}
