/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes for ticks=, and notes when it was away: each time at which it is back, as offset in the
 * frame of frame= ticks, and how long it was away. Prints the earliest and latest offset, in ticks,
 * for each of the first windows that it finds in a frame, and what Tally counts as steal.
 */
#include "guests/bare/bare.h"

#define STEAL_TICKS 266UL /* docs/events.md */
#define WINDOWS     8U
#define NEAR        3000U /* ticks by which a window's beginnings may differ */

static struct {
	uint64_t first, last, times;
} windows[WINDOWS];

/* The window that begins near this offset, or a new one. NULL: there are too many. */
static void came_back(uint64_t offset)
{
	uint32_t i = 0;

	while (i < WINDOWS && windows[i].times &&
	       (offset + NEAR < windows[i].first || offset > windows[i].last + NEAR))
		i++;
	if (i == WINDOWS)
		return;
	if (!windows[i].times || offset < windows[i].first)
		windows[i].first = offset;
	if (!windows[i].times || offset > windows[i].last)
		windows[i].last = offset;
	windows[i].times++;
}

/* Begins with the first time that it is back, and ends with one. */
int windows_kind(uint64_t hartid)
{
	uint64_t frame = bootarg_num("frame", 0), begin = 0, last, now;
	uint64_t away = 0, stolen = 0, stolen_at_begin = 0;
	struct sbiret r = pmu_config(find_counters().fw, 0, SBI_PMU_TYPE_FW << 16 | STEAL_TICKS);

	(void)hartid;
	if (!frame || r.error || pmu_start(BIT(r.value), 0))
		return 1;
	for (last = csr_read(time);; last = now) {
		now = back_at(&last);
		stolen = sbi_pmu(SBI_PMU_COUNTER_FW_READ, r.value, 0, 0, 0, 0).value;
		came_back(now % frame);
		if (begin)
			away += now - last;
		else
			stolen_at_begin = stolen;
		if (!begin)
			begin = now;
		if (now >= end_time)
			break;
	}
	for (uint32_t i = 0; i < WINDOWS && windows[i].times; i++) {
		print("begins: %u to %u", windows[i].first, windows[i].last);
		print(", %u times\n", windows[i].times);
	}
	print("from %u to %u: ", begin, now);
	print("away %u, stolen %u\n", away, stolen - stolen_at_begin);
	return 0;
}
