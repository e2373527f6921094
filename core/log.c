/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/plic.h"
#include "arch/riscv/uart.h"
#include "core/console.h"
#include "core/log.h"
#include "core/platform.h"
#include "core/printf.h"
#include "core/spinlock.h"
#include "core/vm.h"

/* At most so many typed bytes are passed on in one stay in HS. */
#define INPUT_BURST 32

static struct spinlock lock;
static struct console console;
static struct uart uart;
static struct plic plic;

void console_emit(const char *s, size_t n)
{
	uart_write(&uart, s, n);
}

void log_init(void)
{
	uart_init(&uart, (hpa_t){platform.uart_base}, platform.uart_shift);
}

void log_set_vms(const struct vm_tree *tree, bool interactive)
{
	static const char *names[VM_MAX_VMS];

	for (uint32_t i = 0; i < tree->n_vms; i++)
		names[i] = tree->vms[i].name;
	console_init(&console, interactive, names, tree->n_vms);
}

void log_line(const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	tally_vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	spin_lock(&lock);
	console_tally_puts(&console, line);
	spin_unlock(&lock);
}

void log_panic(const char *line)
{
	console_tally_puts(&console, line);
}

void log_vm(uint32_t vm, const char *bytes, size_t n)
{
	spin_lock(&lock);
	for (size_t i = 0; i < n; i++)
		console_vm_putc(&console, vm, (uint8_t)bytes[i]);
	spin_unlock(&lock);
}

void log_vm_ended(uint32_t vm)
{
	spin_lock(&lock);
	console_vm_ended(&console, vm, true);
	spin_unlock(&lock);
}

void log_enable_input(void)
{
	plic = (struct plic){.base = platform.plic_base, .context = platform.plic_context};
	if (!plic.base || !platform.uart_irq)
		return;
	plic_enable(&plic, platform.uart_irq);
	csr_set(CSR_SIE, BIT(IRQ_SEI));
}

void log_input(void)
{
	uint32_t source = plic_claim(&plic);

	for (int i = 0; i < INPUT_BURST; i++) {
		uint8_t byte;
		int vm = -1;

		spin_lock(&lock);
		int typed = uart_read(&uart);

		if (typed >= 0)
			vm = console_input(&console, (uint8_t)typed, &byte);
		spin_unlock(&lock);
		if (typed < 0)
			break;
		if (vm >= 0)
			vm_input(&vms[vm], byte);
	}
	/* The level is still high if more has come: the next interrupt takes that. */
	if (source)
		plic_complete(&plic, source);
}
