/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "tests/fuzz/mutate_fdt.h"

static const char *const props[] = {
    "compatible",
    "data",
    "phandle",
    "memory",
    "kernel",
    "initrd",
    "bootargs",
    "console",
    "interrupts",
    "load-offset",
    "pmu",
    "pmu-counters",
    "pmu-reads",
    "pmu-events",
    "harts",
    "pmu-snapshot",
    "pmu-freeze",
    "pmu-idle-cycles",
    "pmu-overflow",
    "restart",
    "restart-limit",
    "bad-access",
    "other",
    "pmu-raw-events",
    "core",
    "selector",
    "event-fields",
    "operator-fields",
    "operators",
    "events",
    "sbi-events",
    "sbi-stimuli",
    "host",
    "dma",
    "dma-unchecked",
    "memory-at",
    "pci",
    "look",
    "controls",
    "lok",
    "share",
    "turn-us",
    "size",
    "at",
    "access",
    "writes",
    "bell",
    "bell-identity",
    NULL,
};
static const char *const strings[] = {
    "on",    "off",        "trap",       "direct",  "guest",     "vcpu",      "tally,vm-tree-1",
    "never", "always",     "on-failure", "stop",    "fault",     "",          "numbers",
    "bits",  "kunminghu",  "none",       "trusted", "isolated",  "serial0",   "aia",
    "plic",  "00:01.0",    "00:1f.7",    "01:00.0", "1af4:1041", "8086:11e8", "fw-cfg",
    "read",  "read-write", NULL,
};
static const char *const nodes[] = {
    "images",           "vms",   "pmu",     "vcpu0",  "vcpu1", "vcpu2", "vcpu8", "a", "b",
    "a-name-of-16-chr", "UPPER", "devices", "shared", "alpha", "beta",  NULL,
};

const struct fdt_words fdt_words = {props, strings, nodes};
