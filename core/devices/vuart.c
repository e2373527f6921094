/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices/vuart.h"

/* Register offsets, and the bits that this model implements. PC16550D data sheet, section 8. */
enum {
	REG_DATA = 0, /* RBR (read), THR (write), DLL with DLAB */
	REG_IER = 1,  /* DLM with DLAB */
	REG_IIR = 2,  /* write: FCR, also with DLAB, because drivers look for an EFR there */
	REG_LCR = 3,
	REG_MCR = 4,
	REG_LSR = 5,
	REG_MSR = 6,
	REG_SCR = 7,
};

#define IER_RX   0x01u
#define IER_THRE 0x02u
#define IER_LINE 0x04u
#define IER_MASK 0x0fu /* the other bits read 0, so drivers do not take it for an XScale UART */

#define IIR_NONE 0x01u
#define IIR_THRE 0x02u
#define IIR_RX   0x04u
#define IIR_LINE 0x06u
#define IIR_FIFO 0xc0u

#define FCR_ENABLE   0x01u
#define FCR_CLEAR_RX 0x02u

#define LCR_DLAB 0x80u

#define MCR_DTR  0x01u
#define MCR_RTS  0x02u
#define MCR_OUT1 0x04u
#define MCR_OUT2 0x08u
#define MCR_LOOP 0x10u
#define MCR_MASK 0x1fu /* bit 5 (automatic flow control) came with later chips */

#define LSR_DR   0x01u
#define LSR_OE   0x02u
#define LSR_BI   0x10u
#define LSR_THRE 0x20u
#define LSR_TEMT 0x40u

#define MSR_CTS 0x10u
#define MSR_DSR 0x20u
#define MSR_RI  0x40u
#define MSR_DCD 0x80u

/* The size of the real chip's FIFO. It limits loopback only: drivers measure the FIFO that way, and
 * would take one of 64 bytes for another chip. */
#define LOOP_FIFO 16u

void vuart_init(struct vuart *u)
{
	u->ier = u->lcr = u->mcr = u->scr = u->dlm = 0;
	u->dll = 2; /* not 0, because drivers that keep the baud rate divide by it */
	u->fifo_enabled = u->thre_pending = u->overrun = u->tx_full = u->opened = false;
	u->rx_head = u->rx_len = u->break_at = 0;
}

static bool loopback(const struct vuart *u)
{
	return (u->mcr & MCR_LOOP) != 0;
}

static void rx_put(struct vuart *u, uint8_t byte)
{
	u->rx[(u->rx_head + u->rx_len) % VUART_RX_BYTES] = byte;
	u->rx_len++;
}

/* Whether the next byte is a break. */
static bool break_is_next(const struct vuart *u)
{
	return u->break_at == u->rx_head + 1;
}

static uint8_t rx_take(struct vuart *u)
{
	uint8_t byte;

	if (u->rx_len == 0)
		return 0;
	byte = u->rx[u->rx_head];
	if (break_is_next(u))
		u->break_at = 0;
	u->rx_head = (uint16_t)((u->rx_head + 1) % VUART_RX_BYTES);
	u->rx_len--;
	return byte;
}

/* Returns the interrupt source of the highest priority, as the value of IIR. */
static uint8_t interrupt_id(const struct vuart *u)
{
	if ((u->ier & IER_LINE) && u->overrun)
		return IIR_LINE;
	/* There is no trigger level: the time-out interrupt would fire at once, because the line is
	 * idle. */
	if (u->rx_len > 0) {
		if ((u->ier & IER_LINE) && break_is_next(u))
			return IIR_LINE;
		if (u->ier & IER_RX)
			return IIR_RX;
	}
	if ((u->ier & IER_THRE) && u->thre_pending)
		return IIR_THRE;
	return IIR_NONE;
}

bool vuart_irq(const struct vuart *u)
{
	return interrupt_id(u) != IIR_NONE;
}

static uint8_t read_iir(struct vuart *u)
{
	uint8_t id = interrupt_id(u);

	/* Only a read of IIR that reports this interrupt acknowledges it, so a receive interrupt
	 * does not hide it. */
	if (id == IIR_THRE)
		u->thre_pending = false;
	return (uint8_t)(id | (u->fifo_enabled ? IIR_FIFO : 0));
}

