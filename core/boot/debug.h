/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of core/debug for boot, which only builds of `make DEBUG=1` have. In other builds they
 * are empty. Boot hart only, except for debug_trip(). */
#ifndef CORE_BOOT_DEBUG_H
#define CORE_BOOT_DEBUG_H

#include "core/hart/pcpu.h"

#ifdef TALLY_DEBUG
/* Takes a word of Tally's command line, of n bytes. Returns false if it is not a word of these
 * builds. */
bool debug_word(const char *word, size_t n);

/* Logs a line for each of these words that may make counts of guests wrong. */
void debug_report(void);

/* Whether all VMs share VMID 0, as on harts that have no VMIDs. Constant after boot. */
extern bool debug_no_vmids;

/* Tries the access named by tally.trip=, which the map of HS forbids. Any hart, on its stack. */
void debug_trip(struct pcpu *pcpu);
#else
#define debug_word(word, n) ((void)(word), (void)(n), false)
#define debug_report()      ((void)0)
#define debug_no_vmids      false
#define debug_trip(pcpu)    ((void)(pcpu))
#endif

#endif
