/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "arch/riscv/csr.h"
#include "arch/riscv/sbi.h"
#include "arch/riscv/trap.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/pcpu.h"
#include "core/printf.h"

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

void trap_in_hs(uint64_t scause, uint64_t sepc, uint64_t stval, uint64_t sp)
{
	panic("hart %lu: trap in HS: scause %lx sepc %lx stval %lx sp %lx", this_pcpu()->hartid,
	      scause, sepc, stval, sp);
}

/* For -fstack-protector-strong, here and in libfdt. The value is chosen so that a string copy
 * cannot write it: it contains a zero byte, a newline and 0xff. */
uintptr_t __stack_chk_guard = 0x5a00ff0a7c3de1b7UL;
_Noreturn void __stack_chk_fail(void);

void __stack_chk_fail(void)
{
	panic("hart %lu: a stack frame was overwritten, called from %p", this_pcpu()->hartid,
	      __builtin_return_address(0));
}
