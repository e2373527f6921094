/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events: perf's names, and for Tally's own events those of docs/events.md. Any hart may
 * call. */
#ifndef CORE_LIB_EVENT_NAMES_H
#define CORE_LIB_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the longest name, in bytes with its NUL. */
#define EVENT_NAME_BYTES 32U

/* Looks up the event_idx of a name of n characters. Returns false if there is no such name. */
bool event_of_name(const char *name, size_t n, uint32_t *event_idx);

/* Writes the first name of an event, or its event_idx in hexadecimal if it has none. */
void event_name(uint32_t event_idx, char name[EVENT_NAME_BYTES]);

#endif
