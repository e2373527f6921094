/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests/lib on a host: does what the assembly of a bare guest does, with the same instructions
 * where they are counted, on the machine of selftest_hart.h. C code of the guest is not counted by
 * itself, so a stretch of it counts as the few instructions that it has at least.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "guests/lib/count.h"
#include "guests/lib/csr.h"
#include "guests/lib/guest.h"
#include "guests/lib/sbi.h"
#include "guests/lib/trap.h"
#include "guests/selftest/selftest.h"
#include "tests/host/selftest.h"
#include "tests/host/selftest_hart.h"
#include "vpmu/tally_events.h"

#define CALL_INSNS 8U  /* the arguments of a call, and the ecall */
#define WAY_INSNS  40U /* the way to U, or back, in S */
#define A0         10
#define T3         28

static bool in_user;
static uint64_t reg_a0, vs_sstatus;
static const char *guest_case;

void guest_boot(const char *name)
{
	in_user = false;
	vs_sstatus = 0;
	guest_case = name;
	irq_handle_by(NULL);
}

const char *bootarg(const char *name)
{
	return guest_case && !strcmp(name, "case") ? guest_case : NULL;
}

bool bootarg_is(const char *name, const char *value)
{
	const char *is = bootarg(name);

	return is && !strcmp(is, value);
}

uint64_t bootarg_num(const char *name, uint64_t otherwise)
{
	(void)name;
	return otherwise;
}

void sbi_shutdown(unsigned long reason)
{
	fail_msg("the guest shuts down: %lu", reason);
	__builtin_unreachable();
}

/* --- traps and instructions ------------------------------------------------------------ */

/* The guest's own handler, guests/lib/trap.c, which reads the instruction. */
static void trap(uint64_t cause, uint32_t insn)
{
	uint32_t code[2] = {insn, 0};
	struct trap_frame frame = {.pc = (uint64_t)code, .cause = cause};
	bool user = in_user;

	in_user = false;
	trap_handle(&frame);
	in_user = user;
}

static void interrupt(uint64_t pc, uint64_t t3)
{
	struct trap_frame frame = {.pc = pc};

	frame.x[T3] = t3;
	frame.cause = CAUSE_IRQ | (uint64_t)__builtin_ctzl(hart_interrupts());
	vs_sstatus &= ~SSTATUS_SIE;
	trap_handle(&frame);
	vs_sstatus |= SSTATUS_SIE;
}

static bool interrupted(void)
{
	return hart_interrupts() && (in_user || (vs_sstatus & SSTATUS_SIE));
}

/* Executes n instructions, including those of interrupts. */
static void execute(uint64_t n)
{
	while (n) {
		if (interrupted())
			interrupt(0, 0);
		n -= hart_run(in_user, n);
	}
}

void nop(void)
{
	execute(1);
	if (interrupted())
		interrupt(0, 0);
}

void wfi(void)
{
	hart_wfi();
}

struct sbiret guest_call(unsigned long ext, unsigned long fid, unsigned long arg0,
                         unsigned long arg1, unsigned long arg2, unsigned long arg3,
                         unsigned long arg4, unsigned long arg5)
{
	uint64_t a[8] = {arg0, arg1, arg2, arg3, arg4, arg5, fid, ext};

	execute(CALL_INSNS);
	if (ext == SBI_EXT_DBCN) {
		/* What print() prints. */
		guest_output((const char *)arg1, arg0);
		return (struct sbiret){SBI_SUCCESS, arg0};
	}
	hart_ecall(a);
	return (struct sbiret){(long)a[0], a[1]};
}

/* csrr a0, csr. a0 does not change if it traps. */
static uint64_t csrr(uint32_t csr)
{
	uint32_t insn = INSN_CSRR_A0(csr);

	if (!hart_execute(in_user, insn, &reg_a0))
		trap(CAUSE_ILLEGAL, insn);
	return reg_a0;
}

