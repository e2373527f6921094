/* SPDX-License-Identifier: Apache-2.0 */
/* What the hardware part and the port part of the fake hart share. No other file includes this. */
#ifndef TESTS_HOST_FAKE_STATE_H
#define TESTS_HOST_FAKE_STATE_H

#include "tests/host/fake_hart.h"

#define COUNTERS 32U
#define NOBODY   0U
#define UNMAPPED COUNTERS

struct fake_counter {
	struct hw_event config;
	uint64_t value;
	uint32_t owner; /* the vcpu that prepared it last */
	bool programmed;
	bool running;
	bool left_out; /* should have been armed, but the port did not */
	bool of;
	bool zeroed; /* last set with OF = 0 */
	bool fresh;  /* set, and not run since */
	bool stale;
};

/* What the machine keeps for each vcpu. */
struct fake_world {
	bool known;        /* fake_hart_policy() was called */
	struct vpmu *vpmu; /* the vPMU that is told of evictions */
	bool count_hs;
	bool steps;
	bool wfi_traps;
	bool shows_flags;
	bool show_due;
	bool show_at_start;
	uint32_t fw_port_events;
	uint32_t n_tally_events;
	uint32_t watched;
	uint64_t total[22];
	uint64_t tally_total[FAKE_TALLY_EVENTS];
};

struct fake_hart {
	struct fake_hart_config config;
	struct fake_counter counters[COUNTERS];
	struct fake_world world[FAKE_VCPUS + 1];
	uint32_t map[FAKE_EVENTS];
	uint64_t direct;
	uint64_t shown; /* see hardware_show() */
	uint64_t ready; /* set by the port, and started by its next run */
	uint64_t unset; /* of these, those that were not set, and will not run */
	uint64_t now;
	bool polling;       /* a poll is requested */
	uint64_t poll_left; /* units until then in which a fixed counter counts */
	uint64_t lent;      /* the resident vcpu has taken them */
	uint64_t chance;
	uint32_t resident;
	uint32_t fail_prepare;
	uint32_t fail_set;
	uint32_t fail_run;
	uint32_t fail_stop;
	uint64_t failed;    /* the vPMU was not told yet */
	uint64_t unstarted; /* of these, those of which a set or a run was refused */
	bool others_work;   /* what HS does here now is not for the resident vcpu */
	uint64_t runaway;   /* counters that run although they were stopped */
	bool lcofip;
	bool lcofip_by_hs; /* it came while the vPMU worked, so the vPMU could not know */
};

extern struct fake_hart fake;

void fake_require(bool claim, const char *what);
uint64_t fake_value_mask(void);

/* Functions of fake_port.c for the other groups of the port. */

/* Each function begins with this, except for vpmu_port_event_hctrs(), which boot calls as well. */
void fake_called(void);
/* Does the same, and returns an index that is safe to use. */
uint32_t fake_checked(hctr_t hctr);
struct fake_world *fake_resident_world(void);
/* Tells the counter's last owner that it has lost the counter. */
void fake_disown(uint32_t idx);
/* An overflow was found, or counters were taken from the resident vcpu. */
void fake_flags_raised(void);
/* Stops a counter whose stop has failed. */
void fake_catch_runaway(uint32_t idx);

/* Whether an overflow is pending that no work of HS can have caused since the vPMU checked. */
bool fake_pending_in_vain(void);

#endif
