/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/pcpu.h"

void external_poll_init(struct pcpu *pcpu, enum external_kind what, uint64_t time)
{
	uint64_t *at = pcpu->poll_times, earliest = ~0UL;

	at[what] = time;
	for (uint32_t i = 0; i < EXTERNAL_KINDS; i++)
		earliest = at[i] < earliest ? at[i] : earliest;
	pcpu->next_poll = earliest;
}

void external_poll_at(enum external_kind what, uint64_t time)
{
	external_poll_init(this_pcpu(), what, time);
	pcpu_resched(this_pcpu()); /* sets the timer anew */
}
