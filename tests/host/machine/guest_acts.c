/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/bells.h"
#include "tests/host/machine/guest_acts.h"

#include <string.h>

#include "arch/riscv/hart/csr.h"

#define WFI           0x10500073U
#define WRS_NTO       0x00d00073U
#define CSRR(csr, rd) ((uint32_t)(csr) << 20 | 2U << 12 | (uint32_t)(rd) << 7 | 0x73U)

static struct chance *luck(void)
{
	return &machine.chance;
}

/* An instruction that leads to an exit, and is emulated or ends in an exception. */
void guest_insn_traps(struct machine_hart *h, uint64_t cause, uint32_t raw, uint64_t changes)
{
	struct model_expect *e = guest_expect(h);
	uint64_t pc = h->csr[CSR_SEPC];

	*e = (struct model_expect){.sets_vsie = e->sets_vsie,
	                           .vsie = e->vsie,
	                           .sets_timer = e->sets_timer,
	                           .timer = e->timer,
	                           .clears = e->clears,
	                           .x = changes,
	                           .zero = e->zero,
	                           .pc = {pc, pc + 4},
	                           .retires = true,
	                           .may_inject = true,
	                           .waits = e->waits};
	h->fetched = raw;
	h->fetch_traps = percent(luck(), 3);
	guest_traps(h, cause);
}

static void runs(struct machine_hart *h, struct vcpu *vcpu)
{
	h->csr[CSR_SEPC] += 4;
	model_retired(h, vcpu, 1 + below(luck(), 200));
}

static void changes_registers(struct machine_hart *h, struct vcpu *vcpu)
{
	uint32_t i = 1 + below(luck(), 31);

	h->x[i] = chance(luck());
	h->fp[below(luck(), 33)] = chance(luck());
	if (vcpu->vec) {
		h->vec[below(luck(), sizeof(h->vec))] = (uint8_t)chance(luck());
		h->vec_csrs[below(luck(), 4)] = chance(luck());
	}
	h->csr[CSR_SEPC] = model_ram(vcpu->vm) + 4 * below(luck(), 1000);
	if (percent(luck(), 20))
		h->user = !h->user;
}

/* Writes sie; where accesses to it trap Tally does it. */
static void masks(struct machine_hart *h, struct vcpu *vcpu)
{
	uint64_t value = chance(luck()) & (0x222 | BIT(IRQ_LCOFI));
	uint32_t raw = CSR_SIE << 20 | 6U << 15 | 7U << 7 | 0x73U;
	uint32_t op = 1 + below(luck(), 3);
	uint64_t old = h->csr[CSR_VSIE];

	if (!(h->csr[CSR_HVICTL] & HVICTL_VTI)) {
		h->csr[CSR_VSIE] = value;
		model_of(vcpu)->masked = true;
		return;
	}
	h->x[6] = value;
	guest_expect(h)->vsie = op == 1 ? value : op == 2 ? old | value : old & ~value;
	guest_expect(h)->sets_vsie = true;
	h->csr[CSR_STVAL] = raw | op << 12;
	guest_insn_traps(h, CAUSE_VIRTUAL_INSN, raw | op << 12, BIT(7));
}

static void changes_csrs(struct machine_hart *h, struct vcpu *vcpu)
{
	static const uint32_t any[] = {CSR_VSTVEC,  CSR_VSSCRATCH, CSR_VSEPC,
	                               CSR_VSCAUSE, CSR_VSTVAL,    CSR_SCOUNTEREN,
	                               CSR_SENVCFG, CSR_VSATP,     CSR_VSISELECT};

	if (h->user)
		return;
	switch (below(luck(), 4)) {
	case 0:
		masks(h, vcpu);
		break;
	case 1:
		h->csr[CSR_VSSTATUS] = 2UL << 32 | (chance(luck()) & 0x122);
		break;
	default:
		h->csr[any[below(luck(), ARRAY_SIZE(any))]] = chance(luck()) >> below(luck(), 60);
	}
}

