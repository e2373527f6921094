/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/hart_kind.h"

#include <string.h>

#include "core/hart/pcpu.h"

static bool same_events(const struct hpm *a, const struct hpm *b)
{
	if (a->n_events != b->n_events || a->table_raw != b->table_raw ||
	    a->minh_hctrs != b->minh_hctrs)
		return false;
	for (uint32_t i = 0; i < a->n_events; i++) {
		const struct hpm_event *x = &a->events[i], *y = &b->events[i];

		if (x->event_idx != y->event_idx || x->hctrs != y->hctrs || x->raw != y->raw)
			return false;
	}
	return true;
}

const char *harts_differ(uint32_t hart, uint32_t other)
{
	const struct pcpu *a = pcpu_at(hart), *b = pcpu_at(other);
	const struct hpm *x = &a->hpm, *y = &b->hpm;

	if (x->hctrs != y->hctrs || x->fixed != y->fixed || x->width != y->width)
		return "harts # and # have different counters";
	if (!same_events(x, y) || a->fw_events.codes != b->fw_events.codes)
		return "harts # and # count different events";
	if (x->hs_lcofi != y->hs_lcofi)
		return "of harts # and # only one has overflow interrupts";
	if (x->lcofi != y->lcofi)
		return "of harts # and # only one has overflow interrupts for guests";
	if (x->delegated != y->delegated)
		return "of harts # and # only one has delegated counters";
	/* With ssccfg, reads of scountovf trap, so guests cannot see overflows of observers. */
	if (x->ssccfg != y->ssccfg || x->flags_hidden != y->flags_hidden)
		return "of harts # and # only one hides overflows from guests";
	if (a->isa != b->isa || a->vec_bytes != b->vec_bytes ||
	    memcmp(&a->blocks, &b->blocks, sizeof(a->blocks)) != 0 ||
	    memcmp(&a->vs_features, &b->vs_features, sizeof(a->vs_features)) != 0)
		return "harts # and # have different extensions";
	return NULL;
}
