/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_LIB_DATE_H
#define CORE_LIB_DATE_H

#include <stdint.h>

#define DATE_BYTES 24U

/* Writes a time, in seconds since 1970, as "2026-01-31T23:59:59Z". Years of up to four digits. Any
 * hart may call. */
void date_text(uint64_t seconds, char out[DATE_BYTES]);

#endif
