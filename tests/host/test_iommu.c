/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of the IOMMU (arch/riscv/devices/iommu.h), on an IOMMU that keeps what it was not told
 * to forget, runs commands in any order, and may have any defect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/devices/iommu.h"
#include "arch/riscv/devices/iommu_regs.h"
#include "arch/riscv/hart/csr.h"
#include "tests/host/fake_iommu.h"

#define LAST_ID  0xfffeU
#define LAST     ((UINT64_C(1) << 47) - 1) /* of this test's memory */
#define PATIENCE 500U
/* Looks at the time, each a tick, in which any one function must be done. */
#define MOST_TICKS (12 * (PATIENCE + 10))
#define ID         0x10U
#define GPA        UINT64_C(0x80000000)
#define FILES      UINT64_C(0x28000000)

uint64_t host_csrs[4096];
static struct iommu iommu;
static void *blocks[64];
static uint32_t n_blocks;

uint64_t host_csr_read(uint32_t csr)
{
	assert_int_equal(csr, CSR_TIME);
	return host_csrs[csr]++;
}

void host_wfi(void)
{
	abort();
}

static void *alloc(size_t size)
{
	void *block = aligned_alloc(size, size);

	assert_true(block && n_blocks < 64);
	blocks[n_blocks++] = block;
	return memset(block, 0, size);
}

static int setup(void **state)
{
	(void)state;
	fake_iommu_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	while (n_blocks)
		free(blocks[--n_blocks]);
	return 0;
}

static const char *init(void)
{
	uint64_t since = host_csrs[CSR_TIME];
	const char *why = iommu_init(&iommu, FAKE_IOMMU_BASE, LAST_ID, LAST, PATIENCE, alloc);

	if (!why)
		why = iommu_try(&iommu, LAST_ID, LAST, alloc);
	assert_true(host_csrs[CSR_TIME] - since < 4 * MOST_TICKS);
	return why;
}

static void must_init(void)
{
	const char *why = init();

	if (why)
		fail_msg("%s", why);
	assert_int_equal(fake_iommu.went_wrong, 0);
}

/* A second stage with one page at gpa. */
static const uint64_t *stage(uint64_t gpa, uint64_t to)
{
	uint64_t *root = alloc(16384), *middle = alloc(4096), *leaves = alloc(4096);

	root[gpa >> 30] = IOMMU_PPN(middle) | 1;
	middle[gpa >> 21 & 511] = IOMMU_PPN(leaves) | 1;
	leaves[gpa >> 12 & 511] = IOMMU_PPN(to) | 0xd7;
	return root;
}

static struct iommu_domain domain_at(uint32_t gscid, uint64_t to)
{
	struct iommu_domain domain;

	iommu_domain_init(&domain, stage(GPA, to), gscid, NULL, 0);
	return domain;
}

/* One step of putting a device into a domain, and one of taking it out. */
static struct iommu_work work;

static bool attach_step(uint32_t id, const struct iommu_domain *domain)
{
	return iommu_attach(&iommu, id, domain, &work);
}

static bool detach_step(uint32_t id, const struct iommu_domain *domain)
{
	return iommu_detach(&iommu, id, domain, &work);
}

/* All steps, of which an IOMMU that answers at once needs one. */
static bool attach(uint32_t id, const struct iommu_domain *domain)
{
	work = (struct iommu_work){0};
	return attach_step(id, domain);
}

static bool detach(uint32_t id, const struct iommu_domain *domain)
{
	work = (struct iommu_work){0};
	return detach_step(id, domain);
}

static void reaches(uint32_t id, uint64_t address, uint64_t expected)
{
	uint64_t to = 0;

	assert_int_equal(fake_iommu_access(id, address, false, &to), 0);
	assert_true(to == expected);
	assert_int_equal(fake_iommu_access(id, address, true, &to), 0);
	assert_true(to == expected);
}

static void faults(uint32_t id, uint64_t address, uint32_t read, uint32_t write)
{
	uint64_t to;

	assert_int_equal(fake_iommu_access(id, address, false, &to), read);
	assert_int_equal(fake_iommu_access(id, address, true, &to), write);
}

