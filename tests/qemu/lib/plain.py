# SPDX-License-Identifier: Apache-2.0
"""Runs a program on QEMU and OpenSBI alone, without Tally, in the exact profile."""

import fcntl
import functools
import os
import subprocess
import threading

from harness import BUILD, GUARD, ROOT

QEMU = os.environ.get("QEMU", "qemu-system-riscv64")
BIOS = os.environ.get("BIOS", "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin")


@functools.cache
def make(target, makefile=None, variables=()):
    """Brings one file of build/ up to date and returns its path: once in a session, in which no
    source changes, for even the question takes make as long as a short boot takes QEMU."""
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
        initrd=None, memory="256M", bios=None, qemu=None, dies=None, options=()):
    """The console of one run from power-on to power-off, without carriage returns. dies: what a
    firmware says that has no way to end the machine any more; options: more of QEMU's."""
    command = [
        str(qemu or QEMU),
        *("-machine", "virt", "-cpu", cpu, "-smp", "1", "-m", memory, "-nographic"),
        *("-icount", "shift=0,sleep=off", "-seed", "1", "-rtc", "base=2026-01-01,clock=vm"),
        *("-bios", str(bios or BIOS), "-kernel", str(kernel), *options),
    ]
    if bootargs:
        command += ["-append", bootargs]
    if initrd:
        command += ["-initrd", str(initrd)]
    if dies:
        return until_it_dies(command, dies, timeout)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=timeout, check=False)
    text = done.stdout.decode(errors="replace").replace("\r", "")
    assert done.returncode == 0, f"QEMU ended with {done.returncode}: {done.stderr.decode()}{text}"
    return text


def until_it_dies(command, dies, timeout):
    """The console up to the line with that text, or to its end."""
    lines = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        # It may be too busy for any other signal.
        guard = threading.Timer(timeout, process.kill)
        guard.start()
        for line in process.stdout:
            lines.append(line.decode(errors="replace").replace("\r", ""))
            if dies in lines[-1]:
                process.kill()
                break
        guard.cancel()
    text = "".join(lines)
    assert process.returncode == 0 or dies in text, f"QEMU ended with {process.returncode}: {text}"
    return text
