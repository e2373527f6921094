/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/heart_ring.h"
#include "arch/riscv/hart/csr.h"
#include "core/vcpu/vm.h"

/* Several vcpus may ring in any order; the latest ring counts. */
void heart_ring(struct vm *vm)
{
	uint64_t now = csr_read(CSR_TIME);
	unsigned long last = atomic_load(&vm->last_ring);

	while (last < now && !atomic_compare_exchange_weak(&vm->last_ring, &last, now)) /* WAITS */
		;
}