static void test_begins(void **state)
{
	(void)state;
	must_init();
	assert_int_equal(iommu.levels, 3);
	assert_int_equal(fake_iommu.counts, 0);
	faults(ID, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
	faults(LAST_ID, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
	/* Something before Tally used it. */
	must_init();
}

/* One level for as few ids, two for more; contexts of four words leave room for twice as many. */
static void test_levels(void **state)
{
	static const struct {
		uint64_t caps;
		uint32_t last_id, levels;
	} cases[] = {
	    {FAKE_IOMMU_CAPS, 63, 1},
	    {FAKE_IOMMU_CAPS, 64, 2},
	    {FAKE_IOMMU_CAPS, 0x7fff, 2},
	    {FAKE_IOMMU_CAPS, 0x8000, 3},
	    {FAKE_IOMMU_CAPS & ~CAP_MSI_FLAT, 127, 1},
	    {FAKE_IOMMU_CAPS & ~CAP_MSI_FLAT, 128, 2},
	    {FAKE_IOMMU_CAPS & ~CAP_MSI_FLAT, 0xffff, 2},
	    {FAKE_IOMMU_CAPS & ~CAP_MSI_FLAT, 0xffffff, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iommu_domain domain;
		uint32_t last_id = cases[i].last_id;

		fake_iommu_reset();
		fake_iommu.caps = cases[i].caps;
		assert_null(iommu_init(&iommu, FAKE_IOMMU_BASE, last_id, LAST, PATIENCE, alloc));
		assert_int_equal(iommu.levels, cases[i].levels);
		assert_true(iommu_add(&iommu, last_id, alloc));
		assert_false(iommu_add(&iommu, 0x1000000, alloc));
		domain = domain_at(1, 0x5000);
		assert_true(attach(last_id, &domain));
		reaches(last_id, GPA + 8, 0x5008);
		faults(last_id - 1, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
		assert_int_equal(fake_iommu.went_wrong, 0);
		teardown(NULL);
	}
}

static void test_domain(void **state)
{
	struct iommu_domain domain;

	(void)state;
	must_init();
	assert_true(iommu_add(&iommu, ID, alloc));
	domain = domain_at(1, 0x7000);
	assert_true(attach(ID, &domain));
	reaches(ID, GPA, 0x7000);
	reaches(ID, GPA + 4095, 0x7fff);
	faults(ID, GPA - 1, 21, 23);
	faults(ID, GPA + 4096, 21, 23);
	faults(ID, GPA | UINT64_C(1) << 41, 21, 23);
	faults(ID, 0x7000, 21, 23);
	faults(ID + 1, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
	/* It is in one domain only. */
	assert_false(attach(ID, &domain));
	/* No room was made for this one. */
	assert_false(attach(0x4000, &domain));
}

/* The IOMMU remembers what it has translated: nothing of it may be left. */
static void test_lives(void **state)
{
	struct iommu_domain first, second;

	(void)state;
	must_init();
	assert_true(iommu_add(&iommu, ID, alloc));
	first = domain_at(1, 0x7000);
	second = domain_at(2, 0x9000);
	for (uint32_t life = 0; life < 300; life++) {
		assert_true(attach(ID, life % 2 ? &second : &first));
		reaches(ID, GPA, life % 2 ? 0x9000 : 0x7000);
		assert_true(detach(ID, life % 2 ? &second : &first));
		faults(ID, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
	}
	/* The same domain, with another table. */
	assert_true(attach(ID, &first));
	reaches(ID, GPA, 0x7000);
	fake_iommu.meanwhile = GPA;
	assert_true(detach(ID, &first));
	fake_iommu.meanwhile = 0;
	assert_false(fake_iommu_remembers(ID, 1));
	first = domain_at(1, 0xb000);
	assert_true(attach(ID, &first));
	reaches(ID, GPA, 0xb000);
	assert_int_equal(fake_iommu.went_wrong, 0);
}

static void test_interrupt_files(void **state)
{
	struct iommu_domain domain;
	uint64_t to;

	(void)state;
	must_init();
	assert_true(iommu_has_files(&iommu));
	assert_true(iommu_add(&iommu, ID, alloc));
	iommu_domain_init(&domain, stage(GPA, 0x7000), 1, alloc(4096), FILES);
	iommu_map_file(&domain, 0, (hpa_t){0x24001000});
	iommu_map_file(&domain, 7, (hpa_t){0x24009000});
	assert_true(attach(ID, &domain));
	assert_int_equal(fake_iommu_access(ID, FILES, true, &to), 0);
	assert_true(to == 0x24001000);
	assert_int_equal(fake_iommu_access(ID, FILES + 7 * 4096 + 4, true, &to), 0);
	assert_true(to == 0x24009004);
	for (uint32_t n = 1; n < 7; n++)
		assert_int_equal(fake_iommu_access(ID, FILES + n * 4096, true, &to), FAKE_NO_FILE);
	faults(ID, FILES - 4096, 21, 23);
	faults(ID, FILES + 8 * 4096, 21, 23);
	faults(ID, 0x24001000, 21, 23);
	reaches(ID, GPA, 0x7000);
	/* Then a domain without files. */
	assert_true(detach(ID, &domain));
	domain = domain_at(2, 0x9000);
	assert_true(attach(ID, &domain));
	faults(ID, FILES, 21, 23);
}

static void test_no_interrupt_files(void **state)
{
	struct iommu_domain domain;

	(void)state;
	fake_iommu.caps &= ~CAP_MSI_FLAT;
	must_init();
	assert_false(iommu_has_files(&iommu));
	assert_true(iommu_add(&iommu, ID, alloc));
	iommu_domain_init(&domain, stage(GPA, 0x7000), 1, alloc(4096), FILES);
	assert_false(attach(ID, &domain));
	faults(ID, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
}

static void refused(const char *expected)
{
	const char *why = init();

	assert_non_null(why);
	assert_string_equal(why, expected);
}

static void test_lacks(void **state)
{
	(void)state;
	fake_iommu.caps = FAKE_IOMMU_CAPS ^ 0x30; /* version 2.0 */
	refused("it is not of version 1");
	fake_iommu.caps = FAKE_IOMMU_CAPS & ~CAP_SV39X4;
	refused("it has no Sv39x4");
	fake_iommu.caps = (FAKE_IOMMU_CAPS & ~(0x3fUL << 32)) | 46UL << 32;
	refused("its addresses do not reach the end of the RAM");
	fake_iommu.caps = FAKE_IOMMU_CAPS;
	fake_iommu.narrow = true;
	refused("its guests are of 32 bits");
	assert_int_equal(fake_iommu.went_wrong, 0);
}

/* Each wait ends, and nothing is translated for anybody after it. */
static void test_does_not_work(void **state)
{
	static const struct {
		bool *defect;
		const char *words;
	} cases[] = {
	    {&fake_iommu.stays_busy, "it cannot be turned off"},
	    {&fake_iommu.stays_off, "its command queue cannot be turned on"},
	    {&fake_iommu.keeps_cqb, "its command queue cannot be turned on"},
	    {&fake_iommu.fences_hang, "it does not answer commands"},
	    {&fake_iommu.stops, "it does not answer commands"},
	    {&fake_iommu.illegal, "it does not answer commands"},
	    {&fake_iommu.keeps_ddtp, "it does not take a directory of devices"},
	    {&fake_iommu.translates_all, "it does not translate an address as its table says"},
	    {&fake_iommu.forgets_nothing, NULL}, /* trials use nothing that is remembered */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_iommu_reset();
		*cases[i].defect = true;
		if (cases[i].words)
			refused(cases[i].words);
		else
			assert_null(init());
		iommu_off(&iommu);
		faults(ID, GPA, FAKE_OFF, FAKE_OFF);
		teardown(NULL);
	}
	fake_iommu_reset();
	fake_iommu.most_levels = 2;
	refused("it does not take a directory of devices");
	/* Queues that are on already, and cannot be turned off. */
	fake_iommu_reset();
	must_init();
	fake_iommu.stays_on = true;
	refused("its command queue cannot be turned off");
	fake_iommu_reset();
	fake_iommu.stays_on = true;
	refused("its queue of page requests cannot be turned off");
	fake_iommu_reset();
	fake_iommu.caps &= ~CAP_ATS; /* it has none */
	fake_iommu.stays_on = true;
	assert_null(init());
}

/* What QEMU 10 does otherwise; without registers for debugging nothing is tried. */
static void test_trials(void **state)
{
	(void)state;
	fake_iommu.as_qemu = fake_iommu.records_trials = true;
	must_init();
	assert_false(iommu_waiting_faults(&iommu));
	fake_iommu_reset();
	fake_iommu.caps &= ~CAP_DBG;
	fake_iommu.translates_all = true;
	assert_null(init());
}

static void test_slow(void **state)
{
	struct iommu_domain domain;

	(void)state;
	fake_iommu.busy = 100;
	must_init();
	assert_true(iommu_add(&iommu, ID, alloc));
	domain = domain_at(1, 0x7000);
	assert_true(attach(ID, &domain));
	reaches(ID, GPA, 0x7000);
}

/* It has been left alone for long enough after a failure. */
static void rest(void)
{
	host_csrs[CSR_TIME] += 40 * PATIENCE;
}

static bool *const defects[] = {&fake_iommu.fences_hang, &fake_iommu.stops, &fake_iommu.illegal};
#define DEFECTS (sizeof(defects) / sizeof(defects[0]))

/* A command that does not complete: the caller comes again, and gets what it wants when the IOMMU
 * answers again. No step waits, and after `patience` nothing is tried for a while. */
static void test_stuck(void **state)
{
	struct iommu_domain domain;

	(void)state;
	for (size_t i = 0; i < DEFECTS; i++) {
		fake_iommu_reset();
		must_init();
		assert_true(iommu_add(&iommu, ID, alloc));
		domain = domain_at(1, 0x7000);
		assert_true(attach(ID, &domain));
		reaches(ID, GPA, 0x7000);
		work = (struct iommu_work){0};
		for (uint32_t n = 0; n < 40; n++) {
			uint32_t accesses;

			*defects[i] = true;
			for (uint32_t k = 0; k < PATIENCE && !iommu_is_broken(&iommu); k++)
				assert_false(detach_step(ID, &domain));
			assert_true(iommu_is_broken(&iommu));
			accesses = fake_iommu.accesses;
			assert_false(detach_step(ID, &domain));
			assert_int_equal(fake_iommu.accesses, accesses);
			rest();
			assert_false(iommu_is_broken(&iommu));
		}
		*defects[i] = false;
		assert_true(detach_step(ID, &domain));
		faults(ID, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
		assert_false(fake_iommu_remembers(ID, 1));
		assert_int_equal(fake_iommu.went_wrong, 0);
		teardown(NULL);
	}
}

/* A device that could not be attached is nowhere when it has been detached, and can be attached
 * later. */
static void test_not_attached(void **state)
{
	struct iommu_domain domain;

	(void)state;
	for (size_t i = 0; i < DEFECTS; i++) {
		fake_iommu_reset();
		must_init();
		assert_true(iommu_add(&iommu, ID, alloc));
		domain = domain_at(1, 0x7000);
		*defects[i] = true;
		assert_false(attach(ID, &domain));
		assert_false(attach_step(ID, &domain));
		assert_false(detach(ID, &domain));
		faults(ID, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
		*defects[i] = false;
		rest();
		(void)detach_step(ID, &domain);
		rest();
		assert_true(detach_step(ID, &domain));
		assert_true(attach(ID, &domain));
		reaches(ID, GPA, 0x7000);
		assert_true(detach(ID, &domain));
		assert_false(fake_iommu_remembers(ID, 1));
		teardown(NULL);
	}
}

/* Two devices at once. A failure loses the commands of both, also those that the IOMMU would have
 * done: both are done again, and one step after the failure neither is taken for done. */
static void test_two_at_once(void **state)
{
	struct iommu_work first = {0}, second = {0};
	struct iommu_domain one, two;

	(void)state;
	must_init();
	assert_true(iommu_add(&iommu, ID, alloc));
	assert_true(iommu_add(&iommu, ID + 1, alloc));
	one = domain_at(1, 0x7000);
	two = domain_at(2, 0x9000);
	assert_true(attach(ID, &one));
	assert_true(attach(ID + 1, &two));
	reaches(ID, GPA, 0x7000);
	reaches(ID + 1, GPA, 0x9000);
	fake_iommu.stops = true;
	assert_false(iommu_detach(&iommu, ID, &one, &first));
	host_csrs[CSR_TIME] += PATIENCE / 2;
	assert_false(iommu_detach(&iommu, ID + 1, &two, &second));
	host_csrs[CSR_TIME] += PATIENCE / 2;
	assert_false(iommu_is_broken(&iommu));
	assert_false(iommu_detach(&iommu, ID, &one, &first));
	assert_true(iommu_is_broken(&iommu));
	fake_iommu.stops = false;
	assert_false(iommu_detach(&iommu, ID + 1, &two, &second));
	assert_true(fake_iommu_remembers(ID + 1, 2));
	rest();
	assert_true(iommu_detach(&iommu, ID + 1, &two, &second));
	assert_false(fake_iommu_remembers(ID + 1, 2));
	assert_true(fake_iommu_remembers(ID, 1));
	assert_true(iommu_detach(&iommu, ID, &one, &first));
	assert_false(fake_iommu_remembers(ID, 1));
	assert_int_equal(fake_iommu.went_wrong, 0);
}

/* The caller comes late, and the IOMMU has answered in time. */
static void test_late_look(void **state)
{
	struct iommu_domain domain;

	(void)state;
	must_init();
	assert_true(iommu_add(&iommu, ID, alloc));
	domain = domain_at(1, 0x7000);
	fake_iommu.stops = true;
	assert_false(attach(ID, &domain));
	fake_iommu.stops = false;
	fake_iommu_runs();
	rest();
	assert_true(attach_step(ID, &domain));
	assert_int_equal(iommu.round, 0);
}

/* The most accesses to registers that a step makes, whatever the IOMMU does. */
static void test_steps_are_short(void **state)
{
	bool *all[] = {&fake_iommu.fences_hang, &fake_iommu.stops,     &fake_iommu.illegal,
	               &fake_iommu.stays_busy,  &fake_iommu.stays_off, &fake_iommu.stays_on};
	struct iommu_domain domain;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		fake_iommu_reset();
		must_init();
		assert_true(iommu_add(&iommu, ID, alloc));
		domain = domain_at(1, 0x7000);
		assert_true(attach(ID, &domain));
		fake_iommu.fences_hang = true;
		work = (struct iommu_work){0};
		for (uint32_t n = 0; n < 3000; n++) {
			uint32_t before = fake_iommu.accesses;
			uint64_t since = host_csrs[CSR_TIME];

			*all[i] |= n == 100;
			fake_iommu.busy = n % 4;
			assert_false(detach_step(ID, &domain));
			assert_true(fake_iommu.accesses - before <= IOMMU_STEP_ACCESSES);
			assert_true(host_csrs[CSR_TIME] - since <= IOMMU_STEP_ACCESSES);
			host_csrs[CSR_TIME] += 9;
		}
		assert_int_equal(fake_iommu.went_wrong, 0);
		teardown(NULL);
	}
}

/* The queue of commands has no room, and starts anew. */
static void test_full(void **state)
{
	struct iommu_domain domain;
	uint32_t before;

	(void)state;
	must_init();
	assert_true(iommu_add(&iommu, ID, alloc));
	domain = domain_at(1, 0x7000);
	assert_true(attach(ID, &domain));
	before = fake_iommu.commands;
	fake_iommu.stops = true;
	/* A caller that gives up leaves its commands in the queue. */
	for (uint32_t n = 0; n < 600; n++)
		assert_false(detach(ID, &domain));
	assert_true(iommu.round > 0);
	assert_int_equal(fake_iommu.commands, before);
	fake_iommu.stops = false;
	rest();
	assert_true(detach(ID, &domain));
	faults(ID, GPA, FAKE_NO_CONTEXT, FAKE_NO_CONTEXT);
}

static bool next_fault(struct iommu_fault *fault)
{
	if (!iommu_first_fault(&iommu, fault))
		return false;
	iommu_drop_fault(&iommu);
	return true;
}

static void test_fault_queue(void **state)
{
	struct iommu_fault fault;
	uint64_t to;

	(void)state;
	must_init();
	assert_int_equal(iommu_wire(&iommu, 4), 1);
	assert_false(next_fault(&fault));
	for (uint32_t turn = 0; turn < 5; turn++) {
		for (uint32_t n = 0; n < 100; n++)
			fake_iommu_access(n, GPA + n, n % 2, &to);
		assert_true(fake_iommu.interrupts);
		iommu_ack_faults(&iommu);
		assert_false(fake_iommu.interrupts);
		for (uint32_t n = 0; n < 100; n++) {
			assert_true(next_fault(&fault));
			assert_int_equal(fault.device, n);
			assert_int_equal(fault.cause, FAKE_NO_CONTEXT);
			assert_true(fault.address == GPA + n);
		}
		assert_false(iommu_waiting_faults(&iommu));
		assert_int_equal(iommu_take_lost(&iommu), IOMMU_LOST_NONE);
	}
}

static void test_fault_overflow(void **state)
{
	struct iommu_fault fault;
	uint64_t to;
	uint32_t n = 0;

	(void)state;
	must_init();
	assert_int_equal(iommu_wire(&iommu, 4), 1);
	for (uint32_t i = 0; i < 1000; i++)
		fake_iommu_access(ID, GPA + i, true, &to);
	while (next_fault(&fault))
		assert_true(fault.address == GPA + n++);
	assert_int_equal(n, 127);
	/* The interrupt comes back while the records that were lost are not known. */
	assert_true(fake_iommu.interrupts);
	iommu_ack_faults(&iommu);
	assert_true(fake_iommu.interrupts);
	assert_int_equal(iommu_take_lost(&iommu), IOMMU_LOST_OVERFLOW);
	iommu_ack_faults(&iommu);
	assert_false(fake_iommu.interrupts);
	assert_int_equal(iommu_take_lost(&iommu), IOMMU_LOST_NONE);
	fake_iommu_access(ID, GPA, true, &to);
	assert_true(next_fault(&fault));
	assert_int_equal(fault.device, ID);
}

static void test_accesses(void **state)
{
	struct iommu_domain domain;
	struct iommu_fault fault;
	uint64_t to;

	(void)state;
	must_init();
	assert_true(iommu_add(&iommu, ID, alloc));
	iommu_domain_init(&domain, stage(GPA, 0x7000), 1, alloc(4096), FILES);
	assert_true(attach(ID, &domain));
	fake_iommu_access(ID, GPA - 8, false, &to);
	fake_iommu_access(ID, GPA - 8, true, &to);
	fake_iommu_access(ID, FILES, true, &to);
	assert_true(next_fault(&fault));
	assert_int_equal(fault.access, IOMMU_READ);
	assert_true(next_fault(&fault));
	assert_int_equal(fault.access, IOMMU_WRITE);
	assert_true(next_fault(&fault));
	assert_int_equal(fault.access, IOMMU_MESSAGE);
}

static void test_wires(void **state)
{
	(void)state;
	must_init();
	assert_int_equal(iommu_wire(&iommu, 0), 0);
	assert_int_equal(iommu_wire(&iommu, 1), 0);
	assert_int_equal(iommu_wire(&iommu, 2), 1);
	fake_iommu_reset();
	fake_iommu.no_wires = true;
	must_init();
	assert_int_equal(iommu_wire(&iommu, 4), 4);
	fake_iommu_reset();
	fake_iommu.caps &= ~(3UL << 28);
	must_init();
	assert_int_equal(iommu_wire(&iommu, 4), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_begins, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_levels, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_domain, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_lives, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_interrupt_files, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_no_interrupt_files, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_lacks, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_does_not_work, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_trials, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_slow, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_stuck, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_not_attached, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_two_at_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_late_look, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_steps_are_short, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_full, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fault_queue, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fault_overflow, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_accesses, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_wires, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
