# SPDX-License-Identifier: Apache-2.0
"""A machine with an IOMMU and a device that reads and writes where it is told."""

import re
import subprocess

import harness
import hosts

NODE = "/soc/iommu@3010000"
NO_WIRES = [["-d", "host.dtb", NODE, "interrupts"]]
# The host's interrupt controllers; and a guest with an AIA, whose functions have messages.
CHIPS = (*hosts.CHIPS, "aia")
MIB = 1 << 20
MEMORY = 0x90000000  # of the guest, and of the machine
SIZE = 16 * MIB
TALLY = {name: int(at, 16) for at, name in re.findall(
    r"^([0-9a-f]+) \w (_image_start|_rodata_start|_data_start|_image_end)$",
    subprocess.run(["riscv64-linux-gnu-nm", harness.BUILD / "tally.elf"], check=True, text=True,
                   stdout=subprocess.PIPE).stdout if (harness.BUILD / "tally.elf").exists() else "",
    re.MULTILINE)}
END = MEMORY + SIZE
FILE = 0x28000000  # of a guest with an AIA


def machine(folder, *options):
    """The path of a QEMU with an IOMMU, an edu, and more options."""
    return hosts.qemu(folder, "-machine", "iommu-sys=on",
                      "-device", "edu,addr=05.0,dma_mask=0xffffffffffffffff",
                      "-device", f"virtio-rng-pci,addr=06.0,{hosts.ISOLATED}", *options)


def chips(aia):
    """What tools/run is told of interrupt controllers."""
    return ["--aia", "aplic-imsic", "--aia-guests", 2] if aia == "aia" else ["--aia", aia]


def faults(result):
    """[(what, address, cause, faults before it)] of the lines about alpha's function."""
    found = []
    for line in result.own:
        line = re.fullmatch(r"vm alpha: DMA of edu \(00:05\.0\): (read from|write to) "
                            r"0x([0-9a-f]+): outside its memory \(cause (\d+)\)"
                            r"(?:; (\d+) before it)?", line)
        if line:
            found.append((line[1], int(line[2], 16), int(line[3]), int(line[4] or 0)))
    return found


def targets(addresses):
    """The bootargs."""
    return "targets=" + ",".join(map(str, addresses))
