/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of DMA (core/io/dma.h): the hart and the account on which each is served, and what is told
 * of it. Two harts, VMs on both, and an IOMMU that records what their functions do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/io/dma_parts.h"
#include "core/io/external.h"
#include "core/log.h"
#include "core/sched/sched.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vm_state.h"
#include "tests/host/chance.h"
#include "tests/host/fake_iommu.h"

#define HARTS 2U
#define VMS   6U /* those with even numbers on hart 0 */
/* Of each VM, at most. */
#define FUNCTIONS (VM_MAX_FUNCTIONS / VMS)
#define WIRE      37U
#define TIMEBASE  10000000U
#define MS        (TIMEBASE / 1000)
#define OUTSIDE   UINT64_C(0x1000)
#define NEVER     (~0UL)

uint64_t host_csrs[4096];
struct platform platform;
static struct vm all_vms[VM_MAX_VMS];
struct vm *vms = all_vms;
uint32_t n_vms;

static struct pcpu harts[HARTS];
static struct vm_config configs[VMS];
static struct vcpu vcpus[VMS];
static uint32_t here; /* the hart that runs */
static void *blocks[64];
static uint32_t n_blocks;

/* What the machine has to do. */
static uint64_t looks[HARTS];
static bool asked[VMS], held;
static uint32_t place;
static uint32_t recorded[4096], n_recorded; /* ids of faults */

/* What is seen. */
static const struct vm *payer;  /* of the current stay */
static uint32_t in_vain[HARTS]; /* stays that nobody pays */
static uint32_t stays[HARTS], lines, lines_of_stay;
static bool waited; /* a line did when the stay began */
static char last_line[256], all_lines[16384];
static uint32_t ended, mutes;

/* --- what dma*.c want ------------------------------------------------------------------------ */

uint64_t host_csr_read(uint32_t csr)
{
	assert_int_equal(csr, CSR_TIME);
	return host_csrs[csr]++;
}

void host_wfi(void)
{
	abort();
}

void host_fence(void)
{
}

struct pcpu *this_pcpu(void)
{
	return &harts[here];
}

void log_text(const char *line)
{
	strcpy(last_line, line);
	lines++;
	lines_of_stay++;
	assert_true(strlen(all_lines) + strlen(last_line) + 2 < sizeof(all_lines));
	strcat(strcat(all_lines, last_line), "\n");
}

void log_line(const char *format, ...)
{
	char line[sizeof(last_line)];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	log_text(line);
}

void external_set_affinity(const struct irqchip_source *source, uint32_t from, uint32_t to)
{
	assert_int_equal(source->number, WIRE);
	assert_true(from == IRQCHIP_NOWHERE || from == place);
	place = to;
}

void external_poll_at(enum external_kind what, uint64_t time)
{
	assert_int_equal(what, EXTERNAL_DMA);
	looks[here] = time;
}

bool irqchip_use(struct irqchip *chip, struct irqchip_source *source, uint32_t number,
                 enum irqchip_mode mode)
{
	(void)chip;
	assert_int_equal(mode, IRQCHIP_HIGH);
	*source = (struct irqchip_source){.number = number};
	return true;
}

void irqchip_set_enabled(const struct irqchip *chip, const struct irqchip_source *source, bool on,
                         bool before)
{
	(void)chip, (void)source;
	assert_true(on && !before);
}

void irqchip_hold(const struct irqchip *chip, const struct irqchip_source *source)
{
	(void)chip, (void)source;
	held = true;
}

void irqchip_complete(const struct irqchip *chip, const struct irqchip_source *source,
                      uint32_t where, bool listens)
{
	(void)chip, (void)source;
	assert_true(held && listens);
	assert_int_equal(where, place);
	held = false;
}

void sched_account_stay_to(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu->home, this_pcpu());
	assert_true(!payer || payer == vcpu->vm);
	payer = vcpu->vm;
}

void vcpu_request(struct vcpu *vcpu, uint64_t what)
{
	assert_int_equal(what, REQ_FAULTS);
	asked[vcpu->vm->index] = true;
}

void vm_end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
            uint64_t value)
{
	assert_ptr_equal(by, vm->vcpus[0]);
	assert_int_equal(why, VM_END_FAILED);
	assert_string_equal(failure, "DMA outside its memory, to");
	assert_int_equal(value, OUTSIDE);
	ended++;
}

void pci_block_function(uint32_t device_id)
{
	(void)device_id;
	mutes++;
}

/* --- the machine --------------------------------------------------------------------------- */

