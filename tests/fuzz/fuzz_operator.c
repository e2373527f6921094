/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes on the serial line, by a person or a program: through core/operator/terminal.c, the
 * console's keys and requests, and the prompt. What happens to VMs, what they are typed, and which
 * requests are answered how is what tests/fuzz/operator_model.c says, each in the same order. An
 * answer may wait in the ring, and then comes after effects of what was typed behind its request,
 * but never before those of what was typed earlier. Each answer is of whole frames, ends once, and
 * is JSON where that was asked for.
 *
 * Bytes: the mode and the number of VMs, and what is typed.
 */
#include <string.h>

#include "arch/riscv/devices/uart.h"
#include "core/console/ring.h"
#include "core/dispatch/account_class.h"
#include "core/dispatch/mmio.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/io/external.h"
#include "core/io/ports.h"
#include "core/io/vm_uart.h"
#include "core/life/last_words.h"
#include "core/life/shutdown.h"
#include "core/life/vm_log.h"
#include "core/log.h"
#include "core/operator/prompt.h"
#include "core/operator/terminal.h"
#include "core/sched/vcpu_budget.h"
#include "core/sched/vcpu_move.h"
#include "core/vcpu/vm.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"
#include "core/watch/stays.h"
#include "core/watch/trace.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/operator_model.h"
#include "vpmu/show.h"

#define EFFECTS 8192U

uint64_t host_csrs[4096];
static uint64_t byte_costs; /* instructions */
struct platform platform;
static struct vm all_vms[VM_MAX_VMS];
struct vm *vms = all_vms;
uint32_t n_vms;
struct observe_request observe_request;

static union hart_stack hart;
union hart_stack hart_stacks[MAX_HARTS];
uint32_t n_pcpus = 2;
static struct vcpu vcpus[OPERATOR_VMS][OPERATOR_VCPUS];
static struct vm_tree tree;

/* What happened, and what the model says. */
static struct effect happened[EFFECTS], meant[EFFECTS];
static uint32_t n_happened, n_meant;
static const uint8_t *typed, *typed_end;

static void note(enum effect_kind kind, uint32_t a, uint32_t b)
{
	require(n_happened < EFFECTS);
	happened[n_happened++] = (struct effect){.kind = kind, .a = a, .b = b};
}

static void mean(struct effect effect)
{
	require(n_meant < EFFECTS);
	meant[n_meant++] = effect;
}

/* --- what comes out: answers ---------------------------------------------------------------- */

static char frame[1024];
static size_t frame_len;
static bool in_frame;
static char answering[9]; /* the request whose lines come */

/* Braces, brackets and quotes in pairs, and nothing that JSON wants escaped. */
static bool is_json(const char *text)
{
	char open[8];
	size_t depth = 0, n = strlen(text);
	bool string = false;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"')
			string = !string;
		else if (text[i] == '\\' || text[i] == '\'')
			return false;
		else if (!string && (text[i] == '{' || text[i] == '['))
			open[depth++ % 8] = text[i] == '{' ? '}' : ']';
		else if (!string && (text[i] == '}' || text[i] == ']') &&
		         (!depth || open[--depth % 8] != text[i]))
			return false;
	}
	return n && text[0] == '{' && text[n - 1] == '}' && !depth && !string;
}

static bool last_is_json; /* what the line before this one was */
static uint32_t lines;

static void frame_ends(void)
{
	struct effect answer = {.kind = ANSWER};
	char *space = strchr(frame, ' ');
	size_t id;

	if (frame[0] != '=' && frame[0] != '.')
		return;
	require(space);
	id = (size_t)(space - frame) - 1;
	require(id >= 1 && id <= 8);
	memcpy(answer.id, frame + 1, id);
	require(!answering[0] || strcmp(answering, answer.id) == 0);
	if (frame[0] == '=') {
		strcpy(answering, answer.id);
		for (char *c = space; *c; c++)
			require(*c >= ' ' && *c <= '~');
		require(strlen(space + 1) > 0 && strlen(space + 1) < PROMPT_LINE_BYTES);
		/* All lines of an answer are of one kind. */
		require(!lines || last_is_json == is_json(space + 1));
		last_is_json = is_json(space + 1);
		lines++;
		return;
	}
	require(strlen(space + 1) == 1 && space[1] >= '0' && space[1] <= '2');
	answer.b = (uint32_t)(space[1] - '0');
	require(!lines || !last_is_json || !answer.b);
	require(n_happened < EFFECTS);
	happened[n_happened++] = answer;
	answering[0] = '\0';
	lines = 0;
}

