# SPDX-License-Identifier: Apache-2.0
"""The IOMMU at boot (docs/dma.md): one line says what it is good for, and what the host's tree says
of it is believed as far as it can be."""

import pytest

import bare_guests
import hosts
from isolation import NODE, NO_WIRES

GOOD = "IOMMU at 0x3010000: translates as it must; faults by interrupt 37"
TYPES = "; the host's tree gives its interrupts types, which a PLIC has not"
LOOKS = "IOMMU at 0x3010000: translates as it must; faults are looked for once a second"
GUESTS = {"alpha": "kind=measure rounds=1 length=1000"}


def boot(folder, aia="none", iommu="on", edits=()):
    """Tally's lines about the IOMMU."""
    other = hosts.changed(folder, edits, iommu_sys="on") if edits else []
    qemu = hosts.qemu(folder, "-machine", f"iommu-sys={iommu}", *other)
    result = bare_guests.boot(folder, GUESTS, options=["--aia", aia, "--qemu", qemu])
    assert result.vm("alpha")[-1] == "measure: ends, 0 wrong of 8"
    return [line for line in result.own if "IOMMU" in line]


@pytest.mark.parametrize("aia", hosts.CHIPS)
def test_found_and_tried(tmp_path, aia):
    """QEMU's, below each interrupt controller. Below a PLIC its node is not right."""
    assert boot(tmp_path, aia) == [GOOD + (TYPES if aia == "none" else "")]


def test_none(tmp_path):
    """Nothing is said."""
    assert not boot(tmp_path, iommu="off")


# What the tree says, and the line.
TREES = {
    "right": ([["host.dtb", NODE, "interrupts", "36", "37", "38", "39"]], [GOOD]),
    "one wire": ([["host.dtb", NODE, "interrupts", "36"]], [GOOD.replace("37", "36")]),
    "no wires": (NO_WIRES, [LOOKS]),
    "wires elsewhere": ([["host.dtb", NODE, "interrupt-parent", "77"]], [LOOKS]),
    "disabled": ([["-t", "s", "host.dtb", NODE, "status", "disabled"]], []),
    "no map": ([["-d", "host.dtb", "/soc/pci@30000000", "iommu-map"]],
               ["IOMMU at 0x3010000: not used: the host's tree does not say by which ids the IOMMU "
                "knows PCI functions: no VM can have an isolated function"]),
    "few ids": ([["host.dtb", "/soc/pci@30000000", "iommu-map", "0", "32768", "0", "256"]],
                [GOOD + TYPES]),
}


@pytest.mark.parametrize("name", TREES)
def test_trees(tmp_path, name):
    """Other trees of the same machine."""
    edits, lines = TREES[name]
    assert boot(tmp_path, edits=edits) == lines