static void *alloc(size_t size)
{
	void *block = aligned_alloc(size, size);

	assert_true(block && n_blocks < 64);
	blocks[n_blocks++] = block;
	return memset(block, 0, size);
}

static int teardown(void **state)
{
	(void)state;
	while (n_blocks)
		free(blocks[--n_blocks]);
	return 0;
}

static uint32_t id_of(uint32_t vm, uint32_t function)
{
	return 8 * (vm + 1) + function;
}

/* The VM of a record. NULL: no VM's. */
static const struct vm *vm_of(uint32_t id)
{
	return id / 8 - 1 < VMS ? &vms[id / 8 - 1] : NULL;
}

static void fault(uint32_t id)
{
	uint64_t to;

	if (fake_iommu_access(id, OUTSIDE, true, &to) && n_recorded < 4096)
		recorded[n_recorded++] = id;
}

/* What a hart did is for one VM, who pays, and whose hart it is. */
static void after(uint32_t taken)
{
	stays[here]++;
	in_vain[here] += !payer;
	for (; taken < fake_iommu.taken; taken++)
		assert_ptr_equal(vm_of(recorded[taken]), payer);
	/* One is made, or one is printed. */
	assert_true(lines_of_stay + (*dma.line && !(waited && !lines_of_stay)) <= 1);
}

static void stay(uint32_t hart, struct vm *vm, bool wire)
{
	uint32_t taken = fake_iommu.taken;

	here = hart;
	payer = NULL;
	lines_of_stay = 0;
	waited = *dma.line;
	if (vm)
		dma_serve(vm);
	else if (wire)
		assert_true(dma_handle_irq(WIRE));
	else
		dma_serve(NULL);
	after(taken);
}

static bool step(void)
{
	for (uint32_t i = 0; i < VMS; i++) {
		if (!asked[i])
			continue;
		asked[i] = false;
		stay(vcpus[i].home->index, &vms[i], false);
		return true;
	}
	if (fake_iommu.interrupts && !held && place != IRQCHIP_NOWHERE) {
		stay(place, NULL, true);
		return true;
	}
	for (uint32_t i = 0; i < HARTS; i++) {
		if (looks[i] > host_csrs[CSR_TIME])
			continue;
		looks[i] = NEVER;
		stay(i, NULL, false);
		return true;
	}
	return false;
}

static void run(void)
{
	uint32_t n = 0;

	while (step())
		assert_true(n++ < 1000);
}

static void pass(uint64_t ticks)
{
	uint64_t end = host_csrs[CSR_TIME] + ticks;

	for (;;) {
		uint64_t next = looks[0] < looks[1] ? looks[0] : looks[1];

		run();
		if (host_csrs[CSR_TIME] >= end)
			return;
		next = looks[0] < looks[1] ? looks[0] : looks[1];
		host_csrs[CSR_TIME] = next < end ? next : end;
	}
}

/* All that is to be done now, and a rest later the stay that prints its line. */
static void settle(void)
{
	run();
	if (*dma.line)
		pass(MS);
}

static void begin(uint32_t vm)
{
	here = vcpus[vm].home->index;
	for (uint32_t n = 0; !dma_attach(&vms[vm]); n++)
		assert_true(n < 2 * VM_MAX_FUNCTIONS);
	vms[vm].life.number++;
	dma_begin(&vms[vm]);
}

/* A life is over, and the IOMMU answers. */
static void end(uint32_t vm)
{
	for (uint32_t n = 0; !dma_end(&vms[vm]); n++)
		assert_true(n < 2 * VM_MAX_FUNCTIONS);
}

