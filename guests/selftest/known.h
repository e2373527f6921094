/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of known deviations, one a firmware. A reason begins with
 *   "machine: "  what the emulator does to any firmware: none of the firmware's fault
 *   "silent: "   the chapter does not say; the expectation is what Tally does
 * and with nothing of the kind where the chapter says otherwise. tools/selftest-table sorts by it.
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
/* Of later ones, looked at first. */
extern const struct known known_kvm_7[];

#endif
