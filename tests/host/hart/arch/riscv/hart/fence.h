/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing to be fenced. */
#ifndef HOST_FENCE_H
#define HOST_FENCE_H

void host_fence(void);

static inline void hfence_gvma_all(void)
{
	host_fence();
}

static inline void sfence_vma_all(void)
{
	host_fence();
}

static inline void hfence_vvma_all(void)
{
}

static inline void fence_i(void)
{
}

/* There is one thread, so program order is enough; or no device. */
static inline void fence_memory_then_output(void)
{
}

static inline void fence_output_then_memory(void)
{
}

static inline void fence_devices_then_output(void)
{
}

/* Where there are some, a test looks at it. */
void host_fence_devices(void);

static inline void fence_devices(void)
{
	host_fence_devices();
}

static inline void fence_input_then_memory(void)
{
}

static inline void fence_reads_then_output(void)
{
}

#ifdef HOST_THREADS
/* Harts are threads. ThreadSanitizer knows no fences, and takes all locks for one. */
void __tsan_acquire(void *address);
void __tsan_release(void *address);
extern char host_locks;

static inline void fence_acquire_all(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__tsan_acquire(&host_locks);
}

static inline void fence_release_all(void)
{
	__tsan_release(&host_locks);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#else
static inline void fence_acquire_all(void)
{
}

static inline void fence_release_all(void)
{
}
#endif

#endif
