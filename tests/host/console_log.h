/* SPDX-License-Identifier: Apache-2.0 */
/* A console with three VMs whose output is recorded. Shared by the console's test programs. */
#ifndef TESTS_HOST_CONSOLE_LOG_H
#define TESTS_HOST_CONSOLE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/console/console.h"

extern const char *const names[3]; /* linux-a, linux-b, c */
extern struct console con;

extern size_t call_bytes;     /* emitted since somebody set it to 0 */
extern size_t max_call_bytes; /* the most that call_bytes was since start() */

/* What console_command() was told last. */
extern char typed_command[CONSOLE_COMMAND_BYTES + 1];
extern char request_id[CONSOLE_ID_BYTES + 1]; /* "": it was typed */
extern bool request_wrong;

/* A console as new, over memory full of rubbish. */
void start(bool interactive);

/* Bytes recorded so far, and all of them as a string, which empties the record. */
size_t emitted_bytes(void);
const char *emitted(void);

/* VM vm prints; call_bytes is set to 0 before each byte. */
void put_bytes(unsigned int vm, const char *s, size_t n);
void put(unsigned int vm, const char *s);

/* A string with NULs in it; what the record must be; both in turn. */
#define PUT(vm, s) put_bytes(vm, s, sizeof(s) - 1)
#define EMITTED(s) assert_string_equal(emitted(), s)
#define PRINTS(vm, s, w)                                                                           \
	do {                                                                                       \
		PUT(vm, s);                                                                        \
		EMITTED(w);                                                                        \
	} while (0)

/* The user types; asserts that the byte goes to who was named before, or to nobody. */
int type(uint8_t ch);

/* Ctrl-T and ch, which must be a command. */
void command(uint8_t ch);

#endif
