/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt controller: rules of the PLIC specification 1.0.0 one by one, then random accesses
 * against a naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/devices/vplic.h"

#define PRIORITY(s)  (4u * (s))
#define PENDING      0x1000u
#define ENABLE(ctx)  (0x2000u + 0x80u * (ctx))
#define THRESHOLD(c) (0x200000u + 0x1000u * (c))
#define CLAIM(c)     (0x200004u + 0x1000u * (c))
#define STEPS        1000000u

static struct vplic p;

static int setup(void **state)
{
	(void)state;
	memset(&p, 0xa5, sizeof(p));
	vplic_init(&p, 2);
	return 0;
}

static uint32_t rd(uint32_t offset)
{
	return vplic_read(&p, offset);
}

static void wr(uint32_t offset, uint32_t value)
{
	vplic_write(&p, offset, value);
}

static void registers(void **state)
{
	(void)state;
	for (unsigned int s = 1; s <= 31; s++) {
		assert_int_equal(rd(PRIORITY(s)), 0);
		wr(PRIORITY(s), 0xfffffff8u | (s & 7));
		assert_int_equal(rd(PRIORITY(s)), s & 7);
	}
	for (unsigned int c = 0; c < 2; c++) {
		assert_int_equal(rd(ENABLE(c)), 0);
		wr(ENABLE(c), 0xffffffffu);
		assert_int_equal(rd(ENABLE(c)), 0xfffffffe);
		assert_int_equal(rd(THRESHOLD(c)), 0);
		wr(THRESHOLD(c), 0xfffffffdu);
		assert_int_equal(rd(THRESHOLD(c)), 5);
		assert_int_equal(rd(CLAIM(c)), 0);
	}
	wr(PENDING, 0xffffffffu);
	assert_int_equal(rd(PENDING), 0);
}

static void holes(void **state)
{
	static const uint32_t offsets[] = {
	    0, /* source 0 */
	    PRIORITY(32),
	    PRIORITY(1023),
	    PENDING + 4,
	    0x1ffc,
	    ENABLE(0) + 4,
	    ENABLE(2),
	    ENABLE(100),
	    0x1ffffc,
	    THRESHOLD(0) + 8,
	    THRESHOLD(2),
	    CLAIM(2),
	    THRESHOLD(511),
	    CLAIM(511),
	    0x400000,
	    0xfffffffc,
	    PRIORITY(1) + 1,
	    ENABLE(0) + 2,
	    THRESHOLD(0) + 1,
	    CLAIM(0) + 3,
	};
	struct vplic before = p;

	(void)state;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		wr(offsets[i], 0xffffffffu);
		assert_int_equal(rd(offsets[i]), 0);
	}
	assert_memory_equal(&before, &p, sizeof(p));
	assert_false(vplic_output(&p, 2));
	assert_false(vplic_output(&p, 0xffffffffu));
	vplic_set_level(&p, 0, true);
	vplic_set_level(&p, 32, true);
	vplic_set_level(&p, 0xffffffffu, true);
	assert_memory_equal(&before, &p, sizeof(p));
}

static void number_of_contexts(void **state)
{
	(void)state;
	vplic_init(&p, 100);
	assert_int_equal(p.n_contexts, 8);
	wr(THRESHOLD(7), 3);
	wr(THRESHOLD(8), 3);
	assert_int_equal(rd(THRESHOLD(7)), 3);
	assert_int_equal(rd(THRESHOLD(8)), 0);
}

static void level_claim_complete(void **state)
{
	(void)state;
	wr(PRIORITY(10), 1);
	wr(ENABLE(0), 1u << 10);
	assert_false(vplic_output(&p, 0));
	vplic_set_level(&p, 10, true);
	assert_int_equal(rd(PENDING), 1u << 10);
	assert_true(vplic_output(&p, 0));
	assert_false(vplic_output(&p, 1));

	assert_int_equal(rd(CLAIM(0)), 10);
	assert_int_equal(rd(PENDING), 0);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 0);
	/* Edges between claim and completion are not seen. */
	vplic_set_level(&p, 10, false);
	vplic_set_level(&p, 10, true);
	assert_false(vplic_output(&p, 0));

	wr(CLAIM(0), 10); /* still high: again */
	assert_true(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 10);
	vplic_set_level(&p, 10, false);
	wr(CLAIM(0), 10);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(PENDING), 0);
}

static void forwarded_request_stays(void **state)
{
	(void)state;
	wr(PRIORITY(10), 1);
	wr(ENABLE(0), 1u << 10);
	vplic_set_level(&p, 10, true);
	vplic_set_level(&p, 10, false);
	assert_true(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 10);
	wr(CLAIM(0), 10);
	assert_int_equal(rd(CLAIM(0)), 0);
}

static void priority_and_threshold(void **state)
{
	(void)state;
	wr(ENABLE(0), 0xfffffffeu);
	wr(PRIORITY(3), 2);
	wr(PRIORITY(7), 5);
	wr(PRIORITY(9), 5);
	for (unsigned int s = 1; s <= 31; s++)
		vplic_set_level(&p, s, true);
	assert_int_equal(rd(PENDING), 0xfffffffe);
	wr(THRESHOLD(0), 5);
	assert_false(vplic_output(&p, 0));
	wr(THRESHOLD(0), 4);
	assert_true(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 7); /* equal priority: the lower number first */
	assert_int_equal(rd(CLAIM(0)), 9);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 3); /* the threshold holds back the signal, not the claim */
	assert_int_equal(rd(CLAIM(0)), 0); /* all others have priority 0 */
	wr(THRESHOLD(0), 0);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(PENDING), 0xfffffffe & ~(1u << 3 | 1u << 7 | 1u << 9));
}

