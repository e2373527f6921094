/* SPDX-License-Identifier: Apache-2.0 */
/* Parses numbers that a person types. Any hart may call. */
#ifndef CORE_LIB_NUMBERS_H
#define CORE_LIB_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a number at *at and moves *at after it: decimal, or hexadecimal after 0x, with at most 16
 * digits. Returns false, and leaves *at, if there is none. */
bool number_cut(const char **at, uint64_t *value);

#endif
