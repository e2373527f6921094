/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/schedule.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/tree/vm_stay.h"
#include "tools/vm_check/text.h"

static double percent(const struct vm_schedule *s, uint32_t us)
{
	return 100.0 * us / s->frame_us;
}

static void print_vcpus(uint32_t vcpus, const char *first, const char *next)
{
	for (uint32_t v = 0; v < VM_MAX_VCPUS; v++) {
		if (!(vcpus >> v & 1))
			continue;
		printf("%s%" PRIu32, first, v);
		first = next;
	}
}

static void print_window(const struct vm_tree *tree, const struct vm_schedule *s, uint32_t i)
{
	const struct vm_hart_window *w = &s->windows[i];

	printf("  window    %7" PRIu32 " to %7" PRIu32 " us %5.1f %%  %s", w->start_us,
	       w->start_us + w->length_us, percent(s, w->length_us), tree->vms[w->vm].name);
	print_vcpus(w->vcpus, " vcpu", ", vcpu");
	if (w->guard_us)
		printf("; guard %" PRIu32 " us", w->guard_us);
	if (w->guard_us < s->least_guard_us)
		printf("; may begin %" PRIu32 " us late: least guard %" PRIu32 " us",
		       s->least_guard_us - w->guard_us, s->least_guard_us);
	putchar('\n');
}

static uint32_t guards_us(const struct vm_schedule *s)
{
	uint32_t us = 0;

	for (uint32_t i = 0; i < s->n_windows; i++)
		us += s->windows[i].guard_us;
	return us;
}

/* The time of each frame outside windows and guards. */
static uint32_t slack_us(const struct vm_schedule *s)
{
	uint32_t us = s->frame_us - guards_us(s);

	for (uint32_t i = 0; i < s->n_windows; i++)
		us -= s->windows[i].length_us;
	return us;
}

static uint32_t windows_us(const struct vm_schedule *s, uint32_t vm)
{
	uint32_t us = 0;

	for (uint32_t i = 0; i < s->n_windows; i++)
		us += s->windows[i].vm == vm ? s->windows[i].length_us : 0;
	return us;
}

static void print_use(const struct vm_tree *tree, const struct vm_schedule *s)
{
	const char *to = " to";

	for (uint32_t vm = 0; vm < tree->n_vms; vm++) {
		uint32_t us = windows_us(s, vm);

		if (us)
			printf("  use       %7" PRIu32 " us %5.1f %%  windows of %s\n", us,
			       percent(s, us), tree->vms[vm].name);
	}
	if (guards_us(s))
		printf("  use       %7" PRIu32 " us %5.1f %%  guards\n", guards_us(s),
		       percent(s, guards_us(s)));
	printf("  use       %7" PRIu32 " us %5.1f %%  slack", slack_us(s), percent(s, slack_us(s)));
	for (uint32_t vm = 0; vm < tree->n_vms; vm++) {
		if (!(s->slack >> vm & 1))
			continue;
		printf("%s %s", to, tree->vms[vm].name);
		to = ",";
	}
	printf("%s\n", s->slack ? "" : ", nobody's");
}

/* The least guard on a hart that drives all its counters without the firmware. */
static uint32_t with_ssccfg(const struct vm_tree *tree, const struct vm_schedule *s)
{
	struct vm_schedule other = *s;

	vm_stay_bounds(tree, &other, true, 0);
	return other.least_guard_us;
}

void print_schedules(const struct vm_tree *tree)
{
	for (uint32_t n = 0; n < tree->n_schedules; n++) {
		const struct vm_schedule *s = &tree->schedules[n];
		char id[ID_BYTES];

		printf("hart %s\n  frame     %7" PRIu32 " us\n", id_text(s->id, id), s->frame_us);
		printf("  guard     %7" PRIu32 " us at least; with Ssccfg %" PRIu32 " us\n",
		       s->least_guard_us, with_ssccfg(tree, s));
		for (uint32_t i = 0; i < s->n_windows; i++)
			print_window(tree, s, i);
		print_use(tree, s);
	}
}

static void print_json_windows(const struct vm_tree *tree, const struct vm_schedule *s)
{
	for (uint32_t i = 0; i < s->n_windows; i++) {
		const struct vm_hart_window *w = &s->windows[i];

		printf("%s{\"vm\":\"%s\",\"vcpus\":[", i ? "," : "", tree->vms[w->vm].name);
		print_vcpus(w->vcpus, "", ",");
		printf("],\"start_us\":%" PRIu32 ",\"length_us\":%" PRIu32 ",\"guard_us\":%" PRIu32
		       "}",
		       w->start_us, w->length_us, w->guard_us);
	}
}

void print_json_schedules(const struct vm_tree *tree)
{
	printf("\"schedules\":[");
	for (uint32_t n = 0; n < tree->n_schedules; n++) {
		const struct vm_schedule *s = &tree->schedules[n];
		const char *between = "";

		printf("%s{\"hart\":%" PRIu32 ",\"frame_us\":%" PRIu32 ",\"longest_stay\":%" PRIu32
		       ",\"least_guard_us\":%" PRIu32 ",\"least_guard_ssccfg_us\":%" PRIu32
		       ",\"guards_us\":%" PRIu32 ",\"slack_us\":%" PRIu32 ",\"slack\":[",
		       n ? "," : "", s->id, s->frame_us, s->longest_stay, s->least_guard_us,
		       with_ssccfg(tree, s), guards_us(s), slack_us(s));
		for (uint32_t vm = 0; vm < tree->n_vms; vm++) {
			if (!(s->slack >> vm & 1))
				continue;
			printf("%s\"%s\"", between, tree->vms[vm].name);
			between = ",";
		}
		printf("],\"windows\":[");
		print_json_windows(tree, s);
		printf("]}");
	}
	printf("],");
}
