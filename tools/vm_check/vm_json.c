/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/vm_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/tree/vm_memory.h"
#include "tools/vm_check/harts.h"
#include "tools/vm_check/host.h"
#include "tools/vm_check/pmu.h"
#include "tools/vm_check/text.h"
#include "tools/vm_check/vm_text.h"

void print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static const char *json_counters_of(const struct vm_tree *tree, const struct vm_config *vm)
{
	return pmu_uncounted((uint32_t)(vm - tree->vms)) ? "" : set_list(vm->pmu_counters, true);
}

static void print_json_pmu(const struct vm_tree *tree, const struct vm_config *vm,
                           const struct vm_limits *limits)
{
	if (has_uncounted(vm, limits) && !pmu_uncounted((uint32_t)(vm - tree->vms)))
		printf("{\"counters\":null");
	else
		printf("{\"counters\":[%s]", json_counters_of(tree, vm));
	printf(",\"reads\":\"%s\",\"snapshot\":%s,\"freeze\":\"%s\","
	       "\"idle_cycles\":%s,\"overflow\":%s,\"overflow_limit\":%u,\"at_boot\":",
	       vm->pmu_trap_reads ? "trap" : "direct", vm->pmu_snapshot ? "true" : "false",
	       vm->pmu_freeze_vcpu ? "vcpu" : "guest", vm->pmu_idle_cycles ? "true" : "false",
	       vm->pmu_overflow ? "true" : "false", vm->pmu_overflow_limit);
	print_json_pmu_limits((uint32_t)(vm - tree->vms));
	printf(",\"events\":");
	if (!vm->pmu_events_given) {
		printf("null,\"raw_events\":[]}");
		return;
	}
	for (uint32_t i = 0; i < vm->n_pmu_events; i++)
		printf("%c%" PRIu32, i ? ',' : '[', vm->pmu_events[i]);
	printf("%s],\"raw_events\":[", vm->n_pmu_events ? "" : "[");
	for (uint32_t i = 0; i < vm->n_pmu_raw_events; i++)
		printf("%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", vm->pmu_raw_events[i].selector,
		       vm->pmu_raw_events[i].mask);
	printf("]}");
}

static void print_json_shared(const struct vm_tree *tree, const struct vm_config *vm)
{
	printf("\"shared\":[");
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		const struct vm_shared *shared = &tree->shared[vm->shared[i].number];

		printf("%s{\"name\":\"%s\",\"at\":%" PRIu64 ",\"size\":%" PRIu64
		       ",\"writes\":%s,\"host\":%" PRIu64,
		       i ? "," : "", shared->name, vm->shared[i].at, shared->size,
		       vm->shared[i].writes ? "true" : "false", shared->host_base);
		if (vm->shared[i].bell)
			printf(",\"bell\":{\"source\":%" PRIu32 ",\"identity\":%" PRIu32
			       ",\"at\":%" PRIu64 "}",
			       vm->shared[i].bell, vm->shared[i].identity,
			       GUEST_BELL_BASE + i * GUEST_BELL_STEP);
		printf("}");
	}
	printf("],");
}

static void print_json_limit(const char *name, uint32_t limit)
{
	printf(",\"%s\":", name);
	if (limit)
		printf("%" PRIu32, limit);
	else
		printf("null");
}

static void print_json_ports(const struct vm_tree *tree, const struct vm_config *vm)
{
	printf("\"ports\":[");
	for (uint32_t i = 0; i < vm->n_ports; i++) {
		const struct vm_port *port = &vm->ports[i];

		printf("%s{\"network\":\"%s\",\"mac\":\"%s\",\"uplink\":%s,\"offload\":%s,"
		       "\"source\":%" PRIu32 ",\"transport\":\"%s\",\"at\":%" PRIu64,
		       i ? "," : "", tree->networks[port->network].name, mac_text(port),
		       port->uplink ? "true" : "false",
		       tree->networks[port->network].offload ? "true" : "false", port->source,
		       vm->virt ? "mmio" : "pci", vm_port_at(vm, i));
		print_json_limit("frames_per_ms", port->frames_per_ms);
		print_json_limit("bytes_per_ms", port->bytes_per_ms);
		printf("}");
	}
	printf("],");
}

