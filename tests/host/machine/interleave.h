/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before each file of core/ and vpmu/: at each atomic operation another hart may run
 * first. Between two of them a hart runs alone, as nobody else sees what it does.
 */
#ifndef MACHINE_INTERLEAVE_H
#define MACHINE_INTERLEAVE_H

#include <stdatomic.h>

#include "tests/host/machine/sees.h"

/* A macro's own name is not expanded again in its text, so these end in what they stand for. */
#define __atomic_load_n(p, order)        (machine_sees(), __atomic_load_n(p, order))
#define __atomic_store_n(p, v, order)    (machine_sees(), __atomic_store_n(p, v, order))
#define __atomic_exchange_n(p, v, order) (machine_sees(), __atomic_exchange_n(p, v, order))

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_or
#undef atomic_fetch_and
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_thread_fence

#define SC                             __ATOMIC_SEQ_CST
#define ATOMIC_PLAIN(p)                ((__typeof__((void)0, *(p)) *)(uintptr_t)(p))
#define atomic_load_explicit(p, order) __atomic_load_n(ATOMIC_PLAIN(p), order)
#define atomic_store_explicit(p, v, order)                                                         \
	__atomic_store_n(ATOMIC_PLAIN(p), (__typeof__(*ATOMIC_PLAIN(p)))(v), order)
#define atomic_exchange_explicit(p, v, order)                                                      \
	__atomic_exchange_n(ATOMIC_PLAIN(p), (__typeof__(*ATOMIC_PLAIN(p)))(v), order)
#define atomic_fetch_add_explicit(p, v, order)                                                     \
	(machine_sees(), __atomic_fetch_add(ATOMIC_PLAIN(p), v, order))
#define atomic_load(p)         atomic_load_explicit(p, SC)
#define atomic_store(p, v)     atomic_store_explicit(p, v, SC)
#define atomic_exchange(p, v)  atomic_exchange_explicit(p, v, SC)
#define atomic_fetch_add(p, v) atomic_fetch_add_explicit(p, v, SC)
#define atomic_fetch_sub(p, v) (machine_sees(), __atomic_fetch_sub(ATOMIC_PLAIN(p), v, SC))
#define atomic_fetch_or(p, v)  (machine_sees(), __atomic_fetch_or(ATOMIC_PLAIN(p), v, SC))
#define atomic_fetch_and(p, v) (machine_sees(), __atomic_fetch_and(ATOMIC_PLAIN(p), v, SC))
#define atomic_compare_exchange_strong(p, old, v)                                                  \
	(machine_sees(), __atomic_compare_exchange_n(                                              \
	                     ATOMIC_PLAIN(p), old, (__typeof__(*ATOMIC_PLAIN(p)))(v), 0, SC, SC))
#define atomic_compare_exchange_weak(p, old, v) atomic_compare_exchange_strong(p, old, v)
#define atomic_thread_fence(order)              machine_sees()

#endif
