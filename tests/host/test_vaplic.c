/* SPDX-License-Identifier: Apache-2.0 */
/* The APLIC of a guest with an AIA: rules of the AIA's chapter 4 one by one, then random accesses,
 * after each of which the promises hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/devices/vaplic.h"
#include "tests/host/chance.h"

#define DOMAINCFG    0x0000u
#define SOURCECFG(s) (4u * (s))
#define SETIP        0x1c00u
#define SETIPNUM     0x1cdcu
#define CLRIP        0x1d00u
#define CLRIPNUM     0x1ddcu
#define SETIE        0x1e00u
#define SETIENUM     0x1edcu
#define CLRIE        0x1f00u
#define CLRIENUM     0x1fdcu
#define SETIPNUMLE   0x2000u
#define SETIPNUMBE   0x2004u
#define GENMSI       0x3000u
#define TARGET(s)    (0x3000u + 4u * (s))
#define IE           0x100u
#define FOREIGN      0x6u /* sources 1 and 2 */
#define STEPS        300000u

static struct vaplic a;
static struct vaplic_change change;
static struct vaplic_message message;

static int setup(void **state)
{
	(void)state;
	memset(&a, 0xa5, sizeof(a));
	vaplic_init(&a, 2, FOREIGN);
	return 0;
}

static uint32_t rd(uint32_t offset)
{
	return vaplic_read(&a, offset, 0);
}

static void wr(uint32_t offset, uint32_t value)
{
	vaplic_write(&a, offset, value, &change);
}

/* One message, and no other. */
static void sent(unsigned int vcpu, uint32_t identity)
{
	assert_true(vaplic_take(&a, &message));
	assert_int_equal(message.vcpu, vcpu);
	assert_int_equal(message.identity, identity);
	assert_false(vaplic_take(&a, &message));
}

static void silent(void)
{
	assert_false(vaplic_take(&a, &message));
}

static void use(unsigned int source, uint32_t mode, unsigned int vcpu, uint32_t identity)
{
	wr(SOURCECFG(source), mode);
	wr(TARGET(source), vcpu << 18 | identity);
	wr(SETIENUM, source);
	wr(DOMAINCFG, IE);
}

static void registers(void **state)
{
	(void)state;
	assert_int_equal(rd(DOMAINCFG), 0x80000004u);
	wr(DOMAINCFG, ~0u);
	assert_int_equal(rd(DOMAINCFG), 0x80000104u);
	for (unsigned int s = 1; s <= 31; s++) {
		/* Of an inactive source all is 0. */
		wr(TARGET(s), 1u << 18 | 5);
		wr(SETIENUM, s);
		wr(SETIPNUM, s);
		assert_int_equal(rd(TARGET(s)) | rd(SETIE) | rd(SETIP) | change.set, 0);
		wr(SOURCECFG(s), 0x400u | 5);
		assert_int_equal(rd(SOURCECFG(s)), 5);
		wr(TARGET(s), 1u << 18 | 0x3f000u | 0x7ff);
		assert_int_equal(rd(TARGET(s)), 1u << 18 | 0x7ff);
		/* There is no vcpu 2. */
		wr(TARGET(s), 2u << 18 | 1);
		assert_int_equal(rd(TARGET(s)), 1);
		wr(SOURCECFG(s), s % 2 ? 2 : 3);
		assert_int_equal(rd(SOURCECFG(s)), 0);
		assert_int_equal(rd(TARGET(s)), 0);
	}
	/* What does not exist, is misaligned or is write-only. */
	wr(SOURCECFG(32), 4);
	wr(TARGET(32), 4);
	wr(SOURCECFG(4) + 1, 4);
	wr(SETIP + 4, ~0u);
	assert_int_equal(rd(SOURCECFG(32)) | rd(TARGET(32)) | rd(SOURCECFG(4)) | rd(SETIP + 4), 0);
	assert_int_equal(rd(SETIPNUM) | rd(CLRIE) | rd(GENMSI) | rd(SETIPNUMLE) | rd(0x3ffc), 0);
}

