/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/vm_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/vm_check/harts.h"
#include "tools/vm_check/host.h"
#include "tools/vm_check/memory.h"
#include "tools/vm_check/pmu.h"
#include "tools/vm_check/text.h"
#include "tools/vm_check/tree.h"

bool has_uncounted(const struct vm_config *vm, const struct vm_limits *limits)
{
	return limits->host_tree && !limits->hctrs && vm->pmu_counters == VM_ALL_COUNTERS;
}

/* Why there are none: a line below says it of the hart. */
static const char *counters_of(const struct vm_tree *tree, const struct vm_config *vm,
                               const struct vm_limits *limits)
{
	if (!vm->pmu_counters)
		return "none, because pmu-counters is empty";
	if (pmu_uncounted((uint32_t)(vm - tree->vms)))
		return "none";
	return has_uncounted(vm, limits) ? "as boot counts them"
	                                 : set_list(vm->pmu_counters, false);
}

static void print_pmu(const struct vm_tree *tree, const struct vm_config *vm,
                      const struct vm_limits *limits)
{
	printf("  pmu       counters %s; reads %s", counters_of(tree, vm, limits),
	       vm->pmu_trap_reads ? "trap" : "direct");
	if (vm->pmu_snapshot)
		printf("; snapshot");
	if (vm->pmu_freeze_vcpu)
		printf("; freeze vcpu");
	if (vm->pmu_idle_cycles)
		printf("; idle cycles");
	/* The default depends on the snapshot, so the effective value is printed. */
	if (vm->pmu && !vm->pmu_overflow)
		printf("; no overflow interrupts");
	if (vm->pmu_overflow_limit)
		printf("; at most %u overflow interrupts in 10 ms", vm->pmu_overflow_limit);
	printf("\n");
	print_pmu_limits((uint32_t)(vm - tree->vms));
	if (!vm->pmu_events_given)
		return;
	printf("  events   ");
	for (uint32_t i = 0; i < vm->n_pmu_events; i++)
		printf(" 0x%" PRIx32, vm->pmu_events[i]);
	printf("%s\n", vm->n_pmu_events ? "" : vm->n_pmu_raw_events ? " raw ones alone" : " none");
	for (uint32_t i = 0; i < vm->n_pmu_raw_events; i++)
		printf("  raw       0x%" PRIx64 ", where 0x%" PRIx64 " are 1\n",
		       vm->pmu_raw_events[i].selector, vm->pmu_raw_events[i].mask);
}

const struct vm_device *machines_rtc(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].reset == VM_RESET_GOLDFISH_RTC)
			return &vm->devices[i];
	}
	return NULL;
}

bool clock_unknown(const struct vm_config *vm, const struct vm_limits *limits)
{
	return vm->n_devices && !limits->host_tree;
}

static void print_clock(const struct vm_config *vm, const struct vm_limits *limits)
{
	const struct vm_device *machines = machines_rtc(vm);

	if (clock_unknown(vm, limits))
		printf("  clock     depends on its devices; the host's tree, by --host, tells\n");
	else if (machines)
		printf("  clock     the machine's, %s\n", machines->host);
	else if (!vm->rtc)
		printf("  clock     none: its page is taken\n");
	else if (!vm->rtc_source)
		printf("  clock     its own, without alarms\n");
	else
		printf("  clock     its own; alarms by source %" PRIu32 "\n", vm->rtc_source);
}

void print_selectors(const struct selectors *s)
{
	printf("core        %s: selectors of ", s->core);
	if (s->numbers)
		printf("%" PRIu32 " event%s", s->n_fields, s->n_fields == 1 ? "" : "s");
	else
		printf("a bit for each event");
	printf("; %" PRIu32 " general and cache events\n", s->n_standard);
	for (uint32_t i = 0; i < s->n_runs; i++)
		printf("  events    0x%" PRIx32 " to 0x%" PRIx32 " of 0x%" PRIx64 ": counters %s\n",
		       s->runs[i].first, s->runs[i].last, s->runs[i].base,
		       set_list(s->runs[i].hctrs, false));
}

