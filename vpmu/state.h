/* SPDX-License-Identifier: Apache-2.0 */
/* What the virtual PMU keeps of one vcpu. Others embed it, and look at it by functions only. */
#ifndef VPMU_STATE_H
#define VPMU_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/policy.h"
#include "vpmu/port.h"

/* A logical counter as the guest numbers it (counter_idx). */
typedef struct {
	uint32_t idx;
} lctr_t;

/* A logical counter. Private to vpmu/. */
struct vpmu_counter {
	uint64_t value; /* of a counter that does not run */
	/* Of one that runs: its value less what it runs on (the count of its hctr, the total of its
	 * firmware event), so that counting writes nothing here. */
	uint64_t offset;
	uint32_t event_idx; /* what it counts; of a hardware counter its hctr knows the rest */
	/* When these hctrs count a trapped read of it, they are what backs it and `beside`, which
	 * may be that as well. VPMU_NOT_NOTED: it is not known. */
	uint32_t read_counts;
	uint8_t hctr; /* hardware events: what backs it */
	uint8_t beside;
} __attribute__((aligned(32))); /* found by a shift */

#define VPMU_NOT_NOTED 2U /* bit 1 is no hctr */

/* What this vcpu knows of a hardware counter. Private to vpmu/. */
struct vpmu_hctr {
	/* It counts what the hardware does, and emulated instructions: so many since it was last
	 * set, see retired.c. */
	uint64_t ahead;
	uint64_t count; /* both, when last looked at */
	uint64_t users; /* configured lctrs that it backs, observers among them, and VPMU_HS_USES */
} __attribute__((aligned(32))); /* found by a shift */

/* HS is a user of the fixed counters for ever, in place of lctr 1, which nobody has: no other is
 * ever alone there. */
#define VPMU_HS_USES UINT64_C(2)

/* Embedded by value in its vcpu; the fields are private to vpmu/. */
struct vpmu {
	struct vpmu_policy policy;

	/* What follows from the policy; constant. */
	uint64_t value_mask; /* the low policy.width bits */
	uint64_t near_span;  /* a counter so close to its wrap is near; 0: none ever is */
	uint64_t fw_lctrs;   /* sets of lctr: the firmware counters, ... */
	uint64_t all_lctrs;  /* ... and all that there are */
	uint64_t openable;   /* set of hctr: those that may be direct */

	/* Sets of lctr. running and lost are disjoint parts of configured. */
	uint64_t configured;
	uint64_t running;
	uint64_t lost;     /* the hardware refused it: no value to be had, see counter.c */
	uint64_t overflow; /* OF, hardware counters only */
	uint64_t near;     /* part of running: its next wrap must be told, see overflow.c */
	/* Part of configured: alone on the hctr of its index, and at offset 0 whenever it runs. */
	uint64_t solo;

	/*
	 * Sets of hctr. While the vcpu is not resident nothing is active, and what it owns is as it
	 * left it: another vcpu that wants such an hctr has it evicted first, see switch.c.
	 */
	uint64_t active; /* running in hardware: exactly those with a running lctr */
	uint64_t parked; /* active when vpmu_save() stopped them */
	uint64_t armed;  /* part of active or parked: will raise LCOFI and has not yet */
	uint64_t
	    owned; /* the hardware holds its event for this vcpu, and nobody touched it since */
	/* Part of owned: it reads what the lctr of its index reads, configured or not, which runs
	 * if and only if it does. */
	uint64_t shown;
	uint64_t direct; /* what vpmu_port_set_direct() was told */
	/* By what they were last made to hold: what a WFI in VS would count for other than itself;
	 * CPU_CYCLES or INSTRUCTIONS that count VS [0], VU [1]. */
	uint64_t wfi;
	uint64_t retires[2];
	uint64_t silent; /* and what tells nobody when it wraps: fixed.c */

	/* It counts HS, or has a counter on a fixed one, or a near one on a silent one: what does
	 * not concern most. */
	bool careful;
	bool looks;     /* what vpmu_port_look_after() was told has yet to come */
	bool wfi_traps; /* what vpmu_note_wfi() was told, or vpmu_port_trap_wfi() */

	/* What a read of scountovf counts on: as read_counts, hctr and beside of a counter. */
	uint8_t ovf_hctr;
	uint8_t ovf_beside;
	uint32_t ovf_counts;

	bool lcofi_due; /* a wrap was found and LCOFI not yet raised; false between calls */

	/* The first of these begin within 2 KiB of the start of the vcpu, see there. */
	struct vpmu_hctr hctr[VPMU_HW_COUNTERS];
	struct vpmu_counter counter[VPMU_COUNTERS];
	struct vpmu_known known[VPMU_KNOWN];
	/* What an hctr was last made to hold for this vcpu: what all its users count. */
	struct hw_event event[VPMU_HW_COUNTERS];
	uint64_t fw_total[VPMU_FW_EVENTS]; /* since vpmu_init(), counted or not */
	uint32_t fw_watched;               /* what vpmu_port_fw_watch() was told */
	uint64_t unknown; /* part of lost: nor is the value known that it would go on from */

	bool snapshot_set; /* snapshot_gpa is a page of this VM's RAM */
	uint64_t snapshot_gpa;
};

#endif
