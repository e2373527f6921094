/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/trap.h"
#include "arch/riscv/hart/vs_state.h"

void vs_state_reset(struct vs_state *vs, uint64_t pc)
{
	*vs = (struct vs_state){
	    .sepc = pc,
	    .sstatus = 2UL << 32 | SSTATUS_SPP | SSTATUS_SPIE, /* UXL = 64 */
	    .hstatus = HSTATUS_VSXL_64 | HSTATUS_SPV | HSTATUS_SPVP | HSTATUS_VTW,
	    .vsstatus = 2UL << 32, /* UXL = 64 */
	    /* The value that firmware leaves. Linux sets it only if it finds a PMU, but its
	     * processes always read time themselves. */
	    .scounteren = BIT(CSR_TIME - CSR_CYCLE),
	    .vstimecmp = ~0UL,
	};
}

void vs_state_load(const struct vs_state *vs, const struct vs_features *has)
{
	csr_write(CSR_SEPC, vs->sepc);
	csr_write(CSR_SSTATUS, vs->sstatus);
	csr_write(CSR_HSTATUS, vs->hstatus);
	csr_write(CSR_VSSTATUS, vs->vsstatus);
	csr_write(CSR_VSIE, vs->vsie);
	csr_write(CSR_VSTVEC, vs->vstvec);
	csr_write(CSR_VSSCRATCH, vs->vsscratch);
	csr_write(CSR_VSEPC, vs->vsepc);
	csr_write(CSR_VSCAUSE, vs->vscause);
	csr_write(CSR_VSTVAL, vs->vstval);
	csr_write(CSR_VSATP, vs->vsatp);
	csr_write(CSR_SCOUNTEREN, vs->scounteren);
	csr_write(CSR_SENVCFG, vs->senvcfg);
	csr_write(CSR_HVIP, vs->hvip);
	if (has->sstc)
		csr_write(CSR_VSTIMECMP, vs->vstimecmp);
	if (has->vsiselect)
		csr_write(CSR_VSISELECT, vs->vsiselect);
}

void vs_state_put(struct vs_state *vs, const struct vs_features *has)
{
	vs_state_keep(vs);
	vs->sepc = csr_read(CSR_SEPC);
	vs->sstatus = csr_read(CSR_SSTATUS);
	vs->vsstatus = csr_read(CSR_VSSTATUS);
	vs->vsie = csr_read(CSR_VSIE);
	vs->vstvec = csr_read(CSR_VSTVEC);
	vs->vsscratch = csr_read(CSR_VSSCRATCH);
	vs->vsepc = csr_read(CSR_VSEPC);
	vs->vscause = csr_read(CSR_VSCAUSE);
	vs->vstval = csr_read(CSR_VSTVAL);
	vs->vsatp = csr_read(CSR_VSATP);
	vs->scounteren = csr_read(CSR_SCOUNTEREN);
	vs->senvcfg = csr_read(CSR_SENVCFG);
	vs->hvip = csr_read(CSR_HVIP);
	if (has->sstc)
		vs->vstimecmp = csr_read(CSR_VSTIMECMP);
	if (has->vsiselect)
		vs->vsiselect = csr_read(CSR_VSISELECT);
}

bool vs_state_has_hstateen0(void)
{
	return csr_is_readable(CSR_HSTATEEN0);
}

#define HSTATEEN0_GUEST_AIA (HSTATEEN0_CSRIND | HSTATEEN0_AIA | HSTATEEN0_IMSIC)

struct vs_features vs_state_probe(uint64_t isa)
{
	return (struct vs_features){
	    .sstc = isa & BIT(ISA_SSTC),
	    .vsiselect = csr_is_readable(CSR_VSISELECT),
	    .ctr = csr_is_readable(CSR_VSCTRCTL) && !vs_state_has_hstateen0(),
	};
}

