/* SPDX-License-Identifier: Apache-2.0 */
/* What must wake a vcpu, end a life and serve a request, and how soon. */
#include "tests/host/machine/model.h"

#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/console/ring.h"
#include "core/log.h"
#include "arch/riscv/hart/trap.h"
#include "core/vcpu/observers.h"
#include "core/vcpu/vm.h"
#include "core/watch/observe.h"

/* Host time after which a vcpu that should run has run: each other one had some turns, and its
 * windows are each a twentieth of a frame at least. */
#define PATIENCE                                                                                   \
	(3 * longest_turn() * (machine_vcpus() + 4) * machine.kind.harts *                         \
	 (machine.kind.schedules ? 100 : 1))
/* A hart may keep asleep for so long although it has work (roam_nap()). */
#define NAP 200UL
/* A hart looks at the ring as often as this, if no interrupt of the UART comes (terminal.c). */
#define TOLD (2UL * MACHINE_TIMEBASE / 100)
/* How long a function may take to come to rest at most. */
#define RESET (3UL * MACHINE_TIMEBASE)

static struct {
	uint64_t progress, since, silent_since, silent_in; /* the last: number of a life */
} lives[VM_MAX_VMS];

/* Of each hart: what it had lost at the last look, and what it has lost since. */
static struct {
	uint64_t then, since;
} lost[MACHINE_HARTS];

void model_wake_reset(void)
{
	memset(lives, 0, sizeof(lives));
	memset(lost, 0, sizeof(lost));
}

static uint32_t machine_vcpus(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_vms; i++)
		n += vms[i].config->n_vcpus;
	return n;
}

static uint64_t longest_turn(void)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < n_vms; i++) {
		uint64_t turn = (uint64_t)vms[i].config->turn_us * MACHINE_TIMEBASE / 1000000;

		longest = turn > longest ? turn : longest;
	}
	return longest;
}

uint64_t model_interrupts(const struct machine_hart *h)
{
	uint64_t pending =
	    (h->csr[CSR_HVIP] & VS_INTERRUPTS) >> 1 | (h->csr[CSR_HVIP] & BIT(IRQ_LCOFI));

	if (machine_guest_timer(h))
		pending |= BIT(IRQ_STI);
	if (aia_guest_pends(h))
		pending |= BIT(IRQ_SEI);
	return pending & h->csr[CSR_VSIE];
}

/* Whether something must wake a vcpu that is not in a hart. */
static bool must_wake(const struct vcpu *vcpu, const struct model_vcpu *m)
{
	uint64_t now = machine.time + vcpu->vm->htimedelta;
	uint64_t pending = (m->hvip & VS_INTERRUPTS) >> 1 | (m->hvip & BIT(IRQ_LCOFI));

	if (m->ipi_due)
		pending |= BIT(IRQ_SSI);
	if ((machine.kind.sstc ? m->vstimecmp : m->timer) <= now)
		pending |= BIT(IRQ_STI);
	if (vcpu->vm->config->aia ? aia_pends(vcpu) : vplic_output(&vcpu->vm->plic, vcpu->id))
		pending |= BIT(IRQ_SEI);
	else
		pending &= ~BIT(IRQ_SEI);
	return pending & m->csr[1];
}

bool model_should_run(struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);

	if (vcpu->vm->state != VM_RUNNING || m->in_guest || vcpu->vm->command)
		return false;
	if (vcpu->run.blocked & BLOCK_OUTPUT && log_room(vcpu->vm->index) < RING_WAKE)
		return false;
	if (m->start_due || !m->seen || m->off || m->life != vcpu->vm->htimedelta)
		return m->start_due || vcpu->hsm_state == SBI_HSM_STATE_START_PENDING;
	return !m->expect.waits || must_wake(vcpu, m);
}

