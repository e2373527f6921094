/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the ns16550a UART of one VM: registers, receive FIFO, interrupt level. It knows neither
 * guest memory nor the real console. The caller of each function holds the lock of that VM's
 * devices; any hart may call.
 *
 * Its registers are a byte each, one behind the other, as a device tree means without reg-shift and
 * reg-io-width. The line never fails, so there are no parity or framing errors, and breaks come
 * from vuart_break() alone. A transmitted byte leaves at once; the transmitter is empty (THRE)
 * while there is room for 16 of them on the host's serial line.
 */
#ifndef CORE_DEVICES_VUART_H
#define CORE_DEVICES_VUART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of its guest-physical address range in bytes; 8 registers, the rest reads 0. */
#define VUART_SIZE 0x100u
/* For the guest's clock-frequency; reset divisor 2 = 115200 baud. */
#define VUART_CLOCK_HZ 3686400u
/* The receive FIFO. A real one has 16, but pasted text must not be lost. */
#define VUART_RX_BYTES 4096u

struct vuart {
	uint8_t ier, lcr, mcr, scr, dll, dlm;
	bool fifo_enabled;
	bool thre_pending; /* the THR-empty interrupt was raised and not read from IIR yet */
	bool overrun;      /* LSR.OE; only loopback can overrun */
	bool tx_full;      /* not THRE */
	bool opened;       /* the receive interrupt has been enabled since the reset */
	uint16_t rx_head;  /* index of the oldest byte */
	uint16_t rx_len;   /* 0..VUART_RX_BYTES */
	uint16_t break_at; /* 1 + the index of a break that was not read yet; 0: none */
	uint8_t rx[VUART_RX_BYTES];
};

/* Sets the reset state. Must be called first. */
void vuart_init(struct vuart *u);

/* Guest read of a register of one byte, at an offset from the base address. Reads have side effects
 * (RBR takes a byte, IIR acknowledges THR-empty), so call vuart_irq() afterwards. */
uint8_t vuart_read(struct vuart *u, uint32_t offset);

/* Guest write to a register of one byte. Returns true if the guest transmits the byte *tx, which
 * the caller must pass on; otherwise *tx is not changed. Call vuart_irq() afterwards. */
bool vuart_write(struct vuart *u, uint32_t offset, uint8_t value, uint8_t *tx);

/* The transmitter is full, or empty again, which raises its interrupt. Call vuart_irq()
 * afterwards. */
void vuart_set_full(struct vuart *u, bool full);

/* Returns the level of the interrupt line. */
bool vuart_irq(const struct vuart *u);

/* Receives a byte for the guest. It is dropped if there is no room. Call vuart_irq() afterwards. */
void vuart_rx(struct vuart *u, uint8_t byte);

/* Receives a break, which is a byte 0 with LSR.BI until LSR is read, and a byte behind it. Returns
 * false, and receives nothing, if there is no room or another break waits. Call vuart_irq()
 * afterwards. */
bool vuart_break(struct vuart *u, uint8_t next);

/* Returns how many bytes there is room for: 0..VUART_RX_BYTES. 0 while the guest has the UART in
 * loopback, which disconnects the receiver from the line. */
size_t vuart_rx_space(const struct vuart *u);

#endif
