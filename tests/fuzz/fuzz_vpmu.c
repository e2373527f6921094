/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes for the vPMU: a machine, then operations of its guests until the bytes end. After each one
 * the library is compared with the model, as in tests/host/test_vpmu_model.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_vpmu.h"

#define MAX_OPS 400U /* longer inputs find nothing new, and are slow */

/* --- bytes into numbers -------------------------------------------------------------- */

uint64_t fuzz_take(struct input *in, size_t n)
{
	uint64_t value = 0;

	if (n > in->left)
		n = in->left;
	memcpy(&value, in->data, n);
	in->data += n;
	in->left -= n;
	return value;
}

uint32_t fuzz_byte(struct input *in)
{
	return (uint32_t)fuzz_take(in, 1);
}

/* 0..127 are themselves, negative numbers are near the top; some codes are edge cases or longer
 * numbers. */
static uint64_t number(struct input *in)
{
	static const uint64_t edges[] = {1ULL << 62, (1ULL << 62) + 1, 1ULL << 63, (1ULL << 63) + 1,
	                                 3ULL << 62, (3ULL << 62) + 1, 1ULL << 31, 1ULL << 32};
	uint32_t b = fuzz_byte(in);

	if (b < 128)
		return b;
	if (b < 192)
		return 0 - (uint64_t)(b - 127);
	if (b < 200)
		return edges[b - 192];
	if (b < 230)
		return fuzz_take(in, 2);
	if (b < 245)
		return 0 - fuzz_take(in, 2);
	return fuzz_take(in, 8);
}

/* Any set, usually small. */
static void set(struct input *in, uint64_t *a)
{
	uint32_t b = fuzz_byte(in);

	a[0] = b < 64 ? b : 0;
	if (b < 64)
		a[1] = 1;
	else if (b < 128)
		a[1] = 1ULL << (b - 64) | 1ULL << (fuzz_byte(in) & 63);
	else if (b < 160)
		a[1] = 0x7fff8;
	else if (b < 192)
		a[1] = 0xffffULL << world_vcpus[world_resident].model.policy.fw_base | 0x7fff8;
	else if (b < 224)
		a[1] = fuzz_take(in, 3) << 3;
	else {
		a[0] = number(in);
		a[1] = number(in);
	}
}

void fuzz_any_event(struct input *in, uint32_t b, uint64_t *a)
{
	if (b < 176)
		a[0] = 0xf0000 | (b - 128) % 24;
	else if (b < 224)
		a[0] = 0xf0100 | (b - 176);
	else if (b < 240)
		a[0] = fuzz_take(in, 3);
	else {
		a[0] = number(in);
		a[1] = number(in);
	}
}

static uint64_t address(struct input *in)
{
	uint32_t b = fuzz_byte(in);

	if (b < 128)
		return FAKE_RAM + 512 * b;
	if (b < 240)
		return FAKE_RAM + fuzz_take(in, 2);
	return number(in);
}

/* --- operations ---------------------------------------------------------------------- */

static void decode_call(struct input *in, struct op *op)
{
	switch (op->kind) {
	case OP_CONFIG:
		set(in, op->a);
		op->a[2] = fuzz_byte(in);
		fuzz_event(in, op->a + 3);
		break;
	case OP_START:
		set(in, op->a);
		op->a[2] = fuzz_byte(in) & 7;
		op->a[3] = number(in);
		break;
	case OP_STOP:
		set(in, op->a);
		op->a[2] = fuzz_byte(in) & 7;
		break;
	case OP_SET_SHMEM:
		op->a[0] = address(in);
		op->a[1] = fuzz_byte(in) & 1 ? number(in) : 0;
		op->a[2] = op->a[1] & 2 ? fuzz_byte(in) : 0;
		break;
	case OP_EVENT_INFO:
		op->a[0] = address(in);
		op->a[2] = number(in);
		op->a[1] = fuzz_byte(in) & 1 ? number(in) : 0;
		op->a[3] = op->a[1] & 2 ? fuzz_byte(in) : 0;
		break;
	default:
		op->a[0] = number(in);
	}
}

/* A mask for the units that the guest runs at once on the hart of this input. */
static uint64_t longest_run;

static void decode_op(struct input *in, struct op *op)
{
	uint32_t b = fuzz_byte(in);

	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)(b % (OP_RESET + 1));
	/* Observers begin and end. */
	if (b >= 228 && b < 240)
		op->kind = b < 236 ? OP_OBSERVE : OP_UNOBSERVE;
	/* Sometimes the hart refuses. */
	if (b >= 240) {
		op->fail_prepare = b & 1;
		op->fail_set = b & 1 ? 0 : (uint8_t)(1 + (b >> 1 & 1));
	}
	switch (op->kind) {
	case OP_CSR_READ:
		op->a[0] = fuzz_take(in, 2);
		break;
	case OP_RUN:
		b = fuzz_byte(in);
		op->a[0] = b & 1;
		op->a[1] = b & 2 ? FAKE_ON_INSN : (b >> 4) * 8 + (b >> 2 & 3);
		op->a[2] = number(in) & longest_run;
		op->a[3] = b & 8 ? 0 : ~0ULL;
		break;
	case OP_FW_EVENT:
	case OP_PORT_EVENT:
		op->a[0] = fuzz_byte(in);
		op->a[1] = fuzz_byte(in);
		op->a[1] = op->a[1] < 128 ? op->a[1] % 24 : op->a[1] + 128;
		op->a[2] = number(in);
		break;
	case OP_RETIRED:
	case OP_SWITCH:
	case OP_MOVE:
		op->a[0] = fuzz_byte(in);
		break;
	case OP_POKE:
	case OP_ENTRIES:
		op->a[0] = address(in) & ~7ULL;
		op->a[1] = number(in);
		op->a[2] = fuzz_take(in, 2);
		break;
	case OP_OVERFLOW:
	case OP_RESET:
		break;
	case OP_OBSERVE:
	case OP_UNOBSERVE:
		b = fuzz_byte(in);
		op->a[0] = b & 3;
		op->a[1] = b >> 5;
		op->a[2] = fake_hart_event_idx(
		    (enum fake_event)(fuzz_byte(in) % fake_hart_events()), &op->a[3]);
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

void fuzz_policy(struct input *in, uint32_t flags, uint32_t more, struct vpmu_policy *policy,
                 uint32_t *allowed)
{
	policy->fw_events = more & 4 ? 0x2aaa : 0x3fff;
	policy->fw_port_events = more & 4 ? 0x1555 : 0;
	policy->n_tally_events = more >> 3;
	policy->overflow = !(flags & 1);
	policy->trap_reads = flags & 2;
	policy->snapshot = !(flags & 4);
	policy->count_hs = (flags & 8) && policy->width == 64;
	policy->cheap_moves = flags & 16;
	policy->steps = flags & 16;
	policy->wfi_recounts = !(flags & 128);
	if (flags & 32)
		policy->hctrs &= ~(uint64_t)fuzz_byte(in) << 3;
	if (flags & 64) {
		policy->events = allowed;
		while (policy->n_events < 8 && fuzz_byte(in) & 1) {
			uint64_t a[2] = {0, 0};

			fuzz_event(in, a);
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
	fuzz_machine(&in, &machine);
	/* On a narrow hart, a full range without an exit is more than a value can show. */
	longest_run = ~0ULL >> (65 - machine.hart.width);
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
