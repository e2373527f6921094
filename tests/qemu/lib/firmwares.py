# SPDX-License-Identifier: Apache-2.0
"""The self test guest on each firmware that it is shown to run on, once a session: its lines."""

import functools
from pathlib import Path
import re
import tempfile

import bare_guests
import kvm
import peers
import plain
from tallylib import peer_record

CORRUPTING = ("fw-base", "fw-base-start", "wrap", "info", "shmem")
ARGUMENTS = ("", *(f"case={case}" for case in CORRUPTING))
# OpenSBI says so when M-mode itself traps; then it waits for ever.
DIES = "sbi_trap_error"
# Linux says so, and would boot again. The case that does it to a KVM comes last.
PANICS = "Kernel panic"


def from_banner(text):
    """The guest's lines of a console."""
    return text[text.index("selftest: ") :].splitlines()


def on_opensbi(bootargs="", suite=None, machine=None):
    """On OpenSBI alone: this machine's, or that of a later Debian release; so QEMU (machine)."""
    return opensbi_run(bootargs, peers.opensbi(suite) if suite else plain.BIOS,
                       peers.qemu(machine) if machine else plain.QEMU)


@functools.lru_cache(None)
def opensbi_run(bootargs, bios, qemu):
    """The same by paths, once."""
    lines, tried = [], 0
    # Behind each call that it did not survive it is started again.
    while True:
        text = plain.run(plain.make("build/guests/selftest.bin"),
                         f"{bootargs} from={tried}" if tried else bootargs, bios=bios, dies=DIES,
                         qemu=qemu)
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


# Beside the verdicts: what a firmware is, what it counts, and which overflows come.
SAYS = re.compile(r"(selftest|counters|instructions|hart|counted once|event \w+|count [^:]*|"
                  r"overflow of counter \d+):? (.*)")


def seen(run):
    """{case: verdict} of run(bootargs), all of ARGUMENTS together. Of a case that ran several times
    the worst counts, and one that was tried and has no line was not survived."""
    order, found, tried = ("PASS", "SKIP", "KNOWN", "FAIL"), {}, []
    for bootargs in ARGUMENTS:
        for line in run(bootargs):
            verdict, _, text = line.partition(" ")
            name, _, why = text.partition(" | ")
            if verdict == "TRY":
                tried.append(text)
            elif verdict in order:
                before = found.get(name, "PASS").split()[0].rstrip(":")
                if name not in found or order.index(verdict) > order.index(before):
                    found[name] = f"{verdict}: {why}" if why else verdict
            elif not bootargs and SAYS.fullmatch(line):
                name, value = SAYS.fullmatch(line).groups()
                name = peer_record.SAYS + name
                found[name] = f"{found[name]} | {value}" if name in found else value
    for case in tried:
        found.setdefault(case, "FAIL: it does not survive the call")
    return found


# What this machine has; and what is newest in Debian, which moves.
FIRMWARES = {"opensbi": on_opensbi, "kvm": on_kvm, "tally": on_tally}
NEWEST = {"opensbi-newest": functools.partial(on_opensbi, suite="forky"),
          "kvm-newest": on_newest_kvm}


WITH_SNAPSHOT = {"PASS": 376, "FAIL": 0, "KNOWN": 0, "SKIP": 1}
