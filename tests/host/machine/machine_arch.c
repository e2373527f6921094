/* SPDX-License-Identifier: Apache-2.0 */
/* What arch/riscv/ finds out by executing instructions, and its devices. */
#include <stdlib.h>
#include <string.h>

#include "arch/riscv/counters/hpm.h"
#include "arch/riscv/counters/hpm_exact.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/debug/semihosting.h"
#include "arch/riscv/devices/uart.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/isa_trial.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/touch.h"
#include "core/boot/debug.h"
#include "core/boot/hs_memory.h"
#include "core/boot/steps.h"
#include "tests/host/machine/machine.h"

#define HCTRS 0xf8UL /* counters 3 to 7 */

struct quirks quirks;

void secondary_hart(void);

/* Only its address is used. */
void secondary_hart(void)
{
}

/* Each hart has H. */
void boot_on_other_hart(uint64_t hartid, void *dtb)
{
	(void)hartid, (void)dtb;
	abort();
}

void hart_stop_self(atomic_uint *state, uint32_t value)
{
	(void)state, (void)value;
	abort();
}

void quirks_text(char *buf, size_t size)
{
	(void)size;
	*buf = '\0';
}

void quirk_probe_wfi_pc(void)
{
}

bool quirk_vs_timer_pends(void)
{
	return false;
}

bool quirk_probe_ad(void)
{
	return true;
}

uint64_t isa_probe(uint64_t promised, const struct cbo_blocks *blocks)
{
	(void)blocks;
	return promised & ~BIT(ISA_ZICBOP);
}

const char *isa_refusal(void)
{
	return NULL;
}

bool isa_has_imsic(void)
{
	return true;
}

/* Harts of this machine have whole blocks only, as those of others do. */
void cbo_clear(void *to, uint64_t size, uint32_t block)
{
	if (block && ((uint64_t)to | size) % block)
		abort();
	memset(to, 0, size);
}

void hpm_init(struct hpm *hpm, bool sscofpmf, enum hpm_choice choice, uint64_t patience,
              const struct selectors *table)
{
	static const uint32_t events[] = {SBI_PMU_HW_CPU_CYCLES, SBI_PMU_HW_INSTRUCTIONS, 3, 5};

	(void)patience;
	quirks.late_unmask = machine.kind.late_unmask;
	hpm->table = table;
	hpm->hctrs = HCTRS;
	hpm->width = 64;
	hpm->hs_lcofi = hpm->lcofi = sscofpmf;
	hpm->ssccfg = !machine.kind.hart_flags;
	hpm->delegated = machine.kind.delegated && choice != HPM_SBI && hpm->ssccfg;
	for (uint32_t i = 0; i < ARRAY_SIZE(events); i++)
		hpm->events[hpm->n_events++] = (struct hpm_event){
		    .event_idx = events[i], .hctrs = HCTRS, .selector = events[i]};
}

/* There is no emulator below, and so no ledger. */
uint64_t semihosting(uint64_t operation, const void *block)
{
	(void)operation, (void)block;
	return ~0UL;
}

/* All of its memory is there. */
bool touch(uint64_t address)
{
	(void)address;
	return true;
}

/* What HS may do with its memory is for the hart to say (test_hs_map.c, test_hs_memory.py). */
void hs_memory_make(const struct vm_guests *guests)
{
	(void)guests;
}

void hs_memory_add_devices(const struct vm_config *vm)
{
	(void)vm;
}

void hs_memory_add_pages(uint64_t at, uint64_t size, const char *whose)
{
	(void)at, (void)size, (void)whose;
}

void hs_memory_call_unmapped(void (*what)(void *), void *with)
{
	what(with);
}

void hs_memory_use(uint64_t hartid)
{
	(void)hartid;
}

void debug_trip(struct pcpu *pcpu)
{
	(void)pcpu;
}

/* Harts of this machine do not begin in main(). */
bool hpm_exact_check_hs(struct hpm *hpm, atomic_uint *turn, uint32_t me, uint32_t harts,
                        void (*pass)(uint32_t turn))
{
	(void)hpm, (void)turn, (void)me, (void)harts, (void)pass;
	return true;
}

void hpm_exact_settle(struct hpm *hpm, bool offer)
{
	(void)hpm, (void)offer;
}

/* --- devices ------------------------------------------------------------------------- */

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift, uint32_t io_width)
{
	(void)base, (void)io_width;
	*uart = (struct uart){.shift = reg_shift};
	machine.uart_listens = true;
}

void uart_listen(const struct uart *uart, bool received, bool empty)
{
	(void)uart;
	machine.uart_listens = received;
	machine.uart_sends = empty;
}

/* A byte that a slow line sends takes this many ticks. */
#define BYTE_TICKS 40U

size_t uart_put(struct uart *uart, const char *s, size_t n)
{
	(void)uart;
	machine_sees();
	if (machine.kind.slow_line) {
		n = n < uart_takes() ? n : uart_takes();
		if (n)
			machine.uart_until = machine.time + n * BYTE_TICKS;
	}
	operator_output(s, n);
	return n;
}

void uart_write(struct uart *uart, const char *s, size_t n)
{
	(void)uart;
	machine_sees();
	operator_output(s, n);
}

void uart_finish(const struct uart *uart)
{
	(void)uart;
	machine_sees();
}

int uart_read(const struct uart *uart)
{
	(void)uart;
	return operator_byte();
}

/* The registers of guests are in their contexts at all times. */
void trap_record(bool on)
{
	machine_hart()->records_exits = on;
}
