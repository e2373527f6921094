/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/sbi.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/lib/printf.h"

static _Noreturn void power_off(void)
{
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, SBI_SRST_SHUTDOWN, SBI_SRST_REASON_SYSFAIL, 0, 0, 0);
	for (;;)
		wfi();
}

static void tell(const char *prefix, const char *format, va_list args)
{
	char line[256];
	size_t used = (size_t)tally_snprintf(line, sizeof(line), "%s", prefix);

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
