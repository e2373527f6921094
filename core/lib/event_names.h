/* SPDX-License-Identifier: Apache-2.0 */
/* Events by the names that perf has for them, and Tally's own by those of docs/events.md. Pure. */
#ifndef CORE_LIB_EVENT_NAMES_H
#define CORE_LIB_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No name is longer, with its NUL. */
#define EVENT_NAME_BYTES 32U

/* The event_idx of a name of n characters. false: there is none of that name. */
bool event_of_name(const char *name, size_t n, uint32_t *event_idx);

/* The first of an event's names; its event_idx in hexadecimal if it has none. */
void event_name(uint32_t event_idx, char name[EVENT_NAME_BYTES]);

#endif
