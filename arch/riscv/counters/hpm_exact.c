/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/counters/hpm_exact.h"

#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/counters/hpm_silent.h"
#include "arch/riscv/hart/csr.h"

#define TURNS 5U
/* Instructions per pass. */
#define WORK_PASS 2U
#define WAIT_PASS 4U

static void compare(struct hpm *hpm, const char *where, uint64_t known, uint64_t counted)
{
	bool shorter = (int64_t)known < 0;

	if (known != counted && !hpm->inexact.where)
		hpm->inexact = (struct hpm_inexact){where, shorter ? -known : known,
		                                    shorter ? -counted : counted};
}

void hpm_exact_check_vs(struct hpm *hpm, uint32_t hctr)
{
	uint64_t before = hpm_value(hpm, hctr), last = 0;

	for (uint64_t passes = 1; passes <= 16; passes *= 4) {
		uint64_t now, length;

		vs_work(false, passes);
		now = hpm_value(hpm, hctr);
		length = now - before;
		before = now;
		if (passes > 1)
			compare(hpm, "alone", VS_WORK_PASS * (passes - passes / 4), length - last);
		last = length;
	}
}

/* Waits at most some seconds. Returns the number of passes; 0: the turn has not come. */
static __attribute__((noinline)) uint64_t wait_turn(const atomic_uint *turn, uint32_t mine)
{
	uint64_t most = 1UL << 32, left = most;
	uint32_t now;

	/* WAITS */
	__asm__ volatile("1:	addi	%0, %0, -1\n"
	                 "	beqz	%0, 2f\n"
	                 "	lw	%1, (%2)\n"
	                 "	bne	%1, %3, 1b\n"
	                 "2:"
	                 : "+&r"(left), "=&r"(now)
	                 : "r"(turn), "r"(mine)
	                 : "memory");
	atomic_thread_fence(memory_order_acquire);
	return left ? most - left : 0;
}

/* Executes the same number of instructions each time, except for the passes. */
static __attribute__((noinline)) uint64_t take_turn(atomic_uint *turn, uint32_t now, uint32_t harts,
                                                    uint64_t passes, void (*pass)(uint32_t turn))
{
	__asm__ volatile("1:	addi	%0, %0, -1\n"
	                 "	bnez	%0, 1b"
	                 : "+r"(passes));
	atomic_store(turn, now + 1);
	pass(now);
	return wait_turn(turn, now + harts);
}

bool hpm_exact_check_hs(struct hpm *hpm, atomic_uint *turn, uint32_t me, uint32_t harts,
                        void (*pass)(uint32_t turn))
{
	const struct hpm_event *event = hpm_event_find(hpm, SBI_PMU_HW_INSTRUCTIONS);
	uint32_t hctr = event && event->hctrs ? lowest_bit(event->hctrs) : HCTR_INSTRET;
	/* The fixed counter already counts HS. */
	bool fixed = hctr == HCTR_INSTRET;
	bool counts = fixed ? hpm->fixed_only & hpm->fixed & HCTRS_INSTRET
	                    : !hpm_selfcheck_begin(hpm, hctr, SBI_PMU_HW_INSTRUCTIONS,
	                                           HW_COUNT_HS | HW_INH_VS | HW_INH_VU);
	uint64_t value[TURNS], waited[TURNS];
	bool came = wait_turn(turn, me) != 0;

	/* Every pass through this loop executes the same number of instructions. */
	for (uint32_t i = 0; i < TURNS; i++) {
		waited[i] = take_turn(turn, me + i * harts, harts, 4UL << i, pass);
		value[i] = fixed ? hpm_read(hctr) : counts ? hpm_value(hpm, hctr) : 0;
	}
	/* The other hart is the last one to wait. */
	atomic_store(turn, me + TURNS * harts + 1);
	for (uint32_t i = 0; i < TURNS; i++)
		came = came && waited[i];
	if (!counts)
		return came;
	if (!fixed) {
		hpm_stop(hpm, BIT(hctr));
		hpm_selfcheck_leave(hpm, hctr);
	}
	if (!came || (hpm_silent_events && value[0] == value[TURNS - 1]))
		return came;
	for (uint32_t i = 2; i < TURNS; i++)
		compare(hpm, harts > 1 ? "while harts take turns" : "alone",
		        WORK_PASS * (2UL << i) + WAIT_PASS * (waited[i] - waited[i - 1]),
		        value[i] - 2 * value[i - 1] + value[i - 2]);
	return came;
}

void hpm_exact_settle(struct hpm *hpm, bool offer)
{
	if (!hpm->inexact.where || offer)
		return;
	hpm->hctrs = 0;
	hpm->fixed = 0;
	hpm->n_events = 0;
	hpm->hs_lcofi = hpm->lcofi = false;
	csr_clear(CSR_SIE, BIT(IRQ_LCOFI));
}