/* Clears bits of sip, or sets its timer, where that traps. */
static void handles_for_it(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_expect *e = guest_expect(h);
	bool timer = machine.kind.sstc && percent(luck(), 40);
	uint32_t op = timer ? 1 + below(luck(), 3) : 3;
	uint32_t raw = (uint32_t)(timer ? CSR_STIMECMP : CSR_SIP) << 20 | op << 12 | 6U << 15 |
	               7U << 7 | 0x73U;
	uint64_t old =
	    h->csr[CSR_HENVCFG] & HENVCFG_STCE ? h->csr[CSR_VSTIMECMP] : vcpu->vs.vstimecmp;
	uint64_t bits = chance(luck()) & (BIT(IRQ_SSI) | BIT(IRQ_LCOFI));

	if (h->user)
		return;
	if (timer) {
		h->x[6] = machine.time + vcpu->vm->htimedelta + below(luck(), 20000);
		e->timer = op == 1 ? h->x[6] : op == 2 ? old | h->x[6] : old & ~h->x[6];
		e->sets_timer = true;
	} else {
		h->x[6] = bits;
		e->clears = (bits & BIT(IRQ_SSI)) << 1 | (bits & BIT(IRQ_LCOFI));
		model_of(vcpu)->cleared += (bits & BIT(IRQ_SSI)) != 0;
	}
	h->csr[CSR_STVAL] = raw;
	guest_insn_traps(h, CAUSE_VIRTUAL_INSN, raw, BIT(7));
}

/* Takes the interrupts that pend. */
static void handles(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	if (h->csr[CSR_HVICTL] & HVICTL_VTI) {
		handles_for_it(h, vcpu);
		return;
	}
	if (percent(luck(), 50) && h->csr[CSR_HVIP] & BIT(IRQ_VSSI)) {
		h->csr[CSR_HVIP] &= ~BIT(IRQ_VSSI);
		m->cleared++;
	}
	if (percent(luck(), 50))
		h->csr[CSR_HVIP] &= ~BIT(IRQ_LCOFI);
	if (machine.kind.sstc && percent(luck(), 50))
		h->csr[CSR_VSTIMECMP] = percent(luck(), 20) ? chance(luck())
		                                            : machine.time + vcpu->vm->htimedelta +
		                                                  below(luck(), 20000);
}

/* --- what is emulated ---------------------------------------------------------------- */

static void reads_csr(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	bool own = m->counts && percent(luck(), 70);
	uint32_t n = own ? m->counter : below(luck(), 32);
	uint32_t csr = percent(luck(), 90) ? CSR_CYCLE + n : CSR_SCOUNTOVF;
	uint32_t rd = 5 + below(luck(), 3);

	if (percent(luck(), 3))
		csr = below(luck(), 4096);
	own &= csr == CSR_CYCLE + n;
	if (csr - CSR_CYCLE < 32 && h->csr[CSR_HCOUNTEREN] >> (csr - CSR_CYCLE) & 1) {
		if (h->user && !(h->csr[CSR_SCOUNTEREN] >> (csr - CSR_CYCLE) & 1))
			return; /* the guest's kernel handles it */
		if (own)
			model_read(vcpu, h->counters[n].value);
		model_retired(h, vcpu, 1);
		h->csr[CSR_SEPC] += 4;
		return;
	}
	h->csr[CSR_STVAL] = percent(luck(), 90) ? CSRR(csr, rd) : 0;
	m->reads = own ? rd : 0;
	guest_insn_traps(h, CAUSE_VIRTUAL_INSN, CSRR(csr, rd), BIT(rd));
}

