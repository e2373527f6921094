/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/selftest_hart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/trap.h"
#include "core/dispatch/exit.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/sched/sched.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"
#include "core/vsbi/vsbi.h"
#include "tests/host/fake_mem.h"
#include "vpmu/retired.h"
#include "vpmu/tally_events.h"

#define VCPU_ID        1U
#define INSNS_PER_TICK 100U /* of `time`, on the machine with exact counts */
#define PC             0x1000UL

uint64_t host_csrs[4096];

static struct vcpu vcpu;
static struct vm vm;
static struct vm_config vm_config;
/* The whole stack, because the hart's pending word is at its other end. */
static union hart_stack home;
struct quirks quirks; /* none */
struct platform platform = {.timebase = 1000};

static uint64_t now; /* in instructions */
static uint64_t raises_seen, refusals_seen;
static bool switches, no_ecalls;
static uint64_t injected; /* cause of an exception for the guest; all ones: none */

struct guest_context *this_context(void)
{
	return &vcpu.ctx;
}

/* --- what switch.S, exit.c and vcpu.c do ---------------------------------------------- */

static void pass(uint64_t insns)
{
	now += insns;
	host_csrs[CSR_TIME] = now / INSNS_PER_TICK;
	if (host_csrs[CSR_TIME] >= host_csrs[CSR_VSTIMECMP])
		host_csrs[CSR_VSIP] |= BIT(IRQ_STI);
	else
		host_csrs[CSR_VSIP] &= ~BIT(IRQ_STI);
}

static void world_switch(void)
{
	vpmu_save(&vcpu.pmu);
	fake_hart_leave();
	fake_hart_enter(VCPU_ID);
	vpmu_restore(&vcpu.pmu);
}

/* The end of an exit, which is counted. */
static void back(uint32_t tally_code)
{
	if (switches)
		world_switch();
	fake_hart_fw_event(VCPU_ID, TALLY_EVENT_REFUSALS, vcpu.stats.refusals - refusals_seen);
	refusals_seen = vcpu.stats.refusals;
	if (fake_trace.raises != raises_seen)
		host_csrs[CSR_VSIP] |= BIT(IRQ_LCOFI);
	fake_hart_fw_event(VCPU_ID, TALLY_EVENT_LCOFI_INJECTED, fake_trace.raises - raises_seen);
	raises_seen = fake_trace.raises;
	if (tally_code) {
		fake_hart_fw_event(VCPU_ID, TALLY_EVENT_EXITS, 1);
		fake_hart_fw_event(VCPU_ID, tally_code, 1);
	}
	pass(0);
}

static void from(bool user, uint64_t pc)
{
	host_csrs[CSR_SSTATUS] = user ? 0 : SSTATUS_SPP;
	host_csrs[CSR_SEPC] = pc;
	injected = ~0UL;
}

uint64_t hart_run(bool user, uint64_t insns)
{
	uint64_t done = fake_hart_step(user ? FAKE_VU : FAKE_VS, FAKE_ON_INSN, insns);

	pass(done);
	if (fake_hart_pending()) {
		vpmu_overflow(&vcpu.pmu);
		back(TALLY_EVENT_EXITS_LCOFI);
	}
	return done;
}

/* Its slices follow at once. */
/* Told only of a hart that does not answer. */
void log_line(const char *format, ...)
{
	fail_msg("%s", format);
}

void long_call_begin(struct vcpu *self, const struct long_call *call)
{
	self->call = *call;
}

void hart_ecall(uint64_t a[8])
{
	vsbi_fn *fn = vsbi_find(vm.sbi, a[7], a[6]);
	vsbi_ret ret;

	from(false, PC + 4);
	memcpy(&vcpu.ctx.x[REG_A0], a, 8 * sizeof(a[0]));
	ret = (fn ? fn : vsbi_not_supported)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
	vcpu.ctx.x[REG_A0] = (uint64_t)ret;
	vcpu.ctx.x[REG_A0 + 1] = (uint64_t)(ret >> 64);
	while (vcpu.call.slice && vcpu.call.slice(&vcpu))
		;
	vcpu.call.slice = NULL;
	memcpy(a, &vcpu.ctx.x[REG_A0], 2 * sizeof(a[0]));
	back(TALLY_EVENT_EXITS_ECALL);
}

/* Counters that are open to the guest need no trap. */
static bool reads_direct(bool user, uint32_t insn, uint64_t *rd)
{
	uint32_t csr = insn >> 20;

	if ((insn & 0xfffff) != 0x2573 || csr < CSR_CYCLE || csr > CSR_HPMCOUNTER31)
		return false;
	if (user && !(host_csrs[CSR_SCOUNTEREN] & BIT(csr - CSR_CYCLE)))
		return false;
	if (!(fake_hart_direct() & BIT(csr - CSR_CYCLE)))
		return false;
	hart_run(user, 1);
	return fake_hart_guest_read(csr, rd);
}

