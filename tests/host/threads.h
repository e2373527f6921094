/* SPDX-License-Identifier: Apache-2.0 */
/* Two harts that are threads, with a vcpu each, for test_threads.c. */
#ifndef TESTS_HOST_THREADS_H
#define TESTS_HOST_THREADS_H

#include "core/vcpu/vm.h"

extern struct vcpu vcpus[2];

/* The calling thread is this hart. */
struct pcpu *threads_hart(unsigned int number);
extern _Thread_local struct guest_context *threads_context; /* whose call it serves */
extern _Thread_local uint64_t threads_now;                  /* host time, if it is not 0 */
extern atomic_ulong threads_clock;                          /* host time otherwise */

/* Everything as at first. */
void threads_begin(void);

/* Serves the mail of a hart, if its interrupt is pending. */
void threads_serve(struct pcpu *pcpu);

/* Starts, and those that were at a wrong place. */
extern uint64_t threads_starts, threads_wrong_starts;

/* A command comes with a number, and the lead hart says which one it has taken up. */
extern unsigned int threads_given;
extern atomic_uint threads_taken;

extern char threads_line[]; /* the serial line */

#endif
