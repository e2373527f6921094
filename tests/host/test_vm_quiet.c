/* SPDX-License-Identifier: Apache-2.0 */
/* How long a VM that has ended waits for its devices (core/io/vm_quiet.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/devices/device_reset.h"
#include "core/hart/platform.h"
#include "core/io/bells.h"
#include "core/io/dma.h"
#include "core/io/functions.h"
#include "core/io/operator_function.h"
#include "core/io/ports.h"
#include "core/io/power_key.h"
#include "core/io/vm_quiet.h"
#include "core/io/wired.h"
#include "core/log.h"

#define SECOND 1000U

uint64_t host_csrs[4096];
struct platform platform = {.timebase = SECOND};

static struct vm_config config;
static struct vm vm = {.config = &config};
static bool rests, answers, drains; /* what the VM waits for has come */
static uint32_t asked;
static char line[128];

struct pcpu *this_pcpu(void)
{
	abort();
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
}

void wired_end(struct vm *of)
{
	(void)of;
}

void bells_end(struct vm *of)
{
	(void)of;
}

void operator_function_reset(struct vm *of, bool alive)
{
	(void)of;
	(void)alive;
}

void power_key_reset(struct vm *of, bool alive)
{
	(void)of;
	(void)alive;
}

void ports_reset(struct vm *of, bool alive)
{
	(void)of;
	(void)alive;
}

bool wired_drain(struct vm *of)
{
	asked += of == &vm;
	return drains;
}

bool dma_end(struct vm *of)
{
	asked += of == &vm;
	return answers;
}

bool dma_attach(struct vm *of)
{
	asked += of == &vm;
	return answers;
}

void functions_stop(struct vm *of)
{
	(void)of;
}

bool function_reset(const struct vm_device *device)
{
	(void)device;
	abort();
}

bool device_reset_goldfish_rtc(uint64_t base)
{
	asked += base == 0x1000;
	return rests;
}

bool device_reset_ns16550(uint64_t base, uint32_t shift)
{
	(void)base, (void)shift;
	abort();
}

bool device_reset_virtio_mmio(uint64_t base)
{
	(void)base;
	abort();
}

static int setup(void **state)
{
	(void)state;
	rests = answers = drains = true;
	asked = 0;
	line[0] = '\0';
	memset(&vm.life, 0, sizeof(vm.life));
	config = (struct vm_config){.name = "alpha", .n_devices = 2};
	for (uint32_t i = 0; i < 2; i++)
		config.devices[i] = (struct vm_device){
		    .name = "rtc", .reset = VM_RESET_GOLDFISH_RTC, .registers = 0x1000};
	return 0;
}

static void pass(uint64_t ticks)
{
	host_csrs[CSR_TIME] += ticks;
}

/* What is waited for is looked at for a second from the first look on, however late that is. */
static void waits_from_the_first_look_on(bool *what)
{
	vm_quiet_begin(&vm);
	*what = false;
	/* The end is being told, or other vcpus have the hart. */
	pass(10 * SECOND);
	while (!asked || *what)
		assert_true(vm_quiet_slice(&vm));
	for (uint32_t n = 0; n < 99; n++) {
		pass(SECOND / 100);
		assert_true(vm_quiet_slice(&vm));
		assert_null(vm.life.busy_device);
		assert_false(vm.life.never_quiet);
	}
	pass(SECOND / 100);
	assert_true(vm_quiet_slice(&vm));
}

static void a_device(void **state)
{
	(void)state;
	waits_from_the_first_look_on(&rests);
	assert_ptr_equal(vm.life.busy_device, &config.devices[0]);
	/* The second one has a second of its own. */
	pass(10 * SECOND);
	assert_true(vm_quiet_slice(&vm));
	rests = true;
	assert_true(vm_quiet_slice(&vm));
	while (vm_quiet_slice(&vm))
		;
	assert_false(vm_is_quiet(&vm));
	assert_string_equal(line, "vm alpha: stays off: its device rtc does not come to rest");
}

static void the_iommu(void **state)
{
	(void)state;
	config.n_devices = 0;
	waits_from_the_first_look_on(&answers);
	assert_string_equal(line, "vm alpha: the IOMMU does not answer");
	/* What comes after it has a second of its own. */
	drains = false;
	pass(10 * SECOND);
	line[0] = '\0';
	assert_true(vm_quiet_slice(&vm));
	assert_string_equal(line, "");
	drains = true;
	while (vm_quiet_slice(&vm))
		;
	assert_false(vm_is_quiet(&vm));
}

static void an_interrupt(void **state)
{
	(void)state;
	config.n_devices = 0;
	vm_quiet_begin(&vm);
	assert_true(vm_quiet_slice(&vm)); /* the IOMMU */
	asked = 0;
	drains = false;
	pass(10 * SECOND);
	assert_true(vm_quiet_slice(&vm));
	pass(SECOND - 1);
	assert_true(vm_quiet_slice(&vm));
	assert_string_equal(line, "");
	pass(1);
	assert_true(vm_quiet_slice(&vm));
	assert_string_equal(line, "vm alpha: an interrupt of its devices does not end");
	assert_false(vm_quiet_slice(&vm));
}

static void at_once(void **state)
{
	(void)state;
	vm_quiet_begin(&vm);
	for (uint32_t n = 0; n < 4; n++) {
		pass(10 * SECOND);
		assert_true(vm_quiet_slice(&vm));
	}
	assert_false(vm_quiet_slice(&vm));
	assert_true(vm_is_quiet(&vm));
	assert_int_equal(asked, 4);
}

/* Before a life: it is told once, and the VM does not start. */
static void the_iommu_before_a_life(void **state)
{
	(void)state;
	config.n_devices = 0;
	vm_quiet_begin(&vm);
	while (vm_quiet_slice(&vm))
		;
	assert_true(vm_is_quiet(&vm));
	answers = false;
	pass(10 * SECOND);
	assert_false(vm_attach_slice(&vm));
	pass(SECOND - 1);
	assert_false(vm_attach_slice(&vm));
	answers = true;
	assert_true(vm_attach_slice(&vm));
	answers = false;
	assert_false(vm_attach_slice(&vm));
	pass(SECOND - 1);
	assert_false(vm_attach_slice(&vm));
	assert_string_equal(line, "");
	assert_false(vm.life.never_quiet);
	pass(1);
	assert_false(vm_attach_slice(&vm));
	assert_string_equal(line, "vm alpha: the IOMMU does not answer");
	/* What was attached is detached again, with a second for it. */
	line[0] = '\0';
	vm.life.waiting = false; /* by vm_life.c */
	assert_true(vm_quiet_slice(&vm));
	pass(SECOND);
	assert_true(vm_quiet_slice(&vm));
	assert_true(vm_quiet_slice(&vm)); /* its interrupts, as after any detach */
	assert_false(vm_quiet_slice(&vm));
	assert_string_equal(line, "");
	assert_false(vm_is_quiet(&vm));
	assert_string_equal(line, "vm alpha: stays off");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_device, setup),
	    cmocka_unit_test_setup(the_iommu, setup),
	    cmocka_unit_test_setup(the_iommu_before_a_life, setup),
	    cmocka_unit_test_setup(an_interrupt, setup),
	    cmocka_unit_test_setup(at_once, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
