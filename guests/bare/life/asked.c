/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that prints each byte that comes to its UART, with the status and the time at which it
 * saw it. It powers itself off when that is an `o` behind a break. opens=0     it does not enable
 * the receive interrupt obeys=0     it does not power itself off
 */
#include "guests/bare/bare.h"

#define UART          ((volatile uint8_t *)0x10000000)
#define PLIC_PRIORITY ((volatile uint32_t *)0x0c000028) /* of source 10, the UART */
#define PLIC_ENABLE   ((volatile uint32_t *)0x0c002000)
#define PLIC_CLAIM    ((volatile uint32_t *)0x0c200004)

#define LSR_DR 0x01
#define LSR_BI 0x10

enum { RBR, IER, LSR = 5 };

/* Interrupts are off: WFI ends by the UART's. */
static void wait(void)
{
	__asm__ volatile("wfi");
	*PLIC_CLAIM = *PLIC_CLAIM;
}

int asked(uint64_t hartid)
{
	bool told = false;

	(void)hartid;
	if (bootarg_num("opens", 1))
		UART[IER] = 5;
	*PLIC_PRIORITY = 1;
	*PLIC_ENABLE = BIT(10);
	csr_set(sie, IRQ_EXTERNAL);
	print("asked: begins\n");
	for (;;) {
		uint8_t status = UART[LSR], byte;
		uint64_t now = csr_read(time);

		if (!(status & LSR_DR)) {
			wait();
			continue;
		}
		byte = UART[RBR];
		print("asked: %u status %x at %u\n", byte, status, now);
		if (told && byte == 'o' && bootarg_num("obeys", 1))
			return 0;
		told = status & LSR_BI;
	}
}