static void make(bool wire, uint32_t functions)
{
	fake_iommu_reset();
	platform = (struct platform){
	    .timebase = TIMEBASE,
	    .ram = {.n = 1, .banks = {{0x80000000, UINT64_C(1) << 46}}, .tally = 0x80000000},
	    .iommu = {.base = FAKE_IOMMU_BASE,
	              .size = 4096,
	              .n_wires = wire,
	              .wires = {{.source = WIRE}},
	              .n_ranges = 1,
	              .ranges = {{.length = 0x10000}},
	              .last_id = 0xffff,
	              .unused_id = 0x10000},
	};
	n_vms = VMS;
	n_recorded = lines = ended = mutes = 0;
	held = false;
	place = IRQCHIP_NOWHERE;
	all_lines[0] = '\0';
	memset(asked, 0, sizeof(asked));
	memset(in_vain, 0, sizeof(in_vain));
	memset(stays, 0, sizeof(stays));
	for (uint32_t i = 0; i < HARTS; i++) {
		harts[i].index = harts[i].irq_place = i;
		looks[i] = NEVER;
	}
	here = 0;
	memset(&dma, 0, sizeof(dma));
	dma_init(alloc);
	assert_null(dma_refusal());
	for (uint32_t i = 0; i < VMS; i++) {
		configs[i] = (struct vm_config){0};
		snprintf(configs[i].name, sizeof(configs[i].name), "vm%u", i);
		vms[i] = (struct vm){.config = &configs[i], .index = i, .vcpus = {&vcpus[i]}};
		vms[i].gstage.root = alloc(16384);
		vcpus[i].vm = &vms[i];
		vcpus[i].home = &harts[i % HARTS];
		for (uint32_t k = 0; k < functions; k++)
			assert_null(dma_add(id_of(i, k), &vms[i], "it"));
	}
	dma_listen();
	for (uint32_t i = 0; i < VMS; i++)
		begin(i);
	/* The look at what was before. */
	pass(2 * TIMEBASE);
	memset(in_vain, 0, sizeof(in_vain));
	memset(stays, 0, sizeof(stays));
	fake_iommu.taken = 0;
}

static bool told(const char *line)
{
	return strstr(all_lines, line);
}

static void all_are_served(void)
{
	assert_int_equal(fake_iommu.taken, n_recorded);
	assert_false(held);
}

/* --- tests --------------------------------------------------------------------------------- */

/* A VM that makes none hears of no other's, with a wire and without. */
static void one_vm_makes_all(void **state)
{
	(void)state;
	for (uint32_t wire = 0; wire < 2; wire++) {
		make(wire, 1);
		for (uint32_t n = 0; n < 50; n++) {
			fault(id_of(1, 0));
			pass(wire ? MS : 2 * TIMEBASE);
		}
		all_are_served();
		/* The wire, or the clock, was with hart 0, of the first VM. */
		assert_int_equal(stays[0], 1);
		assert_int_equal(in_vain[0], 1);
		assert_true(stays[1] >= 50);
		teardown(NULL);
	}
}

/* VMs of two harts in turns: a hart looks in vain once for each fault of its own, and once more. */
static void in_turns(void **state)
{
	(void)state;
	for (uint32_t wire = 0; wire < 2; wire++) {
		make(wire, 1);
		for (uint32_t n = 1; n < 40; n++) {
			fault(id_of(n % 2, 0));
			pass(wire ? MS : 2 * TIMEBASE);
			for (uint32_t i = 0; i < HARTS && wire; i++)
				assert_true(in_vain[i] <= n / 2 + 1);
		}
		all_are_served();
		teardown(NULL);
	}
}

/* A line that is told a second later does not make its hart the one that listens. */
static void lines_do_not_listen(void **state)
{
	(void)state;
	make(true, 1);
	fault(id_of(1, 0));
	settle();
	fault(id_of(1, 0));
	settle();
	fault(id_of(0, 0));
	settle();
	assert_int_equal(in_vain[1], 1);
	assert_int_equal(lines, 2);
	pass(2 * TIMEBASE);
	assert_int_equal(lines, 3);
	fault(id_of(0, 0));
	settle();
	assert_int_equal(in_vain[1], 1);
	all_are_served();
}

/* All at once, of VMs of both harts, and of a function that no VM has. */
static void at_once(void **state)
{
	(void)state;
	for (uint32_t wire = 0; wire < 2; wire++) {
		make(wire, 1);
		for (uint32_t n = 0; n < 120; n++)
			fault(n % 7 < VMS ? id_of(n % 7, 0) : 0x800);
		pass(wire ? 50 * MS : 2 * TIMEBASE);
		all_are_served();
		pass(2 * TIMEBASE);
		for (uint32_t i = 0; i < VMS; i++) {
			char line[64];

			snprintf(line, sizeof(line), "vm vm%u: DMA of it (00:%02x.0): write to", i,
			         i + 1);
			assert_true(told(line));
		}
		assert_true(told("IOMMU: DMA of 08:00.0, which no VM has: access to 0x1000 (cause "
		                 "258); 16 before it\n"));
		assert_int_equal(mutes, 0);
		teardown(NULL);
	}
}