static uint8_t read_lsr(struct vuart *u)
{
	uint8_t lsr = u->tx_full && !loopback(u) ? 0 : LSR_THRE | LSR_TEMT;

	if (u->rx_len > 0) {
		lsr |= LSR_DR;
		if (break_is_next(u)) {
			lsr |= LSR_BI;
			u->break_at = 0;
		}
	}
	if (u->overrun)
		lsr |= LSR_OE;
	u->overrun = false;
	return lsr;
}

/* No delta bits are set: outside loopback these inputs never change, and in loopback drivers write
 * MCR to test the levels. */
static uint8_t read_msr(const struct vuart *u)
{
	if (!loopback(u))
		return MSR_CTS | MSR_DSR | MSR_DCD;
	return (u->mcr & MCR_RTS ? MSR_CTS : 0) | (u->mcr & MCR_DTR ? MSR_DSR : 0) |
	       (u->mcr & MCR_OUT1 ? MSR_RI : 0) | (u->mcr & MCR_OUT2 ? MSR_DCD : 0);
}

uint8_t vuart_read(struct vuart *u, uint32_t offset)
{
	bool dlab = (u->lcr & LCR_DLAB) != 0;

	switch (offset) {
	case REG_DATA:
		return dlab ? u->dll : rx_take(u);
	case REG_IER:
		return dlab ? u->dlm : u->ier;
	case REG_IIR:
		return read_iir(u);
	case REG_LCR:
		return u->lcr;
	case REG_MCR:
		return u->mcr;
	case REG_LSR:
		return read_lsr(u);
	case REG_MSR:
		return read_msr(u);
	case REG_SCR:
		return u->scr;
	default:
		return 0;
	}
}

static bool write_thr(struct vuart *u, uint8_t value, uint8_t *tx)
{
	/* The byte is sent at once, so the holding register is empty again, which raises the
	 * interrupt. */
	u->thre_pending = !u->tx_full || loopback(u);
	if (!loopback(u)) {
		*tx = value;
		return true;
	}
	if (u->rx_len < (u->fifo_enabled ? LOOP_FIFO : 1u))
		rx_put(u, value);
	else
		u->overrun = true;
	return false;
}

static void write_fcr(struct vuart *u, uint8_t value)
{
	u->fifo_enabled = (value & FCR_ENABLE) != 0;
	/* A real chip also clears its FIFO when bit 0 changes. Drivers that want it cleared set bit
	 * 1 too; the others would lose input. Bit 1 works only together with bit 0. */
	if ((value & (FCR_ENABLE | FCR_CLEAR_RX)) == (FCR_ENABLE | FCR_CLEAR_RX)) {
		u->rx_head = u->rx_len = u->break_at = 0;
	}
}

bool vuart_write(struct vuart *u, uint32_t offset, uint8_t value, uint8_t *tx)
{
	bool dlab = (u->lcr & LCR_DLAB) != 0;

	switch (offset) {
	case REG_DATA:
		if (!dlab)
			return write_thr(u, value, tx);
		u->dll = value;
		break;
	case REG_IER:
		if (dlab) {
			u->dlm = value;
			break;
		}
		u->ier = value & IER_MASK;
		u->opened |= (value & IER_RX) != 0;
		/* Also if the bit was set before, because a driver that writes it wants the
		 * interrupt. */
		if (u->ier & IER_THRE && !u->tx_full)
			u->thre_pending = true;
		break;
	case REG_IIR:
		write_fcr(u, value);
		break;
	case REG_LCR:
		u->lcr = value;
		break;
	case REG_MCR:
		u->mcr = value & MCR_MASK;
		break;
	case REG_SCR:
		u->scr = value;
		break;
	default: /* LSR and MSR are read-only; there are no registers after SCR */
		break;
	}
	return false;
}

void vuart_set_full(struct vuart *u, bool full)
{
	if (u->tx_full != full)
		u->thre_pending = !full;
	u->tx_full = full;
}

size_t vuart_rx_space(const struct vuart *u)
{
	return loopback(u) ? 0 : VUART_RX_BYTES - u->rx_len;
}

void vuart_rx(struct vuart *u, uint8_t byte)
{
	if (vuart_rx_space(u))
		rx_put(u, byte);
}

bool vuart_break(struct vuart *u, uint8_t next)
{
	if (u->break_at || vuart_rx_space(u) < 2)
		return false;
	u->break_at = (uint16_t)((u->rx_head + u->rx_len) % VUART_RX_BYTES + 1);
	rx_put(u, 0);
	rx_put(u, next);
	return true;
}
