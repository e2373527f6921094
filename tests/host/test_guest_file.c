/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several guest interrupt files pend at once, in the time slice of somebody else: each VM pays for
 * what is done for it (core/vcpu/guest_file.c, core/sched/sched_notified.c). Time passes with each
 * vcpu that is woken, and instructions are ticks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dispatch/exit.h"
#include "core/sched/port.h"
#include "core/vcpu/stay.h"
#include "core/hart/check.h"
#include "core/hart/platform.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/vm.h"
#include "core/watch/observe.h"

#define VMS   4U
#define FILES 3U
#define START 1000U /* when the guest is interrupted */

uint64_t host_csrs[4096];
struct platform platform;
atomic_bool machine_stopped;
struct observe_request observe_request;

static union hart_stack stack;
static struct vm guests[VMS];
static struct vcpu vcpus[VMS]; /* the first one is resident, the others have files 1 to 3 */
static const uint64_t work[VMS] = {0, 7, 20, 300};
static uint64_t woken;

/* --- what the two files want ---------------------------------------------------------------- */

struct pcpu *this_pcpu(void)
{
	return &stack.pcpu;
}

void observe_finish(struct vcpu *vcpu)
{
	(void)vcpu;
	abort();
}

void machine_rest(void)
{
	abort();
}

void host_wfi(void)
{
	abort();
}

void sched_wake_if_interrupted(struct vcpu *vcpu)
{
	woken |= vcpu->bit;
	host_csrs[CSR_TIME] += work[vcpu->index];
}

void pcpu_account_to(struct pcpu *pcpu, struct vcpu *vcpu, enum vcpu_exit why)
{
	if (pcpu->stay_vcpu != vcpu) {
		pcpu->stay_vcpu->ctx.hs_insns[pcpu->stay_cause] +=
		    host_csrs[CSR_TIME] - pcpu_top(pcpu)->stay_start;
		pcpu_top(pcpu)->stay_start = host_csrs[CSR_TIME];
	}
	pcpu->stay_vcpu = vcpu;
	pcpu->stay_cause = why;
}

bool pcpu_may_begin_late(struct pcpu *pcpu)
{
	(void)pcpu;
	return false;
}

void vcpu_serve_notified(struct vcpu *vcpu)
{
	sched_wake_if_interrupted(vcpu);
}

void host_fence(void)
{
	abort();
}

void vcpu_emulated(struct vcpu *vcpu, uint32_t length)
{
	(void)vcpu, (void)length;
	abort();
}

uint32_t imsic_probe(const struct imsic *imsic, uint32_t *words, const char **why)
{
	(void)imsic, (void)words, (void)why;
	abort();
}

hpa_t imsic_file_at(const struct imsic *imsic, uint32_t place, uint32_t file)
{
	(void)imsic, (void)place, (void)file;
	abort();
}

bool imsic_file_is_at(hpa_t page, uint32_t file)
{
	(void)page, (void)file;
	abort();
}

void imsic_file_clear(uint32_t words, uint32_t file)
{
	(void)words, (void)file;
	abort();
}

/* --------------------------------------------------------------------------------------------- */

static int begin(void **state)
{
	(void)state;
	stack = (union hart_stack){0};
	woken = 0;
	for (uint32_t i = 0; i < VMS; i++) {
		atomic_store(&guests[i].debt_ticks, 0);
		vcpus[i] = (struct vcpu){.vm = &guests[i], .index = i, .bit = BIT(i)};
		vcpus[i].home = this_pcpu();
		vcpus[i].guest_file = i;
		this_pcpu()->vcpus[i] = &vcpus[i];
		this_pcpu()->vcpu_of_file[i] = &vcpus[i];
	}
	this_pcpu()->current = &vcpus[0];
	this_pcpu()->stay_vcpu = &vcpus[0];
	pcpu_top(this_pcpu())->stay_start = START;
	host_csrs[CSR_TIME] = START;
	return 0;
}

/* At the end of the exit. */
static void end(void)
{
	if (vcpus[0].stats.steal_since)
		sched_end_steal(this_pcpu(), &vcpus[0], host_csrs[CSR_TIME]);
	pcpu_account_to(this_pcpu(), &vcpus[0], EXIT_IRQ);
}

static void each_has_paid(uint64_t mask)
{
	uint64_t all = 0;

	for (uint32_t i = 1; i < VMS; i++) {
		uint64_t own = mask & BIT(i) ? work[i] : 0;

		assert_int_equal(atomic_load(&guests[i].debt_ticks), own);
		assert_int_equal(vcpus[i].ctx.hs_insns[EXIT_IRQ], own);
		all += own;
	}
	assert_int_equal(woken, mask);
	assert_int_equal(atomic_load(&guests[0].debt_ticks), 0);
	assert_int_equal(vcpus[0].ctx.hs_insns[EXIT_IRQ], 0);
	assert_int_equal(vcpus[0].stats.steal_ticks, all);
	assert_int_equal(this_pcpu()->slice_end, all);
}

static void files(void **state)
{
	(void)state;
	for (uint64_t mask = 2; mask < BIT(VMS); mask += 2) {
		(void)begin(NULL);
		host_csrs[CSR_HGEIP] = ~0UL;
		host_csrs[CSR_HGEIE] = mask;
		guest_file_handle_irq();
		assert_int_equal(host_csrs[CSR_HGEIE], 0);
		end();
		each_has_paid(mask);
	}
}

/* Requests that have come by one IPI. */
static void requests(void **state)
{
	(void)state;
	for (uint64_t mask = 2; mask < BIT(VMS); mask += 2) {
		(void)begin(NULL);
		atomic_store(&this_pcpu()->notified, mask);
		sched_handle_ipi();
		sched_serve_notified();
		end();
		each_has_paid(mask);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(files, begin),
	    cmocka_unit_test_setup(requests, begin),
	};

	return cmocka_run_group_tests_name("guest_file", tests, NULL, NULL);
}
