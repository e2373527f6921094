# SPDX-License-Identifier: Apache-2.0
"""Other versions of what Tally runs on and of its guests' kernel, fetched by tools/peer-platform
and tools/peer-kernel when a test wants them.
Where one cannot be had the test is left out, and the session's last lines say so."""

import fcntl
import functools
import subprocess

import pytest

from harness import BUILD, GUEST, ROOT


@functools.lru_cache(None)
def refusal(*command):
    """Why a tool cannot fetch it; None where it can."""
    with open(BUILD / "platform.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = subprocess.run([ROOT / "tools" / command[0], *command[1:]], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stderr.strip().split("\n")[-1] if done.returncode else None


def fetched(folder, *command):
    """The folder. Where the mirror does not have it, or has it no longer, the test is skipped, with
    the reason: that says nothing of Tally."""
    why = refusal(*command)
    if why:
        pytest.skip(why)
    return folder


def part(kind, suite, name):
    """A file of tools/peer-platform."""
    return fetched(BUILD / "platform" / f"{kind}-{suite}", "peer-platform", kind, suite) / name


def opensbi(suite):
    """OpenSBI of a Debian release."""
    return part("opensbi", suite, "fw_dynamic.bin")


def qemu(suite):
    """QEMU of a Debian release."""
    return part("qemu", suite, "qemu-system-riscv64")


def newest_kernel():
    """The folder of the newest kernel that Debian has for its guests' release, and of its KVM."""
    return fetched(GUEST / "peer", "peer-kernel")
