# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms record on harts without Ssccfg. Where hcounteren hides OF (QEMU since 11), VMs
that have no overflow interrupts of their own are sampled, and each sample is exact; elsewhere that
is refused in words."""

import pytest

import bare_guests
import harness
import peers
from platforms import cpu, has_lcofi, hides_flags, on_qemu
from recordings import count_the_same, every_period
from tallylib import tally_ctl

# The first has hvien, so that LCOFIs of guests would be possible; the last has no Smcntrpmf either.
CPUS = ["tt-ascalon", cpu(["ssaia", "ssccfg"]), "rva23s64"]


def hidden(text):
    """Options for such a hart on a QEMU that hides OF: this computer's, or a later one."""
    if hides_flags():
        return ["--cpu", text]
    options = [*on_qemu("sid"), "--cpu", text]
    if not has_lcofi("sid"):
        pytest.skip(f"{peers.qemu_version('sid')} has no overflow interrupts")
    return options


# How the guest's own counter is had depends on the hart no more than on the guest: each once, and
# all in the long form.
SHORT = {(CPUS[0], "own=restarts"), (CPUS[0], "own=yes"), (CPUS[1], "own=yes"), (CPUS[2], ""),
         (CPUS[2], "own=restarts")}


@pytest.mark.parametrize("text, own", [
    pytest.param(text, own, marks=() if (text, own) in SHORT else pytest.mark.long)
    for text in CPUS for own in ("", "own=yes", "own=restarts")])
def test_every_period_gives_one_sample(tmp_path, text, own):
    every_period(tmp_path, own, options=hidden(text))


@pytest.mark.parametrize("firmware", ["trixie", "forky"])
def test_on_newer_firmware(tmp_path, firmware):
    every_period(tmp_path, "own=restarts",
                 options=[*hidden("tt-ascalon"), "--bios", peers.opensbi(firmware)])


@pytest.mark.parametrize("properties", ['pmu-overflow = "off";', 'pmu-reads = "trap";',
                                        'pmu = "off";'])
def test_vms_without_overflow_interrupts(tmp_path, properties):
    """On harts with Ssccfg, too."""
    own = "" if properties.startswith("pmu =") else "own=yes"
    every_period(tmp_path, own, options=hidden("tt-ascalon"), properties=properties)


@pytest.mark.parametrize("text", [
    CPUS[0], pytest.param(CPUS[1], marks=pytest.mark.long), CPUS[2]])
def test_guests_count_the_same(running, text):
    """And see no overflow that is not their own: of alpha's counters, those of beta's observers."""
    assert count_the_same(running, "sampling=leaks ticks=1000000", options=hidden(text)) == [
        "leaks: 0x0, 0 changes"]


def test_guests_sample_the_same(running):
    """A guest that samples by itself is exact while observers of its events come and go."""
    beta = count_the_same(running, "sampling=chance seed=2 clean=yes sharers=1 sequences=200",
                          options=hidden("tt-ascalon"))
    assert beta[-1].endswith(" 0 wrong")


@pytest.mark.parametrize("text, why", [
    ("tt-ascalon", "its hart has no overflow interrupts that the guest does not see"),
    ("rva23s64", "its hart has no overflow interrupts"),
])
def test_refused_in_words(running, text, why):
    """Where closed counters are shown, and where HS gets no LCOFI. A QEMU that hides them gives HS
    LCOFIs of both models, so it is not refused there."""
    run = running({"alpha": bare_guests.FOREVER}, options=["--cpu", text])
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        (line,) = machine.objects("sample alpha 0x2:uk 100000")
        assert line["ended"] == (None if hides_flags() else why)
        # Counted it is.
        (line,) = machine.objects("observe alpha 0x2:uk")
        assert line["ended"] is None
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK
