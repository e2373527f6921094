/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: the place of a vcpu when a period of one of its observers was over
 * (core/watch/observe.h). Its hart records them in a ring of its own, which the boot hart empties
 * while the guests run. A sample for which there is no room is counted as lost.
 */
#ifndef CORE_WATCH_SAMPLES_H
#define CORE_WATCH_SAMPLES_H

#include "core/lib/types.h"

struct vcpu;

/*
 * A ring has words of 64 bits. A sample is, in this order (docs/samples.md, "At the prompt"): the
 * number of its observation in bits 63:32, flags in 31:24, the vcpu's id in 23:16, and the number
 * of words in 7:0; host time; the guest's pc; its vsatp; the number of events that the sample
 * stands for; the number of samples of the observation on this vcpu so far, including this one and
 * lost ones; if asked for, the return addresses that core/vcpu/unwind.h finds, the innermost first.
 */
#define SAMPLE_WORDS      6U
#define SAMPLE_USER       1U /* the guest was in VU */
#define SAMPLE_MASKED     2U /* it was in VS with its interrupts off */
#define SAMPLE_CUT        4U /* its call chain ends at a word that is no address of code */
#define SAMPLE_RING_WORDS 32768U
/* Words reserved for records that must not be lost: the beginning and the end of a trace. */
#define SAMPLE_RING_SPARE 512U

/* Allocates the rings. At boot. `zeroed` returns zeroed memory, `other` memory of any contents. */
void samples_init(void *(*zeroed)(size_t size), void *(*other)(size_t size));

/* Records a sample of observer n of the resident vcpu; see vpmu_port_sample(). */
uint64_t vcpu_sample(struct vcpu *vcpu, uint32_t n, uint64_t period, uint64_t missed);

/* Records n words of another kind (core/watch/stays.h). Returns false, and records nothing, if that
 * would leave less than `spare` words free. `spare` is 0 only for records that must not be lost. On
 * that hart. */
bool samples_put(uint32_t hart, const uint64_t *words, uint32_t n, uint32_t spare);

/* Returns how many words a hart has recorded since boot. Boot hart only. */
uint64_t samples_noted(uint32_t hart);

/* Takes up to `most` words of a hart's ring, the oldest first, but none beyond the first `end`
 * since boot. Returns how many. Boot hart only. */
uint32_t samples_take(uint32_t hart, uint64_t end, uint64_t *words, uint32_t most);

#endif