/* Who sleeps on this hart until its timer expires is looked at by then. */
static void look_at_timer(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);
	uint64_t now = machine.time + vcpu->vm->htimedelta;
	uint64_t timer = machine.kind.sstc ? m->vstimecmp : m->timer;
	uint64_t wakes_at = pcpu->wake->at[WAKE_LEAVES + vcpu->index];

	if (vcpu->vm->state != VM_RUNNING || vcpu->vm->command || m->off || !m->seen ||
	    !(m->csr[1] & BIT(IRQ_STI)) || timer <= now)
		return;
	if (timer - now < ~0UL - machine.time && wakes_at > machine.time + (timer - now))
		DIFFERS(vcpu, "sleeps until %lx, and is looked at at %lx",
		        machine.time + (timer - now), wakes_at);
}

/* Whoever has been woken on this hart is ready, although another one runs. A fence does not wait
 * for a vcpu that is not in its hart. */
void model_wake_neighbours(const struct vcpu *vcpu)
{
	struct pcpu *pcpu = this_pcpu();

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		struct vcpu *other = pcpu->vcpus[i];
		struct model_vcpu *m = model_of(other);

		if (!(pcpu->present & other->bit)) {
			m->wakes.on = false;
			continue;
		}
		if (other == vcpu || other->home != pcpu || pcpu->ready & other->bit ||
		    !run_state_sleeps(&other->run) || !m->expect.waits || !model_should_run(other))
			m->wakes.on = false;
		else if (model_is_late(&m->wakes))
			DIFFERS(other, "sleeps, and something has woken it");
		if (other != vcpu && other->home == pcpu && m->expect.waits &&
		    run_state_sleeps(&other->run) && !(pcpu->ready & other->bit))
			look_at_timer(pcpu, other);
		if (other != vcpu && other->home == pcpu && other->requests.enabled & REQ_FENCES)
			DIFFERS(other, "is not in its hart, and fences wait for it");
	}
}

/* While accesses to its sie trap, a guest with an AIA finds in stopi what hvictl names, beside
 * external interrupts; and the host's timer is its own. */
void model_wake_stopi(const struct machine_hart *h, const struct vcpu *vcpu)
{
	uint64_t hvictl = h->csr[CSR_HVICTL], pending = model_interrupts(h);
	uint64_t named = hvictl >> HVICTL_IID_SHIFT & 0xfff;
	bool traps = hvictl & HVICTL_VTI && vcpu->vm->config->aia;
	bool due = model_timer_of(h, vcpu) <= machine.time + vcpu->vm->htimedelta;

	if (machine.kind.sstc && !(h->csr[CSR_HENVCFG] & HENVCFG_STCE) != traps)
		DIFFERS(vcpu, "its timer is%s the hart's", traps ? "" : " not");
	if (!traps)
		return;
	if (machine.kind.sstc && due != !!(h->csr[CSR_HVIP] & BIT(IRQ_VSTI)))
		DIFFERS(vcpu, "its timer has%s expired, and it finds otherwise", due ? "" : " not");
	if (named != (pending & BIT(IRQ_SSI) ? IRQ_SSI : pending & BIT(IRQ_STI) ? IRQ_STI : 0))
		DIFFERS(vcpu, "finds %lu in stopi, and %lx pends", named, pending);
}

/* Who waits for a hart that stalls need not go on. Never 0. */
static uint64_t clock_now(void)
{
	return machine.time - machine.stalled + (1UL << 40);
}

static void look_at_lost(void)
{
	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		lost[i].since = machine.hart[i].lost - lost[i].then;
		lost[i].then = machine.hart[i].lost;
	}
}

/* A guest of another hart takes many ticks where a hart in HS does one access. So what these took
 * from its home is no time in which a vcpu could have run. */
static void is_not_charged(uint64_t *since, const struct vcpu *vcpu)
{
	for (uint32_t i = 0; i < machine.kind.harts && *since; i++) {
		if (machine.hart[i].id == vcpu->home->hartid)
			*since += lost[i].since;
	}
}

static bool is_long_ago(uint64_t since)
{
	return (int64_t)(clock_now() - since) > (int64_t)PATIENCE;
}

