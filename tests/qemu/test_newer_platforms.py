# SPDX-License-Identifier: Apache-2.0
"""Tally on firmware and emulators of later Debian releases: what tells them apart there."""

import re

import pytest

import bare_guests
import firmwares
import harness
import peers
from test_machines import EXPECTED, MEASURE, cpu

# OpenSBI 1.6 and 1.9.
FIRMWARES = ("trixie", "forky")
CHANCE = "sampling=chance clean=yes sharers=1 sequences=400"
AS_EVER = ["chance: ends after 400 sequences, 131 interrupts, 0 wrong"]


def on_firmware(suite, text=None):
    """Options for OpenSBI of a release, on a hart that QEMU knows as `text`."""
    return ["--bios", peers.opensbi(suite), *(["--cpu", text] if text else [])]


def on_qemu(suite, *options):
    """The same for QEMU."""
    return ["--qemu", peers.qemu(suite), "--any-qemu", *options]


@pytest.mark.parametrize("suite, text", [
    ("trixie", cpu(["ssccfg"])), ("forky", cpu(["ssccfg"])), ("forky", "tt-ascalon"),
])
def test_firmware_that_sets_flags_in_start(tmp_path, suite, text):
    """From 1.8 on it sets OF in each start, unless it clears it: a vcpu alone on a hart without
    Ssccfg loses no interrupt and sees no stray flag all the same."""
    result = bare_guests.boot(tmp_path, {"alpha": CHANCE}, options=on_firmware(suite, text))
    assert result.vm("alpha") == AS_EVER
    assert any("overflow to a vcpu alone on it: no ssccfg" in line for line in result.own)


@harness.both_backends
@pytest.mark.parametrize("suite", FIRMWARES)
def test_counts_and_samples_are_exact_on_newer_firmware(tmp_path, suite, backend):
    result = bare_guests.boot(tmp_path, {"alpha": CHANCE, "beta": MEASURE}, backend=backend,
                              options=on_firmware(suite))
    assert result.vm("alpha") == AS_EVER
    assert result.vm("beta") == EXPECTED


@harness.both_backends
def test_newer_qemu(tmp_path, backend):
    """11.1.3. Here a timer that pends at boot must not hide that unmasking an LCOFI comes late."""
    result = bare_guests.boot(tmp_path, {"alpha": CHANCE, "beta": MEASURE}, backend=backend,
                              options=on_qemu("sid"))
    assert result.vm("alpha") == AS_EVER
    assert result.vm("beta") == EXPECTED


def test_newer_qemu_without_overflow(tmp_path):
    """11.1.2: counts are exact, and sampling is refused in words."""
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE}, options=on_qemu("forky"))
    assert result.vm("alpha") == EXPECTED
    why = "no bit 13 of sie and hvien that can be set"
    assert (f"hart 0: 16 counters (3 to 18) of 64 bits, back end ssccfg, overflow not available to "
            f"guests: {why}") in result.own
    assert f"vm alpha: no overflow interrupts: hart 0 has {why}" in result.own


def found_out(lines):
    """What the self test has found out of the hart: does ECALL count (in S, in U), is a cycle an
    instruction, has sie a bit 13?"""
    line = next(line for line in lines if line.startswith("hart: ECALL counts"))
    return re.fullmatch(r"hart: ECALL counts: in S (\w+), in U (\w+); "
                        r"cycles are instructions: (\w+); sie bit 13: (\w+)", line).groups()


@pytest.mark.parametrize("machine, firmware, counts", [
    ("forky", None, {"PASS": 197, "FAIL": 0, "KNOWN": 75, "SKIP": 5}),
    ("sid", None, {"PASS": 216, "FAIL": 0, "KNOWN": 81, "SKIP": 4}),
    (None, "trixie", {"PASS": 228, "FAIL": 0, "KNOWN": 88, "SKIP": 3}),
    (None, "forky", {"PASS": 237, "FAIL": 0, "KNOWN": 79, "SKIP": 3}),
], ids=str)
def test_the_self_test_on_the_firmware_alone(machine, firmware, counts):
    """It finds out what the hart does and asserts what follows: nothing fails that conforms."""
    lines = firmwares.on_opensbi("", firmware, machine)
    assert bare_guests.kinds(lines) == counts
    assert found_out(lines) == ("yes", "yes", "yes", "no" if machine == "forky" else "yes")


def test_the_self_test_leaves_out_what_the_hart_lacks(tmp_path):
    """On QEMU 11.1.2, which has no LCOFI, and on Tally with the snapshot: each case that wants one
    is left out in words, and the snapshot's bitmap must be 0."""
    lines = bare_guests.boot(tmp_path, {"alpha": ""}, options=on_qemu("forky"),
                             properties='pmu-snapshot = "on";').vm("alpha")
    assert [line for line in lines if line.startswith("SKIP ")] == [
        "SKIP 11.5 HFENCE_GVMA_SENT: stays 0 | this firmware does not count the event",
        "SKIP 11.5 virtual LCOFIs: one overflow counts 1 | sie bit 13 cannot be set",
        "SKIP Sscofpmf overflow | sie bit 13 cannot be set",
    ]
    assert "PASS 11.13 snapshot: the overflown counter's bit" in lines
    assert lines[-1].endswith(" passed, 0 failed")


@pytest.mark.long
@harness.both_backends
@pytest.mark.parametrize("options", [
    (None, "trixie"), (None, "forky"), ("sid", None), ("sid", "trixie"), ("sid", "forky"),
], ids=str)
def test_the_self_test_passes(tmp_path, options, backend):
    machine, firmware = options
    words = on_qemu(machine) if machine else []
    words += on_firmware(firmware) if firmware else []
    lines = bare_guests.boot(tmp_path, {"alpha": ""}, backend=backend, options=words).vm("alpha")
    assert lines[-2:] == ["0 known, 2 skipped", "337 passed, 0 failed"]


@pytest.mark.long
@pytest.mark.parametrize("suite", FIRMWARES)
def test_a_long_walk_by_chance(tmp_path, suite):
    """With far starts and starts while one pends, too."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "sampling=chance calls=yes sharers=1 sequences=5000"},
        timeout=harness.GUARD,
        options=on_firmware(suite, cpu(["ssccfg"])))
    assert result.vm("alpha")[-1].endswith(" interrupts, 0 wrong")