/* Whoever sleeps wants to be woken, mostly. */
void guest_sets_alarm(struct machine_hart *h, const struct vcpu *vcpu)
{
	/* Where accesses to its sie trap, it leaves that as it is. */
	if (h->user || percent(luck(), 5) ||
	    (vcpu->vm->config->aia && h->csr[CSR_HVICTL] & HVICTL_VTI))
		return;
	model_of(vcpu)->masked = true;
	h->csr[CSR_VSIE] |= BIT(below(luck(), 2) ? IRQ_STI : IRQ_SSI);
	if (percent(luck(), 40))
		h->csr[CSR_VSIE] |= BIT(IRQ_SEI);
	if (machine.kind.sstc && percent(luck(), 80)) {
		h->csr[CSR_VSIE] |= BIT(IRQ_STI);
		h->csr[CSR_VSTIMECMP] = machine.time + vcpu->vm->htimedelta +
		                        below(luck(), percent(luck(), 30) ? 60 : 5000);
	}
}

static void waits(struct machine_hart *h, struct vcpu *vcpu)
{
	bool wrs = percent(luck(), 20);
	uint32_t raw = wrs ? WRS_NTO : WFI;

	guest_sets_alarm(h, vcpu);
	if (!(h->csr[CSR_HSTATUS] & HSTATUS_VTW)) {
		if (!wrs && !h->user) {
			h->csr[CSR_SEPC] += 4;
			model_retired(h, vcpu, 1);
			h->guest_waits = true;
			machine_wfi();
			h->guest_waits = false;
		}
		return;
	}
	h->csr[CSR_STVAL] = wrs || percent(luck(), 10) ? 0 : raw;
	guest_expect(h)->waits = !wrs && !h->user;
	guest_insn_traps(h, CAUSE_VIRTUAL_INSN, raw, 0);
}

/* Of the UART, or of the clock that it may have. */
uint64_t guest_source(void)
{
	return percent(luck(), 50)   ? GUEST_UART_IRQ
	       : percent(luck(), 70) ? 1 + below(luck(), 2)
	                             : GUEST_RTC_IRQ;
}

static uint64_t plic_register(const struct vcpu *vcpu)
{
	uint64_t context = below(luck(), vcpu->vm->config->n_vcpus);

	switch (below(luck(), 5)) {
	case 0:
		return 4 * guest_source();
	case 1:
		return 0x2000 + 0x80 * context;
	case 2:
		return 0x200000 + 0x1000 * context;
	case 3:
		return 0x200004 + 0x1000UL * vcpu->id;
	default:
		return percent(luck(), 70) ? 4 * guest_source() : below(luck(), 0x400000);
	}
}

/* Only its own letter goes out. */
static uint64_t to_print(const struct vcpu *vcpu)
{
	return percent(luck(), 85) ? (uint64_t)operator_letter(vcpu->vm->index) : '\n';
}

static void may_print(const struct vcpu *vcpu)
{
	model_texts[vcpu->vm->index].most++;
	model_of(vcpu)->prints = machine.kind.slow_line;
}

/* Stores to the UART, whether its transmitter is empty or not. */
static void prints_byte(struct machine_hart *h, struct vcpu *vcpu)
{
	h->x[5] = to_print(vcpu);
	may_print(vcpu);
	guest_access(h, GUEST_UART_BASE, true, 0, 5);
}

/* More than the line takes. */
static void prints_much(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	if (m->burst) {
		m->burst--;
		prints_byte(h, vcpu);
		return;
	}
	m->burst = percent(luck(), 20) ? below(luck(), 400) : 0;
	guest_prints(h, vcpu);
}

