/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's commands to a VM (core/life/vm_life.h), at any moment of its life and several at once:
 * none is lost. This program is the lead hart. What that would wait for happens when settle() is
 * called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/life/last_words.h"
#include "core/life/vm_life.h"
#include "core/sched/port.h"
#include "core/sched/vcpu_budget.h"
#include "core/hart/platform.h"
#include "core/io/bells.h"
#include "core/io/dma.h"
#include "core/io/functions.h"
#include "core/io/operator_function.h"
#include "core/io/ports.h"
#include "core/io/power_key.h"
#include "core/io/port.h"
#include "core/io/vm_quiet.h"
#include "core/io/vm_uart.h"
#include "core/io/wired.h"
#include "core/io/vm_rtc.h"
#include "core/life/heart.h"
#include "core/life/shutdown.h"
#include "core/life/vm_load.h"
#include "core/life/vm_log.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/sched/sched.h"
#include "core/vcpu/terminal_port.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vm_state.h"

#define VCPUS  2U
#define SLICES 3U /* of quieting, of clearing and of loading, each */

uint64_t host_csrs[4096];
struct platform platform = {.timebase = 1000};

static struct vm vm;
static struct vm_config config;
static struct vcpu vcpus[VCPUS];
static bool working;            /* the lead hart's time slices go to the VM's next life */
static unsigned int lives;      /* so far */
static bool shown_ended;        /* told to the user by the console */
static void (*meanwhile)(void); /* what other harts do while the end is being logged */
static unsigned int slices;
static bool silent; /* the IOMMU */

/* --- what vm_life.c wants ------------------------------------------------------------------- */

struct pcpu *this_pcpu(void)
{
	return NULL;
}

void log_flush(void)
{
}

void machine_off(uint64_t reason)
{
	(void)reason;
	fail_msg("the machine was switched off");
	abort();
}

void vcpu_request(struct vcpu *vcpu, uint64_t what)
{
	(void)requests_make(&vcpu->requests, what);
}

void sched_start_life_work(struct vcpu *vcpu)
{
	(void)vcpu;
	working = true;
}

bool sched_has_life_work(const struct vcpu *vcpu)
{
	(void)vcpu;
	return working;
}

static const char *logged;

void log_line(const char *format, ...)
{
	logged = format;
}

static void others(void)
{
	void (*once)(void) = meanwhile;

	meanwhile = NULL;
	if (once)
		once();
}

void terminal_vm_ended(uint32_t index, bool ended)
{
	(void)index;
	if (ended)
		others();
	shown_ended = ended;
}

static unsigned int log_pieces, ends_logged;

void vm_log_begin(struct vm *of)
{
	(void)of;
	log_pieces = 0;
	ends_logged++;
}

bool vm_log_piece(struct vm *of)
{
	if (log_pieces == 0)
		terminal_vm_ended(of->index, true);
	return ++log_pieces < SLICES;
}

void vm_crash_note(struct vm_crash *crash, const struct vcpu *vcpu)
{
	(void)crash, (void)vcpu;
}

void vm_load_begin(struct vm *of)
{
	(void)of;
	slices = 0;
}

bool vm_load_slice(struct vm *of)
{
	(void)of;
	return ++slices < SLICES;
}

bool vm_clear_slice(struct vm *of)
{
	(void)of;
	return ++slices < SLICES;
}

static unsigned int quiet_slices;
static bool not_quiet; /* its devices never come to rest */

void bells_begin(struct vm *of)
{
	(void)of;
}

void operator_function_reset(struct vm *of, bool alive)
{
	(void)of;
	(void)alive;
}

void ports_reset(struct vm *of, bool alive)
{
	(void)of;
	(void)alive;
}

/* The VM has no port. */
void port_counts_read(const struct vm *of, uint32_t n, struct port_counts *counts)
{
	(void)of;
	(void)n;
	(void)counts;
	fail();
}

/* Of the power key: a life has it, its guest has a driver, and how often it was pressed. */
static bool has_key, has_driver;
static unsigned int presses;