static void print_json_operator(const struct vm_tree *tree, const struct vm_operator *o)
{
	if (o->access == VM_OPERATOR_NONE)
		printf("null");
	else
		printf("{\"access\":\"%s\",\"vms\":[%s],\"requests_hz\":%" PRIu32
		       ",\"samples_hz\":%" PRIu32 ",\"source\":%" PRIu32 ",\"identity\":%" PRIu32
		       "}",
		       operator_name(o), names_of(tree, o->vms, true), o->requests_hz,
		       o->samples_hz, o->source, o->identity);
}

/* null: the VM has none, or it is not known which. */
static void print_json_clock(const struct vm_config *vm, const struct vm_limits *limits)
{
	const struct vm_device *machines = machines_rtc(vm);

	if (clock_unknown(vm, limits) || (!machines && !vm->rtc)) {
		printf(",\"clock\":null");
	} else if (machines) {
		printf(",\"clock\":{\"device\":");
		print_json_string(machines->host);
		printf(",\"alarm_source\":null}");
	} else if (!vm->rtc_source) {
		printf(",\"clock\":{\"device\":null,\"alarm_source\":null}");
	} else {
		printf(",\"clock\":{\"device\":null,\"alarm_source\":%" PRIu32 "}", vm->rtc_source);
	}
}

void print_json_vm(const struct vm_tree *tree, const struct vm_config *vm,
                   const struct vm_limits *limits)
{
	printf("{\"name\":\"%s\",\"memory\":%" PRIu64 ",\"ram_base\":%" PRIu64 ",\"host_memory\":[",
	       vm->name, vm->memory, vm->ram_base);
	for (uint32_t i = 0; vm_piece(vm, i).size; i++)
		printf("%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", vm_piece(vm, i).host,
		       vm_piece(vm, i).size);
	printf("],");
	print_json_shared(tree, vm);
	print_json_ports(tree, vm);
	printf("\"vcpus\":[");
	for (uint32_t i = 0; i < vm->n_vcpus; i++)
		printf("%s{\"harts\":[%s],\"first\":%" PRIu32 "}", i ? "," : "",
		       hart_list(&limits->harts, vm->vcpus[i].harts, true),
		       limits->harts.ids[vm->vcpus[i].first_hart]);
	printf("],");
	if (limits->differ)
		print_json_lacks(limits->host_tree, vm, &limits->harts);
	printf("\"kernel\":{\"image\":%s,\"offset\":%" PRIu64 ",\"size\":%" PRIu64
	       ",\"span\":%" PRIu64 "},\"initrd\":",
	       vm->kernel_is_image ? "true" : "false", vm->kernel_offset, vm->kernel.size,
	       vm->kernel_span);
	if (vm->initrd.data)
		printf("{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 "}", vm->initrd_offset,
		       vm->initrd.size);
	else
		printf("null");
	printf(",\"dtb_offset\":%" PRIu64 ",\"bootargs\":", vm->dtb_offset);
	if (vm->bootargs)
		print_json_string(vm->bootargs);
	else
		printf("null");
	if (vm->budget.count)
		printf(",\"budget\":{\"event\":%" PRIu32 ",\"count\":%" PRIu32
		       ",\"period_us\":%" PRIu32 "}",
		       vm->budget.event_idx, vm->budget.count, vm->budget.period_us);
	else
		printf(",\"budget\":null");
	print_json_clock(vm, limits);
	printf(",\"console\":%s,\"interrupts\":\"%s\",\"machine\":\"%s\",\"restart\":\"%s\","
	       "\"restart_limit\":%" PRIu32 ",\"boot\":\"%s\",\"heartbeat_ms\":%" PRIu32
	       ",\"shutdown\":\"%s\",\"suspend\":%s,\"crash_exits\":%s,\"bad_access\":\"%s\","
	       "\"look\":%s,\"share\":%" PRIu32 ",\"turn_us\":%" PRIu32
	       ",\"controls\":[%s],\"operator\":",
	       vm->console ? "true" : "false", vm->aia ? "aia" : "plic",
	       vm->virt ? "virt" : "tally", restart_name(vm), vm->restart_limit,
	       vm->deferred ? "defer" : "now", vm->heartbeat_ms, shutdown_name(vm),
	       vm->suspend ? "true" : "false", vm->crash_exits ? "true" : "false",
	       bad_access_name(vm), vm->no_look ? "false" : "true", vm->share, vm->turn_us,
	       names_of(tree, vm->controls, true));
	print_json_operator(tree, &vm->operator);
	printf(",\"pmu\":");
	if (vm->pmu)
		print_json_pmu(tree, vm, limits);
	else
		printf("null");
	printf(",\"devices\":[");
	print_json_devices(vm, limits->host_tree);
	printf("]}");
}
