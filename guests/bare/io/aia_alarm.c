/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alarms of a goldfish RTC that belongs to a guest with an AIA: each comes as a message, to the
 * vcpu's own IMSIC.
 *   messages=N    how many alarms; delay=NS of each from its setting
 *   mode=high     the wire is a level: its interrupts have to be asked for again; otherwise it is
 *                 an edge
 *   wait=wfi      sleeps until each comes; otherwise it spins
 *   left=armed    then sets one more, and asks for a restart before it comes; pending: after it has
 *                 come, with interrupts off; off: after it has come, with the domain off
 */
#include "guests/bare/io/aia.h"
#include "guests/bare/io/rtc.h"

#define IDENTITY 7U

static uint32_t source;
static uint64_t due, came, early;

static void on_message(uint64_t identity)
{
	came = rtc();
	early += identity != IDENTITY || came < due;
	*rtc_reg(RTC_CLEAR_IRQ) = 1;
	/* AIA 4.9.2. */
	if (bootarg_is("mode", "high"))
		*aplic(APLIC_SETIPNUM) = source;
}

/* Sleeps with interrupts off, so that none is taken between the look and the WFI. */
static void wait(const struct aia_taken *t, uint64_t until)
{
	if (!bootarg_is("wait", "wfi"))
		return;
	csr_clear(sstatus, SSTATUS_SIE);
	if (t->external < until)
		__asm__ volatile("wfi");
	csr_set(sstatus, SSTATUS_SIE);
}

static void leave(void)
{
	bool armed = bootarg_is("left", "armed");

	csr_clear(sstatus, SSTATUS_SIE);
	if (bootarg_is("left", "off"))
		*aplic(APLIC_DOMAINCFG) = 0;
	due = rtc() + (armed ? RTC_LONG_NS : RTC_SETTLE_NS);
	rtc_set_alarm(due);
	if (!armed)
		rtc_spin(2 * RTC_SETTLE_NS);
	print("aia: %s pending, source %s\n", csr_read(sip) & IRQ_EXTERNAL ? "is" : "is not",
	      *aplic(APLIC_SETIP) & 1U << source ? "pends" : "does not");
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
}

int aia_alarm(uint64_t n)
{
	const struct aia_taken *t = &aia_taken[0];
	uint64_t delay = bootarg_num("delay", 50000), wrong = 0, before;

	source = (uint32_t)bootarg_num("irq", 1);
	*rtc_reg(RTC_IRQ_ENABLED) = 1;
	aia_on_message = on_message;
	aia_route(source, bootarg_is("mode", "high") ? APLIC_HIGH : APLIC_RISING, 0, IDENTITY);
	/* What an earlier life has set may come, for as long as it would have taken. */
	if (bootarg("left"))
		rtc_spin(2 * RTC_LONG_NS);
	before = t->external;
	early = 0;
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t patience;

		due = rtc() + delay;
		rtc_set_alarm(due);
		patience = due + RTC_PATIENCE_NS;
		while (t->external < before + i && (*rtc_reg(RTC_ALARMED) || rtc() < patience))
			wait(t, before + i);
		rtc_spin(RTC_SETTLE_NS);
		wrong += t->external != before + i;
	}
	print("aia: %u before the first, %u alarms, %u interrupts, %u early", before, n,
	      t->external - before, early);
	print(", %u too many or few, %u without a cause\n", wrong, t->nothing);
	if (bootarg("cost"))
		print("aia: handler %u\n", came - due);
	if (bootarg("left"))
		leave();
	return before || wrong || early || t->nothing;
}
