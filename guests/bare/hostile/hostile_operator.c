/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM that may only watch, and tries by its function all that it must not do. Each part prints how
 * many of its attempts were let through.
 *   of=NAME     a VM that is not in its list
 *   rounds=N    how often all of it
 */
#include "guests/bare/bare.h"
#include "guests/lib/operator.h"

#define TEXT_BYTES 120U
#define FLOOD      200U

static struct operator_function function;
static const char *other; /* its name ends with a space or NUL */
static uint64_t tag;

/* --- registers: other widths, misaligned, atomics --------------------------------------------- */

static const uint32_t loads[] = {
    0x00054503, /* lbu a0, 0(a0) */
    0x00055503, /* lhu */
    0x00053503, /* ld */
    0x00154503, /* lbu a0, 1(a0) */
    0x00156503, /* lwu a0, 1(a0) */
    0x00256503, /* lwu a0, 2(a0) */
    0x00453503, /* ld a0, 4(a0) */
};
static const uint32_t stores[] = {
    0x00a50023, /* sb a0, 0(a0) */
    0x00a51023, /* sh */
    0x00a53023, /* sd */
    0x00a500a3, /* sb a0, 1(a0) */
    0x00a520a3, /* sw a0, 1(a0) */
    0x00a52123, /* sw a0, 2(a0) */
    0x00a521a3, /* sw a0, 3(a0) */
    0x00a53027, /* fsd fa0, 0(a0) */
    0x00a5252f, /* amoadd.w a0, a0, (a0) */
    0x08a5352f, /* amoswap.d a0, a0, (a0) */
    0x1005252f, /* lr.w a0, (a0) */
    0x18a5252f, /* sc.w a0, a0, (a0) */
};

/* What a load leaves in a0; 0 if it traps. */
static uint64_t loaded(uint32_t insn, uint64_t at)
{
	uint64_t value;

	trap_guard();
	value = insn_run(insn, at);
	return trap_unguard().cause == ~0UL ? value : 0;
}

