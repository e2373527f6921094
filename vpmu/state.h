/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one vcpu's PMU. Other folders embed it, and access it by functions only. */
#ifndef VPMU_STATE_H
#define VPMU_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpmu/policy.h"
#include "vpmu/port.h"

/* A logical counter, with the guest's number (counter_idx). */
typedef struct {
	uint32_t idx;
} lctr_t;

/* A logical counter. Private to vpmu/. */
struct vpmu_counter {
	uint64_t value; /* valid while the counter does not run */
	/* While it runs: its value less the count of its hctr, or less the total of its firmware
	 * event. So counting does not write here. */
	uint64_t offset;
	uint32_t event_idx; /* its event; for a hardware counter, the hctr has the rest */
	/* A trapped read of this counter counts on the hctrs in this mask: `hctr` and `beside`,
	 * which may be equal. Valid only if `reader` is not 0. */
	uint32_t read_counts;
	uint8_t hctr; /* hardware events: the hctr behind it */
	uint8_t beside;
	/* The reader since the last start, see vpmu_read_cached(); 0 if there was none. */
	uint32_t reader;
} __attribute__((aligned(32))); /* a power of two, so that an index needs only a shift */

/* This vcpu's state of a hardware counter. Private to vpmu/. */
struct vpmu_hctr {
	/* Emulated instructions since it was last set that the hardware has not counted, see
	 * retired.c. */
	uint64_t ahead;
	uint64_t count;         /* count of the hardware plus `ahead`, when last read */
	uint64_t users;         /* lctrs configured on it, including observers, and VPMU_HS_USES */
	uint32_t able;          /* for a raw event of the guest: the hctrs that can count it */
} __attribute__((aligned(32))); /* a power of two, so that an index needs only a shift */

/* HS is always a user of the fixed counters, so no lctr is ever the only user there. The bit is
 * free, because there is no lctr 1. */
#define VPMU_HS_USES UINT64_C(2)

/* A member of its vcpu. The fields are private to vpmu/. */
struct vpmu {
	struct vpmu_policy policy;

	/* Derived from the policy; constant. */
	uint64_t value_mask; /* the low policy.width bits */
	uint64_t near_span;  /* a value with fewer counts to its wrap is near; 0: none is */
	uint64_t fw_lctrs;   /* sets of lctr: the firmware counters, */
	uint64_t all_lctrs;  /* and all counters */

	/* Sets of lctr. `running` and `lost` are disjoint parts of `configured`. */
	uint64_t configured;
	uint64_t running;
	/* The hardware has refused it, and it has no valid value, see counter.c. */
	uint64_t lost;
	uint64_t overflow; /* OF, hardware counters only */
	uint64_t near;     /* part of `running`: its next wrap must be reported, see overflow.c */
	/* Part of `configured`: the only user of the hctr of its index, with offset 0 whenever it
	 * runs. */
	uint64_t solo;

	/*
	 * Sets of hctr. While the vcpu is not resident `active` is 0, and the hctrs in `owned` are
	 * as the vcpu left them: another vcpu that needs one of them evicts it first, see switch.c.
	 */
	uint64_t active; /* running in hardware: exactly those with a running lctr */
	uint64_t parked; /* active when vpmu_save() stopped them */
	uint64_t armed;  /* part of active or parked: will raise LCOFI, but has not yet */
	uint64_t
	    owned; /* the hardware holds its event for this vcpu, and no other has used it since */
	/* Part of `owned`: its value is that of the lctr of its index, configured or not, and it
	 * runs if and only if that lctr runs. */
	uint64_t in_step;
	uint64_t direct; /* as passed to vpmu_port_set_direct() */
	/* By the event that an hctr was last made to hold. wfi: a WFI in VS would count more than
	 * the WFI itself. retires: CPU_CYCLES or INSTRUCTIONS that count VS [0], VU [1]. */
	uint64_t wfi;
	uint64_t retires[2];
	uint64_t openable; /* those that may be read directly if they are in step */
	uint64_t polled;   /* those that raise no overflow interrupt, see fixed.c */

	/* It counts HS, or has a counter on a fixed hctr, or a counter near its wrap on a polled
	 * one. Most vcpus have none of these. */
	bool needs_slow_path;
	bool polling;   /* the poll requested by vpmu_port_poll_after() is still to come */
	bool wfi_traps; /* as passed to vpmu_note_wfi(), or set by vpmu_port_trap_wfi() */

	/* The last set of one or two hctrs on which an emulated instruction counted, like
	 * read_counts, hctr and beside of a counter; and the last reader of scountovf, like
	 * `reader`. */
	uint8_t step_hctr;
	uint8_t step_beside;
	uint32_t step_counts;
	uint32_t ovf_reader;

	bool lcofi_due; /* a wrap was found, and LCOFI is to be raised; false between calls */

	/* Private to vpmu/. The first of these are within 2 KiB of the start of struct vcpu, see
	 * core/vcpu/vcpu.h. */
	struct vpmu_hctr hctr[VPMU_HW_COUNTERS];
	struct vpmu_counter counter[VPMU_COUNTERS];
	struct vpmu_known known[VPMU_KNOWN];
	/* The event that an hctr was last made to hold for this vcpu. All its users count it. */
	struct hw_event event[VPMU_HW_COUNTERS];
	/* Since vpmu_init(), whether or not a counter counts them. */
	uint64_t fw_total[VPMU_FW_EVENTS];
	uint32_t fw_watched; /* as passed to vpmu_port_fw_watch() */
	uint64_t unknown;    /* part of `lost`: its value is not known either */
	uint32_t raw_hctrs;  /* the hctrs for the raw event that was last looked up */

	/* Of observers. period: in events, 0 if it only counts. set_back: the sum of the periods by
	 * which its counter was set back; the counter's value plus this is its count. */
	uint64_t period[VPMU_OBSERVERS];
	uint64_t set_back[VPMU_OBSERVERS];

	bool snapshot_set; /* snapshot_gpa is in RAM of this VM */
	uint64_t snapshot_gpa;
};
/* Checked here and in struct vcpu: beyond 2 KiB each trapped read takes six instructions more. */
#define VPMU_REACH 1344U
_Static_assert(offsetof(struct vpmu, counter) + sizeof(struct vpmu_counter) <= VPMU_REACH,
               "the first counter is out of reach");

/* Tells the port which counters can be read directly, if that has changed. Private to vpmu/. */
static inline void vpmu_set_direct(struct vpmu *v, uint64_t direct)
{
	if (direct != v->direct) {
		v->direct = direct;
		vpmu_port_set_direct(direct);
	}
}

#endif
