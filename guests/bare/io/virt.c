/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what kernels do that have the addresses of QEMU's machine "virt" built in: takes an
 * interrupt of the UART by context 2 * hart + 1 of the PLIC on each of its vcpus, writes to the
 * M-mode contexts beside these, and looks for virtio devices in the eight slots.
 *   clock=yes  also an alarm of the clock, at virt's address and with its source
 *   slots=no   no look for devices
 */
#include "guests/bare/io/rtc.h"
#include "guests/bare/vcpu/smp.h"

#define PLIC           0x0c000000UL
#define PLIC_PENDING   (PLIC + 0x1000UL)
#define PLIC_ENABLE    (PLIC + 0x2000UL) /* 0x80 for each context */
#define PLIC_THRESHOLD (PLIC + 0x200000UL)
#define PLIC_CLAIM     (PLIC + 0x200004UL) /* 0x1000 for each */
#define UART           0x10000000UL
#define UART_IER       (UART + 1)
#define UART_IIR       (UART + 2)
#define UART_IRQ       10U
#define RTC_IRQ        11U
#define IER_THRE       2U /* the transmitter is empty */
#define SLOTS          0x10001000UL
#define PATIENCE       100000U /* looks for an interrupt that comes at once or never */

enum { TAKEN, SOURCE, IDENTITY, BY_M };

static uint64_t in(uint64_t at)
{
	return *(volatile uint32_t *)at;
}

static void out(uint64_t at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

/* The vcpu that has the source enabled. */
static volatile uint64_t serving;

static void on_interrupt(struct trap_frame *frame)
{
	volatile uint64_t *values = smp_vcpus[serving].values;
	uint64_t context = 2 * serving + 1;

	(void)frame;
	values[BY_M] = in(PLIC_CLAIM + (context - 1) * 0x1000);
	values[SOURCE] = in(PLIC_CLAIM + context * 0x1000);
	values[IDENTITY] = *(volatile uint8_t *)UART_IIR & 0xf;
	*(volatile uint8_t *)UART_IER = 0;
	out(PLIC_CLAIM + context * 0x1000, (uint32_t)values[SOURCE]);
	values[TAKEN]++;
}

/* On the vcpu itself. The UART interrupts as soon as it may, since it has sent everything. */
static void take_one(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t context = 2 * hartid + 1;

	serving = hartid;
	for (unsigned int i = 0; i < 4; i++)
		self->values[i] = 0;
	out(PLIC + 4 * UART_IRQ, 1);
	out(PLIC_ENABLE + context * 0x80, 1U << UART_IRQ);
	out(PLIC_THRESHOLD + context * 0x1000, 0);
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
	*(volatile uint8_t *)UART_IER = IER_THRE;
	for (uint64_t i = 0; !self->values[TAKEN] && i < PATIENCE; i++)
		;
	csr_clear(sstatus, SSTATUS_SIE);
	csr_clear(sie, IRQ_EXTERNAL);
	out(PLIC_ENABLE + context * 0x80, 0);
	self->done = 1;
}

static void take_and_stop(uint64_t hartid, struct smp_vcpu *self)
{
	take_one(hartid, self);
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

static uint64_t take_interrupts(uint64_t own)
{
	uint64_t n = smp_count(), good = 0;

	irq_handle_by(on_interrupt);
	for (uint64_t i = 0; i < n; i++) {
		struct smp_vcpu *vcpu = &smp_vcpus[i];

		if (i == own)
			take_one(i, vcpu);
		else if (smp_start(i, take_and_stop) || !smp_await_state(i, SBI_HSM_STATE_STOPPED))
			print("virt: vcpu %u is lost\n", i);
		print("virt: vcpu %u: %u interrupts, source %u, IIR %u; by M %u\n", i,
		      vcpu->values[TAKEN], vcpu->values[SOURCE], vcpu->values[IDENTITY],
		      vcpu->values[BY_M]);
		good += vcpu->values[TAKEN] == 1 && vcpu->values[SOURCE] == UART_IRQ;
	}
	return good == n;
}

/* Writes the registers of an M-mode context, and prints what is left of that. */
static void write_m(uint64_t context)
{
	out(PLIC_ENABLE + context * 0x80, ~0U);
	out(PLIC_THRESHOLD + context * 0x1000, 7);
	*(volatile uint8_t *)UART_IER = IER_THRE;
	print("virt: M context %u: enabled 0x%x, threshold %u, pending 0x%x, claims %u\n", context,
	      in(PLIC_ENABLE + context * 0x80), in(PLIC_THRESHOLD + context * 0x1000),
	      in(PLIC_PENDING), in(PLIC_CLAIM + context * 0x1000));
	*(volatile uint8_t *)UART_IER = 0;
}

static void probe(uint64_t slot)
{
	uint64_t at = SLOTS + slot * 0x1000;
	uint64_t rest = 0;

	for (uint64_t i = 12; i < 0x200; i += 4)
		rest |= in(at + i);
	out(at + 0x70, 1); /* Status: a driver has noticed the device */
	print("virt: slot %u: magic 0x%x, version %u, device %u, status %u, rest 0x%x\n", slot,
	      in(at), in(at + 4), in(at + 8), in(at + 0x70), rest);
}

static volatile uint32_t alarm_source;
static volatile uint64_t alarms_taken;

static void on_alarm(struct trap_frame *frame)
{
	uint64_t claim = PLIC_CLAIM + (2 * serving + 1) * 0x1000;

	(void)frame;
	alarm_source = (uint32_t)in(claim);
	*rtc_reg(RTC_CLEAR_IRQ) = 1;
	out(claim, alarm_source);
	alarms_taken++;
}

static void take_alarms(uint64_t hartid)
{
	uint64_t until;

	serving = hartid;
	irq_handle_by(on_alarm);
	*rtc_reg(RTC_IRQ_ENABLED) = 1;
	out(PLIC + 4 * RTC_IRQ, 1);
	out(PLIC_ENABLE + (2 * hartid + 1) * 0x80, 1U << RTC_IRQ);
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
	for (uint64_t i = 0; i < 3; i++) {
		until = rtc() + RTC_PATIENCE_NS;
		rtc_set_alarm(rtc() + RTC_SETTLE_NS);
		while (alarms_taken == i && rtc() < until)
			;
	}
	csr_clear(sstatus, SSTATUS_SIE);
	print("virt: %u alarms, source %u\n", alarms_taken, alarm_source);
}

int virt(uint64_t hartid)
{
	bool good = take_interrupts(hartid);

	if (bootarg("clock"))
		take_alarms(hartid);
	write_m(2 * hartid);
	for (uint64_t i = 0; i < 8 && !bootarg_is("slots", "no"); i++)
		probe(i);
	return good ? 0 : 1;
}