bool hart_execute(bool user, uint32_t insn, uint64_t *rd)
{
	uint64_t wrong;
	long reg;

	if (reads_direct(user, insn, rd))
		return true;
	from(user, PC);
	host_csrs[CSR_STVAL] = insn;
	reg = csr_read_fast(0, insn);
	if (reg >= 0) {
		assert_int_equal(reg, 8 * REG_A0);
		assert_int_equal(host_csrs[CSR_SEPC], PC + 4);
		*rd = vcpu.ctx.x[REG_A0];
		back(TALLY_EVENT_EXITS_CSR);
		return true;
	}
	virtual_insn(&vcpu);
	wrong = injected;
	assert_int_equal(wrong, CAUSE_ILLEGAL_INSN);
	back(TALLY_EVENT_EXITS_CSR);
	return false;
}

bool hart_has_overflow(void)
{
	return vm.pmu_policy.overflow;
}

bool hart_counts_ecalls(void)
{
	return !no_ecalls;
}

/* It traps while a counter would become wrong, otherwise the hart idles in VS. */
void hart_wfi(void)
{
	uint64_t idle;

	if (!vcpu_may_sleep(&vcpu)) {
		from(false, PC);
		host_csrs[CSR_STVAL] = 0x10500073;
		assert_true(csr_read_fast(0, 0x10500073) < 0);
		assert_int_equal(virtual_insn(&vcpu), EXIT_WFI);
		back(TALLY_EVENT_EXITS_WFI);
		return;
	}
	hart_run(false, 1);
	if (host_csrs[CSR_VSIP] & host_csrs[CSR_VSIE])
		return;
	idle = host_csrs[CSR_VSTIMECMP] * INSNS_PER_TICK - now;
	pass(fake_hart_step(FAKE_VS, FAKE_BIT(FAKE_CYCLES), idle));
}

void hart_trapped(uint32_t fw_code, uint32_t tally_code)
{
	fake_hart_fw_event(VCPU_ID, fw_code, 1);
	back(tally_code);
}

uint64_t hart_interrupts(void)
{
	return host_csrs[CSR_VSIP] & host_csrs[CSR_VSIE];
}

/* --- what core/ calls ----------------------------------------------------------------- */

void vcpu_emulated(struct vcpu *self, uint32_t length)
{
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + length);
	vpmu_retired(&self->pmu, vcpu_from_user());
}

bool vcpu_may_sleep(const struct vcpu *self)
{
	return !vpmu_wfi_must_trap(&self->pmu);
}

void vcpu_trap_wfi(struct vcpu *self, bool trap)
{
	vpmu_note_wfi(&self->pmu, trap);
}

void vcpu_set_virq(struct vcpu *self, uint64_t irq, bool level)
{
	uint64_t bit = BIT(irq - 1); /* VSSIP and VSTIP are SSIP and STIP to the guest */

	(void)self;
	if (level)
		host_csrs[CSR_VSIP] |= bit;
	else
		host_csrs[CSR_VSIP] &= ~bit;
}

/* Idle until the guest's timer. No cycle of it counts for the guest. */
void sched_wait(struct vcpu *self)
{
	(void)self;
	pass(host_csrs[CSR_VSTIMECMP] * INSNS_PER_TICK - now);
}

void vcpu_fw_count(struct vcpu *self, uint32_t code)
{
	(void)self;
	fake_hart_fw_event(VCPU_ID, code, 1);
}

void trap_inject(struct vcpu *self, uint64_t cause, uint64_t tval)
{
	(void)self, (void)tval;
	injected = cause;
}

/* A single vcpu that makes these calls never needs the others. */
static void never(const char *what)
{
	fail_msg("%s: the self test has no use for it", what);
}

void sched_yield(void)
{
	never("sched_yield");
}

struct pcpu *this_pcpu(void)
{
	return &home.pcpu;
}

bool vs_interrupts_access(struct vcpu *self, const struct insn *insn)
{
	(void)self, (void)insn;
	return false;
}

void vs_interrupts_set_timer(struct pcpu *pcpu, struct vcpu *self, uint64_t at)
{
	(void)pcpu, (void)self, (void)at;
	never("vs_interrupts_set_timer");
}

bool guest_file_access(struct vcpu *self, const struct insn *insn)
{
	(void)self, (void)insn;
	return false;
}

void vcpu_send(struct vcpu *target, uint64_t what, uint32_t kind)
{
	(void)target, (void)what, (void)kind;
	never("vcpu_send");
}

