/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt controller: rules of the PLIC specification 1.0.0 one by one, then random accesses
 * against a naive model, then every state that two sources and two contexts can reach. */
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
static uint32_t changed, completed; /* by the last access */

static int setup(void **state)
{
	(void)state;
	memset(&p, 0xa5, sizeof(p));
	vplic_init(&p, 2);
	return 0;
}

static uint32_t both_outputs(void)
{
	return (uint32_t)vplic_output(&p, 0) | (uint32_t)vplic_output(&p, 1) << 1;
}

/* Takes what has changed. Outputs that are other ones than before are told. */
static void look(uint32_t before)
{
	changed = p.changed;
	completed = p.completed;
	assert_true(both_outputs() == before || changed & VPLIC_OUTPUTS);
	assert_int_equal(completed != 0, (changed & VPLIC_COMPLETED) != 0);
	p.changed = p.completed = 0;
}

static uint32_t rd(uint32_t offset)
{
	uint32_t before = both_outputs(), value = vplic_read(&p, offset);

	look(before);
	return value;
}

static void wr(uint32_t offset, uint32_t value)
{
	uint32_t before = both_outputs();

	vplic_write(&p, offset, value);
	look(before);
}

static void set_level(unsigned int source, bool level)
{
	uint32_t before = both_outputs();

	vplic_set_level(&p, source, level);
	look(before);
}

static void request(unsigned int source)
{
	uint32_t before = both_outputs();

	vplic_request(&p, source);
	look(before);
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
	set_level(0, true);
	set_level(32, true);
	set_level(0xffffffffu, true);
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

/* Each offset: registers of even contexts are none, those of odd ones belong to half of that. */
static void contexts_in_pairs(void **state)
{
	(void)state;
	for (uint32_t o = 0; o < 0x2000; o++)
		assert_int_equal(vplic_unpaired(o), o);
	for (uint32_t o = 0x2000; o < 0x200000; o++) {
		uint32_t context = (o - 0x2000) / 0x80, rest = o % 0x80;

		assert_int_equal(vplic_unpaired(o),
		                 context % 2 ? ENABLE(context / 2) + rest : VPLIC_SIZE);
	}
	for (uint32_t o = 0x200000; o < VPLIC_SIZE; o++) {
		uint32_t context = (o - 0x200000) / 0x1000, rest = o % 0x1000;

		assert_int_equal(vplic_unpaired(o),
		                 context % 2 ? THRESHOLD(context / 2) + rest : VPLIC_SIZE);
	}
	/* What is at that offset reads 0, and ignores writes. */
	wr(VPLIC_SIZE, 0xffffffff);
	assert_int_equal(rd(VPLIC_SIZE), 0);
	assert_int_equal(changed, 0);
	/* The last context there can be. */
	assert_int_equal(vplic_unpaired(ENABLE(15)), ENABLE(7));
	assert_int_equal(vplic_unpaired(CLAIM(15)), CLAIM(7));
}

static void level_claim_complete(void **state)
{
	(void)state;
	wr(PRIORITY(10), 1);
	wr(ENABLE(0), 1u << 10);
	assert_false(vplic_output(&p, 0));
	set_level(10, true);
	assert_int_equal(rd(PENDING), 1u << 10);
	assert_true(vplic_output(&p, 0));
	assert_false(vplic_output(&p, 1));

	assert_int_equal(rd(CLAIM(0)), 10);
	assert_int_equal(rd(PENDING), 0);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 0);
	/* Edges between claim and completion are not seen. */
	set_level(10, false);
	set_level(10, true);
	assert_false(vplic_output(&p, 0));

	wr(CLAIM(0), 10); /* still high: again */
	assert_true(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 10);
	set_level(10, false);
	wr(CLAIM(0), 10);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(PENDING), 0);
}

