/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: the place of a vcpu when a period of one of its observers was over
 * (core/watch/observe.h). Its hart records them in a ring of its own: the serial line's, which the
 * boot hart empties while the guests run, or that of the operator VM whose observer it is
 * (docs/operator.md). A sample for which there is no room is counted as lost.
 *
 * A client is the serial line, 0, or VM n of the tree, n + 1 (core/operator/prompt_server.h).
 */
#ifndef CORE_WATCH_SAMPLES_H
#define CORE_WATCH_SAMPLES_H

#include "core/lib/types.h"
#include "core/vcpu/observers.h"

struct sample_ring;
struct vcpu;

/*
 * A ring has words of 64 bits. A sample is, in this order (docs/samples.md, "At the prompt"): the
 * number of its observation in bits 63:32, flags in 31:24, the vcpu's id in 23:16, and the number
 * of words in 7:0; host time; the guest's pc; its vsatp; the number of events that the sample
 * stands for; the number of samples of the observation on this vcpu so far, including this one and
 * lost ones; if asked for, the return addresses that core/vcpu/unwind.h finds, the innermost first.
 */
#define SAMPLE_USER       1U /* the guest was in VU */
#define SAMPLE_MASKED     2U /* it was in VS with its interrupts off */
#define SAMPLE_CUT        4U /* its call chain ends at a word that is no address of code */
#define SAMPLE_RING_WORDS 32768U
/* Words reserved for records that must not be lost: the beginning and the end of a trace. */
#define SAMPLE_RING_SPARE 512U

/* Allocates the serial line's rings. At boot. `zeroed` returns zeroed memory, `other` memory of any
 * contents. */
void samples_init(void *(*zeroed)(size_t size), void *(*other)(size_t size));

/* Allocates rings of a client, one for each hart, each of `length` words, which is a power of two.
 * On each hart its observers take at most `hz` samples a second. samples_set_ring() gives each ring
 * its memory: `written` is for the reader, `taken` is the reader's; both count words. At boot;
 * alloc() returns zeroed memory. */
void samples_make_rings(uint32_t client, uint32_t length, uint32_t hz, void *(*alloc)(size_t size));
void samples_set_ring(uint32_t client, uint32_t hart, uint64_t *words, uint64_t *written,
                      uint64_t *taken);

/* Returns the rings of a client, for struct observer; NULL: it has none. */
struct sample_ring *samples_rings(uint32_t client);

/* Returns page n of all rings of a client, or NULL if it has fewer. */
void *samples_page(uint32_t client, uint32_t n);

/* The rings of a client begin anew. Its memory is cleared by the caller; no observer is the
 * client's. */
void samples_forget(uint32_t client);

/* Records a sample of observer n of the resident vcpu; see vpmu_port_sample(). One with callers is
 * in no ring until they are found, in stays of their own (REQ_CHAINS), before the guest's next
 * instruction. */
uint64_t vcpu_sample(struct vcpu *vcpu, uint32_t n, uint64_t period, uint64_t missed);

/* Serves REQ_CHAINS. Returns whether all samples of the vcpu are in rings. */
bool samples_go_on(struct vcpu *vcpu);

/* Records n words of another kind in the hart's ring of these (core/watch/stays.h). Returns false,
 * and records nothing, if that would leave less than `spare` words free. `spare` is 0 only for
 * records that must not be lost. On that hart. */
bool samples_put(struct sample_ring *rings, uint32_t hart, const uint64_t *words, uint32_t n,
                 uint32_t spare);

/* Returns how many words a hart has recorded there since boot. Boot hart only. */
uint64_t samples_noted(uint32_t hart);

/* Whether that ring has records to be taken. Boot hart only. */
bool samples_wait(uint32_t hart);

/* Takes the oldest record of that ring, unless it lies beyond the first `end` words since boot.
 * Returns the number of its words, at most SAMPLE_RECORD_MOST, or 0. Boot hart only. */
#define SAMPLE_RECORD_MOST (SAMPLE_WORDS + 64U)
uint32_t samples_take(uint32_t hart, uint64_t end, uint64_t *words);

#endif
