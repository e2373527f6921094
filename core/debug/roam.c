/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/roam.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/pcpu.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

/* Longer than a hart needs to fall asleep; ticks of host time. */
#define NAP_TICKS 100U

void roam(struct vcpu *vcpu)
{
	uint64_t allowed = vcpu->vm->config->vcpus[vcpu->id].harts;
	uint64_t after = allowed & ~((BIT(vcpu->home->index) << 1) - 1);
	uint32_t next = lowest_bit(after ? after : allowed);

	/* No notification is needed: the scheduler is about to check. */
	if (vcpus_roam && next != vcpu->home->index)
		__atomic_store_n(&vcpu->migrate_to, pcpu_at(next), __ATOMIC_RELAXED);
}

/* The old home still executes a few instructions. It must be asleep before the vcpu runs here,
 * because on QEMU the counters of each hart count the instructions of all harts. */
void roam_nap(void)
{
	uint64_t now = csr_read(CSR_TIME), end = now + NAP_TICKS;

	if (!vcpus_roam)
		return;
	for (; now < end; now = csr_read(CSR_TIME)) { /* WAITS */
		sched_set_host_timer(this_pcpu(), end);
		wfi();
		pcpu_ack_ipi();
	}
	/* The next stay serves the requests that came. */
	if (atomic_load(&this_pcpu()->notified))
		csr_set(CSR_SIP, BIT(IRQ_SSI));
	pcpu_resched(this_pcpu());
}
