/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_stay.h"

/*
 * Instructions, measured under QEMU's -icount, and rounded up. In brackets: the test, and the
 * highest value that it has measured.
 *
 * PIECE: the longest stay in which no turn is looked for before its end, with the firmware's part.
 *   With ssccfg any stay may be one; with sbi it is a stop of counters that follow events of the
 *   firmware (test_longest_stay: 10,548, of which 4,286 are Tally's), and some more.
 * WAKE: a sleeping vcpu whose timer has expired (test_late_windows: 190).
 * TURN: exit, look and the change to a window, for any number of vcpus (test_late_windows without
 *   guards: 1,100 with a switch of 650).
 * WIRE: each device interrupt of a VM with a PLIC on this hart, which the change enables or
 * disables (300 for nine). SWITCH, COUNTER: a world switch, and the addition for each counter that
 * is armed in both guests, for at most COUNTERS: QEMU has no more different events
 * (test_bench_switch: armed-1 and armed-2 are 4,268 and 6,580 with sbi, and on OpenSBI 1.9 4,407
 * and 7,001; 1,008 and 1,281 with ssccfg, and 1,052 of gcc 14). Overflows that wait have their own
 * stays (core/vcpu/hart_flags.h), or are set by the switch (test_overflows_that_stand: 9,804 for
 * five, for the whole stay).
 *
 * Not here: firmware events that M-mode counts. While a vcpu counts some, each takes a call of the
 * firmware, of 430 instructions, when it is loaded and when it leaves (test_attacks_at_the_bound).
 */
#define WAKE     200U
#define TURN     540U
#define WIRE     40U
#define COUNTERS 5U
static const struct {
	uint32_t base, counter, piece;
} switches[2] = {{2510, 2280, 13000}, {800, 280, VM_LONGEST_STAY}}; /* sbi, ssccfg */

/* Assumed speed of a hart: it executes this many instructions in a microsecond. */
#define INSNS_A_US 1000U

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static __attribute__((noinline)) uint32_t count(uint64_t mask)
{
	uint32_t n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* Returns the device interrupts of a VM with a PLIC; those of an AIA follow no windows. Without the
 * host's tree, and for a PCI function, one is assumed. */
static uint32_t wires(const struct vm_config *vm)
{
	uint32_t n = 0;

	for (uint32_t i = 0; !vm->aia && i < vm->n_devices; i++)
		n += vm->devices[i].n_irqs ? vm->devices[i].n_irqs : 1;
	return n;
}

static uint32_t counters(const struct vm_config *vm, uint64_t hctrs)
{
	uint32_t n = count(hctrs ? vm->pmu_counters & hctrs : vm->pmu_counters);

	if (vm->budget.count && !n)
		n = 1;
	return n < COUNTERS ? n : COUNTERS;
}

/* Other wakes are among what a stay may do before it is too long for a turn or a switch. */
_Static_assert(WAKE *VM_STAY_WAKES < VM_STAY_SHORT, "a stay with wakes is short");

/*
 * When a turn is due, the stay that lasts may be a piece of work or a switch. Either it ends with
 * the turn, or it was too long for that already: then it ends, and the next stay begins with the
 * turn (core/hart/pcpu.h: STAY_SWITCH_POSTPONED). After the turn only the window's vcpus are woken.
 * So a guard is for one such stay and for one turn, and not for VM_STAY_SHORT in addition.
 */
void vm_stay_bounds(const struct vm_tree *tree, struct vm_schedule *s, bool ssccfg, uint64_t hctrs)
{
	uint32_t most = 0, live = 0, turn = TURN, change;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];

		if (!vm_vcpus_on(vm, s->hart))
			continue;
		turn += WIRE * wires(vm);
		live = max(live, counters(vm, hctrs));
	}
	for (uint32_t i = 0; i < s->n_windows; i++)
		most = max(most, count(s->windows[i].vcpus));
	change = switches[ssccfg].base + switches[ssccfg].counter * live;
	turn += WAKE * most + change;
	s->longest_stay = max(VM_LONGEST_STAY, VM_STAY_SHORT + turn);
	turn += max(switches[ssccfg].piece, VM_STAY_SHORT + change);
	s->least_guard_us = (turn + INSNS_A_US - 1) / INSNS_A_US;
}
