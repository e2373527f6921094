/* SPDX-License-Identifier: Apache-2.0 */
/* What a vcpu's counters are, for who is not its guest. Any vcpu, resident or not. */
#ifndef VPMU_SHOW_H
#define VPMU_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/state.h"

/* For who is not the guest: how often that was since vpmu_init(), and what vpmu_port_fw_watch() was
 * told last. code: below VPMU_FW_EVENTS. */
static inline uint64_t vpmu_fw_seen(const struct vpmu *v, uint32_t code)
{
	return v->fw_total[code];
}

static inline uint32_t vpmu_fw_watched(const struct vpmu *v)
{
	return v->fw_watched;
}

enum vpmu_state { VPMU_STOPPED, VPMU_RUNNING, VPMU_LOST };

/* What struct vpmu_view's value is. */
enum vpmu_holds {
	VPMU_VALUE_NOW,
	VPMU_VALUE_AWAY,       /* it runs in a counter of another hart, which was not asked: 0 */
	VPMU_VALUE_LESS_TOTAL, /* vpmu_port_fw_total() of this vcpu is to be added */
	VPMU_VALUE_NONE,       /* it is lost */
};

/* A configured counter, for who is not the guest. */
struct vpmu_view {
	uint32_t event_idx;
	uint64_t event_data;
	enum vpmu_state state;
	enum vpmu_holds holds;
	uint64_t value;
	bool overflow; /* OF */
	bool is_fw;
	/* Of hardware counters. */
	uint32_t hctr;
	uint32_t inhibit; /* VPMU_INH_*, HW_COUNT_HS */
	/* Other counters of this vcpu run on the same hctr, or may. An observer: counters of its
	 * guest. */
	bool shared;
	bool direct; /* read without an exit */
};

/*
 * false: the counter is not configured. Changes nothing, of any vcpu, resident or not. same_hart:
 * the caller runs on the hart where the vcpu is or was last. Others see what is being
 * written: each field is one that was there, but they may be of different moments.
 */
bool vpmu_describe(const struct vpmu *v, uint32_t counter_idx, bool same_hart,
                   struct vpmu_view *view);

/* Set of lctr: those that the guest has configured. */
static inline uint64_t vpmu_configured(const struct vpmu *v)
{
	return v->configured & v->all_lctrs;
}

#endif
