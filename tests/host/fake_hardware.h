/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of the active fake hart, below the fake port, which checks the rules and refuses
 * requests. There are two kinds of them, chosen at link time: fake_emulated.c has the defects of
 * the emulator, fake_combining.c has those of a core whose counters combine events, below the
 * drivers of arch/riscv/.
 */
#ifndef TESTS_HOST_FAKE_HARDWARE_H
#define TESTS_HOST_FAKE_HARDWARE_H

#include "tests/host/fake_state.h"

/* All programmable counters. */
uint64_t hardware_counters(void);

/* At boot, for all harts, with fake.config. */
void hardware_reset(void);
/* Makes another hart the active one. */
void hardware_select(uint32_t hart);

/* Asks the hart for the counters of an event. For a raw event, those that are not running may be
 * used for that; nobody owns them any more. */
uint64_t hardware_ask(uint32_t event_idx, uint64_t event_data);

/* As vpmu_port_event_of_raw(). */
void hardware_event_of_raw(uint32_t *event_idx, uint64_t *event_data);

/* Makes a stopped counter hold an event and filter, and sets `config` and `programmed`. */
void hardware_program(uint32_t idx, const struct hw_event *config);

/* As in vpmu/port.h; the flag `running` is the port's. */
void hardware_set(uint32_t idx, uint64_t value, bool armed);
void hardware_run(uint64_t hctr_mask);
void hardware_start(uint64_t hctr_mask, uint64_t value);
void hardware_start_armed(uint32_t idx, uint64_t value);
void hardware_stop(uint64_t hctr_mask);

uint64_t hardware_step(uint32_t idx, uint64_t last); /* for one counter */
uint64_t hardware_value(uint32_t idx);
/* Called if an LCOFI is pending, or the port is to look all the same. Clears it. */
uint64_t hardware_take_overflow(uint64_t armed_hctrs);
/* OF of the programmable counters; and which of them the resident guest sees as 1, as the port
 * knows it: if those are not armed they run with OF = 1, all others with OF = 0. */
uint64_t hardware_flags(void);
void hardware_show(uint64_t shown);
/* Nobody will take a pending LCOFI. */
void hardware_drop_lcofi(void);

/* What the guest reads without an exit. */
uint64_t hardware_csr(uint32_t idx);

/* The guest works; stops at an armed wrap, and when a poll is due. Sets fake.lcofip. Returns the
 * units done. */
uint64_t hardware_work(enum fake_mode mode, uint32_t work, uint64_t units);
/* HS works. Sets fake.lcofip, and whether HS is the reason. */
void hardware_work_in_hs(void);

#endif
