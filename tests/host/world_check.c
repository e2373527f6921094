/* SPDX-License-Identifier: Apache-2.0 */
/* Compares all that a vcpu can see of its PMU with the model. */
#include "tests/host/csr_read.h"
#include "tests/host/world.h"

static void check_value(struct vcpu *vc, uint32_t idx, uint64_t value, const char *how)
{
	if (!model_value(&vc->model, idx, value))
		world_differ("%s read of counter %u: %#llx, not %#llx", how, idx,
		             (unsigned long long)value, (unsigned long long)vc->model.c[idx].value);
}

static void check_counter(struct vcpu *vc, uint32_t idx)
{
	const struct model *m = &vc->model;
	bool mine = model_is_hw(m, idx) && m->c[idx].configured && !m->c[idx].lost;
	uint64_t value = 0;

	if (vpmu_csr_read(&vc->vpmu, 0xc00 + idx, &value) != mine) {
		world_differ("trapped read of counter %u: %s", idx, mine ? "refused" : "answered");
		return;
	}
	if (!mine) {
		world_count.illegal_reads++;
		return;
	}
	world_count.trapped_reads++;
	check_value(vc, idx, value, "trapped");
	if (!fake_hart_guest_read(0xc00 + idx, &value))
		return;
	world_count.direct_reads++;
	check_value(vc, idx, value, "direct");
}

static void take_raises(struct vcpu *vc)
{
	vc->raises += fake_trace.raises;
	fake_trace.raises = 0;
}

/* Each wrap raises one LCOFI. Wraps of one instruction may raise one together. */
static void check_lcofi(struct vcpu *vc)
{
	uint64_t raised = vc->raises - vc->raises_seen;
	uint64_t wraps = vc->model.wraps - vc->wraps_seen;

	if (raised > wraps || (wraps && !raised))
		world_differ("%llu LCOFIs for %llu overflows", (unsigned long long)raised,
		             (unsigned long long)wraps);
	if (vc->of_library != vc->of_model)
		world_differ("scountovf %#x, not %#x", vc->of_library, vc->of_model);
	vc->wraps_seen += wraps;
}

/*
 * If HS is counted, reading a counter may make it wrap, so the library reports it one step after
 * the model, or before it. One step later no OF may be missing, none may be set without a wrap, and
 * there may not be too many LCOFIs.
 */
static void check_loose_lcofi(struct vcpu *vc, uint32_t model_before, uint32_t library_before)
{
	const struct model *m = &vc->model;

	if (vc->of_library & ~vc->of_model)
		world_differ("scountovf %#x, not part of %#x", vc->of_library, vc->of_model);
	if (model_before & vc->of_model & ~vc->of_library & ~model_late(m))
		world_differ("scountovf %#x, without one of %#x", vc->of_library,
		             model_before & vc->of_model);
	if ((vc->of_library & ~library_before) && vc->raises == vc->raises_seen)
		world_differ("scountovf %#x, and no LCOFI for it", vc->of_library);
	if (vc->raises > m->wraps + m->unseen_wraps)
		world_differ("%llu LCOFIs for at most %llu overflows",
		             (unsigned long long)vc->raises,
		             (unsigned long long)(m->wraps + m->unseen_wraps));
}

static void check_overflows(struct vcpu *vc)
{
	uint32_t model_before = vc->of_model, library_before = vc->of_library;

	take_raises(vc);
	/* OF and interrupt of a wrap are due when the vPMU had a chance to see it. */
	if (fake_hart_pending() || fake_hart_poll_is_due())
		return;
	vc->of_library = vpmu_scountovf(&vc->vpmu);
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (vc->model.c[i].vague)
			model_adopt_of(&vc->model, i, vc->of_library >> i & 1);
	vc->of_model = model_scountovf(&vc->model);
	if (vc->model.policy.count_hs)
		check_loose_lcofi(vc, model_before, library_before);
	else
		check_lcofi(vc);
	vc->raises_seen = vc->raises;
}

void world_check_saved(struct vcpu *vc)
{
	/* If HS is counted, it is not known yet what has wrapped. */
	if (vc->model.policy.count_hs)
		take_raises(vc);
	else
		check_overflows(vc);
}

static void check_direct(struct vcpu *vc)
{
	uint64_t direct = fake_hart_direct();
	/* The counter that wraps first is the anchor, and that is the only direct one. */
	uint64_t must = model_must_be_direct(&vc->model) & ~world_sampled_hctrs(vc);
	uint64_t may = model_may_be_direct(&vc->model);

	if (direct & ~may)
		world_differ("direct %#llx: open, but not a configured counter",
		             (unsigned long long)(direct & ~may));
	if (must & ~direct)
		world_differ("direct %#llx: counters alone at home need an exit",
		             (unsigned long long)(must & ~direct));
	world_count.must_be_direct += must != 0;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		world_count.displaced += vc->model.c[i].displaced;
}

