/* SPDX-License-Identifier: Apache-2.0 */
#include "core/operator/prompt_server.h"

#include "core/hart/platform.h"
#include "core/watch/observe.h"

#define NOBODY ~0U

static atomic_uint locked;
static atomic_bool serial_waits;

/* The lock protects these. */
static uint32_t holder = NOBODY;
static uint64_t held_since;

bool prompt_enter(void)
{
	return !atomic_exchange_explicit(&locked, 1, memory_order_acquire);
}

void prompt_leave(void)
{
	atomic_store_explicit(&locked, 0, memory_order_release);
}

bool prompt_take(uint32_t client, uint64_t now)
{
	bool held =
	    holder != NOBODY && holder != client &&
	    (holder == PROMPT_SERIAL || now - held_since < platform.timebase / PROMPT_HOLD_HZ);

	/* What was asked of observers before must be done: their request exists once. */
	if (held || (client != PROMPT_SERIAL && atomic_load(&serial_waits)) ||
	    atomic_load(&observe_request.vcpus))
		return false;
	if (client == PROMPT_SERIAL)
		atomic_store(&serial_waits, false);
	holder = client;
	held_since = now;
	observe_request.client = client;
	return true;
}

bool prompt_holds(uint32_t client)
{
	return holder == client;
}

void prompt_release(uint32_t client)
{
	if (holder == client)
		holder = NOBODY;
}

void prompt_wait_serial(void)
{
	atomic_store(&serial_waits, true);
}
