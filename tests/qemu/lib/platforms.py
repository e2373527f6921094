# SPDX-License-Identifier: Apache-2.0
"""QEMU's CPUs and versions, as they differ in what Tally uses, and compilers."""

import functools
import os
import re
import subprocess

import pytest

import firmwares
import peers

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


def vector_cpu(bits):
    """The machine of the other tests, with vector registers of so many bits."""
    return f"rv64,v=on,vlen={bits},sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on"