void power_key_reset(struct vm *of, bool alive)
{
	(void)of;
	has_key = alive;
}

bool power_key_is_live(struct vm *of)
{
	assert_ptr_equal(of, &vm);
	return has_driver;
}

bool power_key_press(struct vm *of)
{
	assert_true(of == &vm && has_key);
	presses += has_driver;
	return has_driver;
}

/* The VM is no operator. */
bool operator_rest(struct vm *of)
{
	(void)of;
	abort();
}

void vm_quiet_begin(struct vm *of)
{
	(void)of;
	quiet_slices = 0;
}

bool vm_quiet_slice(struct vm *of)
{
	(void)of;
	return ++quiet_slices < SLICES;
}

bool vm_is_quiet(const struct vm *of)
{
	(void)of;
	assert_true(quiet_slices >= SLICES);
	return !not_quiet && !of->life.never_quiet;
}

/* Gives up at once. */
bool vm_attach_slice(struct vm *of)
{
	of->life.never_quiet = silent;
	return !silent;
}

void functions_begin(struct vm *of)
{
	(void)of;
}

void wired_begin(struct vm *of)
{
	(void)of;
}

const struct vm_device *vm_device_without_reset(const struct vm_config *of)
{
	(void)of;
	return NULL;
}

void vcpu_budget_begin(struct vcpu *vcpu, uint64_t now)
{
	(void)vcpu, (void)now;
}

void heart_ignore(struct vm *of)
{
	(void)of;
}

static unsigned int watches;

void heart_watch(struct vm *of)
{
	(void)of;
	watches++;
}

void sched_account_rest_to(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &vcpus[0]);
}

static bool has_room;
static char keys[8]; /* those that the guest has got */

bool vm_break(struct vm *of, uint8_t next)
{
	(void)of;
	if (has_room)
		keys[strlen(keys)] = (char)next;
	return has_room;
}

void dma_begin(struct vm *of)
{
	(void)of;
}

bool dma_log_remaining(struct vm *of)
{
	return !of;
}

void vaplic_init(struct vaplic *aplic, unsigned int n_vcpus, uint32_t foreign)
{
	(void)aplic, (void)n_vcpus, (void)foreign;
}

void vplic_init(struct vplic *plic, uint32_t n_vcpus)
{
	(void)plic, (void)n_vcpus;
	lives++;
}

void vm_rtc_reset(struct vm *of)
{
	(void)of;
}

void vm_uart_begin(struct vm *of)
{
	(void)of;
}

/* --- the harts ------------------------------------------------------------------------------ */

/* Does one thing as the harts would, requests first. Returns false if there is nothing to do. */
static bool step(void)
{
	for (unsigned int i = 0; i < VCPUS; i++) {
		uint64_t requests = requests_take(&vcpus[i].requests, REQ_ALL);

		if (requests & REQ_LIFE)
			vm_life_serve(&vm);
		if (requests & REQ_STOP)
			vm_vcpu_stopped(&vcpus[i]);
		if (requests)
			return true;
	}
	if (!working)
		return false;
	working = vm_life_work(&vm);
	return true;
}

static void settle(void)
{
	for (unsigned int i = 0; step(); i++)
		assert_true(i < 1000);
	assert_true(atomic_load(&vm.state) == VM_RUNNING || atomic_load(&vm.state) == VM_OFF);
}

/* The first life is prepared next, and begins unless the VM is deferred. */
static void power_on(bool deferred)
{
	vms_start_counting(1000);
	config = (struct vm_config){.n_vcpus = VCPUS, .restart = VM_RESTART_NEVER};
	vm = (struct vm){.config = &config};
	for (unsigned int i = 0; i < VCPUS; i++) {
		vcpus[i] = (struct vcpu){.vm = &vm, .id = i};
		vm.vcpus[i] = &vcpus[i];
	}
	config.deferred = deferred;
	working = false;
	shown_ended = false;
	meanwhile = NULL;
	vm_prepare(&vm, 0);
}

