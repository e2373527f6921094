/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/delegated_csrs.h"

#include "arch/riscv/counters/ssccfg.h"
#include "arch/riscv/hart/csr.h"
#include "tests/host/combining_hart.h"

static uint32_t loses;
static uint64_t lost;

void delegated_csrs_lose(uint32_t counter, uint64_t bits)
{
	loses = counter;
	lost = bits;
}

void delegated_csrs_show(void)
{
	host_csrs[CSR_SCOUNTINHIBIT] = combining_inhibit();
}

static void select_counter(uint32_t counter)
{
	uint64_t bits = combining_event(counter) & ~(counter == loses ? lost : 0);

	host_csrs[CSR_SIREG] = combining_counter(counter);
	host_csrs[CSR_SIREG2] = bits & ~MHPMEVENT_MINH;
}

/* MINH is read-only 0 here, so M stays as the firmware set it. */
static void write_event(uint32_t counter, uint64_t value)
{
	uint64_t minh = combining_event(counter) & MHPMEVENT_MINH;

	combining_write_event(counter, (value & ~MHPMEVENT_MINH) | minh);
	host_csrs[CSR_SCOUNTOVF] = combining_overflows();
}

void host_csr_write(uint32_t csr, uint64_t value)
{
	uint32_t counter = (uint32_t)(host_csrs[CSR_SISELECT] - SISELECT_COUNTER0);

	host_csrs[csr] = value;
	if (csr == CSR_SISELECT)
		select_counter((uint32_t)(value - SISELECT_COUNTER0));
	else if (csr == CSR_SIREG)
		combining_write_counter(counter, value);
	else if (csr == CSR_SIREG2)
		write_event(counter, value);
	else if (csr == CSR_SCOUNTINHIBIT)
		combining_write_inhibit(value);
}
