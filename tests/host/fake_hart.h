/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hart in host memory, below vpmu/port.h. Its counters advance only when a test says that the
 * guest ran, and it has the known defects of the emulated hart, each switchable. The port above the
 * defects behaves like a correct port. If the vPMU breaks a rule of the port, the test fails.
 */
#ifndef TESTS_HOST_FAKE_HART_H
#define TESTS_HOST_FAKE_HART_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/vpmu.h"

/* The events that this hart can count. Fixed counters 0 and 2 are available if hctrs[] has them. */
enum fake_event {
	FAKE_CYCLES,    /* 0x00001 */
	FAKE_INSNS,     /* 0x00002 */
	FAKE_DTLB_LOAD, /* 0x10019, dTLB read miss */
	FAKE_DTLB_ST,   /* 0x1001b, dTLB write miss */
	FAKE_ITLB,      /* 0x10021, iTLB read miss */
	FAKE_RAW,       /* type 2, event_data FAKE_RAW_DATA */
	FAKE_RAW_V2,    /* type 3, event_data FAKE_RAW_V2_DATA */
	FAKE_EVENTS,
};
#define FAKE_RAW_DATA    0x800000000077ULL   /* 48 bits */
#define FAKE_RAW_V2_DATA 0x80000000001234ULL /* 56 bits */

#define FAKE_BIT(event) (1U << (event))
/* What one retired instruction advances. */
#define FAKE_ON_INSN (FAKE_BIT(FAKE_CYCLES) | FAKE_BIT(FAKE_INSNS))

enum fake_mode {
	FAKE_VS,
	FAKE_VU,
};

/* Programmable counters of the hart by default: 3..18. */
#define FAKE_PROGRAMMABLE 0x7fff8ULL

/* Of observers that sample. */
#define FAKE_LEAST_PERIOD 2U
#define FAKE_LONG_PERIOD  5000U
#define FAKE_MANY_SAMPLES 30U
#define FAKE_VCPUS        3U  /* ids 1..3 */
#define FAKE_TALLY_EVENTS 40U /* firmware events from 256 on that can happen */

struct fake_hart_config {
	/* Defects of the hardware. */
	bool one_counter_per_event; /* a second counter of an event never moves */
	bool sticky_map;            /* a counter keeps its first event until it is reset */
	bool stale_irq;             /* an armed start far from the wrap loses the next overflow */
	bool boot_of;               /* OF is set at boot and by each new configuration */
	bool pending_keeps_of;      /* a start while an LCOFI is pending does not clear OF */
	bool no_armed_cache_events; /* the port must not arm these, so their wraps must be polled */

	/* VS reads OF of open counters, and 0 for others. The start of a counter while an LCOFI
	 * pends sets its OF; otherwise it keeps it. */
	bool hides_flags;
	bool start_sets_flag;

	/* An LCOFI comes this many units of the step after the wrap, as it does without -icount. */
	uint32_t skid;

	/* Counters that count HS advance by up to this many units in each call of the port. */
	uint32_t hs_work;

	/* Behaviour in which correct ports may differ. */
	/* Has counters for any event_idx and event_data; they stand still. */
	bool knows_all_events;
	bool take_without_pending; /* take_overflow() reports OF when no LCOFI pends, too */
	bool nothing_is_ram;       /* no address range is RAM of the VM */
	bool asking_evicts;        /* a raw event is tried on all counters that do not run */

	/* Of the combining hart. */
	bool raw_v1_only; /* the firmware knows raw events of 48 bits only */
	bool delegated;   /* HS drives the counters without the firmware, once it has booted */
	uint64_t choice;  /* the events that random guests choose from */
	/* Some counters of a group count some of its events only, by the event table. */
	bool narrow;

	/* Mistakes of a port, to prove that tests detect them. */
	bool port_keeps_map;   /* gives a counter another event without a reset */
	bool port_loses_watch; /* does not count firmware events for the vPMU */
	bool port_short_write; /* omits the last byte of what it writes to the guest */

