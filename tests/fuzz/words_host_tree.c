/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "tests/fuzz/mutate_fdt.h"

static const char *const props[] = {
    "#address-cells",
    "#size-cells",
    "bootargs",
    "compatible",
    "device_type",
    "interrupt-controller",
    "interrupts",
    "interrupts-extended",
    "linux,initrd-end",
    "linux,initrd-start",
    "mmu-type",
    "msi-parent",
    "phandle",
    "reg",
    "reg-shift",
    "riscv,cbom-block-size",
    "riscv,cboz-block-size",
    "riscv,isa",
    "riscv,isa-extensions",
    "rng-seed",
    "serial0",
    "status",
    "stdout-path",
    "timebase-frequency",
    NULL,
};
static const char *const strings[] = {
    "cpu",
    "disabled",
    "memory",
    "ns16550a",
    "ok",
    "okay",
    "riscv,aplic",
    "riscv,plic0",
    "riscv,sv39",
    "riscv,sv57",
    "riscv-virtio",
    "rv64imafdch_sstc_sscofpmf_v",
    "serial0:115200n8",
    "/soc/serial@10000000",
    "serial0",
    "tally.backend=sbi tally.console=frames tally.roam",
    "",
    NULL,
};
static const char *const nodes[] = {
    "aliases",    "chosen", "cpus", "cpu@0",           "cpu@1", "interrupt-controller",
    "memory@0",   "soc",    "pmu",  "serial@10000000", "a",     "plic@c000000",
    "aplic@d000", NULL,
};

const struct fdt_words fdt_words = {props, strings, nodes};