static void two_contexts_one_claim(void **state)
{
	(void)state;
	wr(PRIORITY(4), 1);
	wr(ENABLE(0), 1u << 4);
	wr(ENABLE(1), 1u << 4);
	vplic_set_level(&p, 4, true);
	assert_true(vplic_output(&p, 0));
	assert_true(vplic_output(&p, 1));
	assert_int_equal(rd(CLAIM(1)), 4);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 0);
	wr(CLAIM(0), 4); /* whoever has it enabled may complete */
	assert_true(vplic_output(&p, 1));
}

static void completions_that_do_not_count(void **state)
{
	static const uint32_t values[] = {0, 3, 32, 36, 1u << 31, 0xffffffffu};

	(void)state;
	wr(PRIORITY(4), 1);
	wr(ENABLE(0), 1u << 4);
	vplic_set_level(&p, 4, true);
	assert_int_equal(rd(CLAIM(0)), 4);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		wr(CLAIM(0), values[i]);
	wr(CLAIM(1), 4); /* not enabled there */
	assert_int_equal(rd(PENDING), 0);
	wr(ENABLE(0), 0);
	wr(CLAIM(0), 4);
	assert_int_equal(rd(PENDING), 0);
	wr(ENABLE(0), 1u << 4);
	wr(CLAIM(0), 4);
	assert_int_equal(rd(PENDING), 1u << 4);
	wr(CLAIM(0), 4); /* not claimed at all: nothing to complete */
	assert_int_equal(rd(PENDING), 1u << 4);
}

/* One source as a small machine of its own, arrays of bool, no bit sets. */
struct model_source {
	unsigned int priority;
	bool level, pending, claimed, enabled[2];
};

static struct model_source m[32];
static unsigned int m_threshold[2];

static void model_gateway(void)
{
	for (unsigned int s = 1; s < 32; s++)
		if (m[s].level && !m[s].claimed)
			m[s].pending = true;
}

static unsigned int model_best(unsigned int c)
{
	unsigned int best = 0;

	for (unsigned int s = 31; s >= 1; s--)
		if (m[s].pending && m[s].enabled[c] && m[s].priority != 0 &&
		    (best == 0 || m[s].priority >= m[best].priority))
			best = s;
	return best;
}

static bool model_output(unsigned int c)
{
	unsigned int best = model_best(c);

	return best != 0 && m[best].priority > m_threshold[c];
}

static uint64_t random_state;

static uint32_t next(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % below;
}

static void step(void)
{
	unsigned int s = 1 + next(31), c = next(2), v;

	switch (next(8)) {
	case 0:
		v = next(8);
		wr(PRIORITY(s), v);
		m[s].priority = v;
		break;
	case 1:
		v = next(8);
		wr(THRESHOLD(c), v);
		m_threshold[c] = v;
		break;
	case 2:
		wr(ENABLE(c), rd(ENABLE(c)) ^ 1u << s);
		m[s].enabled[c] = !m[s].enabled[c];
		break;
	case 3:
	case 4:
		v = next(2);
		vplic_set_level(&p, s, v != 0);
		m[s].level = v != 0;
		break;
	case 5:
	case 6:
		v = model_best(c);
		assert_int_equal(rd(CLAIM(c)), v);
		if (v != 0) {
			m[v].pending = false;
			m[v].claimed = true;
		}
		break;
	default:
		wr(CLAIM(c), s);
		if (m[s].enabled[c])
			m[s].claimed = false;
		break;
	}
	model_gateway();
}

static void random_against_model(void **state)
{
	unsigned int outputs = 0;

	(void)state;
	random_state = 0x2545f4914f6cdd1d;
	memset(m, 0, sizeof(m));
	memset(m_threshold, 0, sizeof(m_threshold));
	for (unsigned int i = 0; i < STEPS; i++) {
		uint32_t pending = 0;

		step();
		for (unsigned int s = 1; s < 32; s++)
			pending |= (uint32_t)m[s].pending << s;
		assert_int_equal(rd(PENDING), pending);
		for (unsigned int c = 0; c < 2; c++) {
			assert_int_equal(vplic_output(&p, c), model_output(c));
			outputs += model_output(c);
		}
	}
	assert_in_range(outputs, STEPS / 10, 2 * STEPS - STEPS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(registers, setup),
	    cmocka_unit_test_setup(holes, setup),
	    cmocka_unit_test_setup(number_of_contexts, setup),
	    cmocka_unit_test_setup(level_claim_complete, setup),
	    cmocka_unit_test_setup(forwarded_request_stays, setup),
	    cmocka_unit_test_setup(priority_and_threshold, setup),
	    cmocka_unit_test_setup(two_contexts_one_claim, setup),
	    cmocka_unit_test_setup(completions_that_do_not_count, setup),
	    cmocka_unit_test_setup(random_against_model, setup),
	};

	return cmocka_run_group_tests_name("vplic", tests, NULL, NULL);
}
