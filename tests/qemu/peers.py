# SPDX-License-Identifier: Apache-2.0
"""Other versions of what Tally runs on, fetched by tools/peer-platform when a test wants them.
Where one cannot be had the test is left out, and the session's last lines say so."""

import fcntl
import functools
import subprocess

import pytest

from harness import BUILD, ROOT


@functools.lru_cache(None)
def fetched(kind, suite):
    """The folder of one kind and suite, and why it cannot be had: None where it can."""
    with open(BUILD / "platform.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = subprocess.run([ROOT / "tools/peer-platform", kind, suite], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    folder = BUILD / "platform" / f"{kind}-{suite}"
    return folder, (done.stderr.strip().split("\n")[-1] if done.returncode else None)


def part(kind, suite, name):
    """A file of it. Where the mirror does not have it the test is skipped, with the reason: that
    says nothing of Tally."""
    folder, why = fetched(kind, suite)
    if why:
        pytest.skip(why)
    return folder / name


def opensbi(suite):
    """OpenSBI of a Debian release."""
    return part("opensbi", suite, "fw_dynamic.bin")


def qemu(suite):
    """QEMU of a Debian release."""
    return part("qemu", suite, "qemu-system-riscv64")
