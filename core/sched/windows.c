/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/windows.h"

#include "arch/riscv/hart/csr.h"
#include "core/sched/port.h"
#include "core/hart/check.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/sched/run_state.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

/* The phase of a hart's frame. If a guard is longer than the least guard, it begins with GUARD, in
 * which no vcpu can run and interrupts are served. For the rest of the guard the phase is OPEN
 * already: the window's vcpu is loaded, and waits. */
enum phase { SLACK, GUARD, OPEN };

#define MILLION 1000000UL
/* A window that begins up to 100 ns late is not counted as late: if a tick of the clock is shorter
 * than a few instructions, no window could begin at its very tick. */
#define SOON_HZ 10000000U

/* The vcpus of one window or more, or of the slack. Constant after boot, but for the times, and for
 * `wires`, which pcpu->gate protects. */
struct window_set {
	uint64_t vcpus;          /* mask of vcpus[] */
	uint64_t files;          /* their guest interrupt files */
	struct wake_times *wake; /* their wake times; of the empty set: pcpu->wake_times */
	uint64_t wires;          /* the sources that are on in these windows, see wired_turn() */
};

#define SLACK_SET VM_MAX_HART_WINDOWS
#define EMPTY_SET (VM_MAX_HART_WINDOWS + 1)
#define SETS      (VM_MAX_HART_WINDOWS + 2)

/* The first group is constant after boot, the second private to the hart. */
struct windows {
	const struct vm_schedule *schedule;
	uint64_t frame; /* ticks, plus `frame_part` millionths of a tick */
	uint64_t frame_part;
	/* Of each window; SLACK_SET: the vcpus that run in the slack. Equal sets share wake times.
	 */
	struct window_set sets[SETS];

	enum phase phase;
	bool first_load_due; /* a window begins, has a ready vcpu, and none has been loaded yet */
	struct vcpu *flags_vcpu; /* the window's first vcpu while HS sets its OF bits; or NULL */
	uint32_t next;           /* index of the window that is open, or comes next */
	/* host time of the beginning of that window's frame, plus frame_at_part millionths of a
	 * tick */
	uint64_t frame_at;
	uint64_t frame_at_part;
	uint64_t phase_end;     /* host time of the end of the phase */
	uint64_t open_at;       /* OPEN: host time of the beginning of the window */
	uint64_t allowed_delay; /* OPEN: delay in ticks up to which its first guest is not late */
	uint64_t held_off;      /* bits of sie that windows_hold_off() has cleared */
	uint32_t next_set;      /* the vcpus that are not away after windows_switch() */
	uint32_t set;           /* those that are not away */
	/* For each window, the value of pcpu->last when it ended; one more entry is for the slack.
	 * A window may be shorter than a time slice, so each one continues its own round robin. */
	uint64_t last[VM_MAX_HART_WINDOWS + 1];
};

static uint64_t ticks(uint64_t us)
{
	return us * platform.timebase / MILLION;
}

static void add(struct window_set *set, const struct vcpu *vcpu)
{
	set->vcpus |= vcpu->bit;
	if (vcpu->guest_file)
		set->files |= BIT(vcpu->guest_file);
}

/* Returns the first set with the vcpus of this one. */
static uint32_t first_like(const struct windows *w, uint32_t set)
{
	uint32_t i = 0;

	while (w->sets[i].vcpus != w->sets[set].vcpus)
		i++;
	return i;
}

/* Gives wake times to sets: as many as there are different ones. */
static void make_wakes(struct windows *w, struct pcpu *pcpu, void *(*alloc)(size_t size))
{
	uint32_t v, n = 0;

	for (uint32_t i = 0; i < SETS; i++)
		n += w->sets[i].vcpus && first_like(w, i) == i;
	pcpu->window_wakes = alloc(n * sizeof(*pcpu->window_wakes));
	n = 0;
	for (uint32_t i = 0; i < SETS; i++) {
		struct window_set *set = &w->sets[i];

		set->wake = &pcpu->wake_times;
		if (!set->vcpus)
			continue;
		set->wake = w->sets[first_like(w, i)].wake;
		if (first_like(w, i) != i)
			continue;
		set->wake = &pcpu->window_wakes[n];
		wake_times_init(set->wake);
		for_each_bit (v, set->vcpus)
			pcpu->vcpus[v]->wake_sets |= 1U << n;
		n++;
	}
}

