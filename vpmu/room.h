/* SPDX-License-Identifier: Apache-2.0 */
/* Makes room for an event on harts where several counters count one: config*.c and room.c only. */
#ifndef VPMU_ROOM_H
#define VPMU_ROOM_H

#include "vpmu/internal.h"

/* room.c */

enum vpmu_room {
	VPMU_NO_ROOM,   /* no moves make room, or the hardware refused one of them */
	VPMU_ROOM,      /* one of the hctrs has room now */
	VPMU_MORE_ROOM, /* the same call must be made again, in another stay */
};

/*
 * Moves events until one of `hctrs` has room for one more. Of the stopped counters in `droppable`
 * one loses its configuration, if that makes room.
 */
enum vpmu_room vpmu_make_room(struct vpmu *v, uint64_t hctrs, uint64_t droppable);

/* config.c: config_matching for a checked set of counters, without moves. */
struct sbi_ret vpmu_config_here(struct vpmu *v, uint64_t set, unsigned long config_flags,
                                unsigned long event_idx, uint64_t event_data);

/* config_moves.c: the same with moves. The error may be VPMU_AGAIN. */
struct sbi_ret vpmu_config_movable(struct vpmu *v, uint64_t set, unsigned long config_flags,
                                   unsigned long event_idx, uint64_t event_data);

#endif