/* Whenever faults come, of VMs and of nobody, no stays follow each other for ever. */
static void at_any_time(void **state)
{
	struct chance luck = {1};

	(void)state;
	for (uint32_t wire = 0; wire < 2; wire++) {
		make(wire, FUNCTIONS);
		for (uint32_t n = 0; n < 1500; n++) {
			uint32_t vm = below(&luck, VMS + 1);

			*all_lines = '\0';
			fault(vm < VMS ? id_of(vm, below(&luck, FUNCTIONS)) : 0x800);
			if (below(&luck, 2))
				pass(MS * below(&luck, below(&luck, 8) ? 4 : 2000));
		}
		pass(4 * TIMEBASE);
		assert_false(*dma.line);
		teardown(NULL);
	}
}

/* A stay that tells nothing serves 8, and the next comes a millisecond later, whoever makes
 * them. */
static void no_more_than(void **state)
{
	uint64_t since;

	(void)state;
	make(true, FUNCTIONS);
	for (uint32_t n = 0; n < 120; n++)
		fault(id_of(n % 2, n % FUNCTIONS));
	since = host_csrs[CSR_TIME];
	settle();
	for (uint32_t taken = fake_iommu.taken; taken < n_recorded; taken = fake_iommu.taken) {
		pass(MS / 4);
		assert_true(fake_iommu.taken - taken <= 8);
	}
	assert_true(host_csrs[CSR_TIME] - since >= 14 * MS);
	all_are_served();
}

static void storm(void **state)
{
	(void)state;
	make(true, 1);
	end(3);
	begin(3);
	for (uint32_t n = 0; n < 100; n++)
		fault(id_of(3, 0));
	pass(20 * MS);
	all_are_served();
	assert_int_equal(mutes, 1);
	assert_true(told("vm vm3: DMA of it is off until the VM's next life: 64 faults in 10 ms"));
	/* Lost ones are told, too. */
	for (uint32_t n = 0; n < 200; n++)
		fault(id_of(5, 0));
	n_recorded = fake_iommu.taken + 127;
	pass(2 * TIMEBASE);
	assert_true(told("IOMMU: more faults than its queue holds: the rest is not known"));
}

/* All together make more than is served, so the queue is never empty, and none has 64 that are
 * served in 10 ms. */
static void storm_of_several(void **state)
{
	(void)state;
	make(true, 3);
	for (uint32_t ms = 0; ms < 60; ms++) {
		for (uint32_t n = 0; n < 48 && fake_iommu_faults() < 100; n++)
			fault(id_of(3, n % 3));
		pass(MS);
	}
	for (uint32_t k = 0; k < 3; k++)
		assert_true(dma_function_of(id_of(3, k))->off);
	assert_false(dma_function_of(id_of(2, 0))->off);
}

static void stops(void **state)
{
	(void)state;
	make(true, 1);
	configs[2].bad_access_stops = true;
	fault(id_of(2, 0));
	settle();
	assert_int_equal(ended, 1);
	assert_true(told("vm vm2: DMA of it (00:03.0): write to 0x1000"));
}

/* What was kept back for a second, and what nobody has looked at, is told when the life ends. */
static void rest_at_the_end(void **state)
{
	(void)state;
	make(true, 1);
	fault(id_of(1, 0));
	settle();
	for (uint32_t n = 0; n < 4; n++)
		fault(id_of(1, 0));
	settle();
	assert_int_equal(lines, 1);
	fault(id_of(1, 0));
	here = 1;
	/* Records, a line that is made, and one that is printed are three pieces. */
	assert_true(dma_log_remaining(&vms[1]));
	assert_true(dma_log_remaining(&vms[1]));
	assert_int_equal(lines, 1);
	assert_true(dma_log_remaining(&vms[1]));
	assert_int_equal(lines, 2);
	assert_true(strstr(last_line, "; 4 before it"));
	assert_false(dma_log_remaining(&vms[1]));
	assert_false(dma_log_remaining(&vms[0]));
	assert_int_equal(lines, 2);
	settle();
	all_are_served();
}

/* Vcpu 0 has moved meanwhile. */
static void untold_of_one_that_moved(void **state)
{
	(void)state;
	make(true, 1);
	fault(id_of(1, 0));
	settle();
	fault(id_of(1, 0));
	settle();
	assert_int_equal(lines, 1);
	vcpus[1].home = &harts[0];
	pass(2 * TIMEBASE);
	assert_int_equal(lines, 2);
	fault(id_of(1, 0));
	pass(2 * TIMEBASE);
	assert_int_equal(lines, 3);
	all_are_served();
}

/* What is done for one VM, with the lock held: no step is longer for more functions, or if the
 * IOMMU does not answer. */
