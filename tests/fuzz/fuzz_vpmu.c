/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes for the vPMU: a machine, then operations of its guests until the bytes end. After each one
 * the library is compared with the model, as in tests/host/test_vpmu_model.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/host/world.h"

#define MAX_OPS 400U /* longer inputs find nothing new, and are slow */

struct input {
	const uint8_t *data;
	size_t left;
};

/* --- bytes into numbers -------------------------------------------------------------- */

static uint64_t take(struct input *in, size_t n)
{
	uint64_t value = 0;

	if (n > in->left)
		n = in->left;
	memcpy(&value, in->data, n);
	in->data += n;
	in->left -= n;
	return value;
}

static uint32_t byte(struct input *in)
{
	return (uint32_t)take(in, 1);
}

/* 0..127 are themselves, negative numbers are near the top; some codes are edge cases or longer
 * numbers. */
static uint64_t number(struct input *in)
{
	static const uint64_t edges[] = {1ULL << 62, (1ULL << 62) + 1, 1ULL << 63, (1ULL << 63) + 1,
	                                 3ULL << 62, (3ULL << 62) + 1, 1ULL << 31, 1ULL << 32};
	uint32_t b = byte(in);

	if (b < 128)
		return b;
	if (b < 192)
		return 0 - (uint64_t)(b - 127);
	if (b < 200)
		return edges[b - 192];
	if (b < 230)
		return take(in, 2);
	if (b < 245)
		return 0 - take(in, 2);
	return take(in, 8);
}

/* Any set, usually small. */
static void set(struct input *in, uint64_t *a)
{
	uint32_t b = byte(in);

	a[0] = b < 64 ? b : 0;
	if (b < 64)
		a[1] = 1;
	else if (b < 128)
		a[1] = 1ULL << (b - 64) | 1ULL << (byte(in) & 63);
	else if (b < 160)
		a[1] = 0x7fff8;
	else if (b < 192)
		a[1] = 0xffffULL << world_vcpus[world_resident].model.policy.fw_base | 0x7fff8;
	else if (b < 224)
		a[1] = take(in, 3) << 3;
	else {
		a[0] = number(in);
		a[1] = number(in);
	}
}

static void event(struct input *in, uint64_t *a)
{
	uint32_t b = byte(in);

	if (b < 128)
		a[0] = fake_hart_event_idx((enum fake_event)(b % fake_hart_events()), &a[1]);
	else if (b < 176)
		a[0] = 0xf0000 | (b - 128) % 24;
	else if (b < 224)
		a[0] = 0xf0100 | (b - 176);
	else if (b < 240)
		a[0] = take(in, 3);
	else {
		a[0] = number(in);
		a[1] = number(in);
	}
}

static uint64_t address(struct input *in)
{
	uint32_t b = byte(in);

	if (b < 128)
		return FAKE_RAM + 512 * b;
	if (b < 240)
		return FAKE_RAM + take(in, 2);
	return number(in);
}

/* --- operations ---------------------------------------------------------------------- */

static void decode_call(struct input *in, struct op *op)
{
	switch (op->kind) {
	case OP_CONFIG:
		set(in, op->a);
		op->a[2] = byte(in);
		event(in, op->a + 3);
		break;
	case OP_START:
		set(in, op->a);
		op->a[2] = byte(in) & 7;
		op->a[3] = number(in);
		break;
	case OP_STOP:
		set(in, op->a);
		op->a[2] = byte(in) & 7;
		break;
	case OP_SET_SHMEM:
		op->a[0] = address(in);
		op->a[1] = byte(in) & 1 ? number(in) : 0;
		op->a[2] = op->a[1] & 2 ? byte(in) : 0;
		break;
	case OP_EVENT_INFO:
		op->a[0] = address(in);
		op->a[2] = number(in);
		op->a[1] = byte(in) & 1 ? number(in) : 0;
		op->a[3] = op->a[1] & 2 ? byte(in) : 0;
		break;
	default:
		op->a[0] = number(in);
	}
}

/* A mask for the units that the guest runs at once on the hart of this input. */
static uint64_t longest_run;

static void decode_op(struct input *in, struct op *op)
{
	uint32_t b = byte(in);

	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)(b % (OP_RESET + 1));
	/* Observers begin and end. */
	if (b >= 228 && b < 240)
		op->kind = b < 236 ? OP_OBSERVE : OP_UNOBSERVE;
	/* Sometimes the hart refuses. */
	if (b >= 240) {
		op->fail_prepare = 1;
		op->refuse_start = (uint8_t)(1 + (b & 1));
	}
	switch (op->kind) {
	case OP_CSR_READ:
		op->a[0] = take(in, 2);
		break;
	case OP_RUN:
		b = byte(in);
		op->a[0] = b & 1;
		op->a[1] = b & 2 ? FAKE_ON_INSN : (b >> 4) * 8 + (b >> 2 & 3);
		op->a[2] = number(in) & longest_run;
		op->a[3] = b & 8 ? 0 : ~0ULL;
		break;
	case OP_FW_EVENT:
	case OP_PORT_EVENT:
		op->a[0] = byte(in);
		op->a[1] = byte(in);
		op->a[1] = op->a[1] < 128 ? op->a[1] % 24 : op->a[1] + 128;
		op->a[2] = number(in);
		break;
	case OP_RETIRED:
	case OP_SWITCH:
	case OP_MOVE:
		op->a[0] = byte(in);
		break;
	case OP_POKE:
	case OP_ENTRIES:
		op->a[0] = address(in) & ~7ULL;
		op->a[1] = number(in);
		op->a[2] = take(in, 2);
		break;
	case OP_OVERFLOW:
	case OP_RESET:
		break;
	case OP_OBSERVE:
	case OP_UNOBSERVE:
		b = byte(in);
		op->a[0] = b & 3;
		op->a[1] = b >> 5;
		op->a[2] = fake_hart_event_idx((enum fake_event)(byte(in) % fake_hart_events()),
		                               &op->a[3]);
		op->a[4] = (uint64_t)(b >> 2 & 3) << 5;
		break;
	default:
		decode_call(in, op);
	}
}

