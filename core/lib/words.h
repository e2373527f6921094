/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the machine in the words that people have for them. Pure. */
#ifndef CORE_LIB_WORDS_H
#define CORE_LIB_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Enough for any set of 64. */
#define SET_TEXT_BYTES 256U

/* The numbers of the bits: "0, 2 to 18"; "none". Returns text. */
const char *set_text(uint64_t set, char text[SET_TEXT_BYTES]);

/* The same with how many there are: "18 counters (0, 2 to 18)"; "no counters". */
const char *counters_text(uint64_t set, char text[SET_TEXT_BYTES]);

/* A firmware by what the SBI's BASE extension says of it: "OpenSBI 1.5", or "firmware 77 version
 * 0x10" for what is not known. */
#define FIRMWARE_TEXT_BYTES 64U
const char *firmware_text(uint64_t impl, uint64_t version, char text[FIRMWARE_TEXT_BYTES]);

/* An SBI call as the manual names it: "TIME set_timer", "PMU counter_start"; NULL for an extension
 * that Tally does not offer. A function that the extension has not is "". */
const char *sbi_extension_name(uint64_t eid);
const char *sbi_function_name(uint64_t eid, uint64_t fid);

#endif