	uint32_t width;                   /* bits of a counter, 1..64 */
	uint64_t hctrs[FAKE_EVENTS];      /* counters that can count each event; 0: none */
	void (*misuse)(const char *what); /* default: fail the test at once */
};

/* Counts of what the vPMU requested. Tests may clear it. */
struct fake_hart_trace {
	uint64_t prepares;
	uint64_t start_calls;
	uint64_t started; /* counters, of all start calls */
	uint64_t stop_calls;
	uint64_t stopped;
	uint64_t reads;
	uint64_t steps;
	uint64_t takes;
	uint64_t direct_sets;
	uint64_t watches;
	uint64_t lent;    /* fixed counters taken */
	uint64_t polling; /* polls requested by the vPMU */
	uint64_t totals;
	uint64_t raises;    /* virtual LCOFIs */
	uint64_t overflows; /* physical LCOFIs */
	uint64_t swallowed; /* lost because of stale_irq */
	uint64_t hs_units;  /* by which counters that count HS advanced in calls of the port */
	uint64_t hs_wraps;  /* physical LCOFIs from these */
	uint64_t faults;    /* injected faults that happened */
	uint64_t refused;   /* mask of the counters that they concerned */
	uint64_t late;      /* mask of the counters that failed without an error */
	uint64_t failed_sets;
	uint64_t failed_runs;
	uint64_t failed_stops;
	/* What the observers of each vcpu, from 1 on, have sampled. */
	struct fake_sampled {
		uint64_t samples, missed, events;
	} sampled[FAKE_VCPUS + 1][VPMU_OBSERVERS];
	/* Of each vcpu, from 1 on: how often that was told. */
	uint32_t budgets_spent[FAKE_VCPUS + 1];
	uint32_t budgets_lost[FAKE_VCPUS + 1];
	uint64_t samples_in_run; /* of all, since it is set to 0 */
	/* Observers of the resident vcpu that have ended, and their values. */
	uint32_t unobserved;
	uint64_t unobserved_value[VPMU_OBSERVERS];
};

extern struct fake_hart_trace fake_trace;

/* Events are on counters 3, 4, ... in the order of enum fake_event, each on its home counter
 * only. */
struct fake_hart_config fake_hart_homes(void);
/* Every event on every programmable counter, no defects. */
struct fake_hart_config fake_hart_free(void);

/* Resets the hart: nothing runs, nothing can be read directly, no vcpu is resident. */
void fake_hart_reset(const struct fake_hart_config *config);

/* Sets what the port must know of a vcpu (1..FAKE_VCPUS): which firmware events it counts, and
 * whether it counts HS. */
void fake_hart_policy(uint32_t vcpu, const struct vpmu_policy *policy);

/* Sets the vPMU to notify when another vcpu takes a counter of this one (1..FAKE_VCPUS). Default:
 * none. */
void fake_hart_vpmu(uint32_t vcpu, struct vpmu *vpmu);

/*
 * fake_hart_enter(): the vcpu (any id but 0) becomes resident; called before vpmu_restore().
 * fake_hart_leave(): called after vpmu_save(). It fails the test if a counter still runs or can be
 * read directly, or if an overflow is pending.
 */
void fake_hart_enter(uint32_t vcpu);
void fake_hart_leave(void);

/*
 * The resident guest spends units of work in one mode (fake_hart_work() below).
 * Stops after the unit with which an armed counter wraps (and the skid), when an LCOFI is pending,
 * and when a poll is due. Does nothing while one of these is. Returns the units done.
 */
uint64_t fake_hart_step(enum fake_mode mode, uint32_t work, uint64_t units);

/* Executes instructions in VS, then in VU. Returns how many; see fake_hart_step() for why fewer. */
uint64_t fake_hart_run_guest(uint64_t vs_insns, uint64_t vu_insns);

/*
 * A firmware event happens n times. Codes 0..21 count only if the resident vcpu watches them, codes
 * from 256 on count for any vcpu.
 */
