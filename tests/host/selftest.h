/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test of guests/selftest as part of a host program. */
#ifndef TESTS_HOST_SELFTEST_H
#define TESTS_HOST_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>

/* selftest_guest.c: resets the guest; name is its `case=`, or NULL. */
void guest_boot(const char *name);

/* selftest_report.c */
struct tally_of_cases {
	unsigned run, failed, skipped;
};
extern struct tally_of_cases cases;

/* Discards what was reported. aloud: each case is printed at once; otherwise only what was printed
 * around a failure. */
void report_begin(bool aloud);
/* Receives what the guest prints. */
void guest_output(const char *bytes, size_t n);
/* Prints what was kept, if a case failed. */
void report_failures(const char *where);

#endif
