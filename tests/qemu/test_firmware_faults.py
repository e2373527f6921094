# SPDX-License-Identifier: Apache-2.0
"""A firmware whose calls fail (tests/firmware): a count is exact, refused or lost, never wrong; a hart
that does not come, or cannot be told anything, does not keep the machine from running without it."""

import re

import pytest

import bare_guests
import harness
import plain
from test_machines import cpu

FAULTS = "kind=faults rounds=50"


def boot(folder, word, guests, status=harness.OK, text=None, **arguments):
    """Guests on a firmware that is told a word."""
    options = [*arguments.pop("options", ()), "--bios", plain.make("build/tests/firmware.bin"),
               "--append", word, *(["--cpu", text] if text else [])]
    return bare_guests.boot(folder, guests, status=status, options=options, timeout=harness.GUARD, **arguments)


def verdicts(result, name):
    """(exact, refused, lost, wrong) of kind=faults."""
    found = re.fullmatch(r"faults: (\d+) exact, (\d+) refused, (\d+) lost, (\d+) wrong",
                         result.vm(name)[-1])
    assert found, str(result)
    return [int(n) for n in found.groups()]


def counts(folder, word, text=None, guests=("alpha", "beta")):
    """The verdicts of guests that count side by side while calls fail after the boot: sums."""
    result = boot(folder, word, {name: FAULTS for name in guests}, text=text, backend="sbi")
    assert any("back end sbi, overflow to " in line for line in result.own), str(result)
    every = [verdicts(result, name) for name in guests]
    exact, refused, lost, wrong = (sum(numbers) for numbers in zip(*every))
    assert wrong == 0, str(result)
    return exact, refused, lost


def test_nothing_fails(tmp_path):
    assert counts(tmp_path, "fw.fail=0") == (300, 0, 0)


@pytest.mark.parametrize("word", ["fw.fail=160/4", "fw.fail=160/5", "fw.fail=161/7"])
def test_starts_and_stops_that_fail(tmp_path, word):
    """Each is tried once more; what fails then as well is refused or lost."""
    exact, refused, lost = counts(tmp_path, word)
    assert exact > 100
    assert refused > 0 and lost > 0


def test_starts_and_stops_that_fail_once_in_a_while(tmp_path):
    assert counts(tmp_path, "fw.fail=160/3") == (300, 0, 0)


def test_configurations_that_fail(tmp_path):
    exact, refused, _ = counts(tmp_path, "fw.fail-config=330/5")
    assert exact > 100 and refused > 0


def test_where_the_guest_sees_the_harts_flags(tmp_path):
    exact, refused, lost = counts(tmp_path, "fw.fail=180/4", cpu(["ssccfg"]), ("alpha",))
    assert exact > 50 and refused + lost > 0


def test_a_firmware_that_starts_nothing_any_more(tmp_path):
    result = boot(tmp_path, "fw.fail=300/1", {"alpha": FAULTS, "beta": FAULTS}, backend="sbi")
    for name in ("alpha", "beta"):
        exact, refused, lost, wrong = verdicts(result, name)
        assert wrong == 0 and exact < 100 and refused > 20 and exact + lost > 0


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 400, 10))
def test_each_call_fails_once(tmp_path, first):
    """During the boot, too: what cannot be tried is not offered."""
    for n in range(first, first + 10):
        result = boot(tmp_path, f"fw.fail={n}", {"alpha": FAULTS}, backend="sbi")
        assert verdicts(result, "alpha")[3] == 0, str(result)


@pytest.mark.parametrize("word, why", [
    ("fw.hsm=lies", "the firmware says that it started it, and it does not come"),
    ("fw.hsm=late", "the firmware says that it started it, and it does not come"),
    ("fw.ipi=fails", "the firmware sends no IPIs"),
    ("fw.ipi=lost", "the firmware's IPIs do not come"),
])
def test_harts_that_cannot_be_had(tmp_path, word, why):
    """Also when one comes after all."""
    result = boot(tmp_path, word, {"alpha": "kind=idle ticks=1000"}, profile="smp",
                  options=["--harts", 3])
    for hart in (1, 2):
        assert f"hart {hart}: not used: {why}" in result.own
    assert result.own[-1] == "all VMs ended"


def test_a_vm_that_names_a_hart_that_did_not_come(tmp_path):
    result = boot(tmp_path, "fw.hsm=lies", {"alpha": "kind=idle"}, vcpus=("0", "1"), profile="smp",
                  status=harness.REFUSED, options=["--harts", 2])
    assert any(line.startswith("refused: /vms/alpha/vcpu1: harts: ") for line in result.own)


def test_ipis_that_fail_later(tmp_path):
    """Nobody would look at what waits for the other hart: the machine ends with a line."""
    result = boot(tmp_path, "fw.ipi=dies", {"alpha": "kind=idle ticks=1000"}, vcpus=("1",),
                  profile="smp", status=harness.DEPENDENCY, options=["--harts", 2])
    assert "the platform: the firmware sends no IPI to hart 1: error -1" in result.own
