# SPDX-License-Identifier: Apache-2.0
"""Machines of QEMU for tests of devices: with more options than tools/run gives, what their device
tree says, and one that says something else."""

import json
import socket
import subprocess

import plain
from runlib.qemu import CPU

# tools/run --aia: a PLIC; an APLIC, alone and with the harts' IMSICs.
CHIPS = ("none", "aplic", "aplic-imsic")
# Of virtio functions whose DMA goes through an IOMMU.
ISOLATED = "disable-legacy=on,iommu_platform=on"
RNG = f"virtio-rng-pci,addr=01.0,{ISOLATED}"
CLOCK = 'devices { clock { host = "/soc/rtc@101000"; dma = "none"; }; };'


def qemu(folder, *options, program=plain.QEMU):
    """The path of a QEMU with more options."""
    script = folder / "qemu"
    script.write_text(f'#!/bin/sh\nexec {program} "$@" {" ".join(map(str, options))}\n',
                      encoding="utf-8")
    script.chmod(0o755)
    return script


def functions(*them):
    """QEMU's options for these functions."""
    return [word for it in them for word in ("-device", it)]


def tree(file, memory="1G", harts=1, cpu=CPU, **machine):
    """Writes what such a machine's device tree says to a file, and returns its path."""
    words = "".join(f",{name.replace('_', '-')}={value}" for name, value in machine.items())
    subprocess.run([plain.QEMU, "-machine", f"virt{words},dumpdtb={file}", "-cpu", cpu,
                    "-smp", str(harts), "-m", memory, "-nographic", "-bios", "none"], check=True,
                   capture_output=True)
    return file


def changed(folder, edits, memory="1G", harts=1, **machine):
    """QEMU's options for the same machine whose tree fdtput has changed, and the path of that.
    edits: lists of words; "host.dtb" among them is the tree."""
    file = tree(folder / "host.dtb", memory, harts, **machine)
    for words in edits:
        subprocess.run(["fdtput", *words], cwd=folder, check=True)
    return ["-dtb", file]


class Monitor:
    """QEMU's, while it runs."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile(encoding="utf-8")
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        """Waits until it is done."""
        self.socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
        for line in self.lines:
            answer = json.loads(line)
            assert "error" not in answer, answer
            if "return" in answer:
                return
