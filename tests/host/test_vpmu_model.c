/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random guests on the fake hart. After every step, all that each vcpu can see of its PMU must be
 * what the model says. Usage:
 *   vpmu_model [STEPS [SEED]]          or VPMU_MODEL_STEPS, VPMU_MODEL_SEED and VPMU_MODEL_JOBS
 *   vpmu_model --record N SEED FILE    writes about N steps for guests/replay;
 *                                      --record-no-instret: where guests do not get instret
 *   vpmu_model --hunt N SEED           prints the step that differs (exit status 1), or none of N
 */
#define _DEFAULT_SOURCE
#include "tests/host/test_vpmu_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/host/epoch.h"
#include "tests/host/record.h"

#define MAX_JOBS 64UL
#define TWINS    64U /* epochs that run with observers and without */
/* Fewer steps than this need not meet everything. */
#define FULL_COVERAGE_STEPS 400000UL

/* What happened in one process, or in all of them. */
struct tally {
	struct world_count world;
	struct random_count random;
	uint64_t seen[SEEN_COUNT];
};
#define TALLY_WORDS (sizeof(struct tally) / sizeof(uint64_t))

static unsigned long wanted_steps;
static unsigned long first_seed = 1;
static unsigned long jobs = 1;
static struct tally *tallies; /* one for each job, in shared memory */
static struct tally total;

static void run_epochs(unsigned long job)
{
	static struct epoch epoch;
	unsigned long combinations = 1UL << RANDOM_SWITCHES;
	unsigned long epochs = (wanted_steps + EPOCH_STEPS - 1) / EPOCH_STEPS;
	uint32_t steps = EPOCH_STEPS;

	/* A short run has all combinations, too. */
	if (epochs < combinations) {
		epochs = combinations;
		steps = (uint32_t)(wanted_steps / combinations + 1);
	}
	for (unsigned long i = job; i < epochs; i += jobs) {
		epoch_random(&epoch, chance_mix(first_seed) + i, (uint32_t)(i % combinations),
		             steps);
		if (world_difference()[0]) {
			fprintf(stderr, "seed %lu, epoch %lu: ", first_seed, i);
			epoch_report(&epoch);
			_exit(1);
		}
	}
	tallies[job].world = world_count;
	tallies[job].random = random_count;
	memcpy(tallies[job].seen, model_seen, sizeof(model_seen));
}

static void add_up(void)
{
	memset(&total, 0, sizeof(total));
	for (unsigned long job = 0; job < jobs; job++)
		for (size_t i = 0; i < TALLY_WORDS; i++)
			((uint64_t *)&total)[i] += ((uint64_t *)&tallies[job])[i];
}

/* Epochs are independent, so they are spread over processes. */
static void test_library_equals_model(void **state)
{
	int failed = 0;

	(void)state;
	tallies = mmap(NULL, jobs * sizeof(*tallies), PROT_READ | PROT_WRITE,
	               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(tallies != MAP_FAILED);
	fflush(NULL);
	for (unsigned long job = 0; job < jobs; job++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			memset(&world_count, 0, sizeof(world_count));
			memset(&random_count, 0, sizeof(random_count));
			memset(model_seen, 0, sizeof(model_seen));
			run_epochs(job);
			/* Not _exit(), because a coverage build must write its data. */
			exit(0);
		}
	}
	for (unsigned long job = 0; job < jobs; job++) {
		int status;

		assert_true(wait(&status) > 0);
		failed += status != 0;
	}
	assert_int_equal(failed, 0);
	add_up();
	print_message("%llu steps, %llu of them calls, %llu switches, %llu overflows\n",
	              (unsigned long long)total.world.steps, (unsigned long long)total.world.calls,
	              (unsigned long long)total.world.switches,
	              (unsigned long long)total.world.overflows);
}

/* Answers, values, OF bits and interrupts of guests do not depend on observers. */
static void test_observers_change_nothing(void **state)
{
	static struct epoch epoch;

	(void)state;
	for (uint32_t i = 0; i < TWINS; i++) {
		epoch_twins(&epoch, chance_mix(first_seed + 1) + i, i % (1U << RANDOM_SWITCHES));
		if (world_difference()[0])
			fail_msg("seed %lu, twins %u: %s", first_seed, i, world_difference());
	}
}

static void need(const char *name, uint64_t times, uint32_t *never)
{
	print_message("  %-28s %llu\n", name, (unsigned long long)times);
	if (!times && !random_may_miss(name)) {
		print_error("never happened: %s\n", name);
		(*never)++;
	}
}

/* A run that never met an error, or a kind of call, proves nothing about it. */
static void test_everything_happened(void **state)
{
	uint32_t never = 0;

	(void)state;
#define X(name) need(#name, total.world.name, &never);
	WORLD_COUNTS(X)
#undef X
#define X(name) need(#name, total.random.name, &never);
	RANDOM_COUNTS(X)
#undef X
#define X(name) need(#name, total.seen[SEEN_##name], &never);
	MODEL_SEEN(X)
#undef X
	if (wanted_steps >= FULL_COVERAGE_STEPS)
		assert_int_equal(never, 0);
}

/* For tests/host/mutants.py: runs epochs until one differs, and does not minimize it. */
static int hunt(unsigned long steps, unsigned long seed)
{
	static struct epoch epoch;
	unsigned long done = 0;

	for (unsigned long i = 0; done < steps; i++) {
		/* Each switch is soon met in both positions. */
		epoch_random(&epoch, chance_mix(seed) + i,
		             (uint32_t)(i * 37 % (1U << RANDOM_SWITCHES)), EPOCH_STEPS);
		done += epoch.n;
		if (world_difference()[0]) {
			printf("%lu %s\n", done, world_difference());
			return 1;
		}
	}
	printf("%lu\n", done);
	return 0;
}

static unsigned long number(const char *text, const char *env, unsigned long otherwise)
{
	if (!text)
		text = getenv(env);
	return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

static unsigned long processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (unsigned long)n;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_library_equals_model),
	    cmocka_unit_test(test_everything_happened),
	    cmocka_unit_test(test_observers_change_nothing),
	};
	int failed;

	if (argc == 5 && !strcmp(argv[1], "--record"))
		return record(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0), argv[4], true);
	if (argc == 5 && !strcmp(argv[1], "--record-no-instret"))
		return record(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0), argv[4], false);
	if (argc == 4 && !strcmp(argv[1], "--hunt"))
		return hunt(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0));
	wanted_steps = number(argc > 1 ? argv[1] : NULL, "VPMU_MODEL_STEPS", random_steps);
	first_seed = number(argc > 2 ? argv[2] : NULL, "VPMU_MODEL_SEED", first_seed);
	jobs = number(NULL, "VPMU_MODEL_JOBS", processors());
	jobs = jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : jobs;
	failed = hart_test_group();
	print_message("seed %lu, %lu steps, %lu processes\n", first_seed, wanted_steps, jobs);
	return cmocka_run_group_tests(tests, NULL, NULL) + failed;
}
