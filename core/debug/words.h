/* SPDX-License-Identifier: Apache-2.0 */
/* The words of Tally's command line that only builds of `make DEBUG=1` know. For tests. */
#ifndef CORE_DEBUG_WORDS_H
#define CORE_DEBUG_WORDS_H

#include "core/lib/types.h"

struct debug_words {
	bool broken;   /* tally.broken: an invariant does not hold */
	bool ledger;   /* tally.ledger: keep one (core/vcpu/ledger.h) */
	char trip[24]; /* tally.trip=: the access that HS tries at boot; "" if none */
};

extern struct debug_words debug_words; /* constant after boot */

#endif
