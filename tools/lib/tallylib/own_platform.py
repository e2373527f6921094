# SPDX-License-Identifier: Apache-2.0
"""QEMU and OpenSBI that `tools/setup qemu` fetched for this tree. They go before installed ones."""
import os
import shutil

from tallylib.places import MADE

QEMU = os.path.join(MADE, "platform", "qemu-system-riscv64")
BIOS = os.path.join(MADE, "platform", "fw_dynamic.bin")


def find_qemu():
    """The path of QEMU, or None if there is none."""
    return QEMU if os.path.exists(QEMU) else shutil.which("qemu-system-riscv64")


def bios_options():
    """QEMU's arguments for the firmware where QEMU's own default will do."""
    return ["-bios", BIOS] if os.path.exists(BIOS) else []
