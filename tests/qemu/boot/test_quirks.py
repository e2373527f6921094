# SPDX-License-Identifier: Apache-2.0
"""QEMU is known by a defect that boot finds, and not by the name in the host's tree: what it cannot
try without ending the machine is believed wherever that is found."""

import pytest

import bare_guests
import harness
import hosts
import peers
import plain
from platforms import cpu, hides_flags
from sampling import TLB_LINES

# What is believed.
BELIEVED = ("no-armed-cache-events", "fetch-faults-stop-time", "lcofi-delegates-load-faults")
# Harts without Ssccfg, whose reads of scountovf do not trap.
LEAK = ("tt-ascalon", "rv64,sscofpmf=on,ssaia=on")
QEMUS = {"10.0.2": None, "sid": "sid"}


def boot(folder, guests, text=hosts.CPU, suite=None, **arguments):
    """On a machine whose tree has another name."""
    program = peers.qemu(suite) if suite else plain.QEMU
    edits = [["-t", "s", "host.dtb", "/", "compatible", "acme,board"]]
    changed = hosts.changed(folder, edits, cpu=text)
    options = ["--qemu", hosts.qemu(folder, *changed, program=program), "--cpu", text]
    return bare_guests.boot(folder, guests, options=[*options, "--any-qemu"], **arguments)


def quirks(result):
    """The names in the boot report."""
    line, = (line for line in result.own if line.startswith("quirks: "))
    return line.split()[1:]


@harness.both_backends
@pytest.mark.parametrize("suite", QEMUS.values(), ids=QEMUS)
def test_tlb_counters_overflow(tmp_path, backend, suite):
    """No start of a guest ends the emulator."""
    result = boot(tmp_path, {"alpha": "sampling=tlb"}, suite=suite, backend=backend)
    assert result.vm("alpha") == TLB_LINES
    assert set(BELIEVED) <= set(quirks(result))


@pytest.mark.parametrize("suite", QEMUS.values(), ids=QEMUS)
@pytest.mark.parametrize("text, status", [
    (cpu(more=",pmu-mask=0x8"), harness.OK), ("rv64", harness.OK), ("tt-ascalon", harness.OK),
    ("rv64,sscofpmf=on,ssaia=on", harness.OK),
], ids=["one-counter", "no-sscofpmf", "ascalon", "most"])
def test_the_signature_is_found_on_all_harts(tmp_path, suite, text, status):
    """Also where no event has two counters to be tried on, and where there are none."""
    found = quirks(boot(tmp_path, {"alpha": "kind=idle ticks=1000"}, text, suite, status=status))
    assert set(BELIEVED) <= set(found)
    # 11.1.3 hides what hcounteren closes.
    leaks = not suite and not hides_flags()
    assert ("scountovf-leaks" in found) == (text in LEAK and leaks)