static bool step_is_short(bool (*dma_step)(struct vm *), uint32_t vm)
{
	uint64_t since = host_csrs[CSR_TIME];
	uint32_t accesses = fake_iommu.accesses;
	bool done = dma_step(&vms[vm]);

	assert_true(host_csrs[CSR_TIME] - since <= IOMMU_STEP_ACCESSES);
	assert_true(fake_iommu.accesses - accesses <= IOMMU_STEP_ACCESSES);
	return done;
}

/* Eight functions, and an IOMMU that does not answer: nothing waits, and nothing is done until it
 * answers again. Then all are attached, or detached, whatever the other VM has done meanwhile. */
static void broken(void **state)
{
	uint32_t accesses;

	(void)state;
	make(true, FUNCTIONS);
	end(0);
	accesses = fake_iommu.accesses;
	fake_iommu.stops = true;
	for (uint32_t n = 0; n < 3000; n++) {
		assert_false(step_is_short(dma_attach, 0));
		assert_false(step_is_short(dma_end, 1));
		host_csrs[CSR_TIME] += MS / 20;
	}
	/* Left alone for 32 times as long as it is asked in vain. */
	assert_true(fake_iommu.accesses - accesses < 3000);
	fake_iommu.stops = false;
	host_csrs[CSR_TIME] += 40 * MS;
	begin(0);
	end(1);
	for (uint32_t k = 0; k < FUNCTIONS; k++) {
		uint64_t to;

		assert_int_equal(fake_iommu_access(id_of(0, k), OUTSIDE, true, &to), 23);
		assert_int_equal(fake_iommu_access(id_of(1, k), OUTSIDE, true, &to),
		                 FAKE_NO_CONTEXT);
		assert_false(fake_iommu_remembers(id_of(1, k), 2));
	}
}

/* A life that was about to begin does not: what was attached is detached. */
static void turned_back(void **state)
{
	uint64_t to;

	(void)state;
	make(true, FUNCTIONS);
	end(0);
	for (uint32_t n = 0; n < 4; n++)
		assert_false(dma_attach(&vms[0]));
	assert_int_equal(fake_iommu_access(id_of(0, 0), OUTSIDE, true, &to), 23);
	end(0);
	for (uint32_t k = 0; k < FUNCTIONS; k++)
		assert_int_equal(fake_iommu_access(id_of(0, k), OUTSIDE, true, &to),
		                 FAKE_NO_CONTEXT);
	begin(0);
	for (uint32_t k = 0; k < FUNCTIONS; k++)
		assert_int_equal(fake_iommu_access(id_of(0, k), OUTSIDE, true, &to), 23);
}

static bool is_tried(void)
{
	memset(&dma, 0, sizeof(dma));
	dma_init(alloc);
	assert_null(dma_refusal());
	dma_report();
	return strstr(last_line, ": translates as it must");
}

/* For an id that nobody has: it gets memory for a moment. */
static void trial(void **state)
{
	(void)state;
	make(true, 1);
	assert_true(is_tried());
	platform.iommu.unused_id = 0;
	assert_false(is_tried());
	/* The directory has no room for it, and for the others. */
	platform.iommu.last_id = 0x7fff;
	platform.iommu.unused_id = 0x8000;
	assert_true(is_tried());
	fake_iommu.most_levels = 2;
	assert_false(is_tried());
	/* What it does is found out with that id only. */
	fake_iommu.most_levels = 0;
	fake_iommu.translates_all = true;
	platform.iommu.unused_id = 0;
	assert_false(is_tried());
	platform.iommu.unused_id = 0x8000;
	dma_init(alloc);
	assert_string_equal(dma_refusal(), "it does not translate an address as its table says");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(one_vm_makes_all, teardown),
	    cmocka_unit_test_teardown(in_turns, teardown),
	    cmocka_unit_test_teardown(lines_do_not_listen, teardown),
	    cmocka_unit_test_teardown(at_once, teardown),
	    cmocka_unit_test_teardown(at_any_time, teardown),
	    cmocka_unit_test_teardown(no_more_than, teardown),
	    cmocka_unit_test_teardown(storm, teardown),
	    cmocka_unit_test_teardown(storm_of_several, teardown),
	    cmocka_unit_test_teardown(stops, teardown),
	    cmocka_unit_test_teardown(rest_at_the_end, teardown),
	    cmocka_unit_test_teardown(untold_of_one_that_moved, teardown),
	    cmocka_unit_test_teardown(broken, teardown),
	    cmocka_unit_test_teardown(turned_back, teardown),
	    cmocka_unit_test_teardown(trial, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
