/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "tests/fuzz/mutate_fdt.h"

static const char *const props[] = {
    "#address-cells",
    "#clock-cells",
    "#interrupt-cells",
    "#size-cells",
    "clock-frequency",
    "clocks",
    "compatible",
    "device_type",
    "interrupt-controller",
    "interrupt-map",
    "interrupt-parent",
    "interrupts",
    "interrupts-extended",
    "interrupt-map-mask",
    "iommu-map",
    "iommu-map-mask",
    "bus-range",
    "msi-parent",
    "phandle",
    "ranges",
    "reg",
    "reg-shift",
    "regmap",
    "resets",
    "riscv,guest-index-bits",
    "serial0",
    "status",
    "stdout-path",
    "test,unknown",
    NULL,
};
static const char *const strings[] = {
    "cpu",         "disabled",    "fixed-clock",           "memory",        "ns16550a",
    "okay",        "pci",         "pci-host-ecam-generic", "riscv,aplic",   "riscv,imsics",
    "riscv,iommu", "riscv,plic0", "sifive,test0",          "syscon-reboot", "test,device",
    "virtio,mmio", "/soc/a@1000", "/soc/serial@10000",     "serial0",       "",
    NULL,
};
static const char *const nodes[] = {
    "a@1000",          "aliases",       "b@2000",       "bus@10000",    "chosen",
    "clock",           "cpu@0",         "cpus",         "inner",        "intc",
    "memory@80000000", "plic@c000000",  "poweroff",     "serial@10000", "soc",
    "imsics@28000",    "iommu@3010000", "pci@30000000", NULL,
};

const struct fdt_words fdt_words = {props, strings, nodes};
