/* SPDX-License-Identifier: Apache-2.0 */
/* Makes room for an event on harts where several counters count one: config.c and room.c only. */
#ifndef VPMU_ROOM_H
#define VPMU_ROOM_H

#include "vpmu/internal.h"

enum vpmu_room {
	VPMU_NO_ROOM,   /* no assignment has a counter for all events, or the hardware refused */
	VPMU_ROOM,      /* one of the hctrs is idle now */
	VPMU_MORE_ROOM, /* the same call must be made again, in another stay */
};

/*
 * Whether the guest's events can be assigned so that one of `hctrs` is idle, as if the counters in
 * `dropped` were not configured. No side effects.
 */
bool vpmu_has_room(const struct vpmu *v, uint64_t hctrs, uint64_t dropped);

/* Finds an hctr that counts the event for the guest already, or an idle one. No side effects. */
bool vpmu_find_place(const struct vpmu *v, const struct hw_event *event, uint64_t hctrs,
                     hctr_t *hctr);

/* Moves events until one of `hctrs` is idle. */
enum vpmu_room vpmu_make_room(struct vpmu *v, uint64_t hctrs);

#endif