void uart_write(struct uart *uart, const char *s, size_t n)
{
	(void)uart_put(uart, s, n);
}

size_t uart_put(struct uart *uart, const char *s, size_t n)
{
	(void)uart;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\036') {
			in_frame = true;
			frame_len = 0;
		} else if (in_frame && s[i] == '\n') {
			in_frame = false;
			frame[frame_len] = '\0';
			frame_ends();
		} else if (in_frame) {
			require(frame_len < sizeof(frame) - 1);
			frame[frame_len++] = s[i];
		}
	}
	return n;
}

/* --- what goes in --------------------------------------------------------------------------- */

void uart_init(struct uart *uart, hpa_t base, uint32_t reg_shift, uint32_t io_width)
{
	(void)uart, (void)base, (void)reg_shift, (void)io_width;
}

void uart_listen(const struct uart *uart, bool received, bool empty)
{
	(void)uart, (void)received, (void)empty;
}

int uart_read(const struct uart *uart)
{
	(void)uart;
	if (typed == typed_end)
		return -1;
	operator_model_type(*typed, mean);
	host_csrs[CSR_INSTRET] += byte_costs;
	return *typed++;
}

struct pcpu *this_pcpu(void)
{
	return &hart.pcpu;
}

bool pcpu_may_begin_late(struct pcpu *pcpu)
{
	(void)pcpu;
	return false;
}

static void (*serve_console)(void);

void external_poll_at(enum external_kind what, uint64_t time)
{
	hart.pcpu.poll_times[what] = time;
	hart.pcpu.next_poll = time;
}

bool external_serve_console(void (*serve)(void))
{
	serve_console = serve;
	return true;
}

void vm_output_room(struct vm *vm)
{
	(void)vm;
}

/* --- the VMs -------------------------------------------------------------------------------- */

static uint32_t index_of(const struct vm *vm)
{
	require(vm >= vms && vm < vms + n_vms);
	return (uint32_t)(vm - vms);
}

bool vm_input_space(struct vm *vm)
{
	(void)index_of(vm);
	return true;
}

void vm_input(struct vm *vm, uint8_t byte)
{
	note(TO_VM, index_of(vm), byte);
}

const struct vm_device *vm_needs_reset(const struct vm *vm)
{
	(void)vm;
	return NULL;
}

bool vm_give_command(struct vm *vm, enum vm_command c)
{
	note(ACT, index_of(vm), (uint64_t) "?gsrp"[c]);
	return c != VM_COMMAND_STOP;
}

enum vm_answer shutdown_ask(struct vm *vm, uint32_t seconds)
{
	note(ACT, index_of(vm), seconds << 8 | 'o');
	return VM_ANSWER_TAKEN;
}

const char *port_network(const struct vm *vm, uint32_t n)
{
	require(n < vm->config->n_ports);
	return "lan";
}

bool port_is_up(const struct vm *vm, uint32_t n)
{
	require(n < vm->config->n_ports);
	return true;
}

void port_link(const struct vm *vm, uint32_t n, bool up)
{
	require(n < vm->config->n_ports);
	note(LINKED, index_of(vm), up);
}

void port_counts_read(const struct vm *vm, uint32_t n, struct port_counts *counts)
{
	require(n < vm->config->n_ports);
	*counts = (struct port_counts){.sent = index_of(vm), .lost = ~0UL};
}

bool vcpu_move(struct vcpu *vcpu, uint64_t hartid)
{
	note(MOVED, index_of(vcpu->vm), vcpu->id << 8 | (uint32_t)hartid);
	return hartid == 0;
}

void trace_switch(const struct vm *vm, bool on)
{
	note(TRACED, vm ? index_of(vm) : ~0U, on);
}

const char *mmio_device_name(uint32_t device)
{
	return device ? "UART" : "nothing";
}

