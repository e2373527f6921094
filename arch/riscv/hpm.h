/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware counters of one hart. Owned by that hart; every call is made there, in HS-mode.
 * Counters started here never count M or U: only VS and VU, as `inhibit` says, and HS if it says
 * so. A counter of HS moves during these calls.
 */
#ifndef ARCH_HPM_H
#define ARCH_HPM_H

#include "core/types.h"

#define HPM_MAX_EVENTS 16U
#define HPM_INH_VS     1U
#define HPM_INH_VU     2U
#define HPM_COUNT_HS   4U

struct hpm_config {
	uint32_t event_idx; /* SBI type 0, 1, 2 or 3 */
	uint32_t inhibit;   /* HPM_INH_*, HPM_COUNT_HS */
	uint64_t event_data;
};

/* An event that the hart can count. */
struct hpm_event {
	uint32_t event_idx;
	uint64_t hctrs;    /* counters to be used for it: one bit where it needs a home counter */
	uint64_t selector; /* what the firmware writes to mhpmevent for it, with hpm.ssccfg only */
	bool raw;          /* the firmware also takes this selector as a raw event */
};

/* What a counter holds. */
struct hpm_slot {
	struct hpm_config config;
	bool programmed;
	uint64_t selector; /* ssccfg back end: its mhpmevent without OF */
	uint64_t value;    /* sbi back end: what a fresh one is to start from */
};

struct hpm_backend;

struct hpm {
	const struct hpm_backend *backend;
	uint64_t hctrs; /* counters 3..31 that count with filters */
	uint32_t width; /* bits of each */
	uint32_t n_events;
	bool lcofi;  /* an overflow can be delivered to a guest */
	bool ssccfg; /* counters can be driven without the firmware */
	uint64_t running;
	uint64_t armed; /* last set with OF = 0: only their flags mean an overflow */
	uint64_t fresh; /* sbi back end: set, and their values yet to be written by run() */
	struct hpm_event events[HPM_MAX_EVENTS];
	struct hpm_slot slots[32];
};

/* The two ways to drive counters. All counters named are this hart's. */
struct hpm_backend {
	const char *name;
	/* A stopped counter takes up event and filter. false: refused, it holds nothing. */
	bool (*program)(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config);
	/* A stopped, programmed counter gets its value. armed: OF = 0, else OF = 1. It runs after
	 * run(), which is to follow at once. Always true, so that it can be the tail of a call. */
	bool (*set)(struct hpm *hpm, uint32_t hctr, uint64_t value, bool armed);
	void (*run)(struct hpm *hpm, uint64_t hctrs);
	void (*stop)(uint64_t hctrs);
	/* See vpmu_port_step(). */
	bool (*step)(uint32_t hctr, uint64_t last);
};

extern const struct hpm_backend hpm_sbi, hpm_ssccfg;

enum hpm_choice { HPM_AUTO, HPM_SBI, HPM_SSCCFG };

/* Finds counters and events, clears stale overflow flags, chooses the back end. At boot. */
void hpm_init(struct hpm *hpm, bool sscofpmf, enum hpm_choice choice);

/* The counters to be used for an event on this hart, 0: it cannot be counted. A raw event may cost
 * all counters that do not run what they held, see hpm_raw.h. */
uint64_t hpm_event_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data);

/* How a raw event is said to this firmware: as v2 where it knows that, as v1 where the value fits
 * in 48 bits. false: neither (SBI 3.0 sections 11.3 and 11.4). Other events stay as they are. */
bool hpm_firmware_event(const struct hpm_config *config, uint32_t *event_idx);
const struct hpm_event *hpm_event_find(const struct hpm *hpm, uint32_t event_idx);

static inline bool hpm_same_config(const struct hpm_config *a, const struct hpm_config *b)
{
	return a->event_idx == b->event_idx && a->inhibit == b->inhibit &&
	       a->event_data == b->event_data;
}

/* Is this what it has been programmed for? */
static inline bool hpm_holds(const struct hpm *hpm, uint32_t hctr, const struct hpm_config *config)
{
	const struct hpm_slot *slot = &hpm->slots[hctr];

	return slot->programmed && hpm_same_config(&slot->config, config);
}

/* A stopped counter takes up another event or filter than it holds. false: refused. */
bool hpm_reprogram(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config);

/* cycle, instret or hpmcounterN, running or stopped. */
uint64_t hpm_read(uint32_t hctr);

/* Takes the pending LCOFI off the hart. Returns which of the counters that were really armed have
 * their flag set. */
uint64_t hpm_take_overflow(const struct hpm *hpm);

#endif