static void forwarded_request_stays(void **state)
{
	(void)state;
	wr(PRIORITY(10), 1);
	wr(ENABLE(0), 1u << 10);
	set_level(10, true);
	set_level(10, false);
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
		set_level(s, true);
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
	set_level(4, true);
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
	set_level(4, true);
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

/* Of a source that comes from the host. */
static void requests(void **state)
{
	(void)state;
	wr(PRIORITY(5), 1);
	wr(ENABLE(0), 1u << 5);
	request(5);
	request(5); /* not claimed yet: still one */
	assert_true(vplic_output(&p, 0));
	assert_int_equal(rd(CLAIM(0)), 5);
	assert_int_equal(rd(CLAIM(0)), 0);
	wr(CLAIM(0), 5);
	assert_int_equal(completed, 1u << 5);
	assert_int_equal(rd(PENDING), 0);
	wr(CLAIM(0), 5);
	assert_int_equal(completed, 0);

	request(5);
	assert_int_equal(rd(CLAIM(0)), 5);
	request(5); /* claimed: one more, later */
	request(5);
	assert_false(vplic_output(&p, 0));
	assert_int_equal(rd(PENDING), 0);
	wr(ENABLE(0), 0);
	wr(CLAIM(0), 5); /* not enabled: not completed */
	assert_int_equal(completed, 0);
	wr(ENABLE(0), 1u << 5);
	wr(CLAIM(0), 5);
	assert_int_equal(completed, 1u << 5);
	assert_int_equal(rd(CLAIM(0)), 5);
	wr(CLAIM(0), 5);
	assert_int_equal(completed, 1u << 5);
	assert_int_equal(rd(CLAIM(0)), 0);

	request(5);
	assert_int_equal(rd(CLAIM(0)), 5);
	request(5);
	vplic_init(&p, 2); /* nothing is left of an earlier life */
	wr(PRIORITY(5), 1);
	wr(ENABLE(0), 1u << 5);
	wr(CLAIM(0), 5);
	assert_int_equal(completed, 0);
	assert_int_equal(rd(CLAIM(0)), 0);
}

static void requests_of_no_source(void **state)
{
	struct vplic before = p;

	(void)state;
	request(0);
	request(32);
	request(0xffffffffu);
	assert_memory_equal(&before, &p, sizeof(p));
}

static void who_has_it_enabled(void **state)
{
	(void)state;
	vplic_init(&p, 3);
	assert_int_equal(vplic_context(&p, 7), -1);
	wr(ENABLE(2), 1u << 7);
	assert_true(changed & VPLIC_ENABLES);
	wr(ENABLE(2), 1u << 7);
	assert_false(changed & VPLIC_ENABLES);
	assert_int_equal(vplic_context(&p, 7), 2);
	assert_int_equal(vplic_context(&p, 6), -1);
	wr(ENABLE(1), 1u << 7 | 1u << 31);
	assert_int_equal(vplic_context(&p, 7), 1);
	assert_int_equal(vplic_context(&p, 31), 1);
	wr(ENABLE(1), 0);
	assert_int_equal(vplic_context(&p, 7), 2);
	assert_int_equal(vplic_context(&p, 0), -1);
	assert_int_equal(vplic_context(&p, 32), -1);
	assert_int_equal(vplic_context(&p, 39), -1);
}

/* One source as a small machine of its own, arrays of bool, no bit sets. */
struct model_source {
	unsigned int priority;
	bool level, pending, claimed, enabled[2], again;
};

static struct model_source m[32];
static unsigned int m_threshold[2];

static void model_gateway(void)
{
	for (unsigned int s = 1; s < 32; s++)
		if ((m[s].level || m[s].again) && !m[s].claimed) {
			m[s].pending = true;
			m[s].again = false;
		}
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

	switch (next(9)) {
	case 8:
		request(s);
		m[s].again = true;
		break;
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
		set_level(s, v != 0);
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
		assert_int_equal(completed, m[s].enabled[c] && m[s].claimed ? 1u << s : 0);
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

/* --- every state of two sources, two contexts and priorities 0 to 1 ---------------------- */

#define SOURCE_BITS 7u
#define ALL_STATES  (1u << (2 * SOURCE_BITS + 2))
#define ACTIONS     24u

static const unsigned int two[2] = {3, 31};

/* Makes both the controller and the model what `n` says. */
static void become(uint32_t n)
{
	vplic_init(&p, 2);
	memset(m, 0, sizeof(m));
	for (unsigned int i = 0; i < 2; i++, n >>= SOURCE_BITS) {
		unsigned int s = two[i];

		m[s] = (struct model_source){.priority = n & 1,
		                             .level = n & 2,
		                             .pending = n & 4,
		                             .claimed = n & 8,
		                             .enabled = {n & 16, n & 32},
		                             .again = n & 64};
		p.priority[s] = (uint8_t)m[s].priority;
		p.level |= (uint32_t)m[s].level << s;
		p.pending |= (uint32_t)m[s].pending << s;
		p.claimed |= (uint32_t)m[s].claimed << s;
		p.asked |= (uint32_t)m[s].again << s;
		for (unsigned int c = 0; c < 2; c++)
			p.enable[c] |= (uint32_t)m[s].enabled[c] << s;
	}
	for (unsigned int c = 0; c < 2; c++)
		p.threshold[c] = (uint8_t)(m_threshold[c] = n >> c & 1);
}

static uint32_t model_number(void)
{
	uint32_t n = m_threshold[1] << 1 | m_threshold[0];

	for (unsigned int i = 2; i-- > 0;) {
		const struct model_source *s = &m[two[i]];

		n = n << SOURCE_BITS | s->priority | (uint32_t)s->level << 1 |
		    (uint32_t)s->pending << 2 | (uint32_t)s->claimed << 3 |
		    (uint32_t)s->enabled[0] << 4 | (uint32_t)s->enabled[1] << 5 |
		    (uint32_t)s->again << 6;
	}
	return n;
}

static uint32_t number(void)
{
	uint32_t n = (uint32_t)p.threshold[1] << 1 | p.threshold[0];

	for (unsigned int i = 2; i-- > 0;) {
		unsigned int s = two[i];

		n = n << SOURCE_BITS | p.priority[s] | (p.level >> s & 1) << 1 |
		    (p.pending >> s & 1) << 2 | (p.claimed >> s & 1) << 3 |
		    (p.enable[0] >> s & 1) << 4 | (p.enable[1] >> s & 1) << 5 |
		    (p.asked >> s & 1) << 6;
	}
	return n;
}

/* What may happen to one source. `c` is a context, and also a new level or priority. */
static void act_on(unsigned int s, unsigned int what, unsigned int c)
{
	switch (what) {
	case 0:
		wr(PRIORITY(s), c);
		m[s].priority = c;
		break;
	case 1:
		set_level(s, c);
		m[s].level = c;
		break;
	case 2:
		wr(ENABLE(c), p.enable[c] ^ 1u << s);
		assert_true(changed & VPLIC_ENABLES);
		m[s].enabled[c] = !m[s].enabled[c];
		break;
	case 3:
		wr(CLAIM(c), s);
		assert_int_equal(completed, m[s].enabled[c] && m[s].claimed ? 1u << s : 0);
		if (m[s].enabled[c])
			m[s].claimed = false;
		break;
	default: /* c is not used, so each state sees it twice */
		request(s);
		m[s].again = true;
		break;
	}
}

static void act(unsigned int n)
{
	unsigned int c = n & 1, best;

	n >>= 1;
	if (n < 10) {
		act_on(two[n / 5], n % 5, c);
	} else if (n == 10) {
		wr(THRESHOLD(c), !m_threshold[c]);
		m_threshold[c] = !m_threshold[c];
	} else {
		best = model_best(c);
		assert_int_equal(rd(CLAIM(c)), best);
		m[best].claimed = best != 0;
		m[best].pending = false;
	}
	model_gateway();
}

static void check_state(void)
{
	assert_int_equal(number(), model_number());
	for (unsigned int c = 0; c < 2; c++)
		assert_int_equal(vplic_output(&p, c), model_output(c));
	for (unsigned int i = 0; i < 2; i++) {
		const bool *enabled = m[two[i]].enabled;

		assert_int_equal(vplic_context(&p, two[i]), enabled[0] ? 0 : enabled[1] ? 1 : -1);
	}
}

static void every_state(void **state)
{
	static bool seen[ALL_STATES];
	static uint32_t list[ALL_STATES];
	uint32_t n = 1;

	(void)state;
	memset(m_threshold, 0, sizeof(m_threshold));
	list[0] = 0;
	seen[0] = true;
	for (uint32_t i = 0; i < n; i++) {
		for (unsigned int a = 0; a < ACTIONS; a++) {
			become(list[i]);
			act(a);
			check_state();
			if (!seen[number()]) {
				seen[number()] = true;
				list[n++] = number();
			}
		}
	}
	/* Thresholds; of each source priority and enables, and 7 states of the gateway: claimed
	 * with any level, asked for again or not; not claimed, and then pending if the level is
	 * high. */
	assert_int_equal(n, 4 * (2 * 4 * 7) * (2 * 4 * 7));
}

/* The short way to a high level is the same as the other, in any state. */
static void raise_a_level(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		struct vplic one = p, other;
		unsigned int source = 1 + i % 31;
		uint32_t outputs, told;

		for (uint8_t *byte = (uint8_t *)&one; byte < (uint8_t *)(&one + 1); byte++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			*byte = (uint8_t)(seed >> 56);
		}
		one.n_contexts = 1 + i % 8;
		one.asked &= one.claimed;
		one.pending |= one.level & ~one.claimed;
		for (unsigned int s = 0; s <= VPLIC_SOURCES; s++)
			one.priority[s] &= 7;
		for (unsigned int ctx = 0; ctx < VPLIC_MAX_CONTEXTS; ctx++)
			one.threshold[ctx] &= 7;
		other = one;
		outputs = 0;
		for (unsigned int ctx = 0; ctx < 8; ctx++)
			outputs |= (uint32_t)vplic_output(&one, ctx) << ctx;
		vplic_set_level(&one, source, true);
		told = vplic_raise(&other, source);
		other.changed = one.changed;
		assert_memory_equal(&one, &other, sizeof(one));
		for (unsigned int ctx = 0; ctx < 8; ctx++)
			assert_int_equal(vplic_output(&one, ctx), (outputs | told) >> ctx & 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(registers, setup),
	    cmocka_unit_test_setup(holes, setup),
	    cmocka_unit_test_setup(raise_a_level, setup),
	    cmocka_unit_test_setup(number_of_contexts, setup),
	    cmocka_unit_test_setup(contexts_in_pairs, setup),
	    cmocka_unit_test_setup(level_claim_complete, setup),
	    cmocka_unit_test_setup(forwarded_request_stays, setup),
	    cmocka_unit_test_setup(priority_and_threshold, setup),
	    cmocka_unit_test_setup(two_contexts_one_claim, setup),
	    cmocka_unit_test_setup(completions_that_do_not_count, setup),
	    cmocka_unit_test_setup(requests, setup),
	    cmocka_unit_test_setup(requests_of_no_source, setup),
	    cmocka_unit_test_setup(who_has_it_enabled, setup),
	    cmocka_unit_test_setup(random_against_model, setup),
	    cmocka_unit_test(every_state),
	};

	return cmocka_run_group_tests_name("vplic", tests, NULL, NULL);
}