static void an_edge(void **state)
{
	(void)state;
	use(5, VAPLIC_RISING, 1, 9);
	silent();
	vaplic_set_level(&a, 5, true);
	sent(1, 9);
	vaplic_set_level(&a, 5, true);
	vaplic_set_level(&a, 5, false);
	silent();
	vaplic_set_level(&a, 5, true);
	vaplic_set_level(&a, 5, false);
	sent(1, 9);
	wr(SOURCECFG(5), VAPLIC_FALLING);
	vaplic_set_level(&a, 5, true);
	silent();
	vaplic_set_level(&a, 5, false);
	sent(1, 9);
}

/* Each of the three switches; what came meanwhile is sent then. */
static void off_and_on(void **state)
{
	(void)state;
	use(5, VAPLIC_RISING, 0, 9);
	wr(CLRIENUM, 5);
	vaplic_set_level(&a, 5, true);
	assert_int_equal(rd(SETIP), 1u << 5);
	silent();
	wr(SETIE, 1u << 5);
	sent(0, 9);
	wr(DOMAINCFG, 0);
	vaplic_set_level(&a, 5, false);
	vaplic_set_level(&a, 5, true);
	silent();
	wr(DOMAINCFG, IE);
	sent(0, 9);
	wr(CLRIE, 1u << 5);
	wr(SETIP, 1u << 5);
	wr(SOURCECFG(5), 0);
	wr(SOURCECFG(5), VAPLIC_RISING);
	wr(SETIENUM, 5);
	silent();
}

/* 4.7 and 4.9.2: one message for each rise; another one when it is asked for and still high. */
static void a_level(void **state)
{
	(void)state;
	use(10, VAPLIC_HIGH, 1, 3);
	vaplic_set_level(&a, 10, true);
	sent(1, 3);
	assert_int_equal(rd(CLRIP), 1u << 10);
	wr(SETIPNUM, 10);
	sent(1, 3);
	wr(CLRIENUM, 10);
	wr(SETIPNUMBE, 10u << 24);
	assert_int_equal(rd(SETIP), 1u << 10);
	vaplic_set_level(&a, 10, false);
	assert_int_equal(rd(SETIP), 0);
	wr(SETIENUM, 10);
	wr(SETIPNUMLE, 10);
	wr(SETIP, 1u << 10);
	silent();
	/* A low one, which becomes active while it is. */
	wr(SOURCECFG(10), VAPLIC_LOW);
	sent(1, 3);
	vaplic_set_level(&a, 10, true);
	assert_int_equal(rd(CLRIP), 0);
	vaplic_set_level(&a, 10, false);
	wr(CLRIPNUM, 10);
	silent();
}

static void detached(void **state)
{
	(void)state;
	use(7, VAPLIC_DETACHED, 0, 1);
	vaplic_set_level(&a, 7, true);
	assert_int_equal(rd(CLRIP), 0);
	silent();
	wr(SETIPNUM, 7);
	sent(0, 1);
	wr(SETIPNUM, 39);
	wr(SETIPNUM, 0);
	wr(SETIPNUMBE, 7);
	silent();
}

static void extempore(void **state)
{
	(void)state;
	wr(GENMSI, 1u << 18 | 77);
	assert_true(change.extempore);
	assert_int_equal(change.message.vcpu, 1);
	assert_int_equal(change.message.identity, 77);
	wr(GENMSI, 0xfffc1001u);
	assert_int_equal(change.message.vcpu, 0);
	assert_int_equal(change.message.identity, 1);
	wr(DOMAINCFG, 0);
	assert_false(change.extempore);
}

