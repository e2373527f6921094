/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of Tally's own firmware events (vpmu/tally_events.h), from a vcpu's statistics. */
#ifndef CORE_TALLY_EVENTS_H
#define CORE_TALLY_EVENTS_H

#include "core/vcpu.h"

/* Since boot. code: 256 and up; 0 for one that is not Tally's. Home hart only. */
uint64_t tally_event_total(const struct vcpu *vcpu, uint32_t code);

#endif
