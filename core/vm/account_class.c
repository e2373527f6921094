/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/account_class.h"

#include "arch/riscv/csr.h"
#include "core/panic.h"
#include "core/vm/mmio.h"
#include "core/vm/vcpu.h"
#include "core/vm/vm.h"

#define WFI     0x10500073U
#define WRS_NTO 0x00d00073U
#define SYSTEM  0x73U

_Static_assert(ACCOUNT_FETCH == ACCOUNT_LOAD + 2 * MMIO_DEVICES, "rows of loads and stores");

/* Of an extension, by the low bits of its id, which differ: its place, and of the place its id.
 * Constant after boot. */
static uint8_t place_of[VSBI_SLOTS];
static uint64_t extension_at[ACCOUNT_EXTENSIONS];

void account_class_init(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_vms * VSBI_SLOTS; i++) {
		uint64_t eid = vms[i / VSBI_SLOTS].sbi[i % VSBI_SLOTS].eid;

		if (!eid || place_of[i % VSBI_SLOTS])
			continue;
		if (++n == ACCOUNT_EXTENSIONS)
			panic("account: no place for extension %lx", eid);
		place_of[i % VSBI_SLOTS] = (uint8_t)n;
		extension_at[n] = eid;
	}
}

uint64_t account_extension(uint32_t place)
{
	return extension_at[place];
}

static uint32_t of_call(const struct vm *vm, uint64_t eid, uint64_t fid)
{
	vsbi_fn *fn = eid ? vsbi_find(vm->sbi, eid, fid) : NULL;
	uint32_t place = eid && vm->sbi[eid % VSBI_SLOTS].eid == eid ? place_of[eid % VSBI_SLOTS] : 0;

	return place * ACCOUNT_FUNCTIONS +
	       (fn && fn != vsbi_not_supported ? (uint32_t)fid : ACCOUNT_FUNCTIONS - 1);
}

static enum account_class of_csr(uint32_t csr)
{
	if (csr - CSR_CYCLE < ACCOUNT_COUNTERS)
		return ACCOUNT_CSR_COUNTER + (csr - CSR_CYCLE);
	switch (csr) {
	case CSR_SCOUNTOVF:
		return ACCOUNT_CSR_SCOUNTOVF;
	case CSR_SIE:
		return ACCOUNT_CSR_SIE;
	case CSR_SIP:
		return ACCOUNT_CSR_SIP;
	case CSR_STIMECMP:
		return ACCOUNT_CSR_STIMECMP;
	case CSR_SIREG:
		return ACCOUNT_CSR_SIREG;
	default:
		return ACCOUNT_CSR_OTHER;
	}
}

/* As virtual_insn() sees it. */
static enum account_class of_insn(uint32_t insn, enum vcpu_exit *kind)
{
	*kind = EXIT_CSR;
	if (!insn)
		return ACCOUNT_INSN_MUTE;
	if (insn == WRS_NTO || (insn == WFI && !vcpu_from_user())) {
		*kind = EXIT_WFI;
		return insn == WFI ? ACCOUNT_WFI : ACCOUNT_WRS_NTO;
	}
	return (insn & 0x7f) == SYSTEM && insn >> 12 & 3 ? of_csr(insn >> 20) : ACCOUNT_INSN;
}

static enum account_class of_interrupt(uint64_t irq, enum vcpu_exit *kind)
{
	*kind = EXIT_IRQ;
	switch (irq) {
	case IRQ_STI:
		*kind = EXIT_TIMER;
		return ACCOUNT_TIMER;
	case IRQ_LCOFI:
		*kind = EXIT_LCOFI;
		return ACCOUNT_LCOFI;
	case IRQ_SSI:
		return ACCOUNT_IPI;
	case IRQ_SEI:
		return ACCOUNT_EXTERNAL;
	default:
		return ACCOUNT_INTERRUPT;
	}
}

enum account_class account_class_now(const struct vcpu *vcpu, enum vcpu_exit *kind)
{
	uint64_t cause = csr_read(CSR_SCAUSE);

	if (cause & CAUSE_INTERRUPT)
		return of_interrupt(cause & ~CAUSE_INTERRUPT, kind);
	switch (cause) {
	case CAUSE_ECALL_VS:
		*kind = EXIT_ECALL;
		return of_call(vcpu->vm, vcpu->ctx.x[REG_A7], vcpu->ctx.x[REG_A6]);
	case CAUSE_VIRTUAL_INSN:
		return of_insn((uint32_t)csr_read(CSR_STVAL), kind);
	case CAUSE_LOAD_GUEST_PAGE:
	case CAUSE_STORE_GUEST_PAGE:
		*kind = EXIT_MMIO;
		return ACCOUNT_LOAD + 2 * mmio_device(vcpu->vm) + (cause == CAUSE_STORE_GUEST_PAGE);
	default:
		*kind = EXIT_OTHER;
		return cause == CAUSE_INSN_GUEST_PAGE ? ACCOUNT_FETCH : ACCOUNT_EXCEPTION;
	}
}
