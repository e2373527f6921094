# SPDX-License-Identifier: Apache-2.0
"""The self test guest on each firmware that it is shown to run on, once a session: its lines."""

import functools
import tempfile
from pathlib import Path

import bare_guests
import kvm
import plain

CORRUPTING = ("fw-base", "fw-base-start", "wrap")
ARGUMENTS = ("", *(f"case={case}" for case in CORRUPTING))


@functools.lru_cache(None)
def on_opensbi(bootargs=""):
    """On OpenSBI alone."""
    text = plain.run(plain.make("build/guests/selftest.bin"), bootargs)
    return text[text.index("selftest: ") :].splitlines()


@functools.lru_cache(None)
def on_kvm(bootargs=""):
    """Under KVM. The table has a boot of its own; the corrupting cases share one, a VM each."""
    with tempfile.TemporaryDirectory() as folder:
        if not bootargs:
            return kvm.run(Path(folder), "selftest", "")[0]
        return kvm_corrupting()[ARGUMENTS.index(bootargs) - 1]


@functools.lru_cache(None)
def kvm_corrupting():
    """The lines of each of CORRUPTING, in that order."""
    with tempfile.TemporaryDirectory() as folder:
        return kvm.run(Path(folder), "selftest", *ARGUMENTS[1:])


@functools.lru_cache(None)
def on_tally(bootargs=""):
    """On Tally, alone on the hart, with all that it can offer."""
    with tempfile.TemporaryDirectory() as folder:
        return bare_guests.boot(Path(folder), {"alpha": bootargs},
                                properties='pmu-snapshot = "on"; pmu-overflow = "on";').vm("alpha")


FIRMWARES = {"opensbi": on_opensbi, "kvm": on_kvm, "tally": on_tally}