static void boot(void)
{
	power_on(false);
	settle();
	assert_int_equal(atomic_load(&vm.state), VM_RUNNING);
}

/* --- commands ------------------------------------------------------------------------------- */

enum { START, STOP, RESTART, POWER_OFF, COMMANDS };

static bool give(unsigned int command)
{
	return vm_give_command(&vm, VM_COMMAND_START + command);
}

/* What must be true if each command was carried out before the next was given. */
struct wish {
	bool on;    /* runs */
	bool fresh; /* another life than before */
};

static struct wish after(struct wish was, unsigned int command)
{
	bool on = command == START || command == RESTART;
	bool ends = was.on && command != START;

	return (struct wish){.on = on, .fresh = was.fresh || ends || (on && !was.on)};
}

static void check(struct wish wish, unsigned int lives_before, unsigned int last)
{
	bool on = atomic_load(&vm.state) == VM_RUNNING;

	assert_int_equal(on, wish.on);
	assert_int_equal(shown_ended, !on);
	if (on)
		assert_int_equal(lives > lives_before, wish.fresh);
	assert_false(on && vm.life.off_for_good);
	if (last == POWER_OFF)
		assert_true(vm.life.off_for_good);
}

static void stop_then_start(void **state)
{
	unsigned int before;

	(void)state;
	boot();
	before = lives;
	assert_true(vm_give_command(&vm, VM_COMMAND_STOP));
	/* It still runs, but is about to stop. */
	assert_true(vm_give_command(&vm, VM_COMMAND_START));
	settle();
	assert_int_equal(atomic_load(&vm.state), VM_RUNNING);
	assert_int_equal(lives, before + 1);
}

enum from { RUNS, IS_OFF, WAS_NEVER_ON, IS_PREPARED, IS_PREPARED_TO_WAIT };

static struct wish come_to(enum from from)
{
	power_on(from == WAS_NEVER_ON || from == IS_PREPARED_TO_WAIT);
	if (from < IS_PREPARED)
		settle();
	if (from == IS_OFF) {
		give(STOP);
		settle();
	}
	return (struct wish){.on = from == RUNS || from == IS_PREPARED,
	                     .fresh = from == IS_PREPARED};
}

/* All sequences of three commands, with up to so many steps of the harts after each. */
static void rows(enum from from)
{
	for (unsigned int row = 0; row < COMMANDS * COMMANDS * COMMANDS; row++) {
		for (unsigned int gaps = 0; gaps < 16 * 16; gaps++) {
			unsigned int commands[] = {row % COMMANDS, row / COMMANDS % COMMANDS,
			                           row / COMMANDS / COMMANDS};
			struct wish wish = come_to(from);
			unsigned int before = lives;

			for (unsigned int i = 0; i < 3; i++) {
				unsigned int gap = i == 0 ? gaps % 16 : gaps / 16;

				give(commands[i]);
				wish = after(wish, commands[i]);
				for (unsigned int n = 0; n < gap && step(); n++)
					;
			}
			settle();
			check(wish, before, commands[2]);
		}
	}
}

static void rows_to_one_that_runs(void **state)
{
	(void)state;
	rows(RUNS);
}

static void rows_to_one_that_is_off(void **state)
{
	(void)state;
	rows(IS_OFF);
	rows(WAS_NEVER_ON);
}

/* With steps of the harts between boot and the first command, too. */
static void rows_to_one_that_is_prepared(void **state)
{
	(void)state;
	rows(IS_PREPARED);
	rows(IS_PREPARED_TO_WAIT);
}