static void look_at_vm(struct vm *vm, bool still)
{
	unsigned int state = vm->state;
	bool given = dma_is_given(vm);
	bool changes =
	    state == VM_ENDING || state == VM_CLEARING || state == VM_LOADING || vm->command;

	uint64_t progress = vm->life.quiet_steps + state + 8 * vm->command + 256 * vm->life.step +
	                    (vm->life.done << 12) + vm->htimedelta;

	is_not_charged(&lives[vm->index].since, vm->vcpus[0]);
	is_not_charged(&lives[vm->index].silent_since, vm->vcpus[0]);
	/* Its end waits until the serial line has room. */
	if (state == VM_ENDING && log_has_more())
		changes = false;
	/* The first look has nothing to compare with. */
	if (!changes || !lives[vm->index].since || lives[vm->index].progress != progress) {
		lives[vm->index].progress = progress;
		lives[vm->index].since = clock_now();
	} else if (still || is_long_ago(lives[vm->index].since + (given ? RESET : 0))) {
		machine_differs("vm%u stays %s%s", vm->index, vm_state_name(vm),
		                vm->command ? ", with a command" : "");
	}
	if (!model_is_silent(vm) || lives[vm->index].silent_in != vm->life.number)
		lives[vm->index].silent_since = 0;
	else if (!lives[vm->index].silent_since)
		lives[vm->index].silent_since = clock_now();
	else if (still || is_long_ago(lives[vm->index].silent_since))
		machine_differs("vm%u does not ring, and nobody notices", vm->index);
	lives[vm->index].silent_in = vm->life.number;
}

/* Boot is over. The first VM is not deferred. */
static bool are_begun(void)
{
	return n_vms && vms[0].config && vms[0].state == VM_RUNNING;
}

/* It has spent its budget, and the period is not over. */
static bool is_throttled(const struct vcpu *vcpu)
{
	return vcpu->run.blocked & BLOCK_BUDGET && machine.time < vcpu->budget.period_end;
}

/* After so many ticks a vcpu that waits for room has been told of it. */
static uint64_t told(const struct vcpu *vcpu)
{
	return vcpu->run.blocked & BLOCK_OUTPUT ? TOLD : 0;
}

/* Grows when it waits for room, which others of its VM may have taken when its turn comes, and when
 * it is told of room. */
static uint64_t output_waits(const struct vcpu *vcpu)
{
	return 2 * model_of(vcpu)->output_waits + !(vcpu->run.blocked & BLOCK_OUTPUT);
}

static void look_at_all(bool still)
{
	look_at_lost();
	for (uint32_t i = 0; i < n_vms; i++) {
		if (!machine.booted && !are_begun())
			return;
		look_at_vm(&vms[i], still);
		for (uint32_t k = 0; k < vms[i].config->n_vcpus; k++) {
			struct vcpu *vcpu = vms[i].vcpus[k];
			struct model_vcpu *m = model_of(vcpu);

			is_not_charged(&m->wants_since, vcpu);
			/* Between two looks a short life may have ended and another one begun. */
			if (!model_should_run(vcpu) || is_throttled(vcpu) ||
			    m->wants_in != vcpu->vm->life.number ||
			    m->output_seen != output_waits(vcpu))
				m->wants_since = 0;
			else if (!m->wants_since)
				m->wants_since = clock_now();
			m->wants_in = vcpu->vm->life.number;
			m->output_seen = output_waits(vcpu);
			if (m->wants_since && (still || is_long_ago(m->wants_since + told(vcpu))))
				DIFFERS(vcpu, "should run, and does not (%s)",
				        still ? "all harts sleep" : "for long");
		}
	}
	if (still && observe_request.vcpus)
		machine_differs("nobody serves the operator's request");
}

void model_standstill(void)
{
	uint64_t soon = machine.time + NAP;

	/* Who is away may have much to do. */
	if (machine.kind.schedules || log_has_more())
		return;
	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		const struct machine_hart *h = &machine.hart[i];

		if (h->started && (machine.kind.sstc ? h->csr[CSR_STIMECMP] : h->timer) <= soon)
			return;
	}
	look_at_all(true);
	chip_look(true);
	dma_look_at(true);
}

void model_time(void)
{
	if (machine.steps % 64 == 0) {
		chip_look(false);
		dma_look_at(false);
		look_at_all(false);
		model_pay_sums();
	}
}