static void uses_device(struct machine_hart *h, struct vcpu *vcpu)
{
	bool store = percent(luck(), 60), plic = !vcpu->vm->config->aia && percent(luck(), 50);
	uint32_t rd = 5 + below(luck(), 3), width = plic ? 2 : 0;
	uint64_t offset = plic ? plic_register(vcpu) : below(luck(), 8);
	uint64_t at = (plic ? GUEST_PLIC_BASE : GUEST_UART_BASE) + offset;

	if (percent(luck(), 5))
		width = below(luck(), 4);
	if (percent(luck(), 4))
		at = percent(luck(), 50) ? chance(luck()) >> 8 : model_ram_end(vcpu->vm);
	h->x[rd] = !plic && !offset ? to_print(vcpu) : plic ? below(luck(), 16) : chance(luck());
	if (plic && (offset == 4 * GUEST_UART_IRQ || offset == 4 || offset == 4 * MACHINE_BELL ||
	             offset == 4 * GUEST_RTC_IRQ))
		h->x[rd] = 1 + below(luck(), 7);
	/* So that its interrupts come. */
	if (!plic && offset == 1 && percent(luck(), 60))
		h->x[rd] = 3;
	if (!plic && (offset == 3 || offset == 4) && percent(luck(), 80))
		h->x[rd] = 3;
	/* Whether it goes out depends on the other registers. */
	if (store && !plic && !offset)
		may_print(vcpu);
	if (store && plic && offset >> 12 == 2 && percent(luck(), 80))
		h->x[rd] = percent(luck(), 70)
		               ? BIT(GUEST_UART_IRQ) | 2 | BIT(MACHINE_BELL) | BIT(GUEST_RTC_IRQ)
		               : BIT(GUEST_UART_IRQ);
	if (store && plic && offset == 0x200004 + 0x1000UL * vcpu->id && percent(luck(), 60)) {
		h->x[rd] = guest_source();
		if (h->x[rd] == 1 && percent(luck(), 80))
			chip_lowers(vcpu->vm);
	}
	if (store && plic && offset >> 12 >= 0x200 && !(offset & 4))
		h->x[rd] = below(luck(), 3);
	guest_access(h, at, store, width, rd);
}

void guest_access(struct machine_hart *h, uint64_t at, bool store, uint32_t width, uint32_t rd)
{
	uint32_t raw;

	/* Loads of less than a register may be signed or not. */
	if (!store && width < 3 && percent(luck(), 50))
		width += 4;
	raw = store ? 0x23U | rd << 20 | width << 12 : 0x3U | rd << 7 | width << 12;
	h->csr[CSR_HTVAL] = at >> 2;
	h->csr[CSR_STVAL] = at;
	h->csr[CSR_HTINST] = percent(luck(), 70) ? raw : percent(luck(), 10) ? 0x3000 : 0;
	guest_insn_traps(h, store ? CAUSE_STORE_GUEST_PAGE : CAUSE_LOAD_GUEST_PAGE, raw | 0xf8000U,
	                 store ? 0 : BIT(rd));
}

/* Mostly rings, or clears what has come. */
static void uses_bell(struct machine_hart *h)
{
	static const uint16_t offsets[] = {BELL_RING, BELL_RING,  BELL_STATE, BELL_STATE,
	                                   BELL_MASK, BELL_ALIVE, BELL_NAME,  BELL_LIVES + 4};
	uint32_t rd = 5 + below(luck(), 3), width = percent(luck(), 90) ? 2 : below(luck(), 4);
	uint64_t offset = percent(luck(), 95) ? offsets[below(luck(), ARRAY_SIZE(offsets))]
	                                      : below(luck(), 2 * PAGE_SIZE);

	h->x[rd] = percent(luck(), 60) ? 3 : chance(luck());
	guest_access(h, GUEST_BELL_BASE + offset, percent(luck(), 75), width, rd);
}

/* Configuration space: mostly of its function, and mostly the command register. */
static void uses_pci(struct machine_hart *h, struct vcpu *vcpu)
{
	static const uint16_t offsets[] = {0x04, 0x04, 0x04, 0x06, 0x10, 0x14, 0x20, 0x3c, 0x42};
	uint32_t rd = 5 + below(luck(), 3), width = percent(luck(), 70) ? 1 : below(luck(), 4);
	uint32_t slot = !percent(luck(), 90)                          ? below(luck(), 32)
	                : vcpu->vm->bell_of[0] && percent(luck(), 50) ? 31
	                                                              : vcpu->vm->index + 1;
	uint64_t offset = percent(luck(), 85) ? offsets[below(luck(), ARRAY_SIZE(offsets))]
	                                      : below(luck(), PAGE_SIZE);

	h->x[rd] = percent(luck(), 60) ? 6 : chance(luck());
	guest_access(h, GUEST_ECAM_BASE + ((uint64_t)slot << 15) + offset, percent(luck(), 75),
	             width, rd);
}

