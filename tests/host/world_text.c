/* SPDX-License-Identifier: Apache-2.0 */
/* Operations and machines as text, to print a difference. */
#include <stdio.h>
#include <string.h>

#include "tests/host/world.h"

typedef unsigned long long ull;

static int describe_call(const struct op *op, char *text)
{
	const ull a0 = op->a[0], a1 = op->a[1], a2 = op->a[2], a3 = op->a[3], a4 = op->a[4];

	switch (op->kind) {
	case OP_NUM_COUNTERS:
		return snprintf(text, WORLD_TEXT, "num_counters()");
	case OP_GET_INFO:
		return snprintf(text, WORLD_TEXT, "get_info(%#llx)", a0);
	case OP_CONFIG:
		return snprintf(text, WORLD_TEXT,
		                "config(%#llx, %#llx, flags %#llx, event %#llx, data %#llx)", a0,
		                a1, a2, a3, a4);
	case OP_START:
		return snprintf(text, WORLD_TEXT, "start(%#llx, %#llx, flags %#llx, value %#llx)",
		                a0, a1, a2, a3);
	case OP_STOP:
		return snprintf(text, WORLD_TEXT, "stop(%#llx, %#llx, flags %#llx)", a0, a1, a2);
	case OP_FW_READ:
		return snprintf(text, WORLD_TEXT, "fw_read(%#llx)", a0);
	case OP_FW_READ_HI:
		return snprintf(text, WORLD_TEXT, "fw_read_hi(%#llx)", a0);
	case OP_SET_SHMEM:
		return snprintf(text, WORLD_TEXT, "set_shmem(%#llx, %#llx, flags %#llx)", a0, a1,
		                a2);
	default:
		return snprintf(text, WORLD_TEXT,
		                "event_info(%#llx, %#llx, %llu entries, flags %#llx)", a0, a1, a2,
		                a3);
	}
}

static int describe_other(const struct op *op, char *text)
{
	const ull a0 = op->a[0], a1 = op->a[1], a2 = op->a[2], a3 = op->a[3];

	switch (op->kind) {
	case OP_CSR_READ:
		return snprintf(text, WORLD_TEXT, "reads CSR %#llx", a0);
	case OP_RUN:
		return snprintf(text, WORLD_TEXT,
		                "runs %#llx units of work %#llx in %s, up to overflow %llu", a2, a1,
		                a0 & 1 ? "VU" : "VS", a3 + 1);
	case OP_FW_EVENT:
		return snprintf(text, WORLD_TEXT, "firmware event %#llx of vcpu %llu", a1,
		                a0 % VCPUS);
	case OP_PORT_EVENT:
		return snprintf(text, WORLD_TEXT, "%#llx firmware events %#llx of vcpu %llu below",
		                a2, a1, a0 % VCPUS);
	case OP_RETIRED:
		return snprintf(text, WORLD_TEXT, "executes an emulated instruction in %s",
		                a0 & 1 ? "VU" : "VS");
	case OP_POKE:
		return snprintf(text, WORLD_TEXT, "writes %#llx to %#llx", a1, a0);
	case OP_ENTRIES:
		return snprintf(text, WORLD_TEXT, "writes %llu entries to %#llx, seed %#llx",
		                a1 & 0xfff, a0, a2);
	case OP_OVERFLOW:
		return snprintf(text, WORLD_TEXT, "LCOFI, or none");
	case OP_SWITCH:
		return snprintf(text, WORLD_TEXT, "switch to vcpu %llu%s", a0 % VCPUS,
		                a1 & 1 ? ", staying resident" : "");
	case OP_MOVE:
		return snprintf(text, WORLD_TEXT, "vcpu %llu moves", a0 % VCPUS);
	case OP_OBSERVE:
		return snprintf(
		    text, WORLD_TEXT,
		    "observer %llu of vcpu %llu: event %#llx, data %#llx, flags %#x, period "
		    "%u",
		    a1 % VPMU_OBSERVERS, a0 % VCPUS, a2, a3, (uint32_t)op->a[4],
		    (uint32_t)(op->a[4] >> 32));
	case OP_UNOBSERVE:
		return snprintf(text, WORLD_TEXT, "observer %llu of vcpu %llu ends",
		                a1 % VPMU_OBSERVERS, a0 % VCPUS);
	case OP_BUDGET:
		return snprintf(text, WORLD_TEXT, "budget of vcpu %llu: %llu", a0 % VCPUS, a1);
	default:
		return snprintf(text, WORLD_TEXT, "reset");
	}
}

