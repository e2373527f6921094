# SPDX-License-Identifier: Apache-2.0
"""The self test guest on each firmware that it is shown to run on, once a session: its lines."""

import functools
import tempfile
from pathlib import Path

import bare_guests
import kvm
import peers
import plain

CORRUPTING = ("fw-base", "fw-base-start", "wrap", "info", "shmem")
ARGUMENTS = ("", *(f"case={case}" for case in CORRUPTING))
# OpenSBI says so when M-mode itself traps; then it waits for ever.
DIES = "sbi_trap_error"
# Linux says so, and would boot again. The case that does it to a KVM comes last.
PANICS = "Kernel panic"


def from_banner(text):
    """The guest's lines of a console."""
    return text[text.index("selftest: ") :].splitlines()


@functools.lru_cache(None)
def on_opensbi(bootargs="", suite=None, machine=None):
    """On OpenSBI alone: this machine's, or that of a later Debian release; so QEMU (machine)."""
    bios = peers.opensbi(suite) if suite else plain.BIOS
    lines, tried = [], 0
    # Behind each call that it did not survive it is started again.
    while True:
        text = plain.run(plain.make("build/guests/selftest.bin"),
                         f"{bootargs} from={tried}" if tried else bootargs, bios=bios, dies=DIES,
                         qemu=peers.qemu(machine) if machine else plain.QEMU)
        said = [line for line in from_banner(text) if "sbi_trap_error" not in line]
        lines += said
        if DIES not in text:
            return lines
        now = sum(line.startswith("TRY ") for line in said)
        assert now, f"it dies where nobody expects it:\n{text}"
        tried += now


@functools.lru_cache(None)
def on_kvm(bootargs="", host="debian"):
    """Under KVM. The table has a boot of its own; the corrupting cases share one, a VM each."""
    with tempfile.TemporaryDirectory() as folder:
        if not bootargs:
            return kvm.run(Path(folder), "selftest", "", host=host)[0]
        return kvm_corrupting(host)[ARGUMENTS.index(bootargs) - 1]


@functools.lru_cache(None)
def kvm_corrupting(host):
    """The lines of each of CORRUPTING, in that order."""
    with tempfile.TemporaryDirectory() as folder:
        return kvm.run(Path(folder), "selftest", *ARGUMENTS[1:], host=host, dies=PANICS)


def on_newest_kvm(bootargs=""):
    """Under the KVM of the newest kernel that Debian has."""
    peers.newest_kernel()
    return on_kvm(bootargs, "newest")


@functools.lru_cache(None)
def on_tally(bootargs=""):
    """On Tally, alone on the hart, with all that it can offer."""
    with tempfile.TemporaryDirectory() as folder:
        return bare_guests.boot(Path(folder), {"alpha": bootargs},
                                properties='pmu-snapshot = "on"; pmu-overflow = "on";').vm("alpha")


# What this machine has; and what is newest in Debian, which moves.
FIRMWARES = {"opensbi": on_opensbi, "kvm": on_kvm, "tally": on_tally}
NEWEST = {"opensbi-newest": functools.partial(on_opensbi, suite="forky"),
          "kvm-newest": on_newest_kvm}