const char *restart_name(const struct vm_config *vm)
{
	static const char *const names[] = {
	    [VM_RESTART_NEVER] = "never",
	    [VM_RESTART_ON_FAILURE] = "on-failure",
	    [VM_RESTART_ALWAYS] = "always",
	};

	return names[vm->restart];
}

const char *shutdown_name(const struct vm_config *vm)
{
	static const char *const names[] = {
	    [VM_SHUTDOWN_NONE] = "none",
	    [VM_SHUTDOWN_SYSRQ] = "sysrq",
	    [VM_SHUTDOWN_KEY] = "key",
	};

	return names[vm->shutdown];
}

const char *bad_access_name(const struct vm_config *vm)
{
	return vm->bad_access_stops ? "stop" : "fault";
}

static void print_shared(const struct vm_tree *tree, const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		const struct vm_shared *shared = &tree->shared[vm->shared[i].number];

		printf("  shared    %s at 0x%" PRIx64 ": %s, to %s\n", shared->name,
		       vm->shared[i].at, human(shared->size),
		       vm->shared[i].writes ? "read and write" : "read");
		if (!vm->shared[i].bell)
			continue;
		printf("  bell      of %s: source %" PRIu32, shared->name, vm->shared[i].bell);
		if (vm->shared[i].identity)
			printf(", identity %" PRIu32, vm->shared[i].identity);
		printf("; registers at 0x%" PRIx64 "\n", GUEST_BELL_BASE + i * GUEST_BELL_STEP);
	}
}

const char *mac_text(const struct vm_port *port)
{
	static char text[3 * VM_MAC_BYTES];
	const uint8_t *mac = port->mac;

	(void)snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
	               mac[3], mac[4], mac[5]);
	return text;
}

static void print_limits(const struct vm_port *port)
{
	const char *between = "            sends at most ";

	if (port->frames_per_ms) {
		printf("%s%" PRIu32 " frames", between, port->frames_per_ms);
		between = " and ";
	}
	if (port->bytes_per_ms)
		printf("%s%" PRIu32 " bytes", between, port->bytes_per_ms);
	if (port->frames_per_ms || port->bytes_per_ms)
		puts(" in a period of 1 ms");
}

static void print_ports(const struct vm_tree *tree, const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_ports; i++) {
		const struct vm_port *port = &vm->ports[i];

		printf("  port      of %s: %s%s%s; source %" PRIu32 "; %s at 0x%" PRIx64 "\n",
		       tree->networks[port->network].name, mac_text(port),
		       port->uplink ? ", the uplink" : "",
		       tree->networks[port->network].offload ? ", offload" : "", port->source,
		       vm->virt ? "virtio-mmio" : "registers", vm_port_at(vm, i));
		print_limits(port);
	}
}

static void print_aia(const struct vm_config *vm, const struct vm_limits *limits)
{
	uint32_t hart = limits->harts.ids[vm->vcpus[0].first_hart];

	printf("  interrupts aia: a guest interrupt file for each vcpu");
	if (limits->host_tree)
		printf(", of at most %" PRIu32
		       " a hart\n            if the hart has fewer than its vcpus need: refused",
		       tree_guest_files(limits->host_tree, hart));
	putchar('\n');
}

const char *operator_name(const struct vm_operator *o)
{
	return o->access == VM_OPERATOR_CONTROL ? "control" : "watch";
}

static void print_operator(const struct vm_tree *tree, const struct vm_operator *o)
{
	printf("  operator  %s: %s\n            at most %" PRIu32 " requests a second",
	       operator_name(o), names_of(tree, o->vms, false), o->requests_hz);
	if (o->samples_hz)
		printf(", %" PRIu32 " samples a second and hart", o->samples_hz);
	printf("; source %" PRIu32, o->source);
	if (o->identity)
		printf(", identity %" PRIu32, o->identity);
	printf("; registers at 0x%" PRIx64 "\n", GUEST_OPERATOR_BASE);
}

