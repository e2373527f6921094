/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dispatch/account_class.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/insn.h"
#include "core/dispatch/mmio.h"
#include "core/panic.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "core/watch/port.h"

_Static_assert(ACCOUNT_CSR_OTHER - ACCOUNT_CSR_SCOUNTOVF == 5 &&
                   ACCOUNT_INTERRUPT - ACCOUNT_TIMER == 4,
               "a row for each of csrs[] and irqs[], then the row of all others");

/* The rows of each extension, indexed by the low bits of its id, which are unique: the first row,
 * and the number of functions. One more row is for all other functions. Constant after boot. */
static struct extension {
	uint64_t eid;
	uint8_t first, functions;
} extensions[VSBI_SLOTS];

/* Counts the functions that any VM is offered. */
static void look_at(const struct vsbi_slot *slot, struct extension *e)
{
	if (!slot->eid)
		return;
	e->eid = slot->eid;
	for (uint8_t fid = e->functions; fid < VSBI_FUNCTIONS; fid++) {
		if (slot->fn[fid] != vsbi_not_supported)
			e->functions = fid + 1;
	}
}

void account_class_init(void)
{
	uint32_t rows = 1;

	for (uint32_t i = 0; i < VSBI_SLOTS; i++) {
		for (uint32_t vm = 0; vm < n_vms; vm++)
			look_at(&vms[vm].sbi[i], &extensions[i]);
		if (!extensions[i].eid)
			continue;
		extensions[i].first = (uint8_t)rows;
		rows += extensions[i].functions + 1U;
	}
	if (rows > ACCOUNT_CALLS)
		panic("account: %u rows of SBI calls", rows);
}

uint64_t account_call(uint32_t row, uint64_t *fid)
{
	for (const struct extension *e = extensions; row && e < extensions + VSBI_SLOTS; e++) {
		if (!e->eid || row - e->first > e->functions)
			continue;
		*fid = row - e->first < e->functions ? row - e->first : ~0UL;
		return e->eid;
	}
	return 0;
}

static uint32_t of_call(const struct vm *vm, uint64_t eid, uint64_t fid)
{
	const struct extension *e = &extensions[eid % VSBI_SLOTS];
	vsbi_fn *fn = vsbi_find(vm->sbi, eid, fid);

	if (!eid || vm->sbi[eid % VSBI_SLOTS].eid != eid)
		return 0;
	return e->first + (fn && fn != vsbi_not_supported ? (uint32_t)fid : e->functions);
}

/* Returns n if the value is none of these. */
static uint32_t index_of(uint64_t value, const uint16_t *values, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && values[i] != value)
		i++;
	return i;
}

/* From ACCOUNT_CSR_SCOUNTOVF on, in the order of the rows. */
static const uint16_t csrs[] = {CSR_SCOUNTOVF, CSR_SIE, CSR_SIP, CSR_STIMECMP, CSR_SIREG};

static enum account_class of_csr(uint32_t csr)
{
	if (csr - CSR_CYCLE < 32)
		return csr - CSR_CYCLE < 3 ? ACCOUNT_CSR_CYCLE + (csr - CSR_CYCLE)
		                           : ACCOUNT_CSR_HPM;
	return ACCOUNT_CSR_SCOUNTOVF + index_of(csr, csrs, ARRAY_SIZE(csrs));
}

/* insn is 0 if the hart has not provided the instruction. */
static enum account_class of_insn(uint32_t insn, enum vcpu_exit why)
{
	if (why == EXIT_WFI)
		return insn == WFI ? ACCOUNT_WFI : insn ? ACCOUNT_WRS_NTO : ACCOUNT_WAIT_MUTE;
	if (!insn)
		return ACCOUNT_INSN_MUTE;
	return (insn & 0x7f) == OPCODE_SYSTEM && insn >> 12 & 3 ? of_csr(insn >> 20) : ACCOUNT_INSN;
}

/* From ACCOUNT_TIMER on, in the order of the rows. */
static const uint16_t irqs[] = {IRQ_STI, IRQ_SSI, IRQ_SEI, IRQ_LCOFI};

enum account_class account_class(const struct vm *vm, const struct exit_record *exit,
                                 enum vcpu_exit why)
{
	uint64_t cause = exit->scause;
	bool store = cause == CAUSE_STORE_GUEST_PAGE;

	if (cause & CAUSE_INTERRUPT)
		return ACCOUNT_TIMER + index_of(cause & ~CAUSE_INTERRUPT, irqs, ARRAY_SIZE(irqs));
	switch (cause) {
	case CAUSE_ECALL_VS:
		return of_call(vm, exit->eid, exit->fid);
	case CAUSE_VIRTUAL_INSN:
		return of_insn((uint32_t)exit->stval, why);
	case CAUSE_LOAD_GUEST_PAGE:
	case CAUSE_STORE_GUEST_PAGE:
		return ACCOUNT_LOAD + store + 2 * mmio_device(vm, exit->gpa | (exit->stval & 3));
	default:
		return cause == CAUSE_INSN_GUEST_PAGE ? ACCOUNT_FETCH : ACCOUNT_EXCEPTION;
	}
}