void vs_state_clear_ctr(void)
{
	csr_write(CSR_VSCTRCTL, 0);
	csr_write(CSR_SCTRSTATUS, 0);
	__asm__ volatile(".4byte 0x10400073" ::: "memory"); /* sctrclr */
}

/*
 * With Smstateen: closes all state that a guest could change and that Tally does not switch, even
 * if the firmware has left it open (jvt, sstateen0, scontext, sctrstatus). senvcfg is switched, and
 * so are vsiselect and, by hstatus.VGEIN, the guest interrupt file.
 */
static void close_other_state(bool aia)
{
	if (vs_state_has_hstateen0())
		csr_write(CSR_HSTATEEN0, HSTATEEN0_ENVCFG | (aia ? HSTATEEN0_GUEST_AIA : 0));
}

bool vs_state_opens_aia(void)
{
	return !vs_state_has_hstateen0() ||
	       (csr_read(CSR_HSTATEEN0) & HSTATEEN0_GUEST_AIA) == HSTATEEN0_GUEST_AIA;
}

void vs_state_init_hart(uint64_t isa, bool aia)
{
	vs_delegate(true);
	csr_write(CSR_HIDELEG, VS_INTERRUPTS);
	csr_write(CSR_HIE, 0);
	csr_write(CSR_HVIP, 0);
	csr_write(CSR_HCOUNTEREN, BIT(CSR_TIME - CSR_CYCLE)); /* guests read time directly */
	csr_write(CSR_VSATP, 0);
	csr_write(CSR_HGATP, 0);
	close_other_state(aia);
	/* A guest's cbo.inval only flushes. A real invalidation could bring back data of another VM
	 * that was overwritten when the memory was cleared. */
	csr_write(CSR_HENVCFG,
	          (isa & BIT(ISA_SSTC) ? HENVCFG_STCE : 0) |
	              (isa & BIT(ISA_SVADU) ? HENVCFG_ADUE : 0) |
	              (isa & BIT(ISA_SVPBMT) ? HENVCFG_PBMTE : 0) |
	              (isa & BIT(ISA_ZICBOZ) ? HENVCFG_CBZE : 0) |
	              (isa & BIT(ISA_ZICBOM) ? HENVCFG_CBCFE | HENVCFG_CBIE_FLUSH : 0));
	if (isa & BIT(ISA_SSTC)) {
		csr_write(CSR_VSTIMECMP, ~0UL);
		/* The firmware's value may be in the past. */
		csr_write(CSR_STIMECMP, ~0UL);
	}
}

void vs_delegate(bool exceptions)
{
	uint64_t delegated = exceptions ? 0xb1ff : 0;

	if (quirks.fetch_faults_stop_time)
		delegated &= ~BIT(CAUSE_INSN_PAGE);
	csr_write(CSR_HEDELEG, delegated);
}

void vs_inject(uint64_t cause, uint64_t tval)
{
	uint64_t sstatus = csr_read(CSR_SSTATUS);
	uint64_t vsstatus = csr_read(CSR_VSSTATUS);
	uint64_t sie = vsstatus & SSTATUS_SIE;

	vsstatus &= ~(SSTATUS_SIE | SSTATUS_SPIE | SSTATUS_SPP);
	if (sie)
		vsstatus |= SSTATUS_SPIE;
	if (sstatus & SSTATUS_SPP)
		vsstatus |= SSTATUS_SPP;
	csr_write(CSR_VSSTATUS, vsstatus);
	csr_write(CSR_VSEPC, csr_read(CSR_SEPC));
	csr_write(CSR_VSCAUSE, cause);
	csr_write(CSR_VSTVAL, tval);
	csr_write(CSR_SEPC, csr_read(CSR_VSTVEC) & ~3UL);
	csr_write(CSR_SSTATUS, sstatus | SSTATUS_SPP);
	csr_set(CSR_HSTATUS, HSTATUS_SPVP | HSTATUS_SPV);
}
