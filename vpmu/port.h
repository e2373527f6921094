/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the vPMU asks of the world, resolved at link time: core/vpmu_port.c on a hart,
 * tests/host/fake_hart.c in host tests.
 *
 * Every call concerns the hart that makes it and the vcpu resident there. The hart is in
 * HS-mode with interrupts off, and each counter started here is inhibited in M, HS and U: it
 * stands still during all of these calls.
 */
#ifndef VPMU_PORT_H
#define VPMU_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* A hardware counter as the hart numbers it: 0 cycle, 2 instret, 3..31 hpmcounter3..31. */
typedef struct {
	uint32_t idx;
} hctr_t;

/* Modes in which a counter stands still; the four reduced filters are its four values. */
#define VPMU_INH_VS 1U
#define VPMU_INH_VU 2U

/* What a hardware counter counts. */
struct vpmu_hw_config {
	uint32_t event_idx; /* type 0, 1, 2 or 3 */
	uint32_t inhibit;   /* VPMU_INH_* */
	uint64_t event_data;
};

struct vpmu_hw_start {
	hctr_t hctr;
	bool armed; /* raise LCOFI when the counter wraps; false: wrap in silence */
	uint64_t value;
	struct vpmu_hw_config config;
};

/*
 * The hardware counters that can count the event, as a mask of hctr; 0: none. Fixed for a
 * hart's life. One bit only where the platform wants a home counter for each event.
 */
uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data);

/*
 * Makes a stopped counter hold an event and filter, so that a later start is cheap; its value is
 * lost where that changes what it holds. false: the hardware refused.
 */
bool vpmu_port_prepare(hctr_t hctr, const struct vpmu_hw_config *config);

/*
 * Starts stopped counters, each at its value, programming what differs from what they hold.
 * Returns the mask of hctr that the hardware refused (they stay stopped).
 * No overflow may be pending (see vpmu_port_take_overflow) when this is called.
 */
uint64_t vpmu_port_start(const struct vpmu_hw_start *starts, uint32_t n);

/* Stops running counters; they keep event, filter and value. hctr_mask: running ones only. */
void vpmu_port_stop(uint64_t hctr_mask);

/* The 64-bit value of a counter, running or stopped, that this vcpu started since it became
 * resident. */
uint64_t vpmu_port_read(hctr_t hctr);

/*
 * Takes a pending LCOFI off the hart. Returns those of the armed counters whose overflow flag is
 * set. To be called before any start or stop, and on the interrupt. Cheap when nothing pends.
 */
uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs);

/* The set of hardware counters that VS (and VU, as scounteren says) reads without an exit. */
void vpmu_port_set_direct(uint64_t hctr_mask);

/* Makes a virtual LCOFI pending in the resident vcpu (sip.LCOFIP). */
void vpmu_port_raise_lcofi(void);

#endif
