/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that rings (docs/sbi-tally.md), `rings=` times, `every=` ticks apart, and then does what
 * `then=` says: `sleep`, `spin` and `loop`, a trap handler that traps, are for ever.
 *   busy=1      it computes between two rings; otherwise it sleeps
 *   by=other    its vcpu 1 rings, and its vcpu 0 is asleep
 *   by=bell     it rings by a register of its bell of the memory "ring" (docs/shared.md)
 *   lines=      so many lines, with bytes that nobody should print, come before that
 */
#include "guests/bare/bare.h"
#include "guests/bare/pmu/check.h"
#include "guests/bare/vcpu/smp.h"
#include "guests/lib/bell.h"

void breaking_vector(void);

static bool is_before(uint64_t end)
{
	return csr_read(time) < end;
}

static void pass(uint64_t ticks)
{
	uint64_t end = csr_read(time) + ticks;

	if (!bootarg_num("busy", 0)) {
		sleep_for(ticks);
		return;
	}
	while (is_before(end))
		;
}

static struct bell bell;

static void ring(uint64_t number)
{
	if (bell.page)
		bell_write(&bell, BELL_HEARTBEAT, (uint32_t)number);
	else
		check_value("ring", sbi_call(SBI_EXT_TALLY, SBI_TALLY_RING, 0, 0, 0, 0, 0, 0), 0);
}

static void go_on(void)
{
	if (bootarg_is("then", "loop")) {
		csr_write(stvec, (uint64_t)breaking_vector);
		__asm__ volatile("ebreak");
	}
	for (;;) {
		if (bootarg_is("then", "sleep"))
			__asm__ volatile("wfi");
	}
}

/* What there is for a VM that controls nobody. */
static void look_around(void)
{
	check("the extension",
	      sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_TALLY, 0, 0, 0, 0, 0).value,
	      1);
	for (unsigned long fid = SBI_TALLY_VM_STATE; fid <= SBI_TALLY_RESTART; fid++)
		check_error("beta", sbi_call(SBI_EXT_TALLY, fid, 0x61746562, 0, 0, 0, 0, 0),
		            SBI_ERR_DENIED);
}

static int ring_and_go_on(void)
{
	uint64_t rings = bootarg_num("rings", 0), every = bootarg_num("every", MS), last = 0;

	for (uint64_t i = 0; i < rings; i++) {
		pass(every);
		last = csr_read(time);
		ring(i);
	}
	for (uint64_t i = 0; i < bootarg_num("lines", 0); i++)
		print("heart: line %u: \"50%s of it's \\ \033[1mthat\001\377\"\n", i, "%");
	print("heart: has rung %u times, last behind %u", rings, last);
	print("\n");
	if (!bootarg_is("then", "end"))
		go_on();
	return check_end("heart");
}

static void other(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	self->values[0] = (uint64_t)ring_and_go_on();
	self->done = 1;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

int heart(uint64_t hartid)
{
	(void)hartid;
	print("heart: begins\n");
	if (bootarg_is("by", "bell"))
		check("its bell", bell_find("ring", &bell), true);
	else
		look_around();
	if (!bootarg_is("by", "other"))
		return ring_and_go_on();
	check("vcpu 1 starts", (uint64_t)smp_start(1, other), 0);
	while (!smp_vcpus[1].done)
		sleep_for(MS);
	return (int)smp_vcpus[1].values[0];
}
