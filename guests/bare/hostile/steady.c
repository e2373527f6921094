/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The victim of storms (tempest.c), whose gusts it sees counted in memory that it shares with them:
 * code of known length, 2 * `length=` + 1 instructions, at least `rounds=` times, and until there
 * were `gusts=` more of them, and `ticks=` have gone by. Each round lies between two marks,
 * instructions without an effect that a plugin of QEMU's looks for
 * (tests/qemu/programs/hart_counts.c), and is counted by the guest's own counter. Prints those
 * counts, how many exits there were in all rounds, and how many gusts.
 *
 * frame=: it has windows in frames of so many ticks. After each third round it computes until the
 * next one begins, so some rounds are cut by the end of a window. Prints the earliest and the
 * latest beginning that it has seen, as offset in the frame, and how many.
 *
 * port=1: it has a port of a network, wants no interrupt, and takes what came between two rounds.
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/port.h"

#define EXITS 256UL /* docs/events.md */

static uint64_t value(uint64_t ctr)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0).value;
}

static uint64_t marked(segment_t segment, uint64_t length)
{
	uint64_t count;

	__asm__ volatile("slti zero, zero, 0x5a0" ::: "memory");
	count = segment(length);
	__asm__ volatile("slti zero, zero, 0x5a1" ::: "memory");
	return count;
}

static struct {
	uint64_t earliest, latest, times;
} begins = {~0UL, 0, 0};

/* Until the next frame's window. Each time that it is back is one at which a window begins. */
static void await_window(uint64_t frame)
{
	uint64_t last = csr_read(time), before = last / frame;

	do {
		uint64_t offset = (last = back_at(&last)) % frame;

		begins.earliest = offset < begins.earliest ? offset : begins.earliest;
		begins.latest = offset > begins.latest ? offset : begins.latest;
		begins.times++;
	} while (last / frame == before);
}

static struct port port;

static void take_frames(void)
{
	uint32_t size;

	while (port_received(&port, &size))
		port_release(&port);
}

static bool open_port(void)
{
	port_rings[PORT_RECEIVES].available.flags = 1;
	return port_open(&port, 0, PORT_QUEUE, 1518);
}

int steady(uint64_t hartid)
{
	uint64_t rounds = bootarg_num("rounds", 20), length = bootarg_num("length", 50000);
	uint64_t gusts = bootarg_num("gusts", 0), frame = bootarg_num("frame", 0), done = 0;
	struct counters c = find_counters();
	struct sbiret exits = pmu_config(c.fw, 0, SBI_PMU_TYPE_FW << 16 | EXITS);
	struct sbiret insns = pmu_config(c.hw, 0, EVENT_INSTRUCTIONS);
	uint64_t least = ~0UL, most = 0, before, took, calm;
	struct shared_memory shared;

	(void)hartid;
	if (bootarg_num("port", 0) && !open_port())
		return 1;
	if (!shared_node(0, &shared) || exits.error || insns.error ||
	    pmu_start(BIT(exits.value), 0) || pmu_start(BIT(insns.value), 0x8000000000000001UL))
		return 1;
	while (!(calm = *(volatile uint64_t *)shared.base))
		;
	before = value(exits.value);
	took = value(exits.value) - before; /* by the read itself */
	before = value(exits.value);
	end_time = csr_read(time) + bootarg_num("ticks", 0);
	for (; done < rounds || *(volatile uint64_t *)shared.base < calm + gusts || !time_is_up();
	     done++) {
		uint64_t count = marked(segment_of((uint32_t)insns.value), length);

		least = count < least ? count : least;
		most = count > most ? count : most;
		if (port.common)
			take_frames();
		if (frame && done % 3 == 2)
			await_window(frame);
	}
	took = value(exits.value) - before - took;
	print("steady: %u rounds, %u to", done, least);
	print(" %u instructions counted, %u exits,", most, took);
	print(" %u gusts\n", *(volatile uint64_t *)shared.base - calm);
	if (frame)
		print("begins: %u to %u", begins.earliest, begins.latest);
	if (frame)
		print(", %u times\n", begins.times);
	return 0;
}
