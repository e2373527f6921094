/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the ns16550a UART of one VM: registers, receive FIFO, interrupt level. Pure data: it
 * knows neither guest memory nor the real console. All functions need the lock of that VM's
 * devices, held by the caller; any hart may call.
 *
 * The guest's device tree describes it with reg-shift 0 and reg-io-width 1. The line never fails,
 * so there are no parity, framing or break errors, and a transmitted byte leaves at once: the
 * transmitter is always empty.
 */
#ifndef CORE_DEVICES_VUART_H
#define CORE_DEVICES_VUART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VUART_SIZE 0x100u /* bytes of guest-physical space it takes; 8 registers, rest reads 0 */
#define VUART_CLOCK_HZ                                                                             \
	3686400u /* for the guest's clock-frequency; reset divisor 2 = 115200 baud                 \
	          */
#define VUART_RX_BYTES                                                                             \
	4096u /* receive FIFO; a real one has 16, but pasted text must not be lost                 \
	       */

struct vuart {
	uint8_t ier;
	uint8_t lcr;
	uint8_t mcr;
	uint8_t scr;
	uint8_t dll;
	uint8_t dlm;
	bool fifo_enabled;
	bool thre_pending; /* the THR-empty interrupt was raised and not yet read from IIR */
	bool overrun;      /* LSR.OE: only loopback can overrun */
	uint16_t rx_head;  /* index of the oldest byte */
	uint16_t rx_len;   /* 0..VUART_RX_BYTES */
	uint8_t rx[VUART_RX_BYTES];
};

/* Reset state. Must be called before anything else. */
void vuart_init(struct vuart *u);

/* Guest read of one byte register; offset is relative to the UART's base. Never fails. A read has
 * side effects (RBR takes a byte, IIR acknowledges THR-empty): look at vuart_irq() afterwards. */
uint8_t vuart_read(struct vuart *u, uint32_t offset);

/* Guest write of one byte register. Returns true when the guest transmits the byte *tx, which the
 * caller must pass on; *tx is untouched otherwise. Look at vuart_irq() afterwards. */
bool vuart_write(struct vuart *u, uint32_t offset, uint8_t value, uint8_t *tx);

/* Level of the interrupt line. */
bool vuart_irq(const struct vuart *u);

/* Bytes from the console to the guest. Returns how many were accepted, from the front; the caller
 * keeps the others and offers them again. Look at vuart_irq() afterwards. */
size_t vuart_rx(struct vuart *u, const uint8_t *bytes, size_t n);

/* How many bytes vuart_rx() would accept now: 0..VUART_RX_BYTES. 0 while the guest has the UART in
 * loopback, where the receiver is cut off from the line. */
size_t vuart_rx_space(const struct vuart *u);

#endif
