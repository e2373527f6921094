/* SPDX-License-Identifier: Apache-2.0 */
/* One thing that a guest does. */
#ifndef MACHINE_GUEST_ACTS_H
#define MACHINE_GUEST_ACTS_H

#include "tests/host/machine/model.h"

void guest_acts(struct machine_hart *h, struct vcpu *vcpu);
/* The exit, and what follows until the guest goes on; may not return. */
void guest_traps(struct machine_hart *h, uint64_t scause);

/* To be filled in before an exit; empty at first. */
static inline struct model_expect *guest_expect(struct machine_hart *h)
{
	return &model_of(vcpu_of(h->ctx))->expect;
}

/* An instruction that leads to an exit, and is emulated or ends in an exception. */
void guest_insn_traps(struct machine_hart *h, uint64_t cause, uint32_t raw, uint64_t changes);
/* A load or store of 2 to the power of `width` bytes. */
void guest_access(struct machine_hart *h, uint64_t at, bool store, uint32_t width, uint32_t rd);
/* Of the UART, or of the clock that it may have. */
uint64_t guest_source(void);
void guest_sets_alarm(struct machine_hart *h, const struct vcpu *vcpu);

/* guest_aia.c */
void guest_uses_aia(struct machine_hart *h, struct vcpu *vcpu);

/* guest_rtc.c */
void guest_uses_rtc(struct machine_hart *h);

/* guest_ports.c: of a VM with a port, by its first vcpu */
void guest_uses_port(struct machine_hart *h, struct vcpu *vcpu);

/* guest_calls.c */
void guest_calls_sbi(struct machine_hart *h, struct vcpu *vcpu);
void guest_counts(struct machine_hart *h, struct vcpu *vcpu);
void guest_prints(struct machine_hart *h, struct vcpu *vcpu);
/* An SBI call: these are a0 to a5. Its results are in x10 and x11 if it returns. */
void guest_ecall(struct machine_hart *h, uint64_t eid, uint64_t fid, const uint64_t a[6]);

#endif
