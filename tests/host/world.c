/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/csr_read.h"
#include "tests/host/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/host/chance.h"
#include "tests/host/fake_harts.h"
#include "tests/host/vpmu_calls.h"
#include "vpmu/retired.h"

#define STORM 300U /* maximum number of overflows in one run of a guest */

struct world_count world_count;
struct vcpu world_vcpus[VCPUS];
uint32_t world_resident;

static struct machine now;
static uint32_t on_hart[FAKE_HARTS]; /* who is resident there; VCPUS: nobody */
static char difference[WORLD_TEXT];
static uint32_t emulated; /* instructions in VS: another counter is read each time */

const char *world_difference(void)
{
	return difference;
}

void world_differ(const char *format, ...)
{
	va_list args;

	if (difference[0])
		return;
	va_start(args, format);
	vsnprintf(difference, sizeof(difference), format, args);
	va_end(args);
}

void world_misused(const char *what)
{
	world_differ("misuse of the port: %s", what);
}

static struct vcpu *resident(void)
{
	return &world_vcpus[world_resident];
}

static void switch_to(uint32_t next, bool stay);

void world_reset(const struct machine *machine)
{
	now = *machine;
	difference[0] = '\0';
	emulated = 0;
	fake_hart_reset(&now.hart);
	fake_harts_begin();
	memset(world_vcpus, 0, sizeof(world_vcpus));
	for (uint32_t i = 0; i < VCPUS; i++) {
		if (now.policy[i].events)
			now.policy[i].events = now.allowed[i];
		if (now.policy[i].table) {
			now.table[i].allowed = now.raw_allowed[i];
			now.policy[i].table = &now.table[i];
		}
		world_budget_place(&now.hart, &now.policy[i]);
		fake_hart_policy(i + 1, &now.policy[i]);
		fake_hart_vpmu(i + 1, &world_vcpus[i].vpmu);
		vpmu_init(&world_vcpus[i].vpmu, &now.policy[i]);
		model_init(&world_vcpus[i].model, i + 1, &now.policy[i]);
		world_budget_begin(&world_vcpus[i]);
	}
	world_resident = on_hart[0] = 0;
	on_hart[1] = VCPUS;
	fake_hart_enter(1);
	fake_hart_flags_load(1);
	vpmu_restore(&world_vcpus[0].vpmu);
}

/* --- calls --------------------------------------------------------------------------- */

/* A call that moves events may take the configuration of a stopped counter before it is over. */
static void note_dropped(struct vcpu *vc, const uint64_t *a)
{
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (vc->model.c[i].configured && model_is_hw(&vc->model, i) &&
		    !(vc->vpmu.configured >> i & 1) &&
		    !model_dropped(&vc->model, a[0], a[1], a[2], a[3], a[4], i))
			world_differ("counter %u has lost its configuration", i);
}

/* Between two stays of a call, others run. */
static void between_stays(struct vcpu *vc, const struct op *op)
{
	uint32_t self = world_resident;

	world_count.config_stays++;
	note_dropped(vc, op->a);
	vc->model.fault = vc->model.fault || fake_trace.faults != 0;
	world_note_lost(vc);
	if (op->fail_prepare || op->fail_set || op->fail_run || op->fail_stop)
		return;
	switch_to((self + 1) % VCPUS, false);
	switch_to(self, false);
}

static const char *config(struct vcpu *vc, const struct op *op, struct answer *answer)
{
	const uint64_t *a = op->a;
	uint32_t stays = 0;

	vc->model.fault = false;
	answer->ret = vpmu_counter_config_matching(&vc->vpmu, a[0], a[1], a[2], a[3], a[4]);
	while (answer->ret.error == VPMU_AGAIN) {
		if (++stays > VPMU_HW_COUNTERS)
			return "does not end";
		fake_hart_flags_configured(true);
		between_stays(vc, op);
		answer->ret = vpmu_config_movable(&vc->vpmu, a[0], a[1], a[2], a[3], a[4]);
	}
	vc->model.fault = vc->model.fault || fake_trace.faults != 0;
	/* Room was made, and then the hart refused, or the guest could not see OF. */
	if (answer->ret.error && (vc->model.fault || (vc->model.policy.shows_flags &&
	                                              a[2] & SBI_PMU_CFG_FLAG_AUTO_START)))
		note_dropped(vc, a);
	return model_config(&vc->model, a[0], a[1], a[2], a[3], a[4], answer->ret);
}

