/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the model share. */
#ifndef TESTS_HOST_MODEL_PARTS_H
#define TESTS_HOST_MODEL_PARTS_H

#include "tests/host/model.h"

uint64_t model_value_mask(const struct model *m, uint32_t idx);

/* The set as a list of members; false: a member is not a counter. */
bool model_members(const struct model *m, unsigned long base, unsigned long mask, uint64_t *set);

const char *model_expect(struct sbi_ret got, long error);
/* An error that comes before anything is done, touching memory included. */
const char *model_refused(struct sbi_ret got, long error);

/* Is its overflow, at the value that it has, to be told when it comes? */
bool model_is_near(const struct model *m, uint32_t idx);
/* Does it count HS, so that the vPMU's own work shows in its values? */
bool model_counts_hs(const struct model *m, uint32_t idx);

/* Makes a counter run from its value, sets the value, or stops it. */
void model_run(struct model *m, uint32_t idx);
void model_set(struct model *m, uint32_t idx, uint64_t value);
void model_halt(struct model *m, uint32_t idx);
/* It is what it was no more: a value that nobody knows is 0 then. */
void model_forget(struct model *m, uint32_t idx);

/* The hardware counters of an event that this VM may use. */
uint64_t model_hctrs(const struct model *m, uint32_t event_idx, uint64_t event_data);
bool model_is_fw_event(unsigned long event_idx);
/* Sections 11.1 to 11.5: an event, with nothing reserved set, that this VM may count? */
bool model_event_is_good(const struct model *m, unsigned long event_idx, uint64_t event_data);
bool model_is_allowed(const struct model *m, unsigned long event_idx);

bool model_same_use(const struct model_lctr *a, const struct model_lctr *b);
/* A configured hardware counter whose event wants some of these hctrs. Two events' sets of
 * hardware counters are equal or disjoint on the harts that we make. */
bool model_competes(const struct model *m, uint32_t idx, uint64_t hctrs);

/* A START that names the snapshot: was just the slot of each of these read, once? */
const char *model_read_slots(const struct model *m, unsigned long base, uint64_t started);
uint64_t model_slot(const struct model *m, unsigned long base, uint32_t idx);
/* A STOP that takes the snapshot: the model has stopped the counters, and not yet reset them. */
const char *model_wrote_slots(struct model *m, unsigned long base, uint64_t set);
/* Another call was made while an event_get_info was not done. */
void model_info_other_call(struct model *m);

#endif