/* One of each kind. */
bool trace_newest(struct exit_record exits[TRACE_SHOWN], uint32_t *n)
{
	static const uint64_t causes[] = {CAUSE_ECALL_VS, CAUSE_LOAD_GUEST_PAGE, CAUSE_VIRTUAL_INSN,
	                                  CAUSE_INTERRUPT | IRQ_STI, 99};

	exits[*n] = (struct exit_record){.vcpu = &vcpus[0][0], .scause = causes[*n]};
	return ++*n == ARRAY_SIZE(causes);
}

/* Each vcpu has one observer of each number, unless that is odd; it is served a bit later. */
void observe_post(enum observe_what what, uint64_t asked)
{
	for (uint32_t vm = 0; vm < n_vms; vm++) {
		for (uint32_t i = 0; i < OPERATOR_VCPUS; i++) {
			if (!(asked & BIT(vcpus[vm][i].index)))
				continue;
			memset(vcpus[vm][i].observers.copies, 0,
			       sizeof(vcpus[vm][i].observers.copies));
			vcpus[vm][i].observers.copies[1] = (struct observer){
			    .number = observe_request.number | 2,
			    .event = observe_request.event,
			    .ended = what == OBSERVE_END ? "it was asked for" : NULL};
		}
	}
	atomic_store(&observe_request.vcpus, asked);
}

struct sample_ring *samples_rings(uint32_t client)
{
	static uint64_t rings; /* the serial line has some */

	(void)client;
	return (struct sample_ring *)&rings;
}

/* Of the second hart there are some lines. */
uint64_t samples_noted(uint32_t on)
{
	return on ? 25 * SAMPLE_RECORD_MOST : 0;
}

static uint64_t taken;

/* Each command finds them again. */
bool samples_wait(uint32_t on)
{
	taken = 0;
	return samples_noted(on);
}

uint32_t samples_take(uint32_t on, uint64_t end, uint64_t *words)
{
	require(on < n_pcpus && end == samples_noted(on));
	if (taken == end)
		return 0;
	for (uint32_t i = 0; i < SAMPLE_RECORD_MOST; i++)
		words[i] = (~taken++ & ~0xffUL) | SAMPLE_RECORD_MOST;
	return SAMPLE_RECORD_MOST;
}

void stays_choose(const struct vm *vm, struct sample_ring *rings)
{
	require(rings);
	if (vm)
		(void)index_of(vm);
}

/* Every other vcpu has one, of the observation that observe_post() tells. */
uint32_t account_of(const struct vcpu *vcpu)
{
	return vcpu->index & 1 ? 2 : 0;
}

/* A row of each kind, and none between some of them. */
struct account account_told;

static void fill_account(void)
{
	account_told.number = 2;
	for (uint32_t row = 0; row < ACCOUNT_CLASSES; row++)
		account_told.rows[row] = (struct account_row){
		    .exits = row % 3, .insns = row % 3 * ~UINT64_C(0), .least = row & 1, .most = 1};
}

uint64_t account_call(uint32_t row, uint64_t *fid)
{
	require(row < ACCOUNT_CALLS);
	*fid = row & 1 ? ~UINT64_C(0) : row;
	return row;
}

uint64_t observe_vcpus(uint32_t of_vms)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < MAX_HART_VCPUS && this_pcpu()->vcpus[i]; i++)
		found |= this_pcpu()->vcpus[i]->index & 1 ? BIT(i) : 0;
	require(of_vms == ~0U);
	return found;
}

uint64_t vcpu_fw_total(const struct vcpu *vcpu, uint32_t code)
{
	(void)vcpu;
	return code;
}

const char *vm_state_name(const struct vm *vm)
{
	return index_of(vm) ? "running" : "off";
}

bool vm_is_asleep(const struct vm *vm)
{
	return index_of(vm);
}

uint64_t vcpu_budget_throttled(const struct vcpu *vcpu, uint64_t now)
{
	(void)vcpu;
	return now;
}

#define X8 "x", "x", "x", "x", "x", "x", "x", "x"
const char *const vm_register_names[32] = {X8, X8, X8, X8};

void vm_failure_text(const struct vm_failure *f, char *text, size_t size)
{
	(void)f, (void)size;
	text[0] = 0;
}

bool vpmu_describe(const struct vpmu *vpmu, uint32_t idx, bool same_hart, struct vpmu_view *view)
{
	(void)vpmu, (void)idx, (void)same_hart, (void)view;
	return false;
}

