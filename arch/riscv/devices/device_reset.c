/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/devices/device_reset.h"

#define RTC_IRQ_ENABLED     0x10UL
#define RTC_CLEAR_ALARM     0x14UL
#define RTC_ALARM_STATUS    0x18UL
#define RTC_CLEAR_INTERRUPT 0x1cUL

#define UART_IER  1U
#define UART_FCR  2U
#define UART_LCR  3U
#define UART_MCR  4U
#define FCR_CLEAR 0x06U /* both FIFOs; without bit 0 they are off as well */

#define VIRTIO_STATUS 0x70UL

static volatile uint32_t *reg(uint64_t base, uint64_t offset)
{
	return (volatile uint32_t *)(base + offset);
}

bool device_reset_goldfish_rtc(uint64_t base)
{
	*reg(base, RTC_IRQ_ENABLED) = 0;
	*reg(base, RTC_CLEAR_ALARM) = 1;
	*reg(base, RTC_CLEAR_INTERRUPT) = 1;
	return *reg(base, RTC_ALARM_STATUS) == 0;
}

bool device_reset_ns16550(uint64_t base, uint32_t shift)
{
	volatile uint8_t *uart = (volatile uint8_t *)base;

	uart[UART_LCR << shift] = 0; /* otherwise IER would be the divisor */
	uart[UART_IER << shift] = 0;
	uart[UART_FCR << shift] = FCR_CLEAR | 1;
	uart[UART_FCR << shift] = 0;
	uart[UART_MCR << shift] = 0;
	return uart[UART_IER << shift] == 0;
}

bool device_reset_virtio_mmio(uint64_t base)
{
	*reg(base, VIRTIO_STATUS) = 0;
	return *reg(base, VIRTIO_STATUS) == 0;
}
