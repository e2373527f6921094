/* SPDX-License-Identifier: Apache-2.0 */
/* All of core/ on machines of one to four harts, one machine after the other, each by its seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/host/machine/machine.h"

#define STEPS   300000UL
#define MACHINE 8000UL /* steps of one machine at most */

/* core/ has its state in static variables, so each machine is a process. */
static struct result {
	uint64_t steps;
	char why[200];
	struct machine_waits waits;
} * result;

/* Of all machines. */
static struct machine_waits all_waits;

static void one_machine(uint64_t seed, uint64_t steps)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		abort();
	if (child == 0) {
		machine_run(seed, steps);
		result->steps = machine.steps;
		result->waits = machine.waits;
		memcpy(result->why, machine.why, sizeof(result->why));
		exit(0);
	}
	*result->why = '\0';
	result->steps = 0;
	if (waitpid(child, &status, 0) < 0)
		abort();
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		snprintf(result->why, sizeof(result->why), "the machine ended by %x", status);
}

static void add_waits(const struct machine_waits *w)
{
	all_waits.all += w->all;
	all_waits.in_windows += w->in_windows;
	all_waits.with_budget += w->with_budget;
	all_waits.spent += w->spent;
	all_waits.stopped += w->stopped;
	all_waits.moved += w->moved;
}

static void show_waits(void)
{
	const struct machine_waits *w = &all_waits;

	printf("vcpus waited for the serial line %lu times: %lu in windows, %lu with a budget, "
	       "%lu until it was spent; %lu stopped and %lu moved\n",
	       w->all, w->in_windows, w->with_budget, w->spent, w->stopped, w->moved);
}

/* Returns false if something did not hold, and says what. */
static bool machines(uint64_t steps, uint64_t seed)
{
	uint64_t done = 0;

	for (; done < steps; done += result->steps + 100, seed++) {
		one_machine(seed, steps - done < MACHINE ? steps - done : MACHINE);
		add_waits(&result->waits);
		if (!*result->why)
			continue;
		printf("%lu %s (core %lu %lu)\n", done + result->steps, result->why, seed,
		       result->steps);
		return false;
	}
	return true;
}

static void test_machines(void **state)
{
	const char *steps = getenv("CORE_STEPS");
	const char *seed = getenv("CORE_SEED");

	(void)state;
	assert_true(
	    machines(steps ? strtoull(steps, NULL, 0) : STEPS, seed ? strtoull(seed, NULL, 0) : 1));
	show_waits();
	/* Each kind of wait that machines of the first seeds meet. */
	if (!steps && !seed) {
		assert_true(all_waits.all);
		assert_true(all_waits.in_windows);
		assert_true(all_waits.with_budget);
		assert_true(all_waits.stopped);
	}
}

static int hunt(uint64_t steps, uint64_t seed)
{
	if (!machines(steps, seed))
		return 1;
	show_waits();
	return 0;
}

static int usage(void)
{
	fputs("usage: core [--hunt STEPS SEED | --one SEED STEPS]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines)};

	result =
	    mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED)
		abort();
	if (argc == 1)
		return cmocka_run_group_tests(tests, NULL, NULL);
	if (argc != 4)
		return usage();
	uint64_t a = strtoull(argv[2], NULL, 0), b = strtoull(argv[3], NULL, 0);

	if (strcmp(argv[1], "--hunt") == 0)
		return hunt(a, b);
	if (strcmp(argv[1], "--one") != 0)
		return usage();
	const struct machine_kind *k = &machine.kind;

	operator_shows = true;
	machine_run(a, b);
	printf("\n%u harts, %u files each, %u VMs:%s%s%s%s%s%s%s\n", k->harts, k->files, k->n_vms,
	       k->sstc ? " sstc" : "", k->vectors ? " vectors" : "",
	       k->delegated ? " delegated" : "", k->no_vmids ? " no-vmids" : "",
	       k->roam ? " roam" : "", k->hart_flags ? " hart-flags" : "",
	       k->firmware_fails ? " firmware-fails" : "");
	printf("%lu steps, idle %lu times: %s\n", machine.steps, machine.idle,
	       *machine.why ? machine.why : "no difference");
	return *machine.why != '\0';
}