/* The guest executes the call again, or does other things first. */
static void decode_again(struct input *in, struct op *op)
{
	if (in->left && (*in->data & 0xc0) == 0xc0)
		decode_op(in, op);
}

/* --- the machine --------------------------------------------------------------------- */

static void decode_hart(struct input *in, struct fake_hart_config *hart)
{
	uint32_t defects = byte(in), liberties = byte(in);

	*hart = liberties & 1 ? fake_hart_free() : fake_hart_homes();
	hart->one_counter_per_event = (defects & 1) && !(liberties & 1);
	hart->sticky_map = (defects & 2) && !(liberties & 1);
	hart->stale_irq = defects & 4;
	hart->boot_of = defects & 8;
	hart->pending_keeps_of = defects & 16;
	hart->no_armed_cache_events = defects & 32;
	hart->take_without_pending = defects & 64;
	hart->skid = defects & 128 ? 1 + byte(in) % 40 : 0;
	hart->hs_work = 1 + (liberties >> 1 & 7);
	hart->knows_all_events = liberties & 16;
	hart->nothing_is_ram = liberties & 32;
	hart->misuse = world_misused;
	if ((liberties & 64) && !hart->skid && !hart->no_armed_cache_events)
		hart->width = 48;
	/* A full range without an exit is more than a value can show. */
	longest_run = ~0ULL >> (65 - hart->width);
	/* Two events that share a home counter, or fixed counters with filters. */
	if ((liberties & 128) && !(liberties & 1)) {
		hart->hctrs[FAKE_DTLB_LOAD] = hart->hctrs[FAKE_INSNS];
	} else {
		hart->hctrs[FAKE_CYCLES] |= 1;
		hart->hctrs[FAKE_INSNS] |= 4;
	}
}

static void decode_policy(struct input *in, const struct fake_hart_config *hart,
                          struct vpmu_policy *policy, uint32_t *allowed)
{
	uint32_t flags = byte(in), more = byte(in);

	*policy = (struct vpmu_policy){
	    .hctrs = FAKE_PROGRAMMABLE | (more & 1 ? 5 : 0),
	    .fw_base = more & 2 ? 32 : 19,
	    .width = hart->width,
	    .fw_events = more & 4 ? 0x2aaa : 0x3fff,
	    .fw_port_events = more & 4 ? 0x1555 : 0,
	    .n_tally_events = more >> 3,
	    .overflow = !(flags & 1),
	    .trap_reads = flags & 2,
	    .snapshot = !(flags & 4),
	    .count_hs = (flags & 8) && hart->width == 64,
	    .cheap_moves = flags & 16,
	    .polled_cache = hart->no_armed_cache_events,
	    .steps = flags & 16,
	    .wfi_recounts = !(flags & 128),
	};
	if (flags & 32)
		policy->hctrs &= ~(uint64_t)byte(in) << 3;
	if (flags & 64) {
		policy->events = allowed;
		while (policy->n_events < 8 && byte(in) & 1) {
			uint64_t a[2] = {0, 0};

			event(in, a);
			allowed[policy->n_events++] = (uint32_t)a[0];
		}
	}
}

static void show(const struct machine *machine, const struct op *ops, uint32_t n)
{
	char text[2048];

	fprintf(stderr, "differs: %s\n", world_difference());
	world_describe_machine(machine, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	world_reset(machine);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t vcpu = world_resident;
		struct answer answer = world_do(&ops[i]);

		world_describe(&ops[i], &answer, text);
		fprintf(stderr, "  %4u vcpu %u %s\n", i, vcpu, text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct machine machine;
	static struct op ops[MAX_OPS];
	struct input in = {data, size};
	bool again = false;

	memset(&machine, 0, sizeof(machine));
	decode_hart(&in, &machine.hart);
	for (uint32_t i = 0; i < VCPUS; i++)
		decode_policy(&in, &machine.hart, &machine.policy[i], machine.allowed[i]);
	world_reset(&machine);
	for (uint32_t n = 0; n < MAX_OPS && in.left; n++) {
		if (again) {
			ops[n] = ops[n - 1];
			ops[n].a[1] = WORLD_AGAIN;
			decode_again(&in, &ops[n]);
		} else {
			decode_op(&in, &ops[n]);
		}
		again = world_do(&ops[n]).again;
		if (world_difference()[0]) {
			show(&machine, ops, n + 1);
			abort();
		}
	}
	return 0;
}
