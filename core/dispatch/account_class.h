/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of an account an exit has (core/watch/account.h). */
#ifndef CORE_DISPATCH_ACCOUNT_CLASS_H
#define CORE_DISPATCH_ACCOUNT_CLASS_H

#include "core/watch/account.h"

struct vm;

/* Returns the extension that a row below ACCOUNT_CALLS is of, and sets the function, to ~0 for all
 * that it has not. Returns 0 for row 0. */
uint64_t account_call(uint32_t row, uint64_t *fid);

#endif
