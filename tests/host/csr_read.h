/* SPDX-License-Identifier: Apache-2.0 */
/* A trapped counter read as the trap handler does it: whether it is permitted, and the value. */
#ifndef TESTS_HOST_CSR_READ_H
#define TESTS_HOST_CSR_READ_H

#include "vpmu/retired.h"
#include "vpmu/vpmu.h"

static inline bool vpmu_csr_read(const struct vpmu *v, uint32_t csr, uint64_t *value)
{
	if (csr < 0xc00 || !vpmu_may_read(v, csr - 0xc00))
		return false;
	*value = vpmu_csr_value(v, csr - 0xc00);
	return true;
}

#endif