/* Counters that were not started although they are configured, and that the hart has not refused.
 */
static uint64_t unseen_of(const struct vpmu *v, uint64_t flags, const struct vpmu *before)
{
	uint64_t unseen = v->policy.shows_flags ? v->configured & ~v->running : 0;
	/* Each start does this. */
	uint64_t tried = (v->lost & ~before->lost) | (before->unknown & ~v->unknown) |
	                 (before->overflow & ~v->overflow);

	/* These have no value to continue from. */
	if (!flags)
		unseen &= ~v->unknown;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if ((v->lost >> i & 1) && before->counter[i].value != v->counter[i].value)
			tried |= 1ULL << i;
	return unseen & ~tried;
}

static const char *start(struct vcpu *vc, const uint64_t *a, struct answer *answer)
{
	static struct vpmu before;

	before = vc->vpmu;
	answer->ret = vpmu_counter_start(&vc->vpmu, a[0], a[1], a[2], a[3]);
	vc->model.fault = fake_trace.faults != 0;
	return model_start(&vc->model, a[0], a[1], a[2], a[3], unseen_of(&vc->vpmu, a[2], &before),
	                   answer->ret);
}

static const char *event_info(struct vcpu *vc, const uint64_t *a, struct answer *answer)
{
	const struct model_info *info = &vc->model.info;
	bool same = !info->next || (info->lo == a[0] && info->num == a[2]);
	bool more = a[1] == WORLD_AGAIN && same;
	uint64_t hi = more ? 0 : a[1], from = more ? info->next : 0, next = from;

	answer->ret = vpmu_event_get_info(&vc->vpmu, a[0], hi, a[2], a[3], &next);
	answer->again = next;
	return model_event_info(&vc->model, a[0], hi, a[2], a[3], from, answer->ret, next);
}

static const char *call(struct vcpu *vc, const struct op *op, struct answer *answer)
{
	const struct vpmu *v = &vc->vpmu;
	const struct model *m = &vc->model;
	const uint64_t *a = op->a;

	switch (op->kind) {
	case OP_NUM_COUNTERS:
		answer->ret = vpmu_num_counters(v);
		return model_num_counters(m, answer->ret);
	case OP_GET_INFO:
		answer->ret = vpmu_counter_get_info(v, a[0]);
		world_count.infos += !answer->ret.error;
		world_count.infos_refused += answer->ret.error != 0;
		return model_get_info(m, a[0], answer->ret);
	case OP_CONFIG:
		return config(vc, op, answer);
	case OP_START:
		return start(vc, a, answer);
	case OP_STOP:
		answer->ret = vpmu_counter_stop(&vc->vpmu, a[0], a[1], a[2]);
		return model_stop(&vc->model, a[0], a[1], a[2], answer->ret);
	case OP_FW_READ:
		answer->ret = vpmu_counter_fw_read(v, a[0]);
		world_count.fw_reads += !answer->ret.error;
		world_count.fw_reads_refused += answer->ret.error != 0;
		return model_fw_read(m, a[0], answer->ret);
	case OP_FW_READ_HI:
		answer->ret = vpmu_counter_fw_read_hi(v, a[0]);
		return model_fw_read_hi(m, a[0], answer->ret);
	case OP_SET_SHMEM:
		answer->ret = vpmu_snapshot_set_shmem(&vc->vpmu, a[0], a[1], a[2]);
		return model_set_shmem(&vc->model, a[0], a[1], a[2], answer->ret);
	default:
		return event_info(vc, a, answer);
	}
}

static const char *const call_names[OP_CALLS] = {
    "num_counters", "get_info",   "config",    "start",      "stop",
    "fw_read",      "fw_read_hi", "set_shmem", "event_info",
};

static bool may_touch_memory(const struct op *op)
{
	return op->kind == OP_EVENT_INFO ||
	       ((op->kind == OP_START || op->kind == OP_STOP) && (op->a[2] & 2));
}

