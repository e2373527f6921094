/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that a person types. Pure. */
#ifndef CORE_LIB_NUMBERS_H
#define CORE_LIB_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Cuts a number off *at: decimal, or hexadecimal behind 0x, at most 16 digits. false: there is
 * none, and *at is as it was. */
bool number_cut(const char **at, uint64_t *value);

#endif
