/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `pmu`: for each vcpu one line about it, then one for each counter of its guest. */
#include "core/operator/prompt.h"
#include "vpmu/bits.h"
#include "vpmu/show.h"

static const char *const states[] = {
    [VPMU_STOPPED] = "stopped", [VPMU_RUNNING] = "running", [VPMU_LOST] = "lost"};

/* The modes that count: u and k as perf's modifiers, and h if HS is counted as well. */
static const char *filter_name(const struct vpmu_view *view)
{
	static const char *const names[] = {"uk", "u", "k", "none", "ukh", "uh", "kh", "none"};

	return view->is_fw ? "uk" : names[view->inhibit % 8];
}

/* Adds the firmware events that the port counts for this vcpu, which vpmu/ does not have. */
static void add_total(const struct vcpu *vcpu, bool same_hart, struct vpmu_view *view)
{
	uint32_t code = SBI_PMU_EVENT_CODE(view->event_idx);

	view->holds = VPMU_VALUE_NOW;
	/* While the vcpu is resident, the firmware of its hart still has a part of these counts. */
	if (code >= FW_EVENTS_M || vcpu_is_current(vcpu))
		view->value += vcpu_fw_total(vcpu, code);
	else if (same_hart)
		view->value += vcpu->stats.fw_total[code];
	else
		view->holds = VPMU_VALUE_AWAY;
}

static void add_vcpu(struct prompt *p, const struct vcpu *vcpu, uint64_t configured)
{
	uint32_t n = 0;

	for (; configured; configured &= configured - 1)
		n++;
	text_add(&p->out,
	         ",'hart':%lu,'counters':%u,'overflows':%lu,'held_back':%lu,'refusals':%lu",
	         vcpu_home(vcpu)->hartid, n, vcpu->stats.lcofis, vcpu->lcofi.held_back,
	         vcpu->stats.refusals);
}

/* Makes the line in two parts, from one view. Returns false after the first. */
static bool add_counter(struct prompt *p, const struct vcpu *vcpu, uint32_t idx)
{
	static struct vpmu_view view;
	bool same_hart = vcpu_home(vcpu) == this_pcpu();

	if (p->part) {
		text_add(&p->out, ",'shared':%s", prompt_bool(view.shared));
		text_add(&p->out, view.is_fw ? ",'hctr':null" : ",'hctr':%u", view.hctr);
		text_add(&p->out, view.holds == VPMU_VALUE_NOW ? ",'value':%lu" : ",'value':null",
		         view.value);
		text_add(&p->out, ",'of':%s", prompt_bool(view.overflow));
		return true;
	}
	text_add(&p->out, ",'counter':%u", idx);
	if (!vpmu_describe(&vcpu->pmu, idx, same_hart, &view)) {
		/* The guest has released it since the last line. */
		text_add(&p->out, ",'state':'gone'");
		return true;
	}
	if (view.holds == VPMU_VALUE_LESS_TOTAL)
		add_total(vcpu, same_hart, &view);
	text_add(&p->out, ",'event':'0x%x','data':'0x%lx','filter':'%s','state':'%s','read':'%s'",
	         view.event_idx, view.event_data, filter_name(&view), states[view.state],
	         view.is_fw    ? "call"
	         : view.direct ? "direct"
	                       : "trapped");
	p->part++;
	return false;
}

/* Moves on to the next counter that is configured now, or to the next vcpu. */
static void next(struct prompt *p, uint64_t configured, uint32_t from)
{
	uint64_t left = from < VPMU_COUNTERS ? configured >> from << from : 0;

	if (left)
		p->row = 1 + lowest_bit(left);
	else
		prompt_next_vcpu(p);
}

void prompt_pmu(struct prompt *p)
{
	const struct vcpu *vcpu = prompt_vcpu(p);
	uint64_t configured = vpmu_configured(&vcpu->pmu);

	if (!p->part)
		prompt_vcpu_names(p, vcpu);
	if (p->row && !add_counter(p, vcpu, p->row - 1))
		return;
	if (!p->row)
		add_vcpu(p, vcpu, configured);
	prompt_tell(p);
	next(p, configured, p->row);
}