/* A value without meaning must not be one that happened to be in a register. */
static bool has_value(const struct op *op, const struct answer *answer)
{
	return !answer->ret.error && op->kind != OP_START && op->kind != OP_STOP &&
	       op->kind != OP_SET_SHMEM && op->kind != OP_EVENT_INFO;
}

static void do_call(const struct op *op, struct answer *answer)
{
	struct vcpu *vc = resident();
	const char *what;

	world_count.calls++;
	world_count.lcofi_pending_at_call += fake_hart_pending();
	what = call(vc, op, answer);
	if (op->kind == OP_CONFIG)
		fake_hart_flags_configured(false);
	else if (op->kind == OP_START || op->kind == OP_STOP)
		fake_hart_flags_started();
	if (what)
		world_differ("%s: %s", call_names[op->kind], what);
	if (answer->ret.value && !answer->again && !has_value(op, answer))
		world_differ("%s: a value where there is none", call_names[op->kind]);
	if (fake_mem_touches() && !may_touch_memory(op))
		world_differ("%s: touched the guest's memory", call_names[op->kind]);
	world_note_lost(vc);
}

/* --- everything else ----------------------------------------------------------------- */

static void csr_read(uint64_t csr, struct answer *answer)
{
	uint64_t value;

	if (csr >= 0xc00 && csr < 0xc20)
		return;
	world_count.bad_csr_reads++;
	answer->ret.error = vpmu_csr_read(&resident()->vpmu, (uint32_t)csr, &value) ? 0 : -2;
	if (!answer->ret.error)
		world_differ("read of a foreign CSR");
}

static void run(const uint64_t *a)
{
	enum fake_mode mode = a[0] & 1 ? FAKE_VU : FAKE_VS;
	uint32_t work = fake_hart_work(a[1]);
	struct vcpu *vc = resident();
	uint64_t done = 0;
	uint32_t polling = 0;

	fake_trace.samples_in_run = 0;
	if (fake_hart_pending())
		world_take_overflow(vc);
	for (uint32_t stops = 0; done < a[2] && !difference[0]; stops++) {
		uint32_t next = fake_hart_work_after(work, done);
		uint64_t part = fake_hart_step(mode, next, a[2] - done);

		if (stops > STORM + fake_trace.samples_in_run) {
			world_differ("a storm of overflows");
			break;
		}
		model_step(&vc->model, mode, next, part);
		world_observers_step(vc, mode, next, part);
		world_budget_step(vc, next, part);
		done += part;
		world_count.runs++;
		/* This hart reports nothing late, and a poll comes right at the wrap, unless an
		 * ecall is first. */
		if (fake_hart_poll_is_due() && polling >= a[3]) {
			world_count.looks_put_off++;
			break;
		}
		if (fake_hart_take_poll()) {
			world_count.polling++;
			vpmu_poll(&vc->vpmu);
			world_note_lost(vc);
			world_check(vc);
			/* A counter that stands still may need any number of polls: the
			 * interval. */
			stops--;
			if (++polling > STORM)
				break;
		}
		if (!fake_hart_pending())
			continue;
		world_count.overflows++;
		/* An ecall or a timer comes first. */
		if (stops >= a[3])
			break;
		world_take_overflow(vc);
		world_observers_taken(vc);
		world_check(vc);
	}
}

static void fw_event(uint32_t which, uint32_t code)
{
	struct vcpu *vc = &world_vcpus[which];

	/* The port's events are not reported by Tally. */
	if (code < 32 && (vc->model.policy.fw_port_events >> code & 1))
		return;
	vpmu_fw_event(&vc->vpmu, code);
	if (code < 22)
		model_fw_event(&vc->model, code, 1);
	if (which == world_resident)
		world_count.fw_events_resident++;
	else
		world_count.fw_events_elsewhere++;
}

static void port_event(uint32_t which, uint32_t code, uint64_t n)
{
	struct model *m = &world_vcpus[which].model;
	bool here = which == world_resident;

	if (code >= 256 && code - 256 < FAKE_TALLY_EVENTS) {
		fake_hart_fw_event(which + 1, code, n);
		model_fw_event(m, code, n);
		world_count.tally_events_resident += here;
		world_count.tally_events_elsewhere += !here;
	} else if (code < 22 && here && (m->policy.fw_port_events >> code & 1)) {
		fake_hart_fw_event(which + 1, code, n);
		model_fw_event(m, code, n);
		if (model_watched(m) >> code & 1)
			world_count.port_events_watched++;
		else
			world_count.port_events_unwatched++;
	}
}

