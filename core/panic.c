/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdatomic.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/sbi.h"
#include "core/lib/printf.h"
#include "core/log.h"
#include "core/panic.h"

/* Least wait, in instructions, for firmware that reports success and switches off later. */
#define PATIENCE 100000000U

atomic_bool machine_stopped;

static const char *try_off(uint64_t reason)
{
	struct sbi_ret ret;

	uart_finish(log_uart());
	ret = sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, SBI_SRST_SHUTDOWN, reason, 0, 0, 0);
	for (uint32_t i = 0; !ret.error && i < PATIENCE; i++) /* WAITS */
		__asm__ volatile("");
	return ret.error == SBI_ERR_NOT_SUPPORTED
	           ? "the machine stops here: its firmware has no reset device; switch it off by "
	             "hand"
	           : "the machine stops here: its firmware did not reset it; switch it "
	             "off by hand";
}

/* Harts that run guests must not go on without this one. */
static _Noreturn void stop_all(void)
{
	atomic_store(&machine_stopped, true);
	/* The firmware sends IPIs by writing device registers. */
	fence_memory_then_output();
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 0, ~0UL, 0, 0, 0);
	machine_rest();
}

void machine_rest(void)
{
	csr_write(CSR_SIE, 0);
	for (;;) /* WAITS */
		wfi();
}

void machine_off(uint64_t reason)
{
	log_flush();
	log_line("%s", try_off(reason));
	stop_all();
}

static _Noreturn void power_off(void)
{
	log_panic(try_off(SBI_SRST_REASON_SYSFAIL));
	stop_all();
}

static void tell(const char *prefix, const char *format, va_list args)
{
	char line[256];
	size_t used = tally_snprintf(line, sizeof(line), "%s", prefix);

	tally_vsnprintf(line + used, sizeof(line) - used, format, args);
	log_panic(line);
}

void panic(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell("panic: ", format, args);
	va_end(args);
	power_off();
}

void platform_lacks(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell("the platform: ", format, args);
	va_end(args);
	power_off();
}