void fake_hart_fw_event(uint32_t vcpu, uint32_t code, uint64_t n);
/* Returns the set that the vcpu last passed to vpmu_port_fw_watch(). */
uint32_t fake_hart_watched(uint32_t vcpu);
/* Does each WFI of the vcpu trap? From here on none does. */
bool fake_hart_wfi_traps(uint32_t vcpu);
void fake_hart_free_wfi(uint32_t vcpu);

/* fake_hart_poll_is_due(): whether vpmu_poll() must be called. The guest cannot go on before
 * fake_hart_take_poll() and the call. */
bool fake_hart_poll_is_due(void);
bool fake_hart_take_poll(void);

/* Whether a physical LCOFI is pending. The guest cannot go on before vpmu_overflow(). */
bool fake_hart_pending(void);

/* The guest reads cycle, instret or hpmcounterN. Returns false if the read trapped. */
bool fake_hart_guest_read(uint32_t csr, uint64_t *value);

/*
 * With hides_flags, as core/vcpu/hart_flags.h: before vpmu_restore() of a vcpu; after a call that
 * configures, which may go on; after one that starts; and before the guest goes on. Then it reads
 * fake_hart_guest_flags().
 */
void fake_hart_flags_load(uint32_t vcpu);
void fake_hart_flags_configured(bool goes_on);
void fake_hart_flags_started(void);
void fake_hart_flags_settle(void);
uint64_t fake_hart_guest_flags(void);

/* Return the set last passed to vpmu_port_set_direct(), and the counters that run. */
uint64_t fake_hart_direct(void);
uint64_t fake_hart_running(void);

/* Makes the n-th prepare fail from now on. 0: none. */
void fake_hart_fail_prepare(uint32_t n);

/*
 * The same without an error: the n-th counter that is set keeps its old value and stands still, the
 * n-th that is run stands still, the n-th that is stopped runs on as soon as HS is left. The test
 * asks which these were, and says when vpmu_handle_failed() was called for them.
 */
void fake_hart_fail_set(uint32_t n);
void fake_hart_fail_run(uint32_t n);
void fake_hart_fail_stop(uint32_t n);
uint64_t fake_hart_failed(void);
void fake_hart_settled(uint64_t hctrs);

/* A start of one counter, for tests of the fake hart itself. */
struct fake_start {
	hctr_t hctr;
	bool armed;
	uint64_t value;
	struct hw_event config;
};

/* Calls vpmu_port_prepare() and vpmu_port_set() for each, then vpmu_port_run(). Returns those
 * refused. */
uint64_t fake_hart_start(const struct fake_start *starts, uint32_t n);

/* --- events -------------------------------------------------------------------------- */

/* These belong to the kind of the hart, which is chosen at link time. */

/* Returns the counters that can count an event, without asking the hart. */
uint64_t fake_hart_hctrs(uint32_t event_idx, uint64_t event_data);
/* Whether the event can really happen, see knows_all_events. */
bool fake_hart_has(uint32_t event_idx, uint64_t event_data);
/* Whether a table of allowed raw events has it. */
bool fake_hart_allows(const struct vpmu_table *table, uint32_t event_idx, uint64_t event_data);

/* If a raw event is another event of the hart under its selector, gives it that name: it is then
 * the same event in every respect. */
void fake_hart_name(uint32_t *event_idx, uint64_t *event_data);

/* Events that random guests choose from: how many, and the n-th; event_data may be NULL. */
uint32_t fake_hart_events(void);
uint32_t fake_hart_event_idx(enum fake_event event, uint64_t *event_data);

/* What a guest does: turns any number into work, of which there are many units; what is next after
 * some of them; and how often an event happens in so many. */
uint32_t fake_hart_work(uint64_t number);
uint32_t fake_hart_work_after(uint32_t work, uint64_t units);
uint64_t fake_hart_amount(uint32_t event_idx, uint64_t event_data, uint32_t work, uint64_t units);

/* Of the emulated hart: returns the event of an event_idx and event_data, or FAKE_EVENTS. */
enum fake_event fake_hart_event(uint32_t event_idx, uint64_t event_data);

#endif
