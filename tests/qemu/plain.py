# SPDX-License-Identifier: Apache-2.0
"""Runs a program on QEMU and OpenSBI alone, without Tally, in the exact profile."""

import fcntl
import os
import subprocess

from harness import BUILD, GUARD, ROOT

QEMU = os.environ.get("QEMU", "qemu-system-riscv64")
BIOS = os.environ.get("BIOS", "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin")


def make(target, makefile=None, variables=()):
    """Brings one file of build/ up to date and returns its path."""
    command = ["make", "-s", "-C", str(ROOT), *variables]
    if makefile:
        command += ["-f", makefile]
    # Tests that run at once must not build one file twice.
    with open(BUILD / "make.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = subprocess.run(command + [target], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / target


def run(kernel, bootargs="", cpu="rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on", timeout=GUARD,
        initrd=None, memory="256M"):
    """The console of one run from power-on to power-off, without carriage returns."""
    command = [
        QEMU,
        *("-machine", "virt", "-cpu", cpu, "-smp", "1", "-m", memory, "-nographic"),
        *("-icount", "shift=0,sleep=off", "-seed", "1", "-rtc", "base=2026-01-01,clock=vm"),
        *("-bios", BIOS, "-kernel", str(kernel)),
    ]
    if bootargs:
        command += ["-append", bootargs]
    if initrd:
        command += ["-initrd", str(initrd)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=timeout, check=False)
    text = done.stdout.decode(errors="replace").replace("\r", "")
    assert done.returncode == 0, f"QEMU ended with {done.returncode}: {done.stderr.decode()}{text}"
    return text
