/* SPDX-License-Identifier: Apache-2.0 */
/* Guests that do one thing after the other at random, and what switch.S does at their exits. */
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/trap.h"
#include "core/sched/sched.h"
#include "tests/host/machine/guest_acts.h"
#include "tests/host/machine/model.h"

/* Not in the context while a fast path runs. */
#define STALE 0x5ca1ab1eUL

static void fast_ends(struct guest_context *ctx, enum vcpu_exit why)
{
	uint64_t stay = machine_csr_read(CSR_INSTRET) - pcpu_top(vcpu_of(ctx)->home)->stay_start;

	ctx->hs_insns[why] += stay;
	if (stay > ctx->hs_longest)
		stay_record(ctx, why, stay);
	check_entry();
}

static bool is_saved(uint32_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 5 || n == 6 || (n >= 12 && n <= 17);
}

/* save_the_rest */
static _Noreturn void long_way(struct machine_hart *h, struct guest_context *ctx, uint64_t why)
{
	for (uint32_t i = 0; i < 32; i++) {
		if (!is_saved(i))
			ctx->x[i] = h->x[i];
	}
	ctx->x[0] = 0;
	exit_slow(ctx, why);
}

static void ecall(struct machine_hart *h, struct guest_context *ctx)
{
	const uint64_t *x = h->x;
	vsbi_fn *fn = vsbi_find(ctx->calls, x[17], x[16]);
	vsbi_ret ret;

	h->csr[CSR_SEPC] += 4;
	if (!fn)
		fn = vsbi_not_supported;
	ret = fn(x[10], x[11], x[12], x[13], x[14], x[15], x[16], x[17]);
	h->x[10] = (uint64_t)ret;
	h->x[11] = (uint64_t)(ret >> 64);
	ctx->exits[EXIT_ECALL]++;
	if (pcpu_top(this_pcpu())->pending)
		long_way(h, ctx, ~(uint64_t)EXIT_ECALL);
	fast_ends(ctx, EXIT_ECALL);
}

/* Returns false for the long way. */
static bool csr_read_trap(struct machine_hart *h, struct guest_context *ctx)
{
	uint64_t raw = h->csr[CSR_STVAL];
	long at;

	if (!raw)
		return false;
	/* They are saved before, and restored behind. */
	ctx->x[10] = h->x[10];
	ctx->x[11] = h->x[11];
	at = csr_read_fast(0, raw);
	if (at == CSR_READ_NONE)
		return false;
	h->x[10] = ctx->x[10];
	h->x[11] = ctx->x[11];
	if (at < 0) {
		uint64_t reg = (uint64_t)(CSR_READ_PENDING - at) / 8;

		h->x[reg] = reg ? ctx->x[reg] : 0;
		long_way(h, ctx, ~(uint64_t)EXIT_CSR);
	}
	if (at)
		h->x[at / 8] = ctx->x[at / 8];
	ctx->x[0] = 0;
	fast_ends(ctx, EXIT_CSR);
	return true;
}

/* Returns false for the long way. */
static bool access_trap(struct machine_hart *h, struct guest_context *ctx, bool store)
{
	uint64_t htinst = h->csr[CSR_HTINST], reg = htinst >> 20 & 31;
	long at;

	ctx->x[10] = h->x[10];
	ctx->x[11] = h->x[11];
	/* What a store names is in the context. */
	if (store && reg)
		ctx->x[reg] = h->x[reg];
	at = store ? mmio_store(htinst) : mmio_load(htinst);
	if (at == MMIO_NONE)
		return false;
	reg = (uint64_t)at / 8;
	h->x[reg] = reg ? ctx->x[reg] : 0;
	ctx->x[0] = 0;
	if (pcpu_top(this_pcpu())->pending)
		long_way(h, ctx, ~(uint64_t)EXIT_MMIO);
	fast_ends(ctx, EXIT_MMIO);
	return true;
}

void guest_traps(struct machine_hart *h, uint64_t scause)
{
	struct guest_context *ctx = h->ctx;

	model_left(h, vcpu_of(ctx));
	h->csr[CSR_SCAUSE] = scause;
	h->csr[CSR_SSTATUS] &= ~SSTATUS_SPP;
	if (!h->user)
		h->csr[CSR_SSTATUS] |= SSTATUS_SPP;
	for (uint32_t i = 1; i < 32; i++)
		ctx->x[i] = is_saved(i) ? h->x[i] : STALE + i;
	/* trap_vector_recorded */
	if (h->records_exits)
		record_exit();
	pcpu_top(vcpu_of(ctx)->home)->stay_start = machine_csr_read(CSR_INSTRET);
	check_exit();
	if (scause == CAUSE_ECALL_VS) {
		ecall(h, ctx);
	} else if (scause == CAUSE_VIRTUAL_INSN && csr_read_trap(h, ctx)) {
		/* done */
	} else if ((scause == CAUSE_LOAD_GUEST_PAGE || scause == CAUSE_STORE_GUEST_PAGE) &&
	           access_trap(h, ctx, scause == CAUSE_STORE_GUEST_PAGE)) {
		/* done */
	} else if (scause == (CAUSE_INTERRUPT | IRQ_LCOFI)) {
		lcofi_fast();
		if (pcpu_top(this_pcpu())->pending)
			long_way(h, ctx, ~(uint64_t)EXIT_LCOFI);
		fast_ends(ctx, EXIT_LCOFI);
	} else {
		long_way(h, ctx, scause);
	}
	h->x[0] = 0;
	model_entered(h, vcpu_of(ctx));
}

_Noreturn void enter_guest(struct guest_context *ctx)
{
	struct machine_hart *h = machine_hart();

	h->ctx = ctx;
	check_entry();
	memcpy(h->x, ctx->x, sizeof(h->x));
	longjmp(h->base, 1);
}

/* An interrupt of HS comes first, whatever the guest does. */
static bool interrupted(struct machine_hart *h)
{
	static const uint32_t order[] = {IRQ_SEI, IRQ_SSI, IRQ_STI, IRQ_SGEI, IRQ_LCOFI};
	uint64_t pending = (machine_pending(h) & h->csr[CSR_SIE]) | (uint64_t)aia_interrupts(h)
	                                                                << IRQ_SGEI;

	for (uint32_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!(pending >> order[i] & 1))
			continue;
		if (order[i] == IRQ_SGEI)
			aia_tells(h);
		guest_expect(h)->pc[0] = guest_expect(h)->pc[1] = h->csr[CSR_SEPC];
		guest_traps(h, CAUSE_INTERRUPT | order[i]);
		return true;
	}
	return false;
}

_Noreturn void guest_runs(struct machine_hart *h)
{
	struct vcpu *vcpu = vcpu_of(h->ctx);

	model_entered(h, vcpu);
	for (;;) {
		if (below(&machine.chance, 3) == 0)
			machine_turn();
		if (interrupted(h))
			continue;
		if (++machine.steps >= machine.most_steps)
			machine_ends();
		machine.spun = 0;
		model_time();
		model_step(h, vcpu);
		machine.time += below(&machine.chance, 60);
		guest_acts(h, vcpu);
	}
}
