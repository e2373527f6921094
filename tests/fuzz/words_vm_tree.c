/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "tests/fuzz/mutate_fdt.h"

static const char *const props[] = {
    "compatible",      "data",         "phandle",         "memory",
    "kernel",          "initrd",       "bootargs",        "console",
    "load-offset",     "pmu",          "pmu-counters",    "pmu-reads",
    "pmu-events",      "harts",        "pmu-snapshot",    "pmu-freeze",
    "pmu-idle-cycles", "pmu-overflow", "restart",         "restart-limit",
    "bad-access",      "other",        "pmu-raw-events",  "core",
    "selector",        "event-fields", "operator-fields", "operators",
    "events",          "sbi-events",   "sbi-stimuli",     NULL,
};
static const char *const strings[] = {
    "on",    "off",       "trap",       "direct", "guest", "vcpu", "tally,vm-tree-1",
    "never", "always",    "on-failure", "stop",   "fault", "",     "numbers",
    "bits",  "kunminghu", NULL,
};
static const char *const nodes[] = {
    "images",           "vms",   "pmu", "vcpu0", "vcpu1", "vcpu2", "vcpu8", "a", "b",
    "a-name-of-16-chr", "UPPER", NULL,
};

const struct fdt_words fdt_words = {props, strings, nodes};
