/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/epoch.h"

#include <stdio.h>
#include <string.h>

#include "tests/host/csr_read.h"

#define SHOWN 20U /* the number of last steps to print */

static struct random_manner manner;

void epoch_run(struct epoch *e, struct chance *c, uint32_t steps)
{
	world_reset(&e->machine);
	for (e->n = 0; e->n < steps && !world_difference()[0];) {
		struct op *op = &e->ops[e->n++];

		random_op(c, &manner, op);
		world_do(op);
	}
}

void epoch_random(struct epoch *e, uint64_t seed, uint32_t switches, uint32_t steps)
{
	struct chance c = {chance_mix(seed)};

	random_machine(&c, switches, &e->machine);
	manner = random_manner(&c);
	epoch_run(e, &c, steps);
}

static uint64_t mixed(uint64_t seen, uint64_t value)
{
	return chance_mix(seen ^ value);
}

/* All that the resident guest can see, as one number. */
static uint64_t seen_by_guest(const struct answer *answer)
{
	const struct vcpu *vc = &world_vcpus[world_resident];
	uint64_t seen = mixed((uint64_t)answer->ret.error, answer->ret.value);

	seen = mixed(seen, vpmu_scountovf(&vc->vpmu));
	seen = mixed(seen, vc->raises + answer->again);
	for (uint32_t i = 0; i < VPMU_COUNTERS; i++) {
		uint64_t value = 0;

		if (vpmu_csr_read(&vc->vpmu, 0xc00 + i, &value))
			seen = mixed(seen, value + i);
		seen = mixed(seen, vpmu_counter_fw_read(&vc->vpmu, i).value);
	}
	return seen;
}

static bool is_observer(const struct op *op)
{
	return op->kind == OP_OBSERVE || op->kind == OP_UNOBSERVE;
}

void epoch_twins(struct epoch *e, uint64_t seed, uint32_t switches)
{
	static const struct random_manner looked_at = {.observers = true};
	static uint64_t seen[EPOCH_STEPS];
	struct chance c = {chance_mix(seed)};

	random_machine(&c, switches, &e->machine);
	e->machine.hart.skid = 0;
	e->machine.hart.no_armed_cache_events = false;
	for (uint32_t i = 0; i < VCPUS; i++)
		e->machine.policy[i].count_hs = e->machine.policy[i].polled_cache = false;
	world_reset(&e->machine);
	for (e->n = 0; e->n < EPOCH_STEPS && !world_difference()[0]; e->n++) {
		struct op *op = &e->ops[e->n];
		struct answer answer;

		random_op(&c, &looked_at, op);
		/* Whether a call or the interrupt takes it first may depend on the owners of the
		 * counters. */
		if (fake_hart_pending())
			op->kind = OP_OVERFLOW;
		/* Observing a vcpu would switch to it. */
		if (op->kind == OP_SWITCH)
			op->a[1] = 0;
		/* How often the hart interrupts may differ as well: it may interrupt again for a
		 * wrap that was found already. */
		if (op->kind == OP_RUN)
			op->a[3] = ~0ULL;
		answer = world_do(op);
		seen[e->n] = seen_by_guest(&answer);
	}
	if (world_difference()[0])
		return;
	world_reset(&e->machine);
	for (uint32_t i = 0; i < e->n && !world_difference()[0]; i++) {
		struct answer answer;

		if (is_observer(&e->ops[i]))
			continue;
		answer = world_do(&e->ops[i]);
		if (seen_by_guest(&answer) != seen[i])
			world_differ("step %u looks otherwise without observers", i);
	}
}

/* Runs the operations again, without [from, to). Returns how many were done. */
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
