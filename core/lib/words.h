/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for sets of counters, firmware versions and SBI calls. Any hart may call. */
#ifndef CORE_LIB_WORDS_H
#define CORE_LIB_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Enough bytes for any set of 64 bits. */
#define SET_TEXT_BYTES 256U

/* Writes the numbers of the bits that are set, like "0, 2 to 18", or "none". Returns text. */
const char *set_text(uint64_t set, char text[SET_TEXT_BYTES]);

/* Like set_text(), preceded by the number of counters: "18 counters (0, 2 to 18)", or "no
 * counters". Returns text. */
const char *counters_text(uint64_t set, char text[SET_TEXT_BYTES]);

/* Writes the name and version of a firmware from the values that the SBI's Base extension returns,
 * like "OpenSBI 1.5", or "firmware 77 version 0x10" if the id is not known. */
#define FIRMWARE_TEXT_BYTES 64U
const char *firmware_text(uint64_t impl, uint64_t version, char text[FIRMWARE_TEXT_BYTES]);

/* Return the names of an SBI extension and of a function, like "TIME" and "set_timer". The
 * extension is NULL if Tally does not implement it. The function is "" if the extension does not
 * have it. */
const char *sbi_extension_name(uint64_t eid);
const char *sbi_function_name(uint64_t eid, uint64_t fid);

#endif
