/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that controls another VM by Tally's own SBI extension (docs/sbi-tally.md), step by step:
 * what each call returns, and the state that the other VM comes to.
 *   of=NAME     the VM that it controls, which runs until it is stopped
 *   first=1     the other VM waits for its first start
 *   only=1      nothing but that start
 *   shutdown=   it asks for a shutdown, and nothing else: of a VM that can be asked (`yes`), that
 *               cannot (`none`), that has not opened its console (`closed`)
 *   apart=1     on a hart of its own, so that the other VM changes meanwhile: nothing is asked of
 *               what it is on its way
 */
#include "guests/bare/bare.h"
#include "guests/bare/pmu/check.h"

enum { OFF, RUNNING = 2 };

/* A VM's name as the calls have it. */
struct name {
	uint64_t part[2];
};

static struct name name_of(const char *text)
{
	struct name n = {{0, 0}};

	for (unsigned i = 0; i < sizeof(n.part) && *text && *text != ' '; i++, text++)
		n.part[i / 8] |= (uint64_t)*text << 8 * (i % 8);
	return n;
}

static struct sbiret call(unsigned long fid, struct name n)
{
	return sbi_call(SBI_EXT_TALLY, fid, n.part[0], n.part[1], 0, 0, 0, 0);
}

/* Waits until the VM has this state, in such a life, and checks that it comes to it. */
static void await(struct name n, uint64_t state, uint64_t life)
{
	struct sbiret r = call(SBI_TALLY_VM_STATE, n);

	for (unsigned i = 0; i < 10000 && r.value != (life << 8 | state); i++) {
		sleep_for(10000);
		r = call(SBI_TALLY_VM_STATE, n);
	}
	check_value("life and state", r, life << 8 | state);
}

/* Whether or not there is such a VM. */
static void not_entitled(struct name mine)
{
	static const char *const others[] = {"",     "alpha", "gamma", "nobody",
	                                     "Beta", "bet",   "beta-"};
	struct name n;

	for (unsigned long fid = SBI_TALLY_VM_STATE; fid <= SBI_TALLY_RESTART; fid++) {
		for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			check_error(others[i], call(fid, name_of(others[i])), SBI_ERR_DENIED);
		n = mine;
		n.part[1] |= 1UL << 63;
		check_error("more behind the name", call(fid, n), SBI_ERR_DENIED);
	}
	check_error("no such function", call(SBI_TALLY_SHUTDOWN + 1, mine), SBI_ERR_NOT_SUPPORTED);
	check_error("no such function", call(0xbad, mine), SBI_ERR_NOT_SUPPORTED);
	check_error("nobody waits for its ring", call(SBI_TALLY_RING, mine), SBI_ERR_NOT_SUPPORTED);
}

/* Of a VM that boot has not started. */
static void start_first(struct name n)
{
	await(n, OFF, 0);
	check_error("stop what was never on", call(SBI_TALLY_STOP, n), SBI_ERR_ALREADY_STOPPED);
	check_value("the first start", call(SBI_TALLY_START, n), 0);
}

static struct sbiret ask(struct name n, uint64_t seconds)
{
	return sbi_call(SBI_EXT_TALLY, SBI_TALLY_SHUTDOWN, n.part[0], n.part[1], seconds, 0, 0, 0);
}

static void ask_for_shutdown(struct name n)
{
	check_error("of another", ask(name_of("alpha"), 30), SBI_ERR_DENIED);
	check_error("too soon", ask(n, 4), SBI_ERR_INVALID_PARAM);
	check_error("too late", ask(n, 3601), SBI_ERR_INVALID_PARAM);
	check_error("no number of seconds", ask(n, 1UL << 32 | 30), SBI_ERR_INVALID_PARAM);
	if (bootarg_is("shutdown", "none")) {
		check_error("none", ask(n, 30), SBI_ERR_NOT_SUPPORTED);
	} else if (bootarg_is("shutdown", "closed")) {
		check_error("closed", ask(n, 30), SBI_ERR_FAILED);
	} else {
		check_value("asked", ask(n, 5), 0);
		check_error("asked again", ask(n, 5), SBI_ERR_INVALID_STATE);
		await(n, OFF, 1);
		check_error("off", ask(n, 5), SBI_ERR_ALREADY_STOPPED);
	}
}

int warden(uint64_t hartid)
{
	const char *of = bootarg("of");
	bool apart = bootarg_num("apart", 0);
	struct name n;

	(void)hartid;
	if (!of) {
		check("no extension",
		      sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_TALLY, 0, 0, 0, 0, 0)
		          .value,
		      0);
		check_error("no call", call(SBI_TALLY_VM_STATE, name_of("beta")),
		            SBI_ERR_NOT_SUPPORTED);
		return check_end("warden");
	}
	n = name_of(of);
	check("the extension",
	      sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_TALLY, 0, 0, 0, 0, 0).value,
	      1);
	if (bootarg("shutdown")) {
		await(n, RUNNING, 1);
		sleep_for(1000000);
		ask_for_shutdown(n);
		return check_end("warden");
	}
	not_entitled(n);
	if (bootarg_num("first", 0))
		start_first(n);
	await(n, RUNNING, 1);
	if (bootarg_num("only", 0))
		return check_end("warden");
	sleep_for(1000000);
	check_error("start again", call(SBI_TALLY_START, n), SBI_ERR_ALREADY_STARTED);
	check_value("stop", call(SBI_TALLY_STOP, n), 0);
	for (unsigned long fid = SBI_TALLY_START; fid <= SBI_TALLY_RESTART && !apart; fid++)
		check_error("while it ends", call(fid, n), SBI_ERR_INVALID_STATE);
	await(n, OFF, 1);
	check_error("stop again", call(SBI_TALLY_STOP, n), SBI_ERR_ALREADY_STOPPED);
	check_value("start", call(SBI_TALLY_START, n), 0);
	await(n, RUNNING, 2);
	sleep_for(1000000);
	check_value("restart", call(SBI_TALLY_RESTART, n), 0);
	if (!apart)
		check_error("restart again", call(SBI_TALLY_RESTART, n), SBI_ERR_INVALID_STATE);
	await(n, RUNNING, 3);
	sleep_for(1000000);
	check_value("stop it", call(SBI_TALLY_STOP, n), 0);
	await(n, OFF, 3);
	check_value("restart from off", call(SBI_TALLY_RESTART, n), 0);
	await(n, RUNNING, 4);
	sleep_for(1000000);
	check_value("the last stop", call(SBI_TALLY_STOP, n), 0);
	await(n, OFF, 4);
	return check_end("warden");
}
