/* SPDX-License-Identifier: Apache-2.0 */
/* Section 11.5: the events that the firmware itself counts, each compared with the number of
 * calls. */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/print.h"
#include "guests/lib/trap.h"

#define FW_HFENCE_GVMA_SENT 14U

static void set_timer(void)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
}

static void ipi_self(void)
{
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, fw.hartid, 0, 0, 0, 0);
	csr_clear(sip, IRQ_SOFT);
}

static void fence_i(void)
{
	sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_FENCE_I, 1, fw.hartid, 0, 0, 0, 0);
}

static void sfence_vma(void)
{
	sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_SFENCE_VMA, 1, fw.hartid, 0x80000000, 0x1000, 0, 0);
}

static void sfence_vma_asid(void)
{
	sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_SFENCE_VMA_ASID, 1, fw.hartid, 0x80000000, 0x1000, 1,
	         0);
}

/* Refused in M-mode, or handled there and sent back. The guest's handler skips it. */
static void illegal(void)
{
	trap_guard();
	insn_run(0xffffffff, 0);
	trap_unguard();
}

#define NOT_OURS 0x2000000UL /* the firmware's own device, or nothing */

static uint64_t faulted; /* cause; all ones: no trap */

static void bad_load(void)
{
	trap_guard();
	insn_run(0x00053503, NOT_OURS); /* ld a0, 0(a0) */
	faulted = trap_unguard().cause;
}

static void bad_store(void)
{
	trap_guard();
	insn_run(0x00a53023, NOT_OURS); /* sd a0, 0(a0) */
	faulted = trap_unguard().cause;
}

static uint64_t words[2];

/* On many harts plain accesses may be misaligned. Atomic ones may not. */
static void misaligned_load(void)
{
	trap_guard();
	insn_run(0x1005352f, (uint64_t)words + 1); /* lr.d a0, (a0) */
	faulted = trap_unguard().cause;
}

static void nothing(void)
{
}

/*
 * Table 35 speaks of requests "to other hart", and does not say what a request to oneself counts.
 * Existing firmware counts it as sent, and as received where it is carried out.
 */
static const struct fw_case {
	const char *name;
	uint32_t code;
	void (*action)(void);
	uint64_t each;
	uint64_t cause; /* of the trap that the action must cause */
} cases[] = {
    {"SET_TIMER: five calls count 5", SBI_PMU_FW_SET_TIMER, set_timer, 1, 0},
    {"SET_TIMER: nothing else counts", SBI_PMU_FW_SET_TIMER, fence_i, 0, 0},
    {"IPI_SENT: five to oneself count 5", SBI_PMU_FW_IPI_SENT, ipi_self, 1, 0},
    {"IPI_RECEIVED: five to oneself count 5", SBI_PMU_FW_IPI_RECEIVED, ipi_self, 1, 0},
    {"FENCE_I_SENT: five to oneself count 5", SBI_PMU_FW_FENCE_I_SENT, fence_i, 1, 0},
    {"FENCE_I_RECEIVED: five to oneself count 5", SBI_PMU_FW_FENCE_I_RECEIVED, fence_i, 1, 0},
    {"SFENCE_VMA_SENT: five to oneself count 5", SBI_PMU_FW_SFENCE_VMA_SENT, sfence_vma, 1, 0},
    {"SFENCE_VMA_RECEIVED: five to oneself count 5", SBI_PMU_FW_SFENCE_VMA_RECEIVED, sfence_vma, 1,
     0},
    {"SFENCE_VMA_SENT: with ASID does not count", SBI_PMU_FW_SFENCE_VMA_SENT, sfence_vma_asid, 0,
     0},
    {"SFENCE_VMA_ASID_SENT: five to oneself count 5", SBI_PMU_FW_SFENCE_VMA_ASID_SENT,
     sfence_vma_asid, 1, 0},
    {"SFENCE_VMA_ASID_RECEIVED: five to oneself count 5", SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED,
     sfence_vma_asid, 1, 0},
    {"ILLEGAL_INSN: five count 5", SBI_PMU_FW_ILLEGAL_INSN, illegal, 1, 0},
    {"ACCESS_LOAD: five count 5", SBI_PMU_FW_ACCESS_LOAD, bad_load, 1, CAUSE_LOAD},
    {"ACCESS_LOAD: stores do not count", SBI_PMU_FW_ACCESS_LOAD, bad_store, 0, CAUSE_STORE},
    {"ACCESS_STORE: five count 5", SBI_PMU_FW_ACCESS_STORE, bad_store, 1, CAUSE_STORE},
    {"MISALIGNED_LOAD: five count 5", SBI_PMU_FW_MISALIGNED_LOAD, misaligned_load, 1,
     CAUSE_MISALIGNED_LOAD},
    /* This machine raises no other: a misaligned AMO is reported as a load as well. */
    {"MISALIGNED_STORE: stays 0", SBI_PMU_FW_MISALIGNED_STORE, misaligned_load, 0,
     CAUSE_MISALIGNED_LOAD},
    {"HFENCE_GVMA_SENT: stays 0", FW_HFENCE_GVMA_SENT, nothing, 0, 0},
};

static uint64_t fw_read(unsigned long ctr)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0).value;
}

static void run_case(const struct fw_case *c)
{
	struct sbiret r = pmu_config(fw.fw, 0, EVENT_FW(c->code));

	if (r.error == SBI_ERR_NOT_SUPPORTED) {
		report_skip("11.5", c->name, "this firmware does not count the event");
		return;
	}
	pmu_start(BIT(r.value), 10);
	for (int i = 0; i < 5; i++)
		c->action();
	pmu_stop(BIT(r.value));
	c->action(); /* stopped: not counted */
	if (c->cause && faulted != c->cause) {
		/* A VMM may have no way to let an access to nothing fault. A misaligned LR may
		 * cause an access fault or no fault. */
		report_skip("11.5", c->name,
		            c->cause == CAUSE_MISALIGNED_LOAD
		                ? "a misaligned LR raises another exception here, or none"
		                : "an access to nothing does not fault here");
		reset_all();
		return;
	}
	report_eq(fw_read(r.value) - 10, 5 * c->each, "11.5", c->name);
	reset_all();
}

/* Two counters on one event, started at different times. */
static void two_of_one_event(void)
{
	unsigned long first = pmu_config(fw.fw, 0, EVENT_FW(SBI_PMU_FW_SET_TIMER)).value, second;

	pmu_start(BIT(first), 0);
	set_timer();
	second = pmu_config(fw.fw & ~BIT(first), 0, EVENT_FW(SBI_PMU_FW_SET_TIMER)).value;
	pmu_start(BIT(second), 100);
	set_timer();
	set_timer();
	report_eq(fw_read(first), 3, "11.5", "one firmware event twice: the first counts");
	report_eq(fw_read(second), 102, "11.5", "one firmware event twice: the second counts");
	reset_all();
}

void test_firmware(void)
{
	csr_clear(sie, IRQ_SOFT);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case(&cases[i]);
	two_of_one_event();
	/* Which codes the firmware supports. */
	for (uint64_t code = 0; code <= SBI_PMU_FW_EVENT_LAST; code++) {
		struct sbiret r = pmu_config(fw.fw, 0, EVENT_FW(code));

		print("firmware event %u: %s\n", code, r.error ? "not counted" : "counted");
		if (r.error && r.error != SBI_ERR_NOT_SUPPORTED)
			report(false, "11.5", "every firmware event");
		reset_all();
	}
	report(true, "11.5", "every firmware event asked");
}
