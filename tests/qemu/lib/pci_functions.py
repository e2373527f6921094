# SPDX-License-Identifier: Apache-2.0
"""Guests that are given PCI functions: their nodes, boots and lines."""

import bare_guests
import hosts

FILLS = 300
BUS = [
    "pci: 1.0 is 1af4:1044, class ff00, pin 1",
    "pci:   BAR 1: 4096 bytes at 0x40000000, flags 0",
    "pci:   BAR 4: 16384 bytes at 0x40004000, flags 12",
    # Without the window into BARs and MSI-X.
    "pci:   capability 9 at 0x70",
    "pci:   capability 9 at 0x60",
    "pci:   capability 9 at 0x50",
    "pci:   capability 9 at 0x40",
]
STARTED = ["pci: 1 functions", "pci: rng: status 0 at first", "pci: rng: offers 0x103 above"]
MSIX = BUS[:3] + ["pci:   capability 11 at 0x98"] + BUS[3:] + STARTED + [
    "pci: rng: 2 vectors, the first has 0 0 0 1"]


def filled(fills):
    """The last line of a guest whose buffers were all filled, with one interrupt each."""
    return f"pci: rng: {fills} fills, {fills} interrupts, 0 of nothing, {fills} full"


def devices(**names):
    """The node of a VM that has these functions."""
    return "devices { %s };" % " ".join(
        f'{name} {{ pci = "{pci}"; dma = "isolated"; }};' for name, pci in names.items())


def boot(folder, guests, *options, iommu=True, aia="none", **arguments):
    """Boots guests on a machine with more of QEMU's options. guests: {NAME: (bootargs, lines of its
    node)}"""
    more = ["--aia", aia, "--iommu", "on" if iommu else "off", "--qemu",
            hosts.qemu(folder, *options), *arguments.pop("options", ())]
    return bare_guests.boot(folder, {name: bootargs for name, (bootargs, _) in guests.items()},
                            own={name: lines for name, (_, lines) in guests.items()},
                            options=more, **arguments)
