/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a vcpu's counters for the operator. For any vcpu, resident or not. */
#ifndef VPMU_SHOW_H
#define VPMU_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/state.h"

/* For observers: return the total of an event since vpmu_init(), and the mask last passed to
 * vpmu_port_fw_watch(). code is below VPMU_FW_EVENTS. */
static inline uint64_t vpmu_fw_seen(const struct vpmu *v, uint32_t code)
{
	return v->fw_total[code];
}

static inline uint32_t vpmu_fw_watched(const struct vpmu *v)
{
	return v->fw_watched;
}

enum vpmu_state { VPMU_STOPPED, VPMU_RUNNING, VPMU_LOST };

/* The meaning of `value` in struct vpmu_view. */
enum vpmu_holds {
	VPMU_VALUE_NOW,
	VPMU_VALUE_AWAY,       /* it runs in a counter of another hart, which was not read: 0 */
	VPMU_VALUE_LESS_TOTAL, /* vpmu_port_fw_total() of this vcpu must be added */
	VPMU_VALUE_NONE,       /* it is lost */
};

/* A configured counter, as the operator sees it. */
struct vpmu_view {
	uint32_t event_idx;
	uint64_t event_data;
	enum vpmu_state state;
	enum vpmu_holds holds;
	uint64_t value;
	bool overflow; /* OF */
	bool is_fw;
	/* For hardware counters. */
	uint32_t hctr;
	uint32_t inhibit; /* HW_INH_*, HW_COUNT_HS */
	/* Other counters of this vcpu are configured on the same hctr. For an observer: counters of
	 * its guest. */
	bool shared;
	bool direct; /* read without an exit, now or when the vcpu is resident again */
};

/*
 * Describes a counter without changing anything. Returns false if the counter is not configured.
 * Any vcpu, resident or not. same_hart: the caller runs on the hart where the vcpu is or was last.
 * On other harts each field may be of a different moment.
 */
bool vpmu_describe(const struct vpmu *v, uint32_t counter_idx, bool same_hart,
                   struct vpmu_view *view);

/* Returns the set of lctr that the guest has configured. */
static inline uint64_t vpmu_configured(const struct vpmu *v)
{
	return v->configured & v->all_lctrs;
}

#endif