void world_describe(const struct op *op, const struct answer *answer, char *text)
{
	char what[WORLD_TEXT];
	int n;

	if (op->kind < OP_CALLS)
		describe_call(op, what);
	else
		describe_other(op, what);
	n = snprintf(text, WORLD_TEXT, "%s", what);
	if (answer && op->kind < OP_CALLS && n < (int)WORLD_TEXT)
		n += snprintf(text + n, WORLD_TEXT - (size_t)n, ": %ld, %#lx%s", answer->ret.error,
		              answer->ret.value, answer->again ? ", again" : "");
	if (op->fail_prepare && n < (int)WORLD_TEXT)
		n += snprintf(text + n, WORLD_TEXT - (size_t)n, " (prepare %u refused)",
		              op->fail_prepare);
	if ((op->fail_set || op->fail_run || op->fail_stop) && n < (int)WORLD_TEXT)
		snprintf(text + n, WORLD_TEXT - (size_t)n, " (set %u, run %u, stop %u fails)",
		         op->fail_set, op->fail_run, op->fail_stop);
}

void world_describe_machine(const struct machine *machine, char *text, size_t size)
{
	const struct fake_hart_config *hart = &machine->hart;
	size_t n;

	n = (size_t)snprintf(
	    text, size,
	    "one counter per event %d, sticky map %d, stale irq %d, boot OF %d, "
	    "pending keeps OF %d, no armed cache events %d\nskid %u, work in HS "
	    "%u, knows all events %d, "
	    "take without pending %d, nothing is RAM %d, asking evicts %d, "
	    "delegated %d, hides flags %d, start sets flag %d, width %u\ncounters of events:",
	    hart->one_counter_per_event, hart->sticky_map, hart->stale_irq, hart->boot_of,
	    hart->pending_keeps_of, hart->no_armed_cache_events, hart->skid, hart->hs_work,
	    hart->knows_all_events, hart->take_without_pending, hart->nothing_is_ram,
	    hart->asking_evicts, hart->delegated, hart->hides_flags, hart->start_sets_flag,
	    hart->width);
	for (uint32_t e = 0; e < FAKE_EVENTS && n < size; e++)
		n += (size_t)snprintf(text + n, size - n, " %#llx", (ull)hart->hctrs[e]);
	for (uint32_t i = 0; i < VCPUS && n < size; i++) {
		const struct vpmu_policy *p = &machine->policy[i];

		n += (size_t)snprintf(
		    text + n, size - n,
		    "\nvcpu %u: counters %#llx, fw_base %u, fw events %#x, of "
		    "the port %#x, tally's %u, allowlist %d, overflow %d, trap "
		    "%d, snapshot %d, count HS %d, cheap moves %d, steps %d, WFI "
		    "recounts %d, idle cycles %d, budget of %#x on %u, shows flags %d",
		    i, (ull)p->hctrs, p->fw_base, p->fw_events, p->fw_port_events,
		    p->n_tally_events, p->events ? (int)p->n_events : -1, p->overflow,
		    p->trap_reads, p->snapshot, p->count_hs, p->cheap_moves, p->steps,
		    p->wfi_recounts, p->idle_cycles, p->budget_event, p->budget_hctr,
		    p->shows_flags);
	}
}