/* It does not keep the machine on, and a start that is taken up while it is prepared does. */
static void never_started(void **state)
{
	(void)state;
	power_on(true);
	assert_true(shown_ended);
	assert_true(vm.life.off_for_good);
	assert_true(step());
	assert_int_equal(atomic_load(&vm.state), VM_CLEARING);
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_START), VM_ANSWER_BUSY);
	settle();
	assert_int_equal(atomic_load(&vm.state), VM_OFF);
	assert_int_equal(vm.life.number, 0);
	assert_true(vm.life.off_for_good);
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_STOP), VM_ANSWER_ALREADY);
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_START), VM_ANSWER_TAKEN);
	settle();
	assert_int_equal(atomic_load(&vm.state), VM_RUNNING);
	assert_false(vm.life.off_for_good);
	assert_false(shown_ended);

	power_on(true);
	assert_true(step());
	vm_give_command(&vm, VM_COMMAND_START);
	assert_true(step());
	assert_int_equal(atomic_load(&vm.state), VM_CLEARING);
	assert_false(vm.life.off_for_good);
	settle();
	assert_int_equal(vm.life.number, 1);
}

/* Its devices do not come to rest. */
static void never_starts(void **state)
{
	(void)state;
	not_quiet = true;
	power_on(false);
	settle();
	not_quiet = false;
	assert_int_equal(atomic_load(&vm.state), VM_OFF);
	assert_true(shown_ended);
	assert_true(vm.life.off_for_good);
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_START), VM_ANSWER_NEVER);
}

/* An IOMMU that does not answer: the VM is off, and says that it cannot start. */
static void never_starts_again(void **state)
{
	(void)state;
	boot();
	give(STOP);
	settle();
	silent = true;
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_START), VM_ANSWER_TAKEN);
	settle();
	silent = false;
	assert_int_equal(atomic_load(&vm.state), VM_OFF);
	assert_int_equal(vm.life.number, 1);
	assert_true(shown_ended);
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_START), VM_ANSWER_NEVER);
}

/* The operator's command reaches the lead hart between two lines about the end. */
static void start_early(void)
{
	vm_give_command(&vm, VM_COMMAND_START);
}

static void a_command_while_the_end_is_logged(void **state)
{
	(void)state;
	boot();
	vm_end(&vm, &vcpus[0], VM_END_SHUTDOWN, NULL, 0);
	meanwhile = start_early;
	ends_logged = 0;
	while (step())
		;
	assert_null(meanwhile);
	assert_int_equal(ends_logged, 1);
	assert_int_equal(atomic_load(&vm.state), VM_RUNNING);
	assert_false(shown_ended);
}

static void prints(const char *text)
{
	last_words_add_output(&vm, text, strlen(text));
}

/* A text, which is all here. */
static const char *kept(const struct last_text *last)
{
	static char text[LAST_BYTES + 1];

	memcpy(text, last->bytes, LAST_BYTES);
	text[last->printed] = '\0';
	return text;
}

static void assert_last(enum vm_end why, uint64_t life, const char *text)
{
	assert_int_equal(last_words_state(&vm.last.ends), 2 * life);
	assert_int_equal(vm.ended.why, why);
	assert_int_equal(vm.ended.life, life);
	assert_string_equal(kept(vm.last.ended), text);
}

