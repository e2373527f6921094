/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storm of one kind, what=NAME, without a pause and without an end: whoever it is to disturb ends
 * (steady.c). Each gust, which is one thing that it does, is counted in memory that others see, and
 * that outlives a restart. With `frame=` there is one gust in each frame of so many ticks, at one
 * of the `span=` ticks from `at=` on, each in turn.
 */
#include "guests/bare/io/rtc.h"
#include "guests/bare/vcpu/smp.h"

#define UART   ((volatile uint8_t *)0x10000000)
#define PLIC   0x0c000000UL
#define ENABLE (*(volatile uint32_t *)(PLIC + 0x2000UL))
#define CLAIM  (*(volatile uint32_t *)(PLIC + 0x200004UL))
#define SOURCE 1U /* of the guest's first device */

/* Of these a life begins with what those before have left. */
static volatile uint64_t *seen;
#define gusts (*seen)
static uint64_t overflowing;

static void calls(void)
{
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_IMP_ID, 0, 0, 0, 0, 0, 0);
	sbi_call(0x0badbadUL, gusts, ~0UL, ~0UL, 0, 0, 0, 0);
	gusts += 2;
}

static void ipi(void)
{
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 0, ~0UL, 0, 0, 0, 0);
}

static void fence(void)
{
	sbi_call(SBI_EXT_RFENCE, gusts++ % 3, 0, ~0UL, 0, ~0UL, 7, 0);
}

static void timer(void)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time), 0, 0, 0, 0, 0);
}

static void console(void)
{
	static const char text[] = "tempest: what a guest prints, again and again, to the end\n";

	sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, sizeof(text) - 1, (unsigned long)text, 0, 0,
	         0, 0);
	gusts++;
}

static void mmio(void)
{
	UART[7] = (uint8_t)gusts;
	(void)UART[5];
	*(volatile uint32_t *)(PLIC + 4 * (gusts % 32)) = (uint32_t)gusts;
	(void)CLAIM;
	gusts += 4;
}

/* Addresses where it has nothing: each access goes through the second stage in vain. */
static void outside(void)
{
	trap_guard();
	(void)*(volatile uint64_t *)(0x40000000UL + (gusts % 4096 << 12));
	*(volatile uint64_t *)(0x1000000000UL + (gusts % 4096 << 12)) = 0;
	gusts += trap_unguard().count;
}

/* No instruction at all, and a read of hgatp. */
static void illegal(void)
{
	gusts += !insn_passes(0, 0) + !insn_passes(0x68002573U, 0);
}

static void pmu(void)
{
	struct sbiret r = pmu_config(find_counters().hw, SBI_PMU_CFG_FLAG_CLEAR_VALUE,
	                             EVENT_CYCLES + (gusts & 1));

	pmu_start(BIT(r.value), gusts);
	pmu_stop(BIT(r.value));
	pmu_reset(BIT(r.value));
	gusts += 4;
}

static void overflow(void)
{
	if (overflowing)
		return;
	overflowing = BIT(pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS).value);
	pmu_start(overflowing, -100UL);
}

static void wakes(void)
{
	sleep_for(20);
	gusts++;
}

static void stops(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	(void)self;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

static void starts(void)
{
	gusts += smp_start(1, stops) == 0;
	smp_await_state(1, 1); /* stopped */
}

static void restart(void)
{
	gusts++;
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
}

static void alarms(void)
{
	if (*rtc_reg(RTC_IRQ_ENABLED))
		return;
	*(volatile uint32_t *)(PLIC + 4 * SOURCE) = 1;
	ENABLE = 1U << SOURCE;
	*rtc_reg(RTC_IRQ_ENABLED) = 1;
	rtc_set_alarm(rtc());
}

static void dma(void)
{
	gusts += tempest_dma();
}

static void frames(void)
{
	gusts += tempest_frames();
}

static void messages(void)
{
	gusts += tempest_messages();
}

static void on_interrupt(struct trap_frame *frame)
{
	gusts++;
	if (frame->cause == CAUSE_SOFT) {
		csr_clear(sip, IRQ_SOFT);
	} else if (frame->cause == CAUSE_TIMER) {
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	} else if (overflowing) {
		pmu_stop(overflowing);
		csr_clear(sip, IRQ_LCOFI);
		pmu_start(overflowing, -100UL);
	} else {
		uint32_t source = CLAIM;

		*rtc_reg(RTC_CLEAR_IRQ) = 1;
		rtc_set_alarm(rtc() + 2000);
		CLAIM = source;
	}
}

static void nothing(void)
{
	gusts++;
}

static const struct {
	const char *name;
	void (*blow)(void);
} storms[] = {
    {"nothing", nothing}, {"calls", calls},       {"ipi", ipi},           {"fence", fence},
    {"timer", timer},     {"console", console},   {"mmio", mmio},         {"outside", outside},
    {"illegal", illegal}, {"pmu", pmu},           {"overflow", overflow}, {"wakes", wakes},
    {"starts", starts},   {"restart", restart},   {"device", alarms},     {"dma", dma},
    {"frames", frames},   {"messages", messages},
};

/* Waits for the tick of a frame. */
static void aim(uint64_t frame, uint64_t at)
{
	uint64_t now;

	do
		now = csr_read(time);
	while ((now + frame - at) % frame < frame / 2);
	do
		now = csr_read(time);
	while ((now + frame - at) % frame > frame / 2);
}

int tempest(uint64_t hartid)
{
	uint64_t frame = bootarg_num("frame", 0), at = bootarg_num("at", 0);
	uint64_t span = bootarg_num("span", 1);
	struct shared_memory shared;

	(void)hartid;
	if (!shared_node(0, &shared))
		return 1;
	seen = (volatile uint64_t *)shared.base;
	irq_handle_by(on_interrupt);
	csr_set(sie, IRQ_SOFT | IRQ_TIMER | IRQ_LCOFI | IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
	for (unsigned i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		if (!bootarg_is("what", storms[i].name))
			continue;
		for (;;) {
			if (frame)
				aim(frame, at + gusts % span);
			storms[i].blow();
		}
	}
	print("tempest: what= is none of its storms\n");
	return 1;
}