static void make(struct windows *w, struct pcpu *pcpu, const struct vm_schedule *schedule,
                 void *(*alloc)(size_t size))
{
	uint32_t v;

	w->schedule = schedule;
	w->frame = ticks(schedule->frame_us);
	w->frame_part = (uint64_t)schedule->frame_us * platform.timebase % MILLION;
	for (uint32_t i = 0; i < n_vms; i++) {
		if (!(schedule->slack >> i & 1))
			continue;
		for_each_bit (v, vm_vcpus_on(vms[i].config, schedule->hart))
			add(&w->sets[SLACK_SET], vms[i].vcpus[v]);
	}
	for (uint32_t i = 0; i < schedule->n_windows; i++)
		for_each_bit (v, schedule->windows[i].vcpus)
			add(&w->sets[i], vms[schedule->windows[i].vm].vcpus[v]);
	make_wakes(w, pcpu, alloc);
	w->phase_end = ~0UL;
	w->set = w->next_set = EMPTY_SET;
	pcpu->has_schedule = true;
	pcpu->present = pcpu->ready = 0;
	/* No vcpu is alone here: windows of others are like time slices of others. */
	pcpu_add_vcpus(pcpu, 1);
}

void windows_make(const struct vm_tree *tree, void *(*alloc)(size_t size))
{
	for (uint32_t i = 0; i < tree->n_schedules; i++) {
		const struct vm_schedule *s = &tree->schedules[i];
		struct pcpu *pcpu = pcpu_at(s->hart);

		pcpu->windows = alloc(sizeof(*pcpu->windows));
		make(pcpu->windows, pcpu, s, alloc);
		log_line("hart %u: no stay in HS is longer than %u instructions; least guard %u us",
		         s->id, s->longest_stay, s->least_guard_us);
	}
}

static uint64_t started_at; /* before any VM runs */

uint64_t windows_since(uint64_t now)
{
	return now - started_at;
}

void windows_start(uint64_t now)
{
	started_at = now;
	for (uint32_t i = 0; i < n_pcpus; i++) {
		struct pcpu *pcpu = pcpu_at(i);
		struct windows *w = pcpu->windows;

		if (!w)
			continue;
		/* Looks as if the last frame had just ended. The hart is idle or will be soon. */
		w->phase = OPEN;
		w->next = w->schedule->n_windows - 1;
		w->frame_at = now - w->frame;
		w->phase_end = now;
		external_poll_init(pcpu, EXTERNAL_WINDOW, now);
		pcpu_interrupt(pcpu, 0);
	}
}

/* Returns the host time that is guard_us before the beginning of window `next`. */
static uint64_t before(const struct windows *w, uint64_t guard_us)
{
	return w->frame_at + ticks(w->schedule->windows[w->next].start_us) - ticks(guard_us);
}

/* Counts n missed windows for the window's vcpus, except for those that are off or throttled. */
static void count_missed(const struct pcpu *pcpu, const struct windows *w, uint32_t window,
                         uint64_t n)
{
	uint32_t i;

	for_each_bit (i, w->sets[window].vcpus) {
		const struct run_state *run = &pcpu->vcpus[i]->run;

		if (run->turns || run->blocked & BLOCK_IDLE ||
		    !(run->blocked & (BLOCK_OFF | BLOCK_BUDGET)))
			pcpu->vcpus[i]->windows_missed += n;
	}
}

/* Fractions of a tick are kept, so frames of different harts do not drift apart. */
static void pass_frames(struct windows *w, uint64_t n)
{
	w->frame_at_part += n * w->frame_part;
	w->frame_at += n * w->frame + w->frame_at_part / MILLION;
	w->frame_at_part %= MILLION;
}

static void open_window(struct windows *w)
{
	const struct vm_hart_window *window = &w->schedule->windows[w->next];

	w->phase = OPEN;
	w->next_set = w->next;
	w->open_at = before(w, 0);
	w->phase_end = w->open_at + ticks(window->length_us);
	w->allowed_delay = window->guard_us ? (platform.timebase - 1) / SOON_HZ
	                                    : ticks(w->schedule->least_guard_us);
}

