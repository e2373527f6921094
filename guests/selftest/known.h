/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of known deviations, one for each firmware. A reason begins with
 *   "machine: "  if the emulator does it with any firmware
 *   "silent: "   if the chapter does not say; the expectation is what Tally does
 * and with neither if the chapter says otherwise. tools/pages/selftest-table sorts by it.
 */
#ifndef SELFTEST_KNOWN_H
#define SELFTEST_KNOWN_H

#include <stddef.h>

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

struct known {
	const char *why;          /* NULL ends a list */
	const char *const *names; /* "section name" */
};

extern const struct known known_kvm[];
/* Where fw.reads_add_up is false, searched first. */
extern const struct known known_kvm_reads[];
/* For later versions, searched first. */
extern const struct known known_kvm_7[];

#endif
