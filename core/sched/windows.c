/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/windows.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/external_poll.h"
#include "core/sched/port.h"
#include "core/hart/check.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/sched/run_state.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/guest_file.h"
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

/* Masks are of vcpus[]. The first group is constant after boot, the second private to the hart.
 * Other harts read only `present`, under the lock of a VM's devices. */
struct windows {
	const struct vm_schedule *schedule;
	uint64_t frame; /* ticks, plus `frame_part` millionths of a tick */
	uint64_t frame_part;
	uint64_t slack_vcpus; /* the vcpus that run in the slack */
	uint64_t window_vcpus[VM_MAX_HART_WINDOWS];

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
	uint64_t next_present;  /* the vcpus that are not away after windows_switch() */
	uint64_t present;       /* the vcpus that are not away */
	/* For each window, the value of pcpu->last when it ended; one more entry is for the slack.
	 * A window may be shorter than a time slice, so each one continues its own round robin. */
	uint64_t last[VM_MAX_HART_WINDOWS + 1];
};

static struct windows *windows_of(const struct pcpu *pcpu)
{
	return pcpu->windows;
}

/* Called once per windows_switch(), so that other harts see none of the phases that it skips. */
static void set_present(struct windows *w, uint64_t here)
{
	__atomic_store_n(&w->present, here, __ATOMIC_RELAXED);
}

static uint64_t ticks(uint64_t us)
{
	return us * platform.timebase / MILLION;
}

static void make(struct windows *w, struct pcpu *pcpu, const struct vm_schedule *schedule)
{
	uint32_t v;

	w->schedule = schedule;
	w->frame = ticks(schedule->frame_us);
	w->frame_part = (uint64_t)schedule->frame_us * platform.timebase % MILLION;
	for (uint32_t i = 0; i < n_vms; i++) {
		for_each_bit (v, vm_vcpus_on(vms[i].config, schedule->hart)) {
			struct vcpu *vcpu = vms[i].vcpus[v];

			vcpu_block(vcpu, BLOCK_AWAY);
			if (schedule->slack >> i & 1)
				w->slack_vcpus |= vcpu->bit;
			atomic_store(&vcpu->requests.enabled, REQ_OBSERVE);
		}
	}
	for (uint32_t i = 0; i < schedule->n_windows; i++)
		for_each_bit (v, schedule->windows[i].vcpus)
			w->window_vcpus[i] |= vms[schedule->windows[i].vm].vcpus[v]->bit;
	w->phase_end = ~0UL;
	pcpu->has_schedule = true;
	/* No vcpu is alone here: windows of others are like time slices of others. */
	pcpu_add_vcpus(pcpu, 1);
}

/* Logs the promises of the schedule. */
static void report(const struct vm_schedule *s)
{
	log_line("hart %u: no stay in HS is longer than %u instructions; least guard %u us", s->id,
	         s->longest_stay, s->least_guard_us);
}