static void next_phase(struct windows *w)
{
	uint32_t guard = w->schedule->windows[w->next].guard_us;
	uint32_t least = w->schedule->least_guard_us;

	if (w->phase == SLACK && guard > least) {
		w->phase = GUARD;
		w->next_set = EMPTY_SET;
		w->phase_end = before(w, least);
		return;
	}
	if (w->phase != OPEN) {
		open_window(w);
		return;
	}
	if (++w->next == w->schedule->n_windows) {
		w->next = 0;
		pass_frames(w, 1);
	}
	w->phase = SLACK;
	w->next_set = SLACK_SET;
	w->phase_end = before(w, w->schedule->windows[w->next].guard_us);
}

/* Missed frames are skipped, so the second loop passes at most two frames. */
static void advance(const struct pcpu *pcpu, struct windows *w, uint64_t now)
{
	while (now > w->frame_at && now - w->frame_at >= 2 * (w->frame + 1)) {
		uint64_t n = (now - w->frame_at) / (w->frame + 1) - 1;

		for (uint32_t i = 0; i < w->schedule->n_windows; i++)
			count_missed(pcpu, w, i, n);
		pass_frames(w, n);
	}
	while (now >= w->phase_end) {
		next_phase(w);
		if (w->phase == OPEN && now >= w->phase_end)
			count_missed(pcpu, w, w->next, 1);
	}
}

/*
 * Makes these vcpus present, and no others. Those that leave are ready or not, and asleep or not,
 * as before: when their next window begins, their timers and requests are looked at. Their steal
 * time goes on; only that of vcpus that became ready since a vcpu was resident has to begin.
 */
static void turn(struct pcpu *pcpu, struct windows *w, uint64_t now)
{
	const struct window_set *set = &w->sets[w->next_set];
	uint64_t came, were_on;
	uint32_t i;

	for_each_bit (i, pcpu->steal_at_load & ~set->vcpus) {
		if (!pcpu->vcpus[i]->run.blocked)
			vcpu_steal_begin(pcpu->vcpus[i], now);
	}
	pcpu->steal_at_load &= set->vcpus;
	spin_lock(&pcpu->gate);
	__atomic_store_n(&pcpu->present, set->vcpus, __ATOMIC_RELAXED);
	were_on = w->sets[w->set].wires;
	wired_turn(were_on & ~set->wires, set->wires & ~were_on);
	spin_unlock(&pcpu->gate);
	w->set = w->next_set;
	pcpu->ready = pcpu->willing & set->vcpus;
	pcpu->wake = set->wake;
	pcpu->turned_at = now;
	if (pcpu->files_taken)
		csr_write(CSR_HGEIE, pcpu->listened_files & set->files);
	/* docs/memory-order.md, "Mail" */
	atomic_thread_fence(memory_order_seq_cst);
	came = atomic_load_explicit(&pcpu->parked, memory_order_relaxed) & set->vcpus;
	if (came) {
		atomic_fetch_and(&pcpu->parked, ~came);
		pcpu_interrupt(pcpu, came);
	}
}

/* The window's vcpu is loaded in the guard: vcpus whose budget is renewed when the window begins
 * are made ready now. */
static void release_budgets(const struct pcpu *pcpu, uint64_t vcpus, uint64_t at)
{
	uint32_t i;

	for_each_bit (i, vcpus) {
		struct vcpu *vcpu = pcpu->vcpus[i];

		if (!vcpu->run.has_budget)
			return; /* all are of one VM */
		if (vcpu->run.blocked == BLOCK_BUDGET && !vcpu->run.turns &&
		    vcpu->budget.period_end <= at)
			vcpu_throttled_to_steal(vcpu);
	}
}

static uint64_t *last(struct windows *w)
{
	return &w->last[w->phase == OPEN ? w->next : VM_MAX_HART_WINDOWS];
}

/* Called when the window's guest begins, or when the window ends before that. */
static __attribute__((noinline)) void note_late(struct windows *w, struct vcpu *vcpu, uint64_t now)
{
	uint64_t late = now - w->open_at;

	w->flags_vcpu = NULL;
	if (late <= w->allowed_delay)
		return;
	vcpu->windows_late++;
	if (late > vcpu->windows_latest)
		vcpu->windows_latest = late;
}

/* Whether a vcpu is ready whose VM is not being loaded, and not only for requests. */
static bool has_guest_to_run(const struct pcpu *pcpu)
{
	uint32_t i;

	for_each_bit (i, pcpu->ready) {
		if (!pcpu->vcpus[i]->run.blocked)
			return true;
	}
	return false;
}