static void last_words(void **state)
{
	static char pages[3][LAST_BYTES];
	static struct last_exits exits[2][VCPUS];
	unsigned long seen;

	(void)state;
	boot();
	config.restart = VM_RESTART_ON_FAILURE;
	config.restart_limit = 5;
	config.crash_exits = true;
	for (uint32_t i = 0; i < 3; i++)
		vm.last.texts[i].bytes = pages[i];
	for (uint32_t set = 0; set < 2; set++) {
		for (uint32_t i = 0; i < VCPUS; i++)
			vm.last.exits[set][i] = &exits[set][i];
	}
	/* No crash, whatever it printed and however it ended. */
	assert_int_equal(last_words_state(&vm.last.ends), 0);
	prints("first ");
	vm_give_command(&vm, VM_COMMAND_RESTART);
	settle();
	assert_int_equal(last_words_state(&vm.last.crashes), 0);
	assert_last(VM_END_RESTART, 1, "first ");
	/* The text of the life that failed, and of no other. */
	prints("second");
	exits[vm.last.live][1].n = 70;
	vcpus[1].ctx.hs_insns[EXIT_MMIO] = 700;
	vm_failed(&vcpus[1], "reason", 7);
	settle();
	seen = last_words_state(&vm.last.crashes);
	assert_int_equal(seen, 2);
	assert_string_equal(kept(vm.last.crashed), "second");
	assert_last(VM_END_FAILED, 2, "second");
	assert_int_equal(vm.last.exits[!vm.last.live][1]->n, 70);
	assert_int_equal(vm.last.exits[!vm.last.live][1]->hs_insns, 700);
	assert_int_equal(vm.last.exits[vm.last.live][1]->n, 0);
	assert_int_equal(vm.crash.life, 2);
	/* It goes on, and they stay. */
	prints("third");
	vm_give_command(&vm, VM_COMMAND_RESTART);
	settle();
	assert_true(last_words_same(&vm.last.crashes, seen));
	assert_string_equal(kept(vm.last.crashed), "second");
	assert_last(VM_END_RESTART, 3, "third");
	prints("fourth");
	vm_heartbeat_missed(&vm);
	settle();
	assert_false(last_words_same(&vm.last.crashes, seen));
	assert_int_equal(last_words_state(&vm.last.crashes), 4);
	assert_string_equal(kept(vm.last.crashed), "fourth");
	assert_last(VM_END_FAILED, 4, "fourth");
	assert_string_equal(vm.crash.failure.unit, "ms");
	assert_int_equal(vm.crash.life, 4);
}

/* Between two states it is told to come again, and the lead hart hears of nothing. */
static void asked_by_another_vm(void **state)
{
	static const enum vm_command all[] = {VM_COMMAND_START, VM_COMMAND_STOP,
	                                      VM_COMMAND_RESTART};

	(void)state;
	boot();
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_START), VM_ANSWER_ALREADY);
	assert_false(step());
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_STOP), VM_ANSWER_TAKEN);
	do {
		uint64_t pending = atomic_load(&vcpus[0].requests.pending);

		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(vm_try_command(&vm, all[i]), VM_ANSWER_BUSY);
		assert_int_equal(atomic_load(&vcpus[0].requests.pending), pending);
		(void)step();
	} while (atomic_load(&vm.state) != VM_OFF);
	settle();
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_STOP), VM_ANSWER_ALREADY);
	assert_false(step());
	for (unsigned int i = 0; i < 3; i += 2) {
		assert_int_equal(vm_try_command(&vm, all[i]), VM_ANSWER_TAKEN);
		settle();
		assert_int_equal(atomic_load(&vm.state), VM_RUNNING);
		vm_give_command(&vm, VM_COMMAND_STOP);
		settle();
	}
	not_quiet = true;
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_RESTART), VM_ANSWER_TAKEN);
	settle();
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_RESTART), VM_ANSWER_NEVER);
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_START), VM_ANSWER_NEVER);
	assert_int_equal(vm_try_command(&vm, VM_COMMAND_STOP), VM_ANSWER_ALREADY);
	assert_false(step());
	not_quiet = false;
}

/* --- a shutdown that is asked for ----------------------------------------------------------- */

#define NOW host_csrs[CSR_TIME]

static void boot_sysrq(void)
{
	NOW = 1000;
	boot();
	config.shutdown = VM_SHUTDOWN_SYSRQ;
	vm.uart.opened = true;
	memset(keys, 0, sizeof(keys));
	has_room = true;
	logged = NULL;
	watches = 0;
}

/* As the timer of the lead hart. Returns whether there was something to do. */
static bool poll(void)
{
	if (vm.shutdown.at > NOW)
		return false;
	shutdown_step(&vm, NOW);
	return true;
}

static void refused(enum vm_answer answer)
{
	assert_int_equal(shutdown_ask(&vm, 30), answer);
	assert_false(step());
	assert_int_equal(vm.shutdown.at, ~0UL);
	assert_int_equal(watches, 0);
}

