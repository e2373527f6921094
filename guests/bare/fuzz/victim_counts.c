/* SPDX-License-Identifier: Apache-2.0 */
/* What the victim counts: code of known length, and its own calls. Each number is the same in every
 * run, because no other code of the guest depends on time. */
#include "guests/bare/fuzz/victim.h"

#define FAR       0x8000000000000001UL
#define ROUNDS    150000UL
#define PERIOD    50021UL
#define CALLS     40UL
#define CUSTOM_0  0x0000000bU
#define EBREAK    0x00100073U
#define FIRMWARE  (SBI_PMU_TYPE_FW << 16)
#define FW_EVENTS (sizeof(fw_events) / sizeof(fw_events[0]))

static uint64_t sampler, overflows, places;

/* Counters that run at the same time, if there are so many: of each event with two filters. */
static const struct {
	uint64_t event, flags;
} wanted[] = {
    {EVENT_INSTRUCTIONS, 0},
    {EVENT_CYCLES, SBI_PMU_CFG_FLAG_SET_UINH},
    {EVENT_INSTRUCTIONS, SBI_PMU_CFG_FLAG_SET_SINH},
    {EVENT_CYCLES, SBI_PMU_CFG_FLAG_SET_SINH},
    {EVENT_INSTRUCTIONS, 0},
};
#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

/* The trap comes at the wrap. */
static void on_overflow(struct trap_frame *frame)
{
	overflows++;
	places = places * 31 + frame->pc - (uint64_t)segment_of(3) + frame->x[10];
	csr_clear(sip, IRQ_LCOFI);
	pmu_stop(BIT(sampler));
	pmu_start(BIT(sampler), -PERIOD);
}

/* Returns 0 if it was refused. */
static uint64_t begin(uint64_t free, uint64_t event, uint64_t flags, uint64_t value)
{
	struct sbiret r = pmu_config(free, flags, event);

	return r.error || pmu_start(BIT(r.value), value) ? 0 : r.value;
}

static void expect(uint64_t ctr, const char *mode, uint64_t counted, uint64_t right)
{
	if (counted != right)
		print("victim: counter %u in %s WRONG\n", ctr, mode);
}

static uint64_t count_of_traps(uint64_t ctr, uint32_t insn)
{
	uint64_t before = counter_read((uint32_t)ctr);

	for (uint64_t n = 0; n < CALLS; n++)
		insn_passes(insn, 0);
	return counter_read((uint32_t)ctr) - before;
}

/* What M-mode does for the guest is in no count. Illegal instructions come by there, and EBREAK
 * does not. */
static void expect_no_m(uint64_t ctr)
{
	uint64_t without = count_of_traps(ctr, EBREAK), with = count_of_traps(ctr, CUSTOM_0);

	if (with != without)
		victim_wrong("count with M-mode", with, without);
}

void victim_counts(uint64_t hw, uint64_t round)
{
	uint64_t ctr[WANTED], all = 0, flags_before;

	overflows = places = 0;
	irq_handle_by(on_overflow);
	/* Of an event and a filter that the first counter has as well. */
	sampler = begin(hw, round & 1 ? EVENT_CYCLES : EVENT_INSTRUCTIONS,
	                SBI_PMU_CFG_FLAG_SET_UINH, -PERIOD);
	all |= BIT(sampler);
	for (unsigned i = 0; i < WANTED; i++) {
		ctr[i] = begin(hw & ~all, wanted[i].event, wanted[i].flags, FAR);
		all |= BIT(ctr[i]);
	}
	all &= ~1UL;
	flags_before = csr_read(CSR_SCOUNTOVF);
	csr_write(scounteren, ~0UL);
	for (unsigned i = 0; i < WANTED; i++) {
		uint64_t s, u, flags = wanted[i].flags, one = 2 * ROUNDS + 1;

		if (!ctr[i]) {
			print("victim: counter %u: refused\n", (uint64_t)i);
			continue;
		}
		s = segment_of((uint32_t)ctr[i])(ROUNDS);
		u = user_run(user_call, ROUNDS, (uint64_t)segment_of((uint32_t)ctr[i]));
		expect(ctr[i], "S", s, flags & SBI_PMU_CFG_FLAG_SET_SINH ? 0 : one);
		expect(ctr[i], "U", u, flags & SBI_PMU_CFG_FLAG_SET_UINH ? 0 : one);
		expect_no_m(ctr[i]);
		print("victim: counter %u: S %u, U %u\n", (uint64_t)i, s, u);
	}
	csr_set(sie, IRQ_LCOFI);
	csr_set(sstatus, SSTATUS_SIE);
	for (unsigned i = 0; i < WANTED; i++)
		if (ctr[i])
			segment_of((uint32_t)ctr[i])(ROUNDS);
	csr_clear(sstatus, SSTATUS_SIE);
	csr_clear(sie, IRQ_LCOFI);
	csr_write(scounteren, 2);
	pmu_stop(all);
	for (unsigned i = 0; i < WANTED; i++)
		print("victim: counter %u: all %u\n", (uint64_t)i,
		      ctr[i] ? counter_read((uint32_t)ctr[i]) - FAR : 0);
	print("victim: %u overflows at 0x%x, flags 0x%x, 0x%x\n", overflows, places, flags_before,
	      csr_read(CSR_SCOUNTOVF));
	pmu_reset(all);
	csr_clear(sip, IRQ_LCOFI);
	irq_handle_by(0);
}

/* Codes, and how often each call below counts. */
static const struct {
	uint64_t code, times;
} fw_events[] = {
    {SBI_PMU_FW_SET_TIMER, CALLS},           {SBI_PMU_FW_IPI_SENT, CALLS},
    {SBI_PMU_FW_IPI_RECEIVED, CALLS},        {SBI_PMU_FW_FENCE_I_SENT, CALLS},
    {SBI_PMU_FW_SFENCE_VMA_RECEIVED, CALLS}, {SBI_PMU_FW_ILLEGAL_INSN, CALLS},
};

void victim_firmware_counts(uint64_t fw, uint64_t round)
{
	uint64_t ctr[FW_EVENTS];

	for (unsigned i = 0; i < FW_EVENTS; i++) {
		ctr[i] = begin(fw, FIRMWARE | fw_events[i].code, 0, 0);
		fw &= ~BIT(ctr[i]);
	}
	for (uint64_t n = 0; n < CALLS; n++) {
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
		sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, 0, 0, 0, 0, 0);
		if (!(csr_read(sip) & IRQ_SOFT))
			victim_wrong("sip after an IPI", csr_read(sip), IRQ_SOFT);
		csr_clear(sip, IRQ_SOFT);
		sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_FENCE_I, 1, 0, 0, 0, 0, 0);
		sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_SFENCE_VMA, 1, 0, 0, ~0UL, 0, 0);
		insn_passes(CUSTOM_0, 0);
	}
	for (unsigned i = 0; i < FW_EVENTS; i++) {
		uint64_t value =
		    ctr[i] ? sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr[i], 0, 0, 0, 0).value : 0;

		if (ctr[i] && value != fw_events[i].times)
			victim_wrong("firmware event", value, fw_events[i].times);
		print("victim: firmware event %u: %u\n", fw_events[i].code, value);
		if (ctr[i])
			pmu_reset(BIT(ctr[i]));
	}
	(void)round;
}
