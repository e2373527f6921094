/* SPDX-License-Identifier: Apache-2.0 */
/* Makes room for one more event on harts where several hctrs can count an event. Only config.c,
 * config_moves.c and room.c include it. */
#ifndef VPMU_ROOM_H
#define VPMU_ROOM_H

#include "vpmu/internal.h"

/* room.c */

enum vpmu_room {
	VPMU_NO_ROOM,   /* no moves make room, or the hardware refused one of them */
	VPMU_ROOM,      /* one of the hctrs has room now */
	VPMU_MORE_ROOM, /* make the same call again, after another exit */
};

/*
 * Moves events until one of `hctrs` has room for one more. If that makes room, one of the stopped
 * counters in `droppable` loses its configuration.
 */
enum vpmu_room vpmu_make_room(struct vpmu *v, uint64_t hctrs, uint64_t droppable);

/* config.c: config_matching for a checked set of counters, without moves. */
struct sbi_ret vpmu_config_here(struct vpmu *v, uint64_t set, unsigned long config_flags,
                                unsigned long event_idx, uint64_t event_data);

#endif