static uint64_t registers(void)
{
	const struct operator_memory *m = function.memory;
	uint32_t written = m->answers_written, taken = m->requests_taken;
	uint64_t passed = 0;

	operator_write(&function, OPERATOR_MASK, 0);
	operator_write(&function, OPERATOR_STATE, 1);
	for (uint64_t at = 0; at < 0x208; at += 4) {
		for (unsigned i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
			passed += loaded(loads[i], function.page + at) != 0;
		for (unsigned i = 0; i < sizeof(stores) / sizeof(stores[0]); i++)
			insn_passes(stores[i], function.page + at);
		/* Those that only tell, and those that are not there. */
		if (at > OPERATOR_MASK) {
			uint32_t before = operator_in(function.page + at);

			*(volatile uint32_t *)(function.page + at) = ~before;
			passed += operator_in(function.page + at) != before;
		}
	}
	return passed + operator_read(&function, OPERATOR_MASK) +
	       operator_read(&function, OPERATOR_STATE) + (m->answers_written != written) +
	       (m->requests_taken != taken);
}

/* --- memory: what only Tally writes, and what is not there -------------------------------------
 */

static const uint32_t writes[] = {
    0x00050023, /* sb zero, 0(a0) */
    0x00051023, /* sh */
    0x00052023, /* sw */
    0x00053023, /* sd */
    0x00a53027, /* fsd fa0, 0(a0) */
    0x0005352f, /* amoadd.d a0, zero, (a0) */
    0x0805252f, /* amoswap.w a0, zero, (a0) */
};

#define STORE_FAULT 7UL
#define LOAD_FAULT  5UL

static uint64_t cause_of(uint32_t insn, uint64_t at)
{
	trap_guard();
	insn_run(insn, at);
	return trap_unguard().cause;
}

static uint64_t written(uint64_t offset)
{
	uint64_t passed = 0, at = (uint64_t)function.memory + offset;

	for (unsigned i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
		passed += cause_of(writes[i], at) != STORE_FAULT;
	return passed + insn_passes(0x0045200f /* cbo.zero (a0) */, at);
}

static uint64_t memory(void)
{
	uint32_t rings = operator_read(&function, OPERATOR_RINGS);
	uint64_t passed = 0, end = OPERATOR_RINGS_AT + rings * OPERATOR_RING_WORDS * 8UL;

	for (uint64_t at = 0; at < 0x1000; at += 0x3f8)
		passed += written(at);
	for (uint64_t at = 0x4000; at < (rings ? 0x9000 : 0x8000); at += 0x7f8)
		passed += written(at);
	for (uint64_t at = OPERATOR_RINGS_AT; at < end; at += 0xff8)
		passed += written(at);
	for (uint64_t at = rings ? 0xa000 : 0x8000; at < 0x400000;
	     at += at < 0x10000 ? 0x1000 : 0x8000) {
		if (at >= OPERATOR_RINGS_AT && at < end)
			continue;
		passed += written(at);
		passed += cause_of(0x00053503 /* ld a0, 0(a0) */, (uint64_t)function.memory + at) !=
		          LOAD_FAULT;
	}
	return passed;
}

/* --- commands ----------------------------------------------------------------------------------
 */

static bool names_other(const char *text)
{
	for (; *text; text++) {
		uint32_t n = 0;

		while (other[n] > ' ' && text[n] == other[n])
			n++;
		if (n && other[n] <= ' ')
			return true;
	}
	return false;
}

/* Puts a request of so many bytes into the ring; `%` stands for the name of the other VM. */
static void ask(const char *bytes, uint32_t n)
{
	struct operator_memory *m = function.memory;
	uint32_t at = m->requests_written;
	char *to = m->requests[at % OPERATOR_REQUESTS].text;
	uint32_t put = 0;

	m->requests[at % OPERATOR_REQUESTS].tag = ++tag;
	for (uint32_t i = 0; i < n && put < TEXT_BYTES; i++) {
		if (bytes[i] != '%') {
			to[put++] = bytes[i];
			continue;
		}
		for (const char *c = other; *c > ' ' && put < TEXT_BYTES; c++)
			to[put++] = *c;
	}
	if (put < TEXT_BYTES)
		to[put] = '\0';
	__atomic_store_n(&m->requests_written, at + 1, __ATOMIC_RELEASE);
}

struct told {
	uint32_t lines, ends, status;
	bool other; /* a line has its name, and is no refusal */
};

/* Takes what there is, and rings until no more comes. */
static struct told take_answers(void)
{
	const struct operator_answer *a;
	struct told t = {.lines = 0};
	bool named = false;

	do {
		operator_ring(&function);
		for (; (a = operator_next(&function)); operator_took(&function)) {
			if (a->kind == OPERATOR_END) {
				t.ends++;
				t.status = a->status;
				t.other |= named && !a->status;
				named = false;
				continue;
			}
			t.lines++;
			named |= names_other(a->text);
		}
	} while (__atomic_load_n(&function.memory->requests_taken, __ATOMIC_ACQUIRE) !=
	             function.memory->requests_written ||
	         (t.lines && !t.ends));
	return t;
}

/* All that is refused. */
static const char *const refused[] = {"start %",
                                      "stop %",
                                      "restart %",
                                      "move % 0 0",
                                      "crash %",
                                      "crash % --json",
                                      "observe % instructions",
                                      "observe % 0x2:u --json",
                                      "sample % 0x2 100",
                                      "sample % 0x2 1000hz 64",
                                      "account %",
                                      "accounts",
                                      "accounts --json",
                                      "trace",
                                      "trace --json",
                                      "trace on",
                                      "trace on %",
                                      "trace off",
                                      "stays on",
                                      "stays on %",
                                      "stays off",
                                      "samples",
                                      "poweroff",
                                      "frames on",
                                      "frames off",
                                      "keys",
                                      "exit",
                                      "start beta",
                                      "stop beta",
                                      "restart beta",
                                      "move beta 0 0",
                                      "crash beta",
                                      "account beta",
                                      "observed 1",
                                      "unobserve 1",
                                      "observed 16777217",
                                      "unobserve 16777217",
                                      "unobserve 4294967295",
                                      "unobserve 0xffffffffffffffff",
                                      "vms %",
                                      "exits %",
                                      "pmu --json --json",
                                      "help %",
                                      "observe",
                                      "observe %",
                                      "sample",
                                      "observe % x y z 1 2 3 4 5",
                                      "STOP %",
                                      "stop\t%",
                                      "stop %\n",
                                      "stop %\r",
                                      "\x14=1 stop %\r",
                                      "\x14\x14stop %",
                                      "\x1b[2J",
                                      "\xff\xfe\x80",
                                      "stop %;stop %",
                                      "\x7f",
                                      "vms\x01",
                                      "nonsense",
                                      "%",
                                      "--json"};
/* What is done, and tells nothing of the other VM. */
static const char *const done[] = {"",
                                   "   ",
                                   "vms",
                                   "vms --json",
                                   "exits",
                                   "exits --json",
                                   "pmu",
                                   "pmu --json",
                                   "observed",
                                   "observed --json",
                                   "help",
                                   "observe beta 0x2:u",
                                   "observe beta 0xf0109 --json",
                                   "unobserve"};

static uint32_t length(const char *text)
{
	return (uint32_t)str_len(text);
}

/* Texts of 65 characters to all 120, without a NUL at last. Each begins as a command that is
 * carried out if it is cut. */
static uint64_t too_long(void)
{
	char text[TEXT_BYTES];
	uint64_t passed = 0;

	for (uint32_t i = 0; i < TEXT_BYTES; i++)
		text[i] = i < 3 ? "vms"[i] : ' ';
	for (uint32_t n = 65; n <= TEXT_BYTES; n++) {
		struct told t;

		ask(text, n);
		t = take_answers();
		passed += t.ends != 1 || !t.status || t.lines != 1;
	}
	ask(text, 64);
	return passed + (take_answers().status != 0);
}

static uint64_t commands(void)
{
	uint64_t passed = too_long();

	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct told t;

		ask(refused[i], length(refused[i]));
		t = take_answers();
		if (t.ends == 1 && t.status && !t.other)
			continue;
		passed++;
		print("hostile: WRONG: %s\n", refused[i]);
	}
	for (unsigned i = 0; i < sizeof(done) / sizeof(done[0]); i++) {
		struct told t;

		ask(done[i], length(done[i]));
		t = take_answers();
		if (t.ends == 1 && !t.status && !t.other)
			continue;
		passed++;
		print("hostile: WRONG: %s\n", done[i]);
	}
	return passed;
}

/* --- indices, and floods -----------------------------------------------------------------------
 */

static const uint32_t far[] = {65, 66, 1000, 0x7fffffff, 0x80000000, 0xffffff00, 0xffffffff};

/* Returns whether the next request has its own answer, and no other. */
static bool goes_on(void)
{
	struct told t;

	ask("observed", length("observed"));
	t = take_answers();
	return t.ends == 1 && !t.status;
}

/* All requests are dropped, and Tally's index says so. */
static uint64_t far_ahead(uint32_t by)
{
	struct operator_memory *m = function.memory;
	uint32_t written = m->answers_written, claimed = m->requests_taken + by;
	uint64_t passed = 0;

	for (uint32_t i = 0; i < OPERATOR_REQUESTS; i++)
		m->requests[i] = (struct operator_request){.tag = i, .text = "vms"};
	__atomic_store_n(&m->requests_written, claimed, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < FLOOD; i++)
		operator_ring(&function);
	passed += m->answers_written != written;
	passed += m->requests_taken != claimed;
	return passed + !goes_on();
}

/* The ring counts as full: nothing is written until the index is right again. */
static uint64_t taken_wrong(uint32_t by)
{
	struct operator_memory *m = function.memory;
	uint32_t right = m->answers_taken, before = m->answers_written;
	uint64_t passed = 0;

	__atomic_store_n(&m->answers_taken, right + by, __ATOMIC_RELEASE);
	ask("vms", 3);
	for (uint32_t i = 0; i < FLOOD; i++)
		operator_ring(&function);
	passed += m->answers_written != before;
	__atomic_store_n(&m->answers_taken, right, __ATOMIC_RELEASE);
	return passed + (take_answers().ends != 1) + !goes_on();
}

/* Of its own samples some are lost or replaced. No index of Tally's follows the guest's. */
static uint64_t samples_taken(void)
{
	struct operator_memory *m = function.memory;
	uint64_t last = 0, passed = 0;

	if (!operator_read(&function, OPERATOR_RINGS))
		return 0;
	ask("sample beta 0x2 100", length("sample beta 0x2 100"));
	passed += take_answers().status != 0;
	for (unsigned i = 0; i < 64; i++) {
		uint64_t now;

		m->samples_taken[0].words =
		    i % 2 ? (1UL << i) - 1 : m->samples_written[0].words - i;
		for (volatile uint32_t n = 0; n < 200; n++)
			;
		now = m->samples_written[0].words;
		passed += now < last || now - last > 1UL << 20;
		last = now;
	}
	ask("unobserve", length("unobserve"));
	return passed + (take_answers().status != 0);
}

static uint64_t indices(void)
{
	uint64_t passed = 0;

	for (unsigned i = 0; i < sizeof(far) / sizeof(far[0]); i++)
		passed += far_ahead(far[i]);
	/* One more than was written, fewer than there are places for, and others. */
	passed += taken_wrong(1) + taken_wrong(0x80000000) + taken_wrong(-OPERATOR_ANSWERS);
	return passed + samples_taken();
}

static uint64_t doorbells(void)
{
	uint32_t written = function.memory->answers_written;

	for (uint32_t i = 0; i < 10 * FLOOD; i++)
		operator_write(&function, OPERATOR_DOORBELL, i);
	return function.memory->answers_written != written;
}

int hostile_operator(uint64_t hartid)
{
	uint64_t rounds = bootarg_num("rounds", 1), passed = 0;

	(void)hartid;
	csr_set(sstatus, 3UL << 13); /* fsd */
	other = bootarg("of");
	if (!other || !operator_find(&function)) {
		print("hostile: no function, or no name\n");
		return 1;
	}
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t parts[] = {registers(), memory(), commands(), indices(), doorbells()};

		for (unsigned n = 0; n < sizeof(parts) / sizeof(parts[0]); n++)
			passed += parts[n];
		if (i)
			continue;
		print("hostile: registers %u, memory %u, commands %u, indices %u, ", parts[0],
		      parts[1], parts[2], parts[3]);
		print("floods %u let through\n", parts[4]);
	}
	print("hostile: %u rounds, %u let through\n", rounds, passed);
	return 0;
}
