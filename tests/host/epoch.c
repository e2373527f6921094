/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/epoch.h"

#include <stdio.h>
#include <string.h>

#define SHOWN 20U /* last steps printed on a difference */

static uint32_t refusals; /* percent */
static bool observers;

void epoch_run(struct epoch *e, struct chance *c, uint32_t steps)
{
	world_reset(&e->machine);
	for (e->n = 0; e->n < steps && !world_difference()[0];) {
		struct op *op = &e->ops[e->n++];

		random_op(c, refusals, observers, op);
		world_do(op);
	}
}

void epoch_random(struct epoch *e, uint64_t seed, uint32_t switches, uint32_t steps)
{
	struct chance c = {chance_mix(seed)};

	random_machine(&c, switches, &e->machine);
	refusals = percent(&c, 25) ? 1 + below(&c, 50) : 0;
	random_count.epochs_refusals += refusals != 0;
	observers = percent(&c, 50);
	random_count.epochs_observers += observers;
	epoch_run(e, &c, steps);
}

/* Runs the operations again, without [from, to); returns how many were done. */
static uint32_t replay(const struct epoch *e, uint32_t from, uint32_t to)
{
	uint32_t i;

	world_reset(&e->machine);
	for (i = 0; i < e->n && !world_difference()[0]; i++)
		if (i < from || i >= to)
			world_do(&e->ops[i]);
	return i;
}

static void leave_out(struct epoch *e, uint32_t from, uint32_t to, uint32_t end)
{
	memmove(e->ops + from, e->ops + to, (end - to) * sizeof(e->ops[0]));
	e->n = end - (to - from);
}

static void shorten(struct epoch *e)
{
	uint32_t chunk = e->n / 2;

	while (chunk) {
		bool shorter = false;

		for (uint32_t at = 0; at + chunk <= e->n;) {
			uint32_t end = replay(e, at, at + chunk);

			if (!world_difference()[0] || end <= at + chunk) {
				at += chunk;
				continue;
			}
			leave_out(e, at, at + chunk, end);
			shorter = true;
		}
		if (!shorter || chunk > 1)
			chunk /= 2;
	}
}

static void show(const struct epoch *e)
{
	char text[WORLD_TEXT];
	uint32_t from = e->n > SHOWN ? e->n - SHOWN : 0;

	world_reset(&e->machine);
	for (uint32_t i = 0; i < e->n; i++) {
		uint32_t vcpu = world_resident;
		struct answer answer = world_do(&e->ops[i]);

		if (i < from)
			continue;
		world_describe(&e->ops[i], &answer, text);
		fprintf(stderr, "  %4u vcpu %u %s\n", i, vcpu, text);
	}
}

void epoch_report(struct epoch *e)
{
	char text[2048];

	fprintf(stderr, "differs after %u steps: %s\nlast steps:\n", e->n, world_difference());
	show(e);
	shorten(e);
	world_describe_machine(&e->machine, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	show(e);
	fprintf(stderr, "the same cut down to %u steps: %s\n", e->n, world_difference());
}