uint64_t windows_calm_until(uint64_t at)
{
	return at + 2UL * ((platform.timebase + SOON_HZ - 1) / SOON_HZ);
}

__attribute__((cold)) void windows_hold_off(struct pcpu *pcpu, uint64_t until)
{
	struct windows *w = pcpu->windows;

	w->held_off = csr_read(CSR_SIE) & (BIT(IRQ_SSI) | BIT(IRQ_SEI));
	csr_clear(CSR_SIE, w->held_off);
	if (pcpu->files_taken)
		csr_write(CSR_HGEIE, 0);
	external_poll_at(EXTERNAL_WINDOW, until);
	sched_set_host_timer(pcpu, until);
}

void windows_let_come(struct pcpu *pcpu)
{
	struct windows *w = pcpu->windows;

	if (!w->held_off)
		return;
	csr_set(CSR_SIE, w->held_off);
	w->held_off = 0;
	if (pcpu->files_taken)
		csr_write(CSR_HGEIE, pcpu->listened_files & w->sets[w->set].files);
	external_poll_at(EXTERNAL_WINDOW, w->phase_end);
}

void windows_switch(struct pcpu *pcpu, uint64_t now)
{
	struct windows *w = pcpu->windows;

	CHECK(!pcpu->current);
	windows_let_come(pcpu);
	if (w->flags_vcpu)
		note_late(w, w->flags_vcpu, now);
	*last(w) = pcpu->last;
	advance(pcpu, w, now);
	pcpu->last = *last(w);
	turn(pcpu, w, now);
	if (w->phase == OPEN)
		release_budgets(pcpu, pcpu->present, w->open_at);
	/* A look at the alarms of the VMs that come, in a stay of its own. */
	if (pcpu->alarm_vcpus)
		pcpu->poll_times[EXTERNAL_ALARM] =
		    pcpu->alarm_vcpus & pcpu->present ? now + 1 : ~0UL;
	external_poll_at(EXTERNAL_WINDOW, w->phase_end);
	/* If a vcpu sleeps, or its VM is being loaded, it may begin later without being late. */
	w->first_load_due =
	    w->phase == OPEN && (has_guest_to_run(pcpu) || wake_times_earliest(pcpu->wake) <= now);
}

void windows_idle(const struct pcpu *pcpu)
{
	pcpu->windows->first_load_due = false;
}

__attribute__((cold)) void windows_flags_set(struct vcpu *vcpu)
{
	if (vcpu->home->windows->flags_vcpu == vcpu)
		note_late(vcpu->home->windows, vcpu, csr_read(CSR_TIME));
}

void windows_vcpu_began(struct vcpu *vcpu, uint64_t now)
{
	struct windows *w = vcpu->home->windows;

	if (vcpu->call.slice == hart_flags_slice)
		w->flags_vcpu = vcpu;
	else
		note_late(w, vcpu, now);
}

bool windows_switch_due(const struct pcpu *pcpu, uint64_t now)
{
	return now >= pcpu->windows->phase_end;
}

uint64_t windows_start_time(const struct pcpu *pcpu, uint64_t now)
{
	const struct windows *w = pcpu->windows;

	return w->phase == OPEN && now < w->open_at ? w->open_at : now;
}

void windows_vcpu_loaded(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	struct windows *w = pcpu->windows;
	bool begins = w->first_load_due;

	w->first_load_due = false;
	/* Also if the window has opened since `now`: the vcpu is charged for no tick before it. */
	if (w->phase == OPEN && now < w->open_at)
		exit_enter_at(pcpu, vcpu, now, w->open_at);
	else if (begins)
		windows_vcpu_began(vcpu, csr_read(CSR_TIME));
}

void windows_set_wire(const struct vcpu *vcpu, uint64_t wire, bool on)
{
	struct window_set *sets = vcpu->home->windows->sets;

	for (uint32_t i = 0; i < SETS; i++) {
		if (!on)
			sets[i].wires &= ~wire;
		else if (sets[i].vcpus & vcpu->bit)
			sets[i].wires |= wire;
	}
}

bool vcpu_is_away(const struct vcpu *vcpu)
{
	return !(pcpu_present(vcpu_home(vcpu)) & vcpu->bit);
}
