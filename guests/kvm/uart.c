/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/kvm/uart.h"

#include <stdio.h>

#define DATA 0
#define IER  1
#define IIR  2 /* FCR when written */
#define LCR  3
#define LSR  5
#define MSR  6
#define REGS 8

#define IER_THRI  0x02 /* interrupt when there is room to send */
#define IIR_THRI  0xc2 /* there is room to send */
#define IIR_NONE  0xc1
#define LCR_DLAB  0x80
#define LSR_IDLE  0x60 /* room to send, nothing received */
#define MSR_READY 0xb0 /* carrier, ready, clear to send */

/* With DLAB set, registers 0 and 1 are the divisor's. */
static uint8_t regs[REGS], divisor[2];

uint8_t uart_read(uint64_t reg)
{
	if (reg <= IER && regs[LCR] & LCR_DLAB)
		return divisor[reg];
	switch (reg) {
	case DATA:
		return 0;
	case IIR:
		/* A driver that polls would take "no interrupt" for "not ready", and wait for
		 * ever. */
		return regs[IER] & IER_THRI ? IIR_THRI : IIR_NONE;
	case LSR:
		return LSR_IDLE;
	case MSR:
		return MSR_READY;
	default:
		return reg < REGS ? regs[reg] : 0;
	}
}

void uart_write(uint64_t reg, uint8_t value)
{
	if (reg <= IER && regs[LCR] & LCR_DLAB)
		divisor[reg] = value;
	else if (reg == DATA)
		putchar(value);
	else if (reg < REGS)
		regs[reg] = value;
}
