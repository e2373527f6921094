/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the model share. */
#ifndef TESTS_HOST_MODEL_PARTS_H
#define TESTS_HOST_MODEL_PARTS_H

#include "tests/host/model.h"

uint64_t model_value_mask(const struct model *m, uint32_t idx);

/* Turns the set into a list of counters. Returns false if one of them is not a counter. */
bool model_members(const struct model *m, unsigned long base, unsigned long mask, uint64_t *set);

const char *model_expect(struct sbi_ret got, long error);
/* An error that is returned before anything is done, including accesses to memory. */
const char *model_refused(struct sbi_ret got, long error);

/* Whether its overflow must be reported, with its present value. */
bool model_is_near(const struct model *m, uint32_t idx);
/* Whether it counts HS, so that work of the vPMU changes its value. */
bool model_counts_hs(const struct model *m, uint32_t idx);

/* Whether the value is near the wrap of a hardware counter. */
bool model_near_value(const struct model *m, uint32_t idx, uint64_t value);

/* Make a counter run from its value, set the value, and stop it. */
void model_run(struct model *m, uint32_t idx);
void model_set(struct model *m, uint32_t idx, uint64_t value);
void model_halt(struct model *m, uint32_t idx);
/* It loses its configuration. An unknown value becomes 0. */
void model_forget(struct model *m, uint32_t idx);

/* Returns the hardware counters of an event that this VM may use. */
uint64_t model_hctrs(const struct model *m, uint32_t event_idx, uint64_t event_data);
bool model_is_fw_event(unsigned long event_idx);
/* Sections 11.1 to 11.5: whether the event exists, with reserved bits 0, and this VM may count
 * it. */
bool model_event_is_good(const struct model *m, unsigned long event_idx, uint64_t event_data);
bool model_is_allowed(const struct model *m, unsigned long event_idx, uint64_t event_data);

bool model_same_use(const struct model_lctr *a, const struct model_lctr *b);
/* Whether the budget's counter is one of these. */
bool model_shares_with_budget(const struct model *m, uint64_t hctrs);
/* Whether idx is a configured hardware counter whose event can use some of these hctrs. */
bool model_competes(const struct model *m, uint32_t idx, uint64_t hctrs);

/* A START from the snapshot: whether the slot of each of these counters was read exactly once. */
const char *model_read_slots(const struct model *m, unsigned long base, uint64_t started);
uint64_t model_slot(const struct model *m, unsigned long base, uint32_t idx);
/* A STOP that takes the snapshot. The model has stopped the counters, and not reset them yet. */
const char *model_wrote_slots(struct model *m, unsigned long base, uint64_t set);
/* Another call was made before an event_get_info was complete. */
void model_info_other_call(struct model *m);

#endif
