/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the console needs; its user defines them. */
#ifndef CORE_CONSOLE_PORT_H
#define CORE_CONSOLE_PORT_H

#include "core/lib/types.h"

/* Writes all n bytes to the physical console, in order and
 * unchanged. Called with the console lock held. */
void console_emit(const char *s, size_t n);

/* Accepts a command, and prints nothing before it returns. id is "" if the command was typed;
 * console_prompt_ready() follows its last line. Otherwise a program has sent it, and
 * console_answer() prints the answer; text is NULL if the request was malformed. */
void console_command(const char *id, const char *text);

/* Returns the name of command n, from 0, of those that the prompt completes, or NULL if there are
 * not so many. */
const char *console_command_name(unsigned int n);

#endif
