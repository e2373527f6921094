/* SPDX-License-Identifier: Apache-2.0 */
/* The CSRs of a hart, its counters, its fences, and what is assembly in arch/riscv/. */
#include <string.h>

#include "arch/riscv/counters/ssccfg.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/hlvx.h"
#include "arch/riscv/hart/trap.h"
#include "tests/host/machine/machine.h"
#include "vpmu/port.h"

/* --- counters ------------------------------------------------------------------------ */

void machine_count(struct machine_hart *h, uint64_t insns, bool guest)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct machine_counter *c = &h->counters[i];
		uint64_t before = c->value;

		if (!c->runs || !c->selector || c->selector > SBI_PMU_HW_INSTRUCTIONS ||
		    (guest ? h->user ? c->not_vu : c->not_vs : !c->counts_hs))
			continue;
		c->value += insns;
		if (c->value >= before || i < 3 || c->of)
			continue;
		c->of = true;
		h->csr[CSR_SIP] |= BIT(IRQ_LCOFI);
	}
}

static uint64_t flags_of(const struct machine_hart *h)
{
	uint64_t flags = 0;

	for (uint32_t i = 3; i < MACHINE_COUNTERS; i++)
		flags |= (uint64_t)h->counters[i].of << i;
	return flags;
}

uint64_t hpm_read(uint32_t hctr)
{
	return machine_hart()->counters[hctr].value;
}

/* The vPMU's own read (machine.mk has --wrap). A counter whose stop has failed still runs, and may
 * be read. One whose start has failed may have any value. */
uint64_t __real_vpmu_port_read(hctr_t hctr);
uint64_t __wrap_vpmu_port_read(hctr_t hctr);

uint64_t __wrap_vpmu_port_read(hctr_t hctr)
{
	if (this_pcpu()->hpm.failed >> hctr.idx & 1 && !machine_hart()->counters[hctr.idx].runs)
		machine_differs("counter %u is read, and its start has failed", hctr.idx);
	return __real_vpmu_port_read(hctr);
}

static struct machine_counter *selected(struct machine_hart *h)
{
	uint64_t n = h->csr[CSR_SISELECT] - SISELECT_COUNTER0;

	return n < MACHINE_COUNTERS ? &h->counters[n] : NULL;
}

static void write_sireg2(struct machine_counter *c, uint64_t value)
{
	c->selector = value & MHPMEVENT_SELECTOR;
	c->of = value & MHPMEVENT_OF;
	c->not_vs = value & MHPMEVENT_VSINH;
	c->not_vu = value & MHPMEVENT_VUINH;
	c->counts_hs = !(value & MHPMEVENT_SINH);
}

static void inhibit(struct machine_hart *h, uint64_t value)
{
	for (uint32_t i = 0; i < MACHINE_COUNTERS; i++)
		h->counters[i].runs = !(value >> i & 1);
}

static uint64_t inhibited(const struct machine_hart *h)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < MACHINE_COUNTERS; i++)
		value |= (uint64_t)!h->counters[i].runs << i;
	return value;
}

/* --- CSRs ---------------------------------------------------------------------------- */

static uint64_t vsip(const struct machine_hart *h)
{
	uint64_t hvip = h->csr[CSR_HVIP];
	uint64_t pending = (hvip & VS_INTERRUPTS) >> 1 | (hvip & BIT(IRQ_LCOFI));

	if (machine_guest_timer(h))
		pending |= BIT(IRQ_STI);
	if (aia_guest_pends(h))
		pending |= BIT(IRQ_SEI);
	return pending;
}

/* While nobody is resident, nobody's interrupts are in the hart. */
static void look_at_interrupts(uint32_t csr)
{
	if (machine.booted && !this_pcpu()->current &&
	    (csr == CSR_HVIP || csr == CSR_VSIE || csr == CSR_VSIP))
		machine_differs("hart %u looks at the interrupts of nobody", machine.now);
}

uint64_t machine_csr_read(uint32_t csr)
{
	struct machine_hart *h = machine_hart();

	h->insns_hs++;
	machine_count(h, 1, false);
	look_at_interrupts(csr);
	switch (csr) {
	case CSR_TIME:
		machine.time++;
		bus_passes_time();
		machine_sees();
		return machine.time;
	case CSR_SIP:
		return machine_pending(h);
	case CSR_VSIP:
		return vsip(h);
	case CSR_HGEIP:
		return aia_hgeip(h);
	case CSR_SCOUNTOVF:
		return flags_of(h);
	case CSR_SIREG:
		return selected(h)->value;
	case CSR_SCOUNTINHIBIT:
		return inhibited(h);
	default:
		if (csr >= CSR_CYCLE && csr <= CSR_HPMCOUNTER31)
			return h->counters[csr - CSR_CYCLE].value;
		return h->csr[csr];
	}
}