static uint64_t port_work(void)
{
	return fake_trace.prepares + fake_trace.start_calls + fake_trace.stop_calls +
	       fake_trace.reads + fake_trace.steps + fake_trace.direct_sets + fake_trace.watches;
}

/* An instruction in VS that somebody counts is a trapped read of a running counter, if there is
 * one. */
static void retired_by_vs(struct vpmu *v)
{
	uint64_t turn = emulated++;
	uint64_t n = turn % VPMU_HW_COUNTERS;
	uint64_t reader = 1 + turn / 16 % 2;
	uint64_t value, left, counts;
	bool noted;

	/* Or of scountovf. */
	if (turn % 8 == 7) {
		if (vpmu_scountovf_cached(v, reader, &counts))
			left = vpmu_step_cached(v, counts);
		else
			left = vpmu_retired_scountovf(v, reader);
		if (left)
			vpmu_retired_slow(v, left);
		return;
	}
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS && !vpmu_runs(v, n); i++) {
		if (vpmu_read_cached(v, n, 1, &counts) || vpmu_read_cached(v, n, 2, &counts))
			world_differ("a read of counter %u, which does not run, is noted",
			             (unsigned)n);
		n = (n + 1) % VPMU_HW_COUNTERS;
	}
	if (!vpmu_runs(v, n) || (v->active & v->retires[0]) == 0) {
		vpmu_retired(v, false);
		return;
	}
	noted = vpmu_read_cached(v, n, reader, &counts);
	if (noted)
		left = vpmu_retired_cached(v, n, counts, &value);
	else
		left = vpmu_retired_read(v, n, reader, &value);
	world_count.reads_noted += noted;
	if (left)
		vpmu_retired_slow(v, left);
	else if (value != vpmu_csr_value(v, n) && !v->policy.count_hs)
		world_differ("a read of counter %u that counts itself: %#llx", (unsigned)n,
		             (unsigned long long)value);
}

static void retired(bool user)
{
	struct vcpu *vc = resident();
	uint64_t work = port_work();

	world_count.lcofi_pending_at_emulation += fake_hart_pending();
	if (user)
		vpmu_retired(&vc->vpmu, true);
	else
		retired_by_vs(&vc->vpmu);
	world_observers_retired(vc, user ? FAKE_VU : FAKE_VS);
	world_budget_retired(vc);
	if (!model_retired(&vc->model, user) && !world_observers(vc) &&
	    !vc->model.policy.budget_hctr && port_work() != work)
		world_differ("an emulated instruction that nobody counts was not cheap");
	/* As in core/, the polls of a timer come when it is known which counters have failed. */
	world_note_lost(vc);
	/* A counter that shares a fixed one may have wrapped; only a poll shows that. */
	if (fake_hart_take_poll())
		vpmu_poll(&vc->vpmu);
	world_note_lost(vc);
	world_count.emulated_in_vu += user;
	world_count.emulated_in_vs += !user;
}

/* Mostly known events; also invalid ones, and sometimes one with reserved bits. */
static void entries(uint64_t gpa, uint64_t n, uint64_t seed)
{
	for (uint64_t i = 0; i < n; i++) {
		struct {
			uint32_t event_idx;
			uint32_t output;
			uint64_t event_data;
		} entry = {.event_data = 0};
		uint64_t r = chance_mix(seed + i);
		uint32_t event = (uint32_t)(r >> 8) % fake_hart_events();

		entry.output = (uint32_t)(r >> 32);
		switch (r % 8) {
		case 0:
		case 1:
		case 2:
			entry.event_idx =
			    fake_hart_event_idx((enum fake_event)event, &entry.event_data);
			break;
		case 3:
			entry.event_idx = 0xf0000 | ((r >> 8) % 24);
			break;
		case 4:
			entry.event_idx = 0xf0100 | ((r >> 8) % 40);
			break;
		case 5:
			entry.event_idx = 0x10000 | ((r >> 8) % 64);
			break;
		case 6:
			entry.event_idx = (uint32_t)(r >> 8) % 16;
			break;
		default:
			entry.event_idx = (uint32_t)chance_mix(r) & 0xfffff;
			entry.event_data = r >> 8 & 1 ? chance_mix(r + 1) >> (r >> 9 & 31) : 0;
		}
		if ((r >> 40) % 64 == 0 && seed & 1)
			entry.event_idx |= 1U << (20 + (r >> 50) % 12);
		fake_mem_poke(world_resident + 1, gpa + 16 * i, &entry, sizeof(entry));
	}
}