void print_vm(const struct vm_tree *tree, const struct vm_config *vm,
              const struct vm_limits *limits)
{
	char id[ID_BYTES];

	printf("%s\n  memory    %s\n", vm->name, human(vm->memory));
	for (uint32_t i = 0; i < vm->n_pieces; i++)
		printf("  memory-at 0x%" PRIx64 ": %s\n", vm->pieces[i].base,
		       human(vm->pieces[i].size));
	if (limits->host_tree)
		print_places(vm);
	print_shared(tree, vm);
	print_ports(tree, vm);
	for (uint32_t i = 0; i < vm->n_vcpus; i++) {
		bool several = vm->vcpus[i].harts & (vm->vcpus[i].harts - 1);

		printf("  vcpu%" PRIu32 "     hart%s %s", i, several ? "s" : "",
		       hart_list(&limits->harts, vm->vcpus[i].harts, false));
		if (several)
			printf("; begins on %s",
			       id_text(limits->harts.ids[vm->vcpus[i].first_hart], id));
		putchar('\n');
	}
	/* With --harts they are none of the tree's. */
	if (limits->differ)
		print_lacks(limits->host_tree, vm, &limits->harts);
	printf("  kernel    %s at 0x%" PRIx64 ": %s, %s once running\n",
	       vm->kernel_is_image ? "Image" : "raw", vm->ram_base + vm->kernel_offset,
	       human(vm->kernel.size), human(vm->kernel_span));
	if (vm->initrd.data)
		printf("  initrd    at 0x%" PRIx64 ": %s\n", vm->ram_base + vm->initrd_offset,
		       human(vm->initrd.size));
	printf("  dtb       at 0x%" PRIx64 "\n", vm->ram_base + vm->dtb_offset);
	if (vm->bootargs)
		printf("  bootargs  %s\n", vm->bootargs);
	printf("  console   %s\n", vm->console ? "on" : "off");
	print_clock(vm, limits);
	if (vm->aia)
		print_aia(vm, limits);
	if (vm->virt)
		printf("  machine   virt\n");
	if (vm->turn_us != VM_TURN_US_DEFAULT)
		printf("  turns     %" PRIu32 " us; share %" PRIu32 "\n", vm->turn_us, vm->share);
	if (vm->no_look)
		printf("  look      off\n");
	if (vm->budget.count)
		printf("  budget    %" PRIu32 " of event 0x%" PRIx32 " a vcpu in %" PRIu32 " us\n",
		       vm->budget.count, vm->budget.event_idx, vm->budget.period_us);
	if (vm->budget.count && limits->no_budget)
		print_budget_limits((uint32_t)(vm - tree->vms));
	if (vm->controls)
		printf("  controls  %s\n", names_of(tree, vm->controls, false));
	if (vm->operator.access != VM_OPERATOR_NONE)
		print_operator(tree, &vm->operator);
	if (vm->deferred)
		printf("  boot      defer: waits for its first start\n");
	if (vm->heartbeat_ms)
		printf("  heartbeat %" PRIu32 " ms\n", vm->heartbeat_ms);
	if (vm->shutdown == VM_SHUTDOWN_SYSRQ)
		printf("  shutdown  sysrq: its kernel is asked by its console\n");
	if (vm->shutdown == VM_SHUTDOWN_KEY)
		printf("  shutdown  key: by its power key, interrupt %" PRIu32 "\n",
		       vm->key_source);
	if (vm->suspend)
		printf("  suspend   on: vms tells when it sleeps\n");
	if (vm->crash_exits)
		printf("  crash     its last exits are kept\n");
	printf("  restart   %s; limit %" PRIu32 "; bad access: %s\n", restart_name(vm),
	       vm->restart_limit, bad_access_name(vm));
	if (!vm->pmu)
		printf("  pmu       off\n");
	else
		print_pmu(tree, vm, limits);
	print_devices(vm, limits->host_tree);
}
