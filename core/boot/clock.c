/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/steps.h"

#include <libfdt.h>

#include "arch/riscv/devices/rtc.h"
#include "arch/riscv/hart/csr.h"
#include "core/boot/hs_memory.h"
#include "core/hart/platform.h"
#include "core/hart/time_of_day.h"
#include "core/host/host_tree.h"
#include "core/lib/date.h"
#include "core/log.h"

/* The machine's first RTC that can be read; name NULL: there is none. */
struct found {
	const char *name;
	uint64_t ns;
};

static void read_clock(void *with)
{
	const void *tree = platform.host_tree;
	struct found *found = with;
	uint64_t base, size;
	int node = -1;

	while (!found->name &&
	       (node = fdt_node_offset_by_compatible(tree, node, RTC_COMPATIBLE)) >= 0) {
		if (!host_tree_is_disabled(tree, node) &&
		    host_tree_registers(tree, node, &base, &size) && rtc_read(base, &found->ns))
			found->name = fdt_get_name(tree, node, NULL);
	}
}

/* An RTC without a battery begins at 1970 or some later year, so an earlier time than that of the
 * tree is wrong. */
void clock_init(const struct vm_tree *tree)
{
	uint64_t least = tree->time_epoch * NS_PER_S;
	struct found found = {NULL, 0};
	const char *by = "time-epoch";
	char text[DATE_BYTES];

	if (platform.host_tree)
		hs_memory_call_unmapped(read_clock, &found);
	if (found.name && found.ns >= least) {
		by = found.name;
		least = found.ns;
	}
	time_of_day_set(csr_read(CSR_TIME), least);
	date_text(least / NS_PER_S, text);
	if (least)
		log_line("clock: %s, by %s", text, by);
	else
		log_line("clock: unknown: no RTC that Tally reads, no time-epoch in the VM tree");
}