uint64_t insn_run(uint32_t insn, uint64_t arg)
{
	reg_a0 = arg;
	switch (insn) {
	case 0xffffffff: /* illegal in M-mode already */
		hart_trapped(SBI_PMU_FW_ILLEGAL_INSN, 0);
		trap(CAUSE_ILLEGAL, insn);
		break;
	case 0x00053503: /* ld a0, 0(a0), at an address without memory */
		hart_trapped(SBI_PMU_FW_ACCESS_LOAD, TALLY_EVENT_EXITS_MMIO);
		trap(CAUSE_LOAD, insn);
		break;
	case 0x00a53023: /* sd a0, 0(a0), the same */
		hart_trapped(SBI_PMU_FW_ACCESS_STORE, TALLY_EVENT_EXITS_MMIO);
		trap(CAUSE_STORE, insn);
		break;
	case 0x1005352f: /* lr.d a0, (a0), misaligned */
		hart_trapped(SBI_PMU_FW_MISALIGNED_LOAD, 0);
		trap(4, insn);
		break;
	default: /* an access to a CSR */
		if (!hart_execute(in_user, insn, &reg_a0))
			trap(CAUSE_ILLEGAL, insn);
	}
	return reg_a0;
}

/* VS CSRs. What core/ sees of them is in the array of arch/riscv/hart/csr.h. */
extern uint64_t host_csrs[4096];
#define HOST_SCOUNTEREN 0x106
#define HOST_VSIE       0x204
#define HOST_VSIP       0x244

uint64_t guest_csr_read(uint32_t csr)
{
	switch (csr) {
	case sstatus:
		return vs_sstatus;
	case sie:
		return host_csrs[HOST_VSIE];
	case sip:
		return host_csrs[HOST_VSIP];
	case scounteren:
		return host_csrs[HOST_SCOUNTEREN];
	case time:
		return host_csrs[CSR_TIME];
	default:
		return csrr(csr);
	}
}

void guest_csr_write(uint32_t csr, uint64_t value)
{
	uint64_t writable = IRQ_SOFT | IRQ_LCOFI;

	switch (csr) {
	case sstatus:
		vs_sstatus = value;
		break;
	case sie:
		host_csrs[HOST_VSIE] = hart_has_overflow() ? value : value & ~IRQ_LCOFI;
		break;
	case sip:
		host_csrs[HOST_VSIP] = (host_csrs[HOST_VSIP] & ~writable) | (value & writable);
		break;
	default:
		assert_int_equal(csr, scounteren);
		host_csrs[HOST_SCOUNTEREN] = value;
	}
}

/* --- count.S --------------------------------------------------------------------------- */

static uint64_t segment(uint32_t ctr, uint64_t rounds)
{
	uint64_t before = csrr(CSR_CYCLE + ctr), after;

	execute(2 * rounds);
	after = csrr(CSR_CYCLE + ctr);
	execute(2);
	return reg_a0 = after - before;
}

static uint64_t read(uint32_t ctr)
{
	uint64_t value = csrr(CSR_CYCLE + ctr);

	execute(1);
	return value;
}

static void reads(uint32_t ctr, uint64_t *values, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		values[i] = csrr(CSR_CYCLE + ctr);
		execute(4);
	}
	execute(1);
}

/* The CSR number is part of the instruction, so each counter has its own code. */
#define EACH(X)                                                                                    \
	X(0)                                                                                       \
	X(1)                                                                                       \
	X(2)                                                                                       \
	X(3)                                                                                       \
	X(4)                                                                                       \
	X(5)                                                                                       \
	X(6)                                                                                       \
	X(7)                                                                                       \
	X(8)                                                                                       \
	X(9)                                                                                       \
	X(10)                                                                                      \
	X(11)                                                                                      \
	X(12)                                                                                      \
	X(13)                                                                                      \
	X(14)                                                                                      \
	X(15)                                                                                      \
	X(16)                                                                                      \
	X(17)                                                                                      \
	X(18)

#define CODE(n)                                                                                    \
	static uint64_t segment_##n(uint64_t rounds)                                               \
	{                                                                                          \
		return segment(n, rounds);                                                         \
	}                                                                                          \
	static uint64_t read_##n(void)                                                             \
	{                                                                                          \
		return read(n);                                                                    \
	}                                                                                          \
	static void reads_##n(uint64_t *values, uint64_t count)                                    \
	{                                                                                          \
		reads(n, values, count);                                                           \
	}
