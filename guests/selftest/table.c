/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the calls of a table, and checks the results. */
#include "guests/selftest/table.h"

#include "guests/lib/print.h"

static const char *error_name(long error)
{
	static const char *const names[] = {
	    "SUCCESS",         "FAILED",          "NOT_SUPPORTED",     "INVALID_PARAM",
	    "DENIED",          "INVALID_ADDRESS", "ALREADY_AVAILABLE", "ALREADY_STARTED",
	    "ALREADY_STOPPED", "NO_SHMEM",        "INVALID_STATE",     "BAD_RANGE",
	};

	if (error > 0 || error < -11)
		return "?";
	return names[-error];
}

static unsigned long resolve(unsigned long word)
{
	switch (word) {
	case W_COUNTERS:
		return fw.counters;
	case W_LAST:
		return fw.counters - 1;
	case W_FW0:
		return fw.fw0;
	case W_A:
		return fw.a;
	case W_B:
		return fw.b;
	case W_C:
		return fw.c;
	case M_HW:
		return fw.hw;
	case M_FW:
		return fw.fw;
	case M_A:
		return BIT(fw.a);
	case M_B:
		return BIT(fw.b);
	case M_C:
		return BIT(fw.c);
	case M_AC:
		return BIT(fw.a) | BIT(fw.c);
	case M_BC:
		return BIT(fw.b) | BIT(fw.c);
	case M_FW0:
		return BIT(fw.fw0);
	case M_C_FW0:
		return BIT(fw.c) | BIT(fw.fw0);
	case M_C_HOLE:
		return BIT(fw.c) | BIT(1);
	case W_P:
		return fw.p;
	case M_P:
		return BIT(fw.p);
	case W_EVENT:
		return fw.event;
	default:
		return word;
	}
}

static bool in_set(unsigned long base, unsigned long mask, unsigned long idx)
{
	return idx >= base && idx - base < 64 && (mask >> (idx - base) & 1);
}

static bool wants_an_event(const struct pmu_case *c)
{
	for (int i = 0; i < 5; i++)
		if (c->args[i] == W_EVENT || c->args[i] == M_P)
			return true;
	return false;
}

static void run_case(const struct pmu_case *c)
{
	unsigned long a[5];
	struct sbiret r;
	bool ok;

	if (!fw.event && wants_an_event(c)) {
		report_skip(c->section, c->name, "no event but cycles and instructions here");
		return;
	}
	for (int i = 0; i < 5; i++)
		a[i] = resolve(c->args[i]);
	r = sbi_pmu(c->fid, a[0], a[1], a[2], a[3], a[4]);
	ok = r.error == c->error;
	if (ok && c->error == SBI_SUCCESS && c->value == V_IN_SET)
		ok = in_set(a[0], a[1], r.value);
	else if (ok && c->error == SBI_SUCCESS && c->value != V_ANY)
		ok = r.value == resolve(c->value);
	report(ok, c->section, c->name);
	if (!ok) {
		print("      got %s value %u (0x%x)", error_name(r.error), r.value, r.value);
		print(", want %s", error_name(c->error));
		if (c->error == SBI_SUCCESS && c->value == V_IN_SET)
			print(" and a counter of the set");
		else if (c->error == SBI_SUCCESS && c->value != V_ANY)
			print(" value %u", resolve(c->value));
		print("\n");
	}
}

void run_rows(const struct pmu_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (cases[i].name)
			run_case(&cases[i]);
		else
			reset_all();
	}
}

void run_table(const struct pmu_case *cases, size_t n)
{
	run_rows(cases, n);
	reset_all();
}