/* The host has its wire and its pending bit; the model tells what has changed. */
static void foreign(void **state)
{
	(void)state;
	wr(SOURCECFG(1), VAPLIC_HIGH);
	assert_int_equal(change.routes, 2);
	wr(TARGET(1), 1u << 18 | 4);
	assert_int_equal(change.routes, 2);
	wr(SETIENUM, 1);
	assert_int_equal(change.routes, 2);
	assert_false(vaplic_sends(&a, 1));
	wr(SETIENUM, 1);
	assert_int_equal(change.routes, 0);
	wr(DOMAINCFG, IE);
	assert_int_equal(change.routes, FOREIGN);
	assert_true(vaplic_sends(&a, 1));
	assert_false(vaplic_sends(&a, 2));
	wr(SETIP, ~0u);
	assert_int_equal(change.set, 2);
	wr(CLRIPNUM, 1);
	assert_int_equal(change.clear, 2);
	vaplic_set_level(&a, 1, true);
	assert_int_equal(rd(SETIP) | rd(CLRIP), 0);
	silent();
	assert_int_equal(vaplic_needs(SETIP), VAPLIC_NEEDS_PENDING);
	assert_int_equal(vaplic_needs(CLRIP), VAPLIC_NEEDS_INPUT);
	assert_int_equal(vaplic_needs(SETIE), VAPLIC_NEEDS_NOTHING);
	assert_int_equal(vaplic_read(&a, SETIP, ~0u), FOREIGN);
	assert_int_equal(vaplic_read(&a, CLRIP, 2), 2);
	wr(SOURCECFG(1), VAPLIC_INACTIVE);
	assert_false(vaplic_sends(&a, 1));
}

static void promises(void)
{
	for (unsigned int s = 1; s <= 31; s++) {
		uint32_t bit = 1u << s;

		assert_true(a.vcpu[s] < 2 && a.identity[s] <= 0x7ff);
		assert_true(a.mode[s] <= 7 && a.mode[s] != 2 && a.mode[s] != 3);
		if (!a.mode[s])
			assert_false((a.enabled | a.pending) & bit);
		if (a.mode[s] >= VAPLIC_HIGH && a.pending & bit)
			assert_true(rd(CLRIP) & bit);
	}
	assert_false((a.pending | a.level | a.enabled | change.routes) & 1);
	assert_false((a.pending | a.level) & a.foreign);
	assert_false((change.routes | change.set | change.clear) & ~a.foreign);
}

static void random_accesses(void **state)
{
	static const uint32_t known[] = {DOMAINCFG, SETIP,      SETIPNUM, CLRIP,
	                                 CLRIPNUM,  SETIE,      SETIENUM, CLRIE,
	                                 CLRIENUM,  SETIPNUMLE, GENMSI,   SETIPNUMBE};
	struct chance random = {7};
	uint32_t messages = 0;

	(void)state;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t what = (uint32_t)chance(&random), s = what >> 8 & 31;
		uint32_t value = (uint32_t)chance(&random);
		uint32_t offset = known[what >> 16 & 7];

		change = (struct vaplic_change){0};
		if (what & 1)
			value &= 31;
		if ((what & 6) == 0)
			vaplic_set_level(&a, s, value & 1);
		else if ((what & 6) == 2)
			wr(what & 8 ? SOURCECFG(s) : TARGET(s), value);
		else if ((what & 6) == 4)
			wr(what & 8 ? offset : value & 0x3fff, value);
		else
			(void)rd(value & 0x3fff);
		promises();
		while (vaplic_take(&a, &message)) {
			assert_true(message.vcpu < 2 && message.identity <= 0x7ff);
			messages++;
			promises();
		}
	}
	assert_true(messages > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(registers, setup),
	    cmocka_unit_test_setup(an_edge, setup),
	    cmocka_unit_test_setup(off_and_on, setup),
	    cmocka_unit_test_setup(a_level, setup),
	    cmocka_unit_test_setup(detached, setup),
	    cmocka_unit_test_setup(extempore, setup),
	    cmocka_unit_test_setup(foreign, setup),
	    cmocka_unit_test_setup(random_accesses, setup),
	};

	return cmocka_run_group_tests_name("vaplic", tests, NULL, NULL);
}