static void cannot_be_asked(void **state)
{
	(void)state;
	boot_sysrq();
	config.shutdown = VM_SHUTDOWN_NONE;
	refused(VM_ANSWER_NO_WAY);
	config.shutdown = VM_SHUTDOWN_SYSRQ;
	vm.uart.opened = false;
	refused(VM_ANSWER_CLOSED);
	vm.uart.opened = true;
	assert_true(give(STOP));
	while (atomic_load(&vm.state) != VM_OFF) {
		(void)step();
		if (atomic_load(&vm.state) != VM_RUNNING && atomic_load(&vm.state) != VM_OFF)
			assert_int_equal(shutdown_ask(&vm, 30), VM_ANSWER_BUSY);
	}
	settle();
	refused(VM_ANSWER_ALREADY);
	assert_string_equal(keys, "");
}

/* s, u and o, two seconds apart, from when each fits. Its end is like a stop, whatever `restart`
 * says, and another life has nothing of it. */
static void asked_and_obeyed(void **state)
{
	unsigned int before;

	(void)state;
	boot_sysrq();
	config.restart = VM_RESTART_ALWAYS;
	config.restart_limit = 1000;
	before = lives;
	assert_int_equal(shutdown_ask(&vm, 30), VM_ANSWER_TAKEN);
	assert_int_equal(shutdown_ask(&vm, 30), VM_ANSWER_BUSY);
	settle();
	assert_int_equal(watches, 1);
	assert_int_equal(shutdown_ask(&vm, 30), VM_ANSWER_BUSY);
	assert_true(poll());
	assert_string_equal(keys, "s");
	NOW += 1999;
	assert_false(poll());
	NOW++;
	has_room = false;
	assert_true(poll());
	NOW += 9;
	assert_false(poll());
	NOW++;
	has_room = true;
	assert_true(poll());
	assert_string_equal(keys, "su");
	NOW += 2000;
	assert_true(poll());
	assert_string_equal(keys, "suo");
	assert_int_equal(vm.shutdown.at, 31000);
	vm_end(&vm, &vcpus[0], VM_END_SHUTDOWN, NULL, 0);
	settle();
	assert_int_equal(atomic_load(&vm.state), VM_OFF);
	assert_false(vm.life.off_for_good);
	assert_int_equal(lives, before);
	assert_null(logged);
	assert_true(give(START));
	settle();
	assert_int_equal(vm.shutdown.at, ~0UL);
	assert_int_equal(atomic_load(&vm.shutdown.asked), 0);
	vm_end(&vm, &vcpus[0], VM_END_SHUTDOWN, NULL, 0);
	settle();
	assert_int_equal(atomic_load(&vm.state), VM_RUNNING);
}

/* Told once, at the tick; then it may be asked again. What ends the guest then has been asked for
 * all the same. */
static void asked_in_vain(void **state)
{
	(void)state;
	boot_sysrq();
	has_room = false;
	assert_int_equal(shutdown_ask(&vm, 5), VM_ANSWER_TAKEN);
	settle();
	for (unsigned int i = 0; i < 499; i++, NOW += 10)
		assert_true(poll());
	NOW += 5;
	assert_true(poll());
	assert_null(logged);
	assert_int_equal(vm.shutdown.at, 6000);
	NOW = 6000;
	assert_true(poll());
	assert_string_equal(logged, "vm %s: did not end in %u s: stop pulls the plug");
	assert_string_equal(keys, "");
	NOW += 1000000;
	assert_false(poll());
	assert_int_equal(atomic_load(&vm.state), VM_RUNNING);
	assert_int_equal(atomic_load(&vm.shutdown.asked), 5 | SHUTDOWN_LATE);
	/* Another command to the VM begins nothing. */
	assert_false(give(START));
	settle();
	assert_int_equal(vm.shutdown.at, ~0UL);
	assert_int_equal(shutdown_ask(&vm, 7), VM_ANSWER_TAKEN);
	settle();
	assert_int_equal(vm.shutdown.deadline, NOW + 7000);
	has_room = true;
	assert_true(poll());
	assert_string_equal(keys, "s");
	/* Its end comes first; the timer finds nothing to do. */
	logged = NULL;
	vm_end(&vm, &vcpus[0], VM_END_FAILED, "x", 0);
	NOW += 8000;
	assert_true(poll());
	settle();
	assert_null(logged);
	assert_int_equal(vm.shutdown.at, ~0UL);
}

