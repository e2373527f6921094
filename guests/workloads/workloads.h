/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of fixed length for a Linux guest. All parts of a program do the same. */
#ifndef GUESTS_WORKLOADS_WORKLOADS_H
#define GUESTS_WORKLOADS_WORKLOADS_H

struct workload {
	const char *name;
	void (*prepare)(void); /* once, not timed; NULL: nothing to do */
	void (*part)(unsigned long n);
	unsigned long n; /* in one part */
};

extern const struct workload workloads[]; /* a NULL name is the end */

/* Prints what failed, and ends the process. */
void __attribute__((noreturn)) die(const char *what);

#endif