static void check_firmware(struct vcpu *vc, uint32_t vcpu)
{
	const struct model *m = &vc->model;

	for (uint32_t i = m->policy.fw_base; i < m->policy.fw_base + VPMU_FW_COUNTERS; i++) {
		struct sbi_ret ret = vpmu_counter_fw_read(&vc->vpmu, i);
		const char *what = model_fw_read(m, i, ret);

		if (what)
			world_differ("counter %u: %s: %ld, %#lx, not %#llx", i, what, ret.error,
			             ret.value, (unsigned long long)m->c[i].value);
	}
	if (fake_hart_watched(vcpu) != model_watched(m))
		world_differ("watched events %#x, not %#x", fake_hart_watched(vcpu),
		             model_watched(m));
}

/* Checks that WFI traps if and only if it must, by the library's state and by what the port was
 * told. */
static void check_wfi(struct vcpu *vc)
{
	int trap = model_wfi_must_trap(&vc->model);
	bool traps = fake_hart_wfi_traps(vc->model.vcpu);
	const struct vpmu_policy *policy = &vc->model.policy;

	/* WFI may trap because of an observer. */
	if (trap == 0 && world_observers(vc))
		trap = -1;
	/* The budget's counter always runs, and counts VS and VU. */
	if (policy->budget_hctr && !fake_trace.budgets_lost[vc->model.vcpu])
		trap = policy->wfi_recounts || policy->budget_event == 1 ? 1 : trap;
	if (trap >= 0 && vpmu_wfi_must_trap(&vc->vpmu) != (trap == 1))
		world_differ("vpmu_wfi_must_trap() is %d", !trap);
	if (vpmu_wfi_traps(&vc->vpmu) != traps || (trap == 1 && !traps))
		world_differ("WFI traps: %d, by the vPMU: %d, has to: %d", traps,
		             vpmu_wfi_traps(&vc->vpmu), trap == 1);
	/* As a hart does at the guest's next WFI. */
	if (traps && !vpmu_wfi_must_trap(&vc->vpmu)) {
		vpmu_note_wfi(&vc->vpmu, false);
		fake_hart_free_wfi(vc->model.vcpu);
	}
	world_count.wfi_must_trap += trap == 1;
}

/* A closed counter shows 0, and an open one the hart's OF. */
static void check_shown(struct vcpu *vc)
{
	uint32_t seen = (uint32_t)fake_hart_guest_flags();
	uint32_t pending = 0, wrong;

	if (!vc->model.policy.shows_flags)
		return;
	/* The guest is told of these before its next instruction. */
	if (fake_hart_pending())
		pending = (uint32_t)(seen & vpmu_armed(&vc->vpmu) & ~vc->vpmu.polled) |
		          ~(uint32_t)vpmu_scountovf(&vc->vpmu);
	if (fake_hart_poll_is_due())
		pending |= (uint32_t)(vc->vpmu.near & vc->vpmu.polled);
	wrong = model_wrongly_seen(&vc->model, seen, pending);
	if (wrong)
		world_differ("the guest sees OF %#x, of which %#x is wrong", seen, wrong);
}

void world_check(struct vcpu *vc)
{

	fake_mem_forget();
	check_direct(vc);
	check_shown(vc);
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		check_counter(vc, i);
	check_firmware(vc, vc->model.vcpu);
	check_wfi(vc);
	check_overflows(vc);
	if (fake_mem_touches() || fake_trace.raises)
		world_differ("a question touched memory or raised an interrupt");
}

/*
 * A counter that the hardware refused is lost: its reads are illegal, so that no guest takes its
 * value for a count. All others must still be exact.
 */
void world_note_lost(struct vcpu *vc)
{
	uint64_t value;

	fake_hart_flags_settle();
	world_settle(vc);
	if (!fake_trace.faults && !fake_trace.late)
		return;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		const struct model_lctr *c = &vc->model.c[i];

		if (!model_is_hw(&vc->model, i) || !c->configured || c->lost)
			continue;
		if (!vpmu_csr_read(&vc->vpmu, 0xc00 + i, &value) &&
		    !model_lose(&vc->model, i, fake_trace.refused | fake_trace.late,
		                fake_trace.late != 0))
			world_differ("counter %u is lost without a reason", i);
	}
	world_count.faults += fake_trace.faults;
	fake_trace.faults = 0;
	fake_trace.refused = 0;
	fake_trace.late = 0;
}

void world_settle(struct vcpu *vc)
{
	uint64_t failed = fake_hart_failed();

	if (!failed)
		return;
	vpmu_handle_failed(&vc->vpmu, failed);
	fake_hart_settled(failed);
}

void world_take_overflow(struct vcpu *vc)
{
	uint64_t from_hs = fake_trace.hs_wraps;

	vpmu_overflow(&vc->vpmu);
	if (fake_hart_pending() && fake_trace.hs_wraps == from_hs)
		world_differ("vpmu_overflow() left an LCOFI pending");
	world_note_lost(vc);
}