void windows_make(const struct vm_tree *tree, void *(*alloc)(size_t size))
{
	for (uint32_t i = 0; i < tree->n_schedules; i++) {
		struct pcpu *pcpu = pcpu_at(tree->schedules[i].hart);

		pcpu->windows = alloc(sizeof(*pcpu->windows));
		make(windows_of(pcpu), pcpu, &tree->schedules[i]);
		report(&tree->schedules[i]);
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
		struct pcpu *pcpu = &hart_stacks[i].pcpu;

		if (!pcpu->has_schedule)
			continue;
		/* Looks as if the last frame had just ended. The hart is idle or will be soon. */
		windows_of(pcpu)->phase = OPEN;
		windows_of(pcpu)->next = windows_of(pcpu)->schedule->n_windows - 1;
		windows_of(pcpu)->frame_at = now - windows_of(pcpu)->frame;
		windows_of(pcpu)->phase_end = now;
		external_poll_init(pcpu, EXTERNAL_WINDOW, now);
		pcpu_notify(pcpu, 0);
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

	for_each_bit (i, w->window_vcpus[window]) {
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
	w->next_present = w->window_vcpus[w->next];
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
		w->next_present = 0;
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
	w->next_present = w->slack_vcpus;
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

static void end_window(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	vcpu->away_since = now;
	if (!vcpu->run.blocked)
		vcpu_steal_begin(vcpu, now);
	if (vcpu->guest_file && vcpu->run.blocked & BLOCK_WAIT)
		guest_file_disable_irq(vcpu);
	vcpu_block(vcpu, BLOCK_AWAY);
	wake_times_set(&pcpu->wake, vcpu->index, ~0UL);
	atomic_store_explicit(&vcpu->requests.enabled, REQ_OBSERVE, memory_order_release);
}

/* The vcpu is still in WFI. If its timer has expired since its last window, its steal time begins
 * at the expiry, but not before it was away. When other interrupts came is unknown. */
static void resume_wait(struct vcpu *vcpu, uint64_t now)
{
	uint64_t timer =
	    vcpu->home->vs_features.sstc ? vcpu->vs.vstimecmp - vcpu->vm->htimedelta : vcpu->timer;

	if (vcpu->vs.vsie & BIT(IRQ_STI) && vcpu_timer_deadline(vcpu) <= now && timer <= now)
		vcpu_steal_from(vcpu, timer > vcpu->away_since ? timer : vcpu->away_since);
	sched_wake_in_time(vcpu);
}

static void begin_window(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	vcpu_unblock_away(vcpu);
	if (vcpu->run.blocked == BLOCK_BUDGET && !vcpu->run.turns)
		vcpu_throttled_to_steal(vcpu);
	/* A vcpu in WFI may be ready as well, only to have a request served. */
	if (vcpu->run.blocked & BLOCK_WAIT)
		resume_wait(vcpu, now);
	else if (pcpu->ready & vcpu->bit)
		wake_times_set(&pcpu->wake, vcpu->index, vcpu_deadline(vcpu));
	if (requests_enable(&vcpu->requests, REQ_AT_ONCE))
		pcpu_notify(pcpu, vcpu->bit);
	if (!(pcpu->ready & vcpu->bit))
		sched_enable_requests(vcpu);
}

/* Enables these VMs' sources at the host's controller if their vcpus are in a window, and disables
 * the others. */
static void follow_wires(uint64_t changed)
{
	uint32_t i;

	for_each_bit (i, changed) {
		struct vm *vm = &vms[i];

		spin_lock(&vm->devices);
		wired_update_routes(vm);
		spin_unlock(&vm->devices);
	}
}

/* Returns the VMs that have wires and one of these vcpus. */
static uint64_t wired_vms(const struct pcpu *pcpu, uint64_t vcpus)
{
	uint64_t found = 0;
	uint32_t i;

	for_each_bit (i, vcpus) {
		const struct vm *vm = pcpu->vcpus[i]->vm;

		if (vm->wired)
			found |= BIT(vm - vms);
	}
	return found;
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

void windows_switch(struct pcpu *pcpu, uint64_t now)
{
	struct windows *w = windows_of(pcpu);
	uint64_t were = w->present;
	uint32_t i;

	CHECK(!pcpu->current);
	if (w->flags_vcpu)
		note_late(w, w->flags_vcpu, now);
	*last(w) = pcpu->last;
	advance(pcpu, w, now);
	set_present(w, w->next_present);
	pcpu->last = *last(w);
	for_each_bit (i, were & ~w->present)
		end_window(pcpu, pcpu->vcpus[i], now);
	for_each_bit (i, w->present & ~were)
		begin_window(pcpu, pcpu->vcpus[i], now);
	follow_wires(wired_vms(pcpu, were ^ w->present));
	external_poll_at(EXTERNAL_WINDOW, w->phase_end);
	/* If a vcpu sleeps, or its VM is being loaded, it may begin later without being late. */
	w->first_load_due = w->phase == OPEN && has_guest_to_run(pcpu);
}

void windows_idle(const struct pcpu *pcpu)
{
	windows_of(pcpu)->first_load_due = false;
}

__attribute__((cold)) void windows_flags_set(struct vcpu *vcpu)
{
	if (windows_of(vcpu->home)->flags_vcpu == vcpu)
		note_late(windows_of(vcpu->home), vcpu, csr_read(CSR_TIME));
}

void windows_vcpu_began(struct vcpu *vcpu, uint64_t now)
{
	struct windows *w = windows_of(vcpu->home);

	if (vcpu->call.slice == hart_flags_slice)
		w->flags_vcpu = vcpu;
	else
		note_late(w, vcpu, now);
}

bool windows_switch_due(const struct pcpu *pcpu, uint64_t now)
{
	return now >= windows_of(pcpu)->phase_end;
}

__attribute__((noinline)) void windows_poll(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t now = csr_read(CSR_TIME);

	if (!pcpu->current && windows_switch_due(pcpu, now))
		windows_switch(pcpu, now);
}

uint64_t windows_start_time(const struct pcpu *pcpu, uint64_t now)
{
	const struct windows *w = windows_of(pcpu);

	return w->phase == OPEN && now < w->open_at ? w->open_at : now;
}

void windows_vcpu_loaded(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	struct windows *w = windows_of(pcpu);
	bool begins = w->first_load_due;

	w->first_load_due = false;
	/* Also if the window has opened since `now`: the vcpu is charged for no tick before it. */
	if (w->phase == OPEN && now < w->open_at)
		exit_enter_at(pcpu, vcpu, now, w->open_at);
	else if (begins)
		windows_vcpu_began(vcpu, csr_read(CSR_TIME));
}

bool vcpu_is_away(const struct vcpu *vcpu)
{
	const struct pcpu *home = vcpu_home(vcpu);

	return home->has_schedule &&
	       !(__atomic_load_n(&windows_of(home)->present, __ATOMIC_RELAXED) & vcpu->bit);
}
