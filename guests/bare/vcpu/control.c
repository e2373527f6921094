/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes each piece of control state of floating point and vectors alone, so that nothing else
 * tells a hypervisor to save it. Also checks that data registers are kept if the guest itself sets
 * the status field to Clean or Off. Another such guest, with a mark that is one higher, always
 * holds the opposite.
 *   mark=N         which of the two patterns comes first
 *   rounds=N       how often each piece is changed
 *   wait=suspend   between change and check: HSM's retentive suspend; otherwise wrs.nto
 *   lives=N        vcpu 1 is started so often, and finds zeros each time
 *   type=1         ends with this reset type; 0: shuts down
 */
#include "guests/bare/vcpu/smp.h"

#define SSTATUS_FS       (3UL << 13)
#define SSTATUS_FS_CLEAN (2UL << 13)
#define SSTATUS_VS_CLEAN (2UL << 9)

#define ONE           0x3ff0000000000000UL
#define ONE_AND_HALF  0x3ff8000000000000UL
#define SIGNALING_NAN 0x7ff0000000000001UL

struct piece {
	const char *name;
	bool vector;
	void (*put)(uint64_t pattern);
	uint64_t (*get)(void);
	uint64_t mask; /* bits of the pattern that get() returns */
};

static void let_others_run(void)
{
	if (bootarg_is("wait", "suspend")) {
		csr_set(sie, IRQ_TIMER);
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + 50, 0, 0, 0, 0, 0);
		hsm(SBI_HSM_HART_SUSPEND, 0, 0, 0);
		return;
	}
	for (int i = 0; i < 3; i++)
		__asm__ volatile(".word 0x00d00073" ::: "memory"); /* wrs.nto */
}

static uint64_t f1_get(void)
{
	uint64_t bits;

	__asm__ volatile("fmv.x.d %0, f1" : "=r"(bits));
	return bits;
}

static void f1_put(uint64_t bits)
{
	__asm__ volatile("fmv.d.x f1, %0" ::"r"(bits));
}

#define CSR_PIECE(csr)                                                                             \
	static void csr##_put(uint64_t pattern)                                                    \
	{                                                                                          \
		csr_write(csr, pattern);                                                           \
	}                                                                                          \
	static uint64_t csr##_get(void)                                                            \
	{                                                                                          \
		return csr_read(csr);                                                              \
	}
CSR_PIECE(fcsr)
CSR_PIECE(frm)
CSR_PIECE(fflags)
CSR_PIECE(vstart)
CSR_PIECE(vxsat)
CSR_PIECE(vxrm)
CSR_PIECE(vcsr)

/* Raises flags by an instruction that writes no f register. Its operand is old by then. */
static void fcvt_put(uint64_t pattern)
{
	f1_put(pattern ? ONE_AND_HALF : ONE);
	let_others_run();
	csr_write(fflags, 0);
	__asm__ volatile("fcvt.w.d zero, f1, rtz");
}

static void feq_put(uint64_t pattern)
{
	f1_put(pattern ? SIGNALING_NAN : ONE);
	let_others_run();
	csr_write(fflags, 0);
	__asm__ volatile("feq.d zero, f1, f1");
}

static void clean_put(uint64_t pattern)
{
	f1_put(pattern);
	csr_clear(sstatus, SSTATUS_FS & ~SSTATUS_FS_CLEAN);
}

static uint64_t clean_get(void)
{
	bool still = (csr_read(sstatus) & SSTATUS_FS) == SSTATUS_FS_CLEAN;

	return still ? f1_get() : ~0UL;
}

static void off_put(uint64_t pattern)
{
	f1_put(pattern);
	csr_clear(sstatus, SSTATUS_FS);
}

static uint64_t off_get(void)
{
	bool still = (csr_read(sstatus) & SSTATUS_FS) == 0;

	csr_set(sstatus, SSTATUS_FS);
	return still ? f1_get() : ~0UL;
}

static void vec_clean_put(uint64_t pattern)
{
	vec_set(pattern);
	csr_clear(sstatus, SSTATUS_VS & ~SSTATUS_VS_CLEAN);
}

static uint64_t vec_clean_get(void)
{
	bool still = (csr_read(sstatus) & SSTATUS_VS) == SSTATUS_VS_CLEAN;

	return still ? vec_first() : ~0UL;
}

static void vec_off_put(uint64_t pattern)
{
	vec_set(pattern);
	csr_clear(sstatus, SSTATUS_VS);
}

static uint64_t vec_off_get(void)
{
	bool still = (csr_read(sstatus) & SSTATUS_VS) == 0;

	csr_set(sstatus, SSTATUS_VS);
	return still ? vec_first() : ~0UL;
}