/* The key is pressed once, when the guest has a driver with room. */
static void asked_by_the_key(void **state)
{
	(void)state;
	boot_sysrq();
	config.shutdown = VM_SHUTDOWN_KEY;
	vm.key = (struct power_key *)&vm; /* not looked into here */
	vm.uart.opened = false;
	presses = 0;
	has_driver = false;
	refused(VM_ANSWER_CLOSED);
	has_driver = true;
	assert_int_equal(shutdown_ask(&vm, 6), VM_ANSWER_TAKEN);
	settle();
	has_driver = false;
	assert_true(poll());
	NOW += 9;
	assert_false(poll());
	NOW++;
	has_driver = true;
	assert_true(poll());
	assert_int_equal(presses, 1);
	assert_string_equal(keys, "");
	assert_int_equal(vm.shutdown.at, 7000);
	NOW = 7000;
	assert_true(poll());
	assert_string_equal(logged, "vm %s: did not end in %u s: stop pulls the plug");
	assert_int_equal(presses, 1);
	vm.key = NULL;
}

/* --- sleep ---------------------------------------------------------------------------------- */

static uint64_t timers[VCPUS];

uint64_t vcpu_timer_deadline(const struct vcpu *vcpu)
{
	return timers[vcpu->id];
}

/* Whether it is told, with its vcpus in these states. */
static bool asleep(unsigned long one, unsigned long other)
{
	atomic_store(&vcpus[0].hsm_state, one);
	atomic_store(&vcpus[1].hsm_state, other);
	return vm_is_asleep(&vm);
}

/* Each vcpu that is on has suspended itself, at least one, and none has a timer. */
static void asleep_or_not(void **state)
{
	const unsigned long awake[] = {SBI_HSM_STATE_STARTED, SBI_HSM_STATE_START_PENDING,
	                               HSM_CLAIMED};
	const unsigned long on = SBI_HSM_STATE_SUSPENDED, off = SBI_HSM_STATE_STOPPED;

	(void)state;
	boot();
	timers[0] = timers[1] = ~0UL;
	assert_true(asleep(on, on));
	assert_true(asleep(on, off));
	assert_true(asleep(off, on));
	assert_false(asleep(off, off));
	for (size_t i = 0; i < sizeof(awake) / sizeof(awake[0]); i++) {
		assert_false(asleep(on, awake[i]));
		assert_false(asleep(awake[i], on));
		assert_false(asleep(awake[i], off));
	}
	timers[1] = ~0UL - 1;
	assert_false(asleep(on, on));
	assert_true(asleep(on, off));
	timers[0] = 0;
	assert_false(asleep(on, off));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stop_then_start),
	    cmocka_unit_test(rows_to_one_that_runs),
	    cmocka_unit_test(rows_to_one_that_is_off),
	    cmocka_unit_test(rows_to_one_that_is_prepared),
	    cmocka_unit_test(never_started),
	    cmocka_unit_test(never_starts),
	    cmocka_unit_test(never_starts_again),
	    cmocka_unit_test(asked_by_another_vm),
	    cmocka_unit_test(cannot_be_asked),
	    cmocka_unit_test(asked_and_obeyed),
	    cmocka_unit_test(asked_in_vain),
	    cmocka_unit_test(asked_by_the_key),
	    cmocka_unit_test(asleep_or_not),
	    cmocka_unit_test(last_words),
	    cmocka_unit_test(a_command_while_the_end_is_logged),
	};

	return cmocka_run_group_tests_name("vm commands", tests, NULL, NULL);
}