/* The guest writes its own memory; it cannot write elsewhere. */
static void write_memory(const struct op *op)
{
	uint64_t bytes = op->kind == OP_POKE ? 8 : 16 * (op->a[1] & 0xfff);

	if (!bytes || !fake_mem_is_ram(op->a[0], bytes))
		return;
	if (op->kind == OP_POKE)
		fake_mem_poke(world_resident + 1, op->a[0], &op->a[1], 8);
	else
		entries(op->a[0], op->a[1] & 0xfff, op->a[2]);
}

/* --- who is at work, and where -------------------------------------------------------- */

bool world_is_resident(const struct vcpu *vc)
{
	return on_hart[vc->hart] == (uint32_t)(vc - world_vcpus);
}

/* The active vcpu stays resident, and work of HS for others advances nothing of it. */
static void put_aside(void)
{
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		resident()->model.c[i].hs_seen -= fake_trace.hs_units;
}

static void take_up(uint32_t next)
{
	struct vcpu *vc = &world_vcpus[next];

	world_resident = next;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		vc->model.c[i].hs_seen += fake_trace.hs_units;
	fake_harts_select(vc->hart);
}

/* It is not resident any more. */
static void leave(void)
{
	struct vcpu *vc = resident();

	world_count.lcofi_pending_at_switch += fake_hart_pending();
	fake_trace.stop_calls = 0;
	vpmu_save(&vc->vpmu);
	if (fake_trace.stop_calls > 1 && !vc->model.policy.count_hs)
		world_differ("a switch out took %llu stops",
		             (unsigned long long)fake_trace.stop_calls);
	world_settle(vc);
	/* A stop that failed loses nothing that was parked. */
	fake_trace.late = 0;
	/* Whatever was not reported by now would not be reported while it is away. */
	world_check_saved(vc);
	world_budget_saved(vc);
	world_observers_saved(vc);
	fake_hart_leave();
	on_hart[vc->hart] = VCPUS;
	put_aside();
}

/* The vcpu that is resident there leaves. No vcpu is active. */
static void clear_hart(uint32_t hart)
{
	if (on_hart[hart] == VCPUS)
		return;
	take_up(on_hart[hart]);
	leave();
}

static void enter(uint32_t next)
{
	struct vcpu *vc = &world_vcpus[next];

	clear_hart(vc->hart);
	take_up(next);
	on_hart[vc->hart] = next;
	fake_hart_enter(next + 1);
	fake_trace.start_calls = 0;
	fake_hart_flags_load(next + 1);
	vpmu_restore(&vc->vpmu);
	model_restored(&vc->model);
	if (fake_trace.start_calls > 1 && !vc->model.policy.count_hs)
		world_differ("a switch in took %llu starts",
		             (unsigned long long)fake_trace.start_calls);
	world_note_lost(vc);
	world_count.switches++;
}

/* The active vcpu stays resident, or leaves its hart. */
static void switch_to(uint32_t next, bool stay)
{
	struct vcpu *vc = &world_vcpus[next];

	stay = stay && vc->hart != resident()->hart;
	world_count.stayed_resident += stay;
	if (stay)
		put_aside();
	else
		leave();
	world_count.turned_back += world_is_resident(vc);
	if (world_is_resident(vc))
		take_up(next);
	else
		enter(next);
}

/* At a world switch. The vcpu that was active continues, on either hart. */
static void move(uint32_t which)
{
	struct vcpu *vc = &world_vcpus[which];
	uint32_t last = world_resident;

	world_count.moves_resident += which == last;
	world_count.moves_away += which != last;
	world_count.moves_counting += vc->vpmu.parked != 0 || vc->vpmu.active != 0;
	leave();
	if (world_is_resident(vc))
		clear_hart(vc->hart);
	fake_harts_select(vc->hart);
	fake_harts_abandon(which + 1);
	vc->hart ^= 1;
	enter(last);
}

