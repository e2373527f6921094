/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets alarms of a goldfish RTC that belongs to the guest, and takes the interrupt of each.
 *   alarms=N      how many; delay=NS  of each from its setting
 *   irq=N         source of the guest's interrupt controller
 *   step=NS       each comes at a multiple of so many
 *   wait=wfi      sleeps until each comes; otherwise it spins
 *        turns    the vcpu that has the source enabled changes all the time; vcpu 0 looks for the
 *                 interrupts of both
 *   left=armed    then sets one more, which would come 5 ms later, and asks for a restart;
 *        pending  the same after it has come, with interrupts off;
 *        claimed  the same after it has claimed it
 *   wire=falling  the host's tree says that it is an edge that falls: it comes with the end of an
 *                 alarm
 *   before=yes    looks for interrupts of before its life, as it does with left
 *   cost=yes      prints what the last one took, in tenths of a nanosecond of the RTC, for
 *                 tools/bench-calls
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/rtc.h"

#define PLIC         0x0c000000UL
#define PLIC_ENABLE  (PLIC + 0x2000UL)
#define PLIC_ENABLE1 (PLIC + 0x2080UL) /* of vcpu 1 */
#define PLIC_CLAIM   (PLIC + 0x200004UL)
#define PLIC_CLAIM1  (PLIC + 0x201004UL)

static uint32_t irq;
/* Interrupts; claims of none, and of another source; interrupts before their alarm. */
static volatile uint64_t taken, nothing, strange, early;
static uint64_t due, came, claimed, cleared, completed; /* of the last one, by the RTC */

static uint32_t in(uint64_t at)
{
	return *(volatile uint32_t *)at;
}

static void out(uint64_t at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

static void serve(uint32_t source, uint64_t completion)
{
	claimed = rtc();
	early += came < due;
	if (source == irq)
		taken++;
	else if (source)
		strange++;
	else
		nothing++;
	*rtc_reg(RTC_CLEAR_IRQ) = 1;
	cleared = rtc();
	out(completion, source);
	completed = rtc();
}

static void on_interrupt(struct trap_frame *frame)
{
	(void)frame;
	came = rtc();
	serve(in(PLIC_CLAIM), PLIC_CLAIM);
}

static void change_turns(void)
{
	uint32_t source;

	out(PLIC_ENABLE, 1U << irq);
	out(PLIC_ENABLE, 0); /* vcpu 1 has it enabled as well, and is the higher one */
	source = in(PLIC_CLAIM1);
	came = rtc();
	if (source)
		serve(source, PLIC_CLAIM1);
}

/* Whether the interrupt of an alarm has not come, and will not: the emulator may be late with the
 * alarm itself. */
static bool is_lost(void)
{
	return !*rtc_reg(RTC_ALARMED) && rtc() > due + RTC_PATIENCE_NS;
}

/* Sleeps with interrupts off, so that none is taken between the look and the WFI. */
static void wait(uint64_t until)
{
	if (bootarg_is("wait", "wfi")) {
		csr_clear(sstatus, SSTATUS_SIE);
		if (taken < until)
			__asm__ volatile("wfi");
		csr_set(sstatus, SSTATUS_SIE);
	} else if (bootarg_is("wait", "turns")) {
		change_turns();
	}
}

/* Has the device interrupt once. */
static void trigger(uint64_t delay)
{
	uint64_t before = taken, step = bootarg_num("step", 1);

	due = (rtc() + delay) / step * step + (step - 1);
	rtc_set_alarm(due);
	if (!bootarg_is("wire", "falling"))
		return;
	while (*rtc_reg(RTC_ALARMED))
		;
	rtc_spin(RTC_SETTLE_NS);
	early += taken != before;
	due = rtc();
	*rtc_reg(RTC_CLEAR_IRQ) = 1;
}

static void leave(void)
{
	bool armed = bootarg_is("left", "armed");

	csr_clear(sstatus, SSTATUS_SIE);
	due = rtc() + (armed ? RTC_LONG_NS : RTC_SETTLE_NS);
	rtc_set_alarm(due);
	if (!armed)
		rtc_spin(2 * RTC_SETTLE_NS);
	if (bootarg_is("left", "claimed"))
		print("alarm: claims %u\n", in(PLIC_CLAIM));
	if (bootarg_is("left", "pending"))
		print("alarm: %s pending\n", csr_read(sip) & IRQ_EXTERNAL ? "is" : "is not");
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
}

int alarm(uint64_t hartid)
{
	uint64_t n = bootarg_num("alarms", 100), delay = bootarg_num("delay", 50000);
	uint64_t first, wrong = 0;

	(void)hartid;
	irq = (uint32_t)bootarg_num("irq", 1);
	*rtc_reg(RTC_IRQ_ENABLED) = 1;
	out(PLIC + 4 * irq, 1);
	if (bootarg_is("wait", "turns"))
		out(PLIC_ENABLE1, 1U << irq);
	else
		out(PLIC_ENABLE, 1U << irq);
	irq_handle_by(on_interrupt);
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
	/* What an earlier life has set may come, for as long as it would have taken. */
	if (bootarg("left") || bootarg("before"))
		rtc_spin(2 * RTC_LONG_NS);
	first = taken + nothing + strange;
	taken = early = 0;
	for (uint64_t i = 0; i < n && !wrong; i++) {
		uint64_t before = taken;

		trigger(delay);
		while (taken == before && !is_lost())
			wait(before + 1);
		rtc_spin(RTC_SETTLE_NS);
		wrong += taken != before + 1;
	}
	csr_clear(sie, IRQ_EXTERNAL);
	print("alarm: %u before the first, %u alarms, %u interrupts", first, n, taken);
	print(", %u early, %u too many or few", early, wrong);
	print(", %u claims of nothing, %u of others\n", nothing, strange);
	if (bootarg("cost")) {
		print("bench deliver %u0\nbench claim %u0\n", came - due, claimed - came);
		print("bench complete %u0\nbench done\n", completed - cleared);
	}
	if (bootarg("left"))
		leave();
	return taken == n && !wrong && !early && !first && !nothing && !strange ? 0 : 1;
}