void vcpu_serve_fences(struct vcpu *self)
{
	(void)self;
	never("vcpu_serve_fences");
}

uint32_t guest_fetch(void)
{
	never("guest_fetch");
	return 0;
}

void hart_flags_show(struct vcpu *self, bool make)
{
	(void)self;
	(void)make;
	never("the hart's flags");
}

static VSBI_FN(unexpected)
{
	never("HSM, SRST, DBCN or Tally's own");
	return vsbi_result(SBI_ERR_FAILED, 0);
}

const struct vsbi_slot vsbi_hsm = {.eid = SBI_EXT_HSM,
                                   .fn = {unexpected, unexpected, unexpected, unexpected}};
const struct vsbi_slot vsbi_srst = {.eid = SBI_EXT_SRST, .fn = {unexpected}};
const struct vsbi_slot vsbi_dbcn = {.eid = SBI_EXT_DBCN,
                                    .fn = {unexpected, unexpected, unexpected}};
const struct vsbi_slot vsbi_tally = {
    .eid = SBI_EXT_TALLY, .fn = {unexpected, unexpected, unexpected, unexpected, unexpected}};

void panic(const char *format, ...)
{
	fail_msg("panic: %s", format);
	for (;;)
		;
}

/* --- the guest's memory: the data of this program --------------------------------------- */

extern char __data_start[], _end[];

void fake_mem_reset(void)
{
}

bool vpmu_port_guest_ram(uint64_t gpa, uint64_t n)
{
	uint64_t start = (uint64_t)__data_start, end = (uint64_t)_end;

	return gpa >= start && gpa < end && n <= end - gpa;
}

bool vpmu_port_guest_read(uint64_t gpa, void *to, uint32_t n)
{
	if (!vpmu_port_guest_ram(gpa, n))
		return false;
	memcpy(to, (const void *)gpa, n);
	return true;
}

bool vpmu_port_guest_write(uint64_t gpa, const void *bytes, uint32_t n)
{
	if (!vpmu_port_guest_ram(gpa, n))
		return false;
	memcpy((void *)gpa, bytes, n);
	return true;
}

/* --- boot ------------------------------------------------------------------------------ */

/* Like core/boot/vm_create.c for a single VM that has everything of this hart. */
static void make_policy(const struct hart_config *config)
{
	vm.pmu_policy = (struct vpmu_policy){
	    .hctrs = FAKE_PROGRAMMABLE | BIT(0) | BIT(2),
	    .fw_base = 19,
	    .width = config->hart.width,
	    .fw_events = BIT(SBI_PMU_FW_SET_TIMER) | BIT(SBI_PMU_FW_IPI_SENT) |
	                 BIT(SBI_PMU_FW_IPI_RECEIVED) | BIT(SBI_PMU_FW_FENCE_I_SENT) |
	                 BIT(SBI_PMU_FW_FENCE_I_RECEIVED) | BIT(SBI_PMU_FW_SFENCE_VMA_SENT) |
	                 BIT(SBI_PMU_FW_SFENCE_VMA_RECEIVED) |
	                 BIT(SBI_PMU_FW_SFENCE_VMA_ASID_SENT) |
	                 BIT(SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED),
	    .fw_port_events = (1U << FW_EVENTS_M) - 1,
	    .n_tally_events = TALLY_EVENTS,
	    .overflow = !config->no_overflow,
	    .trap_reads = config->trap_reads,
	    .snapshot = config->snapshot,
	    .cheap_moves = config->cheap_moves,
	    .polled_cache = config->hart.no_armed_cache_events,
	    .steps = config->cheap_moves,
	};
}

void hart_reset(const struct hart_config *config)
{
	memset(host_csrs, 0, sizeof(host_csrs));
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&vm, 0, sizeof(vm));
	memset(&home, 0, sizeof(home));
	vm_config = (struct vm_config){.n_vcpus = 1, .console = true, .pmu = true};
	make_policy(config);
	home.pcpu.vs_features.sstc = true;
	host_csrs[CSR_VSTIMECMP] = ~0UL;
	now = raises_seen = refusals_seen = 0;
	switches = config->switches;
	no_ecalls = config->no_ecalls;
	vm.config = &vm_config;
	vm.vcpus[0] = &vcpu;
	vcpu.vm = &vm;
	vcpu.home = &home.pcpu;
	vsbi_init(&vm);
	fake_hart_reset(&config->hart);
	fake_hart_policy(VCPU_ID, &vm.pmu_policy);
	vpmu_init(&vcpu.pmu, &vm.pmu_policy);
	fake_hart_enter(VCPU_ID);
	vpmu_restore(&vcpu.pmu);
}