/* On the vcpu's own hart, as the active vcpu if it is resident there. */
static void observe(uint32_t which, const struct op *op)
{
	struct vcpu *vc = &world_vcpus[which];

	if (world_is_resident(vc) && which != world_resident) {
		put_aside();
		take_up(which);
	}
	world_observe(which, op);
}

static void reset(void)
{
	struct vcpu *vc = resident();
	struct vpmu_policy policy = vc->model.policy;

	world_count.lcofi_pending_at_reset += fake_hart_pending();
	world_count.resets_with_shmem += vc->model.shmem_set;
	world_count.resets_in_info += vc->model.info.next != 0;
	vpmu_reset(&vc->vpmu);
	world_settle(vc);
	fake_trace.late = 0;
	fake_trace.raises = 0;
	model_init(&vc->model, world_resident + 1, &policy);
	vc->raises = vc->raises_seen = 0;
	vc->wraps_seen = 0;
	vc->of_model = vc->of_library = 0;
	memset(vc->observers, 0, sizeof(vc->observers));
	if (fake_hart_running() || fake_hart_direct())
		world_differ("vpmu_reset() left a counter running or direct");
	if (fake_hart_pending())
		world_take_overflow(vc);
	world_count.resets++;
	/* Its budget goes on when it is resident again. */
	if (policy.budget_hctr) {
		leave();
		enter(world_resident);
	}
}

struct answer world_do(const struct op *op)
{
	struct answer answer = {{0, 0}, false};
	uint32_t which = (uint32_t)(op->a[0] % VCPUS);
	uint64_t watches = fake_trace.watches;
	uint64_t hs_wraps = fake_trace.hs_wraps;
	uint64_t sets = fake_trace.failed_sets, runs = fake_trace.failed_runs;
	uint64_t stops = fake_trace.failed_stops;

	fake_mem_forget();
	fake_hart_fail_prepare(op->fail_prepare);
	fake_hart_fail_set(op->fail_set);
	fake_hart_fail_run(op->fail_run);
	fake_hart_fail_stop(op->fail_stop);
	resident()->model.hs_before = fake_trace.hs_units;
	resident()->model.poll_due = fake_hart_poll_is_due();
	world_count.steps++;
	switch (op->kind) {
	case OP_CSR_READ:
		csr_read(op->a[0], &answer);
		break;
	case OP_RUN:
		run(op->a);
		break;
	case OP_FW_EVENT:
		fw_event(which, (uint32_t)op->a[1]);
		break;
	case OP_PORT_EVENT:
		port_event(which, (uint32_t)op->a[1], op->a[2]);
		break;
	case OP_RETIRED:
		retired(op->a[0] & 1);
		break;
	case OP_POKE:
	case OP_ENTRIES:
		write_memory(op);
		break;
	case OP_OVERFLOW:
		world_count.overflow_for_nothing += !fake_hart_pending();
		world_take_overflow(resident());
		break;
	case OP_SWITCH:
		switch_to(which, op->a[1] & 1);
		break;
	case OP_RESET:
		reset();
		break;
	case OP_MOVE:
		move(which);
		break;
	case OP_OBSERVE:
	case OP_UNOBSERVE:
	case OP_BUDGET:
		observe(which, op);
		break;
	default:
		do_call(op, &answer);
	}
	fake_hart_fail_prepare(0);
	fake_hart_fail_set(0);
	fake_hart_fail_run(0);
	fake_hart_fail_stop(0);
	world_note_lost(resident());
	world_observers_check(resident(), op);
	world_budget_check(resident(), op);
	world_count.watch_changes += fake_trace.watches - watches;
	world_count.lcofi_from_hs += fake_trace.hs_wraps - hs_wraps;
	world_count.failed_sets += fake_trace.failed_sets - sets;
	world_count.failed_runs += fake_trace.failed_runs - runs;
	world_count.failed_stops += fake_trace.failed_stops - stops;
	if (!difference[0])
		world_check(resident());
	return answer;
}