EACH(CODE)

#define COUNTERS   19U
#define SEGMENT(n) segment_##n,
#define READ(n)    read_##n,
#define READS(n)   reads_##n,
static const segment_t segments[COUNTERS] = {EACH(SEGMENT)};
static const read_t read_code[COUNTERS] = {EACH(READ)};
static const reads_t reads_code[COUNTERS] = {EACH(READS)};

segment_t segment_of(uint32_t ctr)
{
	assert_true(ctr < COUNTERS);
	return segments[ctr];
}

read_t read_of(uint32_t ctr)
{
	assert_true(ctr < COUNTERS);
	return read_code[ctr];
}

reads_t reads_of(uint32_t ctr)
{
	assert_true(ctr < COUNTERS);
	return reads_code[ctr];
}

/* Used only as the entry of user_run() below. */
void user_call(void)
{
	fail_msg("user_call() outside user_run()");
}

void user_three(void)
{
	fail_msg("user_three() outside user_run()");
}

static void ecall(void)
{
	if (hart_counts_ecalls())
		execute(1);
}

/* user_three(): three nops, ecall; user_call(): jalr, the function, ecall. */
uint64_t user_run(void (*entry)(void), uint64_t a0, uint64_t a1)
{
	assert_true(entry == user_call || entry == user_three);
	execute(WAY_INSNS);
	in_user = true;
	reg_a0 = a0;
	execute(entry == user_three ? 3 : 1);
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (a1 == (uint64_t)segments[i])
			segment(i, a0);
		if (a1 == (uint64_t)read_code[i])
			read(i);
	}
	ecall();
	in_user = false;
	execute(WAY_INSNS);
	return reg_a0;
}

void user_leave(uint64_t a0)
{
	fail_msg("user_leave(%lu): calls from U do not come here", a0);
	__builtin_unreachable();
}

/* --- once.S, ovf_run.S ------------------------------------------------------------------- */

void once_run(uint64_t mask, uint64_t rounds)
{
	uint64_t start[8] = {0, mask, 1, 0, 0, 0, SBI_PMU_COUNTER_START, SBI_EXT_PMU};
	uint64_t stop[8] = {0, mask, 0, 0, 0, 0, SBI_PMU_COUNTER_STOP, SBI_EXT_PMU};

	hart_ecall(start);
	execute(2 * rounds + 4);
	ecall();
	hart_ecall(stop);
}

void wait_run(uint64_t mask)
{
	uint64_t start[8] = {0, mask, 1, 0, 0, 0, SBI_PMU_COUNTER_START, SBI_EXT_PMU};
	uint64_t stop[8] = {0, mask, 0, 0, 0, 0, SBI_PMU_COUNTER_STOP, SBI_EXT_PMU};

	hart_ecall(start);
	wfi();
	execute(8);
	ecall();
	hart_ecall(stop);
}

/* Two instructions, whose addresses tell the handler how far the loop has come. */
__asm__(".data\n.globl ovf_loop, ovf_end\novf_loop: .skip 8\novf_end: .byte 0\n.previous\n");
extern char ovf_loop[];

void ovf_run(uint64_t mask, uint64_t value, uint64_t limit);
void ovf_run(uint64_t mask, uint64_t value, uint64_t limit)
{
	uint64_t start[8] = {0, mask, 1, value, 0, 0, SBI_PMU_COUNTER_START, SBI_EXT_PMU};
	uint64_t all = 2 * limit, done = 0; /* of the loop */

	hart_ecall(start);
	execute(1);
	vs_sstatus |= SSTATUS_SIE;
	while (done < all) {
		done += hart_run(false, all - done);
		if (interrupted())
			interrupt((uint64_t)ovf_loop + 4 * (done & 1), (done + 1) / 2);
	}
	vs_sstatus &= ~SSTATUS_SIE;
	execute(2);
}