static uint64_t legal_hgatp(uint64_t value)
{
	uint64_t bits = machine.kind.no_vmids ? 0 : 31;

	return value & ~((HGATP_VMID_MASK & ~bits) << HGATP_VMID_SHIFT);
}

void machine_csr_write(uint32_t csr, uint64_t value)
{
	struct machine_hart *h = machine_hart();

	h->insns_hs++;
	machine_count(h, 1, false);
	switch (csr) {
	case CSR_HGATP:
		model_hgatp(h, value);
		h->loads++;
		h->csr[csr] = legal_hgatp(value);
		return;
	case CSR_HGEIE:
		h->csr[csr] = aia_listens(h, value);
		return;
	case CSR_VSIP:
		h->csr[CSR_HVIP] &= ~(BIT(IRQ_VSSI) | BIT(IRQ_LCOFI));
		h->csr[CSR_HVIP] |= (value & BIT(IRQ_SSI)) << 1 | (value & BIT(IRQ_LCOFI));
		return;
	case CSR_SIREG:
		selected(h)->value = value;
		return;
	case CSR_SIREG2:
		write_sireg2(selected(h), value);
		return;
	case CSR_SCOUNTINHIBIT:
		inhibit(h, value);
		return;
	default:
		h->csr[csr] = value;
	}
}

struct trap_guard trap_guard_begin(void)
{
	machine_hart()->trap_expected = true;
	machine_hart()->trapped = false;
	return (struct trap_guard){0};
}

uint64_t trap_guard_end(const struct trap_guard *guard)
{
	(void)guard;
	machine_hart()->trap_expected = false;
	return machine_hart()->trapped ? CAUSE_ILLEGAL_INSN : ~0UL;
}

static bool is_there(uint32_t csr)
{
	return csr != CSR_VSCTRCTL && csr != CSR_HSTATEEN0;
}

uint64_t machine_csr_try(uint32_t csr)
{
	if (is_there(csr))
		return machine_csr_read(csr);
	machine_hart()->trapped = true;
	return 0;
}

uint64_t machine_fetch(uint64_t address, uint64_t value, int bytes)
{
	struct machine_hart *h = machine_hart();
	uint64_t at = address - h->csr[CSR_SEPC];

	if (h->fetch_traps) {
		h->trapped = true;
		return value;
	}
	return bytes == 4 ? h->fetched : h->fetched >> 8 * at & 0xffff;
}

/* --- fences -------------------------------------------------------------------------- */

static uint64_t vmid(const struct machine_hart *h)
{
	return h->csr[CSR_HGATP] >> HGATP_VMID_SHIFT & 31;
}

void hfence_gvma_all(void)
{
	struct machine_hart *h = machine_hart();

	/* Boot does it before there are tables. */
	for (uint32_t i = 0; i < 32 && h->csr[CSR_HGATP]; i++)
		h->gvma_fenced[i] = true;
	machine_sees();
}

void hfence_vvma_all(void)
{
	struct machine_hart *h = machine_hart();

	h->vs_cached[vmid(h)] = 0;
	h->vvma_fenced[vmid(h)] = ++machine.fences;
	machine_sees();
}

void fence_i(void)
{
	machine_hart()->fence_i_at = ++machine.fences;
	machine_sees();
}

void reservation_end(uint64_t *scratch)
{
	(void)scratch;
	machine_hart()->reserved_by = NULL;
}

/* --- floating point and vectors ------------------------------------------------------ */

static void registers_on(uint64_t bits, const char *what)
{
	if (!(machine_hart()->csr[CSR_SSTATUS] & bits))
		machine_differs("%s registers are touched while they are off", what);
}

void fp_save(uint64_t fp[33])
{
	registers_on(SSTATUS_FS, "floating-point");
	memcpy(fp, machine_hart()->fp, sizeof(machine_hart()->fp));
}

void fp_restore(const uint64_t fp[33])
{
	registers_on(SSTATUS_FS, "floating-point");
	memcpy(machine_hart()->fp, fp, sizeof(machine_hart()->fp));
}

void fp_exchange(uint64_t save[33], const uint64_t restore[33])
{
	fp_save(save);
	fp_restore(restore);
}

uint64_t vec_bytes(void)
{
	registers_on(SSTATUS_VS, "vector");
	return MACHINE_VEC_BYTES;
}

void vec_save(void *v, uint64_t csrs[4])
{
	registers_on(SSTATUS_VS, "vector");
	memcpy(v, machine_hart()->vec, sizeof(machine_hart()->vec));
	memcpy(csrs, machine_hart()->vec_csrs, sizeof(machine_hart()->vec_csrs));
}

void vec_restore(const void *v, const uint64_t csrs[4])
{
	registers_on(SSTATUS_VS, "vector");
	memcpy(machine_hart()->vec, v, sizeof(machine_hart()->vec));
	memcpy(machine_hart()->vec_csrs, csrs, sizeof(machine_hart()->vec_csrs));
}
