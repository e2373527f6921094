# SPDX-License-Identifier: Apache-2.0
"""QEMU's CPUs and versions, as they differ in what Tally uses, and compilers."""

import contextlib
import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

import debugger
import firmwares
import peers
import plain

BASE = ("sscofpmf", "smcntrpmf", "ssaia", "ssccfg")
CHANCE = "sampling=chance clean=yes sharers=1 sequences=400"
AS_EVER = ["chance: ends after 400 sequences, 131 interrupts, 0 wrong"]

# What tests/bench has was measured on Debian 12. Its compiler decides whether figures are compared
# with that: where it is the same, a difference of firmware or emulator is noticed, too.
RECORDED = "12"
COMPILER = subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc",
                           "-dumpversion"], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.strip()
as_recorded = pytest.mark.skipif(
    COMPILER.split(".")[0] != RECORDED,
    reason=f"tests/bench is of gcc {RECORDED}, and gcc is {COMPILER} here")


def cpu(without=(), more=""):
    """QEMU's -cpu without some of the extensions that Tally uses."""
    return "rv64" + "".join(f",{name}=on" for name in BASE if name not in without) + more


def on_qemu(suite, *options):
    """The same for QEMU."""
    return ["--qemu", peers.qemu(suite), "--any-qemu", *options]


@functools.lru_cache(None)
def has_lcofi(suite):
    """Whether bit 13 of sie can be set on that QEMU, as the self test finds on the firmware alone.
    """
    (found,) = (re.search(r"; sie bit 13: (yes|no)$", line)
                for line in firmwares.on_opensbi("", None, suite)
                if line.startswith("hart: ECALL counts"))
    return found[1] == "yes"


# The S-level APLIC and the clock of QEMU's virt, whose source is 11 and level-sensitive. Each write
# is an address and a value: the M-level one hands the source over, it is enabled for hart 0, and an
# alarm in the past makes the wire high.
APLIC, RTC, SOURCE = 0xd000000, 0x101000, 11
SETIP, CLAIMI = APLIC + 0x1c00, APLIC + 0x401c
RING = ((0xc00002c, 1 << 10), (APLIC, 1 << 8), (APLIC + 0x2c, 6), (APLIC + 0x302c, 1),
        (APLIC + 0x4000, 1), (APLIC + 0x1edc, SOURCE), (RTC + 0x10, 1), (RTC + 0xc, 0),
        (RTC + 8, 1))


@functools.lru_cache(None)
def aplic_keeps_pending():
    """Whether the APLIC without IMSICs of this computer's QEMU has a level source pending although
    its wire is low again. QEMU is asked by its debug interface, and executes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gdb"
        subprocess.run([plain.QEMU, "-machine", "virt,aia=aplic", "-bios", "none", "-display",
                        "none", "-S", "-daemonize", "-gdb", f"unix:{path},server=on,wait=off"],
                       check=True)
        hart = debugger.Debugger(path)

        def word(address):
            return int.from_bytes(hart.read(address, 4), "little")

        for address, value in RING:
            hart.write(address, value.to_bytes(4, "little"))
        # A claim while the wire is high changes nothing.
        assert (word(SETIP), word(CLAIMI) >> 16, word(SETIP)) == (1 << SOURCE, SOURCE, 1 << SOURCE)
        hart.write(RTC + 0x1c, (1).to_bytes(4, "little"))
        kept = word(SETIP)
        with contextlib.suppress(EOFError):
            hart.ask("k")  # ends QEMU
        hart.close()
    assert kept in (0, 1 << SOURCE)
    return kept != 0


def vector_cpu(bits):
    """The machine of the other tests, with vector registers of so many bits."""
    return f"rv64,v=on,vlen={bits},sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on"
