/* SPDX-License-Identifier: Apache-2.0 */
/* The row of an exit in an account (core/watch/account.h). */
#ifndef CORE_DISPATCH_ACCOUNT_CLASS_H
#define CORE_DISPATCH_ACCOUNT_CLASS_H

#include "core/watch/account.h"

/* Returns the extension of a row below ACCOUNT_CALLS, and sets *fid, to ~0 in the row for its other
 * functions. Returns 0 for row 0. */
uint64_t account_call(uint32_t row, uint64_t *fid);

#endif
