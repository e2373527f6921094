/* SPDX-License-Identifier: Apache-2.0 */
/* A remote fence whose other hart does not answer (core/vsbi/vsbi_rfence.c): no hart waits for it,
 * only the guest that has made the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "core/dispatch/exit.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/vcpu/long_call.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"

#define SECOND 1000U
#define VCPUS  3U

uint64_t host_csrs[4096];
struct platform platform = {.timebase = SECOND};

static struct pcpu harts[VCPUS];
static struct vcpu vcpus[VCPUS];
static struct vm_config config = {.name = "alpha", .n_vcpus = VCPUS};
static struct vm vm = {.config = &config};
static uint32_t looks, lines;
static char line[128];

struct pcpu *this_pcpu(void)
{
	return &harts[0];
}

void host_wfi(void)
{
	abort();
}

void host_fence(void)
{
}

void log_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	lines++;
}

struct guest_context *this_context(void)
{
	return &vcpus[0].ctx;
}

void vcpu_send(struct vcpu *vcpu, uint64_t what, uint32_t kind)
{
	(void)kind;
	(void)requests_make(&vcpu->requests, what);
}

void vcpu_serve_fences(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &vcpus[0]);
	assert_true(looks++ < 1000);
}

void long_call_begin(struct vcpu *vcpu, const struct long_call *call)
{
	vcpu->call = *call;
}

bool vsbi_for_each_hart(struct vcpu *vcpu, uint64_t hart_mask, uint64_t hart_mask_base,
                        void (*fn)(struct vcpu *self, struct vcpu *target, uint64_t arg),
                        uint64_t arg)
{
	(void)hart_mask_base;
	for (uint32_t i = 0; i < VCPUS; i++) {
		if (hart_mask >> i & 1)
			fn(vcpu, &vcpus[i], arg);
	}
	return true;
}

static int setup(void **state)
{
	(void)state;
	memset(vcpus, 0, sizeof(vcpus));
	for (uint32_t i = 0; i < VCPUS; i++) {
		harts[i].hartid = 10 + i;
		vcpus[i].vm = &vm;
		vcpus[i].id = i;
		vcpus[i].home = &harts[i];
		vcpus[i].hsm_state = SBI_HSM_STATE_STARTED;
		vm.vcpus[i] = &vcpus[i];
		requests_init(&vcpus[i].requests);
		(void)requests_enable(&vcpus[i].requests, REQ_ALL);
	}
	looks = lines = 0;
	return 0;
}

static void call(uint64_t mask, uint64_t fid)
{
	assert_true(vsbi_rfence.fn[fid](mask, 0, 0, 0, 0, 0, fid, SBI_EXT_RFENCE) == 0);
}

/* One slice, in which it looks at most a hundred times. */
static bool slice(void)
{
	looks = 0;
	assert_non_null(vcpus[0].call.slice);
	if (vcpus[0].call.slice(&vcpus[0])) {
		assert_in_range(looks, 1, 100);
		return true;
	}
	vcpus[0].call.slice = NULL;
	return false;
}

static void nobody_is_waited_for(void **state)
{
	(void)state;
	call(1, SBI_RFENCE_SFENCE_VMA);
	assert_null(vcpus[0].call.slice);
	/* One that is not resident, and one that is off. */
	requests_disable(&vcpus[1].requests);
	vcpus[2].hsm_state = SBI_HSM_STATE_STOPPED;
	call(7, SBI_RFENCE_SFENCE_VMA);
	assert_null(vcpus[0].call.slice);
	assert_int_equal(looks, 0);
}

static void two_answer_late(void **state)
{
	static const uint64_t requests[] = {REQ_FENCE_I, REQ_VVMA, REQ_VVMA};

	for (uint64_t fid = 0; fid < 3; fid++) {
		setup(state);
		call(7, fid);
		assert_in_range(looks, 1, 100);
		assert_true(slice());
		assert_int_equal(requests_take(&vcpus[1].requests, REQ_ALL), requests[fid]);
		assert_true(slice());
		/* It has been asked for another fence since. */
		(void)requests_make(&vcpus[1].requests, REQ_FENCES);
		assert_int_equal(requests_take(&vcpus[2].requests, REQ_ALL), requests[fid]);
		assert_false(slice());
		assert_int_equal(lines, 0);
	}
}

static void one_never_answers(void **state)
{
	(void)state;
	call(6, SBI_RFENCE_SFENCE_VMA);
	(void)requests_take(&vcpus[1].requests, REQ_ALL);
	host_csrs[CSR_TIME] += 10 * SECOND - 1;
	assert_true(slice());
	assert_int_equal(lines, 0);
	for (uint32_t n = 0; n < 100; n++) {
		host_csrs[CSR_TIME] += SECOND;
		assert_true(slice());
		assert_int_equal(lines, 1);
	}
	assert_string_equal(line, "vm alpha: a fence of vcpu 0 waits: hart 12 has not answered for "
	                          "10 s");
	(void)requests_take(&vcpus[2].requests, REQ_ALL);
	assert_false(slice());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(nobody_is_waited_for, setup),
	    cmocka_unit_test_setup(two_answer_late, setup),
	    cmocka_unit_test_setup(one_never_answers, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
