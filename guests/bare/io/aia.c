/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the AIA of its VM; `what=` chooses.
 *   self     sends messages= messages to itself and takes each
 *   timer    as many timer interrupts
 *   masked   all of them while an LCOFI pends that is masked: see aia_masked.c
 *   late     masks an LCOFI that pends already: see aia_masked.c
 *   stopped  what a vcpu's interrupt file keeps while it is stopped: see aia_two.c
 *   words    fills every register of the file that there is: see aia_hostile.c
 *   nothing  the VM has no AIA, and must reach none: see aia_hostile.c
 *   two      its two vcpus send messages to each other: see aia_two.c
 *   hostile  what it must not do: see aia_hostile.c
 *   alarm    alarms of a clock that is its own: see aia_alarm.c
 */
#include "guests/bare/io/aia.h"

static int self(uint64_t n)
{
	struct aia_taken *t = &aia_taken[0];

	for (uint64_t i = 0; i < n; i++) {
		aia_send(0, (uint32_t)(1 + i % 63));
		aia_await(&t->external, i + 1);
	}
	print("aia: %u messages, %u taken, %u lost, %u without a cause\n", n, t->external, aia_lost,
	      t->nothing);
	return aia_lost || t->external != n || t->nothing;
}

static int timer(uint64_t n)
{
	struct aia_taken *t = &aia_taken[0];

	for (uint64_t i = 0; i < n; i++) {
		csr_write(CSR_STIMECMP, csr_read(time) + 50);
		aia_await(&t->timer, i + 1);
	}
	print("aia: %u timers, %u taken, %u lost, %u without a cause\n", n, t->timer, aia_lost,
	      t->nothing);
	return aia_lost || t->timer != n || t->nothing;
}

int aia(uint64_t hartid)
{
	uint64_t n = bootarg_num("messages", 100);

	__asm__ volatile("mv tp, %0" ::"r"(hartid));
	if (bootarg_is("what", "nothing"))
		return aia_nothing(n);
	if (bootarg_is("what", "words"))
		return aia_words();
	aia_on(IRQ_EXTERNAL | IRQ_TIMER | IRQ_SOFT);
	if (bootarg_is("what", "self"))
		return self(n);
	if (bootarg_is("what", "timer"))
		return timer(n);
	if (bootarg_is("what", "two"))
		return aia_two(n);
	if (bootarg_is("what", "hostile"))
		return aia_hostile(n);
	if (bootarg_is("what", "masked"))
		return aia_masked(n);
	if (bootarg_is("what", "late"))
		return aia_late(n);
	if (bootarg_is("what", "stopped"))
		return aia_stopped();
	if (bootarg_is("what", "alarm"))
		return aia_alarm(n);
	print("aia: what= is none of them\n");
	return 1;
}
