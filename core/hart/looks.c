/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/looks.h"

void external_look_begins(struct pcpu *pcpu, enum external_what what, uint64_t time)
{
	uint64_t *at = pcpu->looks, earliest = ~0UL;

	at[what] = time;
	for (uint32_t i = 0; i < EXTERNAL_KINDS; i++)
		earliest = at[i] < earliest ? at[i] : earliest;
	pcpu->external_at = earliest;
}

void external_look_at(enum external_what what, uint64_t time)
{
	external_look_begins(this_pcpu(), what, time);
	pcpu_resched(this_pcpu()); /* sets the timer anew */
}