static void faults(struct machine_hart *h, struct vcpu *vcpu)
{
	static const uint64_t causes[] = {CAUSE_INSN_GUEST_PAGE, CAUSE_ILLEGAL_INSN, 13, 12};

	(void)vcpu;
	h->csr[CSR_STVAL] = chance(luck());
	h->csr[CSR_HTVAL] = chance(luck()) >> 2;
	guest_insn_traps(h, causes[below(luck(), ARRAY_SIZE(causes))], 0, 0);
}

/* Its trap handler's first instruction faults, again and again: only a suspect's faults come to
 * HS. */
static void loops(struct machine_hart *h, struct vcpu *vcpu)
{
	uint64_t vector = h->csr[CSR_VSTVEC] & ~3UL;
	struct model_expect *e = guest_expect(h);

	(void)vcpu;
	h->user = false;
	h->csr[CSR_SEPC] = h->csr[CSR_VSEPC] = vector;
	h->csr[CSR_VSCAUSE] = 15;
	h->csr[CSR_VSSTATUS] = 2UL << 32 | SSTATUS_SPP;
	machine.time += 20;
	if (h->csr[CSR_HEDELEG] >> 15 & 1)
		return;
	*e = (struct model_expect){.pc = {vector, vector}, .may_inject = true};
	guest_traps(h, 15);
}

/* A level that another hart has seen high, and that another vcpu has ended meanwhile: who is told
 * of it finds nothing to do. */
static void mail_for_nothing(void)
{
	const struct vm *vm = &vms[below(luck(), n_vms)];
	struct vcpu *vcpu = vm->vcpus[below(luck(), vm->config->n_vcpus)];
	uint64_t new = ~vcpu->requests.pending & vcpu->requests.enabled &REQ_DEVICES;

	vcpu->requests.pending |= REQ_DEVICES;
	if (!new)
		return;
	vcpu->home->notified |= vcpu->bit;
	machine_hart_of(vcpu->home->hartid)->csr[CSR_SIP] |= BIT(IRQ_SSI);
}

void guest_acts(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	uint32_t act = below(luck(), 100);

	if (m->looping) {
		loops(h, vcpu);
		return;
	}
	m->looping = below(luck(), 20000) == 0;
	if (machine.kind.short_lives && percent(luck(), 40))
		act = 99;
	if (percent(luck(), 3))
		chip_raises();
	if (percent(luck(), 3))
		dma_accesses();
	if (percent(luck(), 5))
		mail_for_nothing();
	if (machine.kind.files && percent(luck(), 5))
		aia_messages();
	if (vcpu->vm->config->aia && percent(luck(), 20))
		guest_uses_aia(h, vcpu);
	else if (percent(luck(), 4) && (dma_is_given(vcpu->vm) || vcpu->vm->bell_of[0]))
		uses_pci(h, vcpu);
	else if (percent(luck(), 6) && vcpu->vm->bell_of[0])
		uses_bell(h);
	else if (percent(luck(), 4) && vcpu->vm->config->rtc)
		guest_uses_rtc(h);
	else if (vcpu->vm->config->n_ports && !vcpu->id && percent(luck(), 50))
		guest_uses_port(h, vcpu);
	else if (machine.kind.chatty && percent(luck(), m->burst ? 90 : 20))
		prints_much(h, vcpu);
	else if (act < 15)
		runs(h, vcpu);
	else if (act < 25)
		changes_registers(h, vcpu);
	else if (act < 32)
		changes_csrs(h, vcpu);
	else if (act < 40)
		handles(h, vcpu);
	else if (act < 50)
		reads_csr(h, vcpu);
	else if (act < 54 && !m->hog)
		waits(h, vcpu);
	else if (act < 66)
		uses_device(h, vcpu);
	else if (act < 67)
		faults(h, vcpu);
	else if (act < 75)
		guest_counts(h, vcpu);
	else
		guest_calls_sbi(h, vcpu);
}
