/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM in a window, whose vcpus all look when it begins: the last one computes, the others sleep
 * until they are interrupted. The first instruction of any of them counts. `frame=` and `start=` in
 * ticks; `windows=` of them. what= chooses the interrupt that comes outside the window:
 *   bell      of the memory "ring", by a message if it has an identity; all vcpus take the source
 *   alarm     of a clock of its own, by its PLIC; it has one vcpu
 * Prints each delay and how often it was that long, as kind=delays does.
 */
#include "guests/bare/io/aia.h"
#include "guests/bare/io/rtc.h"
#include "guests/bare/vcpu/smp.h"
#include "guests/lib/bell.h"

#define PLIC         0x0c000000UL
#define PRIORITY(s)  (*(volatile uint32_t *)(PLIC + 4UL * (s)))
#define ENABLE(vcpu) (*(volatile uint32_t *)(PLIC + 0x2000UL + 0x80UL * (vcpu)))
#define CLAIM(vcpu)  (*(volatile uint32_t *)(PLIC + 0x200004UL + 0x1000UL * (vcpu)))
#define ALARM        1U /* the clock's source */
#define MOST         512U
#define NEVER        ~0UL

static volatile uint64_t delay_of[MOST];
static uint64_t frame, start, first_frame;
static struct bell bell;
static uint32_t source, identity;

static void note(uint64_t now)
{
	uint64_t n = (now - start) / frame - first_frame, delay = (now - start) % frame;

	if (n < MOST && delay < delay_of[n])
		delay_of[n] = delay;
}

static void take(uint64_t vcpu)
{
	uint32_t claimed;

	if (identity) {
		__asm__ volatile("csrw %0, zero" ::"i"(CSR_STOPEI));
		return;
	}
	claimed = CLAIM(vcpu);
	if (claimed == ALARM) {
		*rtc_reg(RTC_CLEAR_IRQ) = 1;
		rtc_set_alarm(rtc() + bootarg_num("ahead", 500000));
	} else if (claimed) {
		(void)bell_take(&bell);
	}
	CLAIM(vcpu) = claimed;
}

static void enable(uint64_t vcpu)
{
	if (identity) {
		aia_write(AIA_EITHRESHOLD, 0);
		aia_write(AIA_EIE0, ~1UL);
		aia_write(AIA_EIDELIVERY, 1);
	} else {
		PRIORITY(source) = 1;
		ENABLE(vcpu) = 1U << source;
	}
}

static void sleeper(uint64_t hartid, struct smp_vcpu *self)
{
	(void)self;
	enable(hartid);
	csr_write(sie, IRQ_EXTERNAL);
	for (;;) {
		__asm__ volatile("wfi");
		note(csr_read(time));
		take(hartid);
	}
}

static void look(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t windows = bootarg_num("windows", 100), last = csr_read(time), now;

	(void)self;
	if (bootarg_is("what", "alarm"))
		enable(hartid);
	last = now = back_after(&last, 30);
	first_frame = (now - start) / frame + 1;
	while (first_frame + windows > (now - start) / frame) {
		now = back_after(&last, 30);
		note(now);
		last = csr_read(time);
		if (bootarg_is("what", "alarm"))
			take(hartid);
	}
	for (uint64_t delay = 0; delay < frame; delay++) {
		uint64_t times = 0;

		for (uint64_t n = 0; n < windows && n < MOST; n++)
			times += delay_of[n] == delay;
		if (!times)
			continue;
		print("delay %u ticks, ", delay);
		print("%u times\n", times);
	}
	print("delays: %u windows in %u frames\n", windows, windows);
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 0, 0, 0, 0, 0, 0);
}

int sentry(uint64_t hartid)
{
	uint64_t n = smp_count();

	frame = bootarg_num("frame", 0);
	start = bootarg_num("start", 0);
	for (uint64_t i = 0; i < MOST; i++)
		delay_of[i] = NEVER;
	source = ALARM;
	if (bootarg_is("what", "bell")) {
		if (!bell_find("ring", &bell))
			return 1;
		source = bell_read(&bell, BELL_SOURCE);
		identity = bell_read(&bell, BELL_IDENTITY);
	} else {
		*rtc_reg(RTC_IRQ_ENABLED) = 1;
		rtc_set_alarm(rtc() + 500000);
	}
	for (uint64_t i = 1; i < n; i++)
		if (smp_start(i, i + 1 < n ? sleeper : look))
			return 1;
	if (n > 1)
		sleeper(hartid, NULL);
	look(hartid, NULL);
	return 0;
}