static const struct piece pieces[] = {
    {"fcsr", false, fcsr_put, fcsr_get, 0xff},
    {"frm", false, frm_put, frm_get, 7},
    {"fflags", false, fflags_put, fflags_get, 0x1f},
    {"flags of fcvt", false, fcvt_put, fflags_get, 1},
    {"flags of feq", false, feq_put, fflags_get, 0x10},
    {"f1, FS clean", false, clean_put, clean_get, ~0UL},
    {"f1, FS off", false, off_put, off_get, ~0UL},
    {"vstart", true, vstart_put, vstart_get, 0x1f},
    {"vxsat", true, vxsat_put, vxsat_get, 1},
    {"vxrm", true, vxrm_put, vxrm_get, 3},
    {"vcsr", true, vcsr_put, vcsr_get, 7},
    {"vl and vtype", true, vec_shape_put, vec_shape_get, 7},
    {"v8, VS clean", true, vec_clean_put, vec_clean_get, ~0UL},
    {"v8, VS off", true, vec_off_put, vec_off_get, ~0UL},
};

/* Returns how many registers are not 0 at first, though they must be. */
static uint64_t left_by_others(void)
{
	uint64_t found = (csr_read(fcsr) != 0) + (f1_get() != 0);

	if (with_vectors()) {
		found += (csr_read(vcsr) != 0) + (csr_read(vstart) != 0) + (vec_length() != 0);
		found += vec_first() != 0;
	}
	return found;
}

static uint64_t look_at_all(uint64_t mark, uint64_t rounds)
{
	uint64_t wrong = 0;

	for (uint64_t round = 0; round < rounds; round++) {
		uint64_t pattern = (mark + round) & 1 ? 0x5555555555555555 : 0xaaaaaaaaaaaaaaaa;

		for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			uint64_t wanted = pattern & pieces[i].mask, got;

			if (pieces[i].vector && !with_vectors())
				continue;
			pieces[i].put(wanted);
			let_others_run();
			got = pieces[i].get();
			if (got == wanted)
				continue;
			wrong++;
			print("control: %s is 0x%x, not 0x%x\n", pieces[i].name, got, wanted);
		}
	}
	return wrong;
}

static void switch_on(void)
{
	csr_set(sstatus, SSTATUS_FS | (with_vectors() ? SSTATUS_VS : 0));
}

/* Writes only control state in one life, and data in the next. */
static void one_life(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	switch_on();
	self->values[0] = left_by_others();
	if (self->values[1]++ & 1) {
		f1_put(ONE);
		if (with_vectors())
			vec_set(ONE);
	}
	csr_write(fcsr, 0x61);
	if (with_vectors()) {
		csr_write(vcsr, 5);
		csr_write(vstart, 3);
	}
	self->done = 1;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

static uint64_t live(uint64_t lives)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < lives; i++) {
		wrong += smp_start(1, one_life) != 0;
		while (!smp_vcpus[1].done)
			let_others_run();
		wrong += smp_vcpus[1].values[0];
		wrong += !smp_await_state(1, SBI_HSM_STATE_STOPPED);
	}
	return wrong;
}

int control(uint64_t hartid)
{
	uint64_t wrong;

	(void)hartid;
	switch_on();
	wrong = left_by_others();
	print("control: begins, %u left by others\n", wrong);
	wrong += look_at_all(bootarg_num("mark", 0), bootarg_num("rounds", 4));
	wrong += live(bootarg_num("lives", 0));
	print("control: ends, %u wrong\n", wrong);
	csr_write(fcsr, 0x7f);
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, bootarg_num("type", 0), 0, 0, 0, 0, 0);
	return 1;
}

/* Sets a rounding mode, and nothing else, until its time is up. */
int rounding(uint64_t hartid)
{
	(void)hartid;
	csr_set(sstatus, SSTATUS_FS);
	while (!time_is_up()) {
		csr_write(frm, bootarg_num("mode", 0));
		let_others_run();
	}
	return 0;
}

/* Computes 1.0 / 3.0 without setting a rounding mode. */
int divide(uint64_t hartid)
{
	uint64_t rounds = bootarg_num("rounds", 20), right = 0, bits;

	(void)hartid;
	csr_set(sstatus, SSTATUS_FS);
	for (uint64_t i = 0; i < rounds; i++) {
		let_others_run();
		__asm__ volatile("fcvt.d.l f1, %1\n\tfcvt.d.l f2, %2\n\tfdiv.d f1, f1, f2\n\t"
		                 "fmv.x.d %0, f1"
		                 : "=r"(bits)
		                 : "r"(1L), "r"(3L));
		right += bits == 0x3fd5555555555555UL;
	}
	print("divide: %u of %u right\n", right, rounds);
	return 0;
}
