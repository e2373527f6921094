/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what=two: two vcpus that interrupt each other by messages. what=stopped: what the second one
 * finds in its file of what the first one sends it before its first start, and while it is stopped.
 *   wait=wfi      the second one sleeps until each comes; otherwise it spins
 */
#include "guests/bare/io/aia.h"
#include "guests/bare/vcpu/smp.h"

#define PING 3U
#define PONG 4U

static volatile bool over, ready;

/* Answers each message with one. */
static void answer(uint64_t identity)
{
	uint64_t tp;

	__asm__ volatile("mv %0, tp" : "=r"(tp));
	if (tp == 1 && identity == PING)
		aia_send(0, PONG);
}

static void second(uint64_t hartid, struct smp_vcpu *self)
{
	(void)self;
	__asm__ volatile("mv tp, %0" ::"r"(hartid));
	aia_on(IRQ_EXTERNAL);
	ready = true;
	while (!over) {
		csr_clear(sstatus, SSTATUS_SIE);
		if (bootarg_is("wait", "wfi") && !over)
			__asm__ volatile("wfi");
		csr_set(sstatus, SSTATUS_SIE);
	}
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

int aia_two(uint64_t n)
{
	const struct aia_taken *t = &aia_taken[0], *u = &aia_taken[1];

	aia_on_message = answer;
	if (smp_start(1, second))
		return 1;
	while (!ready)
		;
	for (uint64_t i = 0; i < n; i++) {
		aia_send(1, PING);
		aia_await(&t->external, i + 1);
	}
	over = true;
	aia_send(1, PING + 2);
	aia_lost += !smp_await_state(1, SBI_HSM_STATE_STOPPED);
	print("aia: %u sent, %u came, %u were answered, %u lost, %u without a cause\n", n,
	      u->identity[PING], t->identity[PONG], aia_lost, t->nothing + u->nothing);
	return u->identity[PING] != n || t->identity[PONG] != n || aia_lost || t->nothing ||
	       u->nothing;
}

#define LIVES 3U

static volatile uint64_t found[LIVES][2];
static unsigned starts;

/* Enables an identity that it does not take, so that it can be told from those that are off. */
static void look(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid, (void)self;
	found[starts][0] = aia_read(AIA_EIP0);
	found[starts][1] = aia_read(AIA_EIE0) | aia_read(AIA_EIDELIVERY);
	aia_write(AIA_EIE0, 1UL << (10 + starts));
	aia_write(AIA_EIDELIVERY, 1);
	starts++;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

int aia_stopped(void)
{
	for (unsigned i = 0; i < LIVES; i++) {
		aia_send(1, PING + i);
		if (smp_start(1, look) || !smp_await_state(1, SBI_HSM_STATE_STOPPED))
			return 1;
		print("aia: start %u: pending %x, enabled %x\n", (uint64_t)i, found[i][0],
		      found[i][1]);
	}
	/* For the next life to find. */
	aia_send(1, PING);
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 1;
}
