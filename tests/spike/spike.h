/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the spike share. It runs on one hart, with interrupts off in HS. */
#ifndef SPIKE_H
#define SPIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpmu/sbi_pmu.h"

#define CSR_SCOUNTINHIBIT 0x120
#define CSR_STIMECMP      0x14d
#define CSR_SISELECT      0x150
#define CSR_SIREG         0x151
#define CSR_SIREG2        0x152
#define CSR_VSSTATUS      0x200
#define CSR_VSIE          0x204
#define CSR_VSTVEC        0x205
#define CSR_VSSCRATCH     0x240
#define CSR_VSEPC         0x241
#define CSR_VSCAUSE       0x242
#define CSR_VSTIMECMP     0x24d
#define CSR_VSATP         0x280
#define CSR_HSTATUS       0x600
#define CSR_HEDELEG       0x602
#define CSR_HIDELEG       0x603
#define CSR_HTIMEDELTA    0x605
#define CSR_HCOUNTEREN    0x606
#define CSR_HVIEN         0x608
#define CSR_HENVCFG       0x60a
#define CSR_HVIP          0x645
#define CSR_HGATP         0x680
#define CSR_INSTRET       0xc02
#define CSR_SCOUNTOVF     0xda0

#define XSTR_(x) #x
#define XSTR(x)  XSTR_(x)
#define csr_read(c)                                                                                \
	({                                                                                         \
		uint64_t v_;                                                                       \
		__asm__ volatile("csrr %0, " XSTR(c) : "=r"(v_)::"memory");                        \
		v_;                                                                                \
	})
#define csr_write(c, v) __asm__ volatile("csrw " XSTR(c) ", %0" ::"r"((uint64_t)(v)) : "memory")
#define csr_set(c, v)   __asm__ volatile("csrs " XSTR(c) ", %0" ::"r"((uint64_t)(v)) : "memory")
#define csr_clear(c, v) __asm__ volatile("csrc " XSTR(c) ", %0" ::"r"((uint64_t)(v)) : "memory")

#define LCOFI         (1UL << 13)
#define CAUSE_IRQ     (1UL << 63)
#define CAUSE_TIMER   (CAUSE_IRQ | 5)
#define CAUSE_LCOFI   (CAUSE_IRQ | 13)
#define CAUSE_ILLEGAL 2UL
#define CAUSE_VSECALL 10UL
#define CAUSE_VIRTUAL 22UL
#define EVENT_OF      (1UL << 63)
#define EVENT_SINH    (1UL << 61)
#define EVENT_UINH    (1UL << 60)
#define EVENT_VSINH   (1UL << 59)
#define EVENT_VUINH   (1UL << 58)

/* The home counters of the spike. */
#define CTR_CYCLES 3U
#define CTR_INSTR  4U
/* Only VS counts. */
#define VS_ONLY                                                                                    \
	(SBI_PMU_CFG_FLAG_SET_MINH | SBI_PMU_CFG_FLAG_SET_SINH | SBI_PMU_CFG_FLAG_SET_UINH |       \
	 SBI_PMU_CFG_FLAG_SET_VUINH)
#define EVENT_VS_ONLY (EVENT_SINH | EVENT_UINH | EVENT_VUINH)

/* A guest's registers. entry.S has the offsets. */
struct ctx {
	uint64_t x[32];
	uint64_t pc;
	uint64_t sstatus;
	uint64_t hstatus;
	uint64_t host_sp;
};
_Static_assert(offsetof(struct ctx, host_sp) == 280, "entry.S");

struct sbiret {
	long error;
	long value;
};

/* One way to drive the hart's counters. */
struct way {
	const char *name;
	/* Gives a stopped counter an event (HS, U, VU and M inhibited). */
	bool (*config)(uint32_t ctr, uint32_t event);
	/* Starts a stopped counter at a value; armed: it raises LCOFI when it wraps. */
	bool (*start)(uint32_t ctr, uint64_t value, bool armed);
	/* Starts stopped counters at their present values. */
	bool (*resume)(uint64_t ctrs, bool armed);
	bool (*stop)(uint64_t ctrs);
	/* Removes the event from a counter. */
	bool (*release)(uint32_t ctr);
};
extern const struct way way_sbi;
extern const struct way way_ssccfg;

/* entry.S */
void enter_guest(struct ctx *ctx);
void guest_loop(void);
void guest_mem_loop(void);
void guest_illegal(void);
void guest_read(void);
void guest_timer(void);
void guest_wfi(void);
void guest_lcofi(void);

/* rt.c */
extern volatile uint64_t hs_trap_cause;
extern unsigned passed, failed;
void print(const char *fmt, ...); /* %s, %d, %u, %x (64 bits each) */
void check(bool ok, const char *name);
/* Like check(), and prints both numbers if they differ. */
void check_eq(uint64_t got, uint64_t want, const char *name);
struct sbiret sbi(unsigned long ext, unsigned long fid, unsigned long a0, unsigned long a1,
                  unsigned long a2, unsigned long a3, unsigned long a4);
uint64_t hpm_read(uint32_t ctr);
void guest_init(struct ctx *ctx, void (*entry)(void), uint64_t a0);
/* Enters the guest with the HS timer `ticks` from now (0: none). Returns scause. */
uint64_t guest_run(struct ctx *ctx, uint64_t ticks);
uint32_t rnd(uint32_t below);

/* hpm.c */
long pmu_config(uint32_t ctr, uint32_t event, unsigned long flags);
long pmu_start(uint64_t ctrs, unsigned long flags, uint64_t value);
long pmu_stop(uint64_t ctrs, unsigned long flags);
void hpm_scrub(void);
bool ssccfg_learn(void);
bool ssccfg_adopt(uint32_t ctr, uint32_t event);
uint64_t ssccfg_selector(uint32_t event);

/* The tests. */
void test_probe(void);
void test_switch(const struct way *way);
void test_overflow(const struct way *way);
void test_values(const struct way *way);
void test_platform(void);
void test_cost(void);
void test_allocator(void);

#endif