/* --- a run ---------------------------------------------------------------------------------- */

static void make_vms(unsigned int n)
{
	static char said[LAST_BYTES];

	for (size_t i = 0; i < sizeof(said); i++)
		said[i] = (char)(7 * i);
	fill_account();
	tree.n_vms = n_vms = n;
	for (uint32_t vm = 0; vm < n; vm++) {
		strcpy(tree.vms[vm].name, operator_vms[vm]);
		tree.vms[vm].n_vcpus = OPERATOR_VCPUS;
		tree.vms[vm].n_ports = vm; /* the first has none */
		vms[vm] = (struct vm){.config = &tree.vms[vm], .index = vm};
		/* Some have failed, and have said nothing before, something, or more than is kept.
		 */
		vms[vm].last.texts[0] = (struct last_text){said, vm * 3000};
		vms[vm].last.crashed = vms[vm].last.ended = vms[vm].last.texts;
		atomic_store(&vms[vm].last.crashes, vm ? 2 : 0);
		atomic_store(&vms[vm].last.ends, vm ? 4 : 0);
		for (uint32_t i = 0; i < OPERATOR_VCPUS; i++) {
			struct vcpu *vcpu = &vcpus[vm][i];

			vcpu->vm = &vms[vm];
			vcpu->id = i;
			vcpu->index = vm * OPERATOR_VCPUS + i;
			vcpu->home = &hart.pcpu;
			vms[vm].vcpus[i] = vcpu;
			hart.pcpu.vcpus[vcpu->index] = vcpu;
		}
	}
	hart.pcpu.vcpus[n * OPERATOR_VCPUS] = NULL;
}

static bool same(const struct effect *a, const struct effect *b)
{
	return a->kind == b->kind && a->a == b->a && (b->b == ~0U || a->b == b->b) &&
	       strcmp(a->id, b->id) == 0;
}

/* Returns the index of the next one, from `at` on, that is an answer, or is none. */
static uint32_t next(const struct effect *effects, uint32_t n, uint32_t at, bool answer)
{
	while (at < n && (effects[at].kind == ANSWER) != answer)
		at++;
	return at;
}

static void compare(bool answers)
{
	for (uint32_t h = 0, m = 0;; h++, m++) {
		h = next(happened, n_happened, h, answers);
		m = next(meant, n_meant, m, answers);
		if (h == n_happened || m == n_meant) {
			require(h == n_happened && m == n_meant);
			return;
		}
		require(same(&happened[h], &meant[m]));
		require(!answers || h >= m);
	}
}

/* Interrupts come until all is read and answered. */
static void serve_all(void)
{
	uint64_t idle = 0;

	while (typed < typed_end || hart.pcpu.next_poll != ~0UL) {
		require(idle++ < 100000);
		if (hart.pcpu.next_poll != ~0UL && hart.pcpu.next_poll > host_csrs[CSR_TIME])
			host_csrs[CSR_TIME] = hart.pcpu.next_poll;
		hart.pcpu.last_irq_check = host_csrs[CSR_INSTRET];
		serve_console();
		atomic_store(&observe_request.vcpus, 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char memory[RING_BYTES(VM_MAX_VMS)];

	if (size < 2)
		return 0;
	make_vms(1 + data[0] % OPERATOR_VMS);
	n_happened = n_meant = 0;
	in_frame = false;
	answering[0] = '\0';
	lines = 0;
	platform = (struct platform){
	    .timebase = 10000000, .interactive = data[0] & 0x10, .frames = data[0] & 0x20};
	log_init((hpa_t){1}, 0, 1);
	terminal_init();
	terminal_set_vms(&tree);
	terminal_enable_input(memory);
	operator_model_begin(n_vms, platform.frames);
	/* A stay is too long for more after the fifth byte, or after none. */
	byte_costs = data[0] & 0x40 ? 400 : 0;
	typed = data + 1;
	typed_end = data + size;
	external_poll_at(EXTERNAL_CONSOLE, ~0UL);
	serve_all();
	require(!in_frame && !answering[0]);
	if (operator_model_knows()) {
		compare(false);
		compare(true);
	}
	return 0;
}
