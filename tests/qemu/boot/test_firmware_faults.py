# SPDX-License-Identifier: Apache-2.0
"""A firmware whose calls fail (tests/firmware): a count is exact, refused or lost, never wrong; a
hart that does not come, or cannot be told anything, does not keep the machine from running without
it."""

import re

import pytest

import bare_guests
import harness
import plain
from platforms import cpu, instret_is_alike

ROUNDS = 50
FAULTS = f"kind=faults rounds={ROUNDS}"


def boot(folder, word, guests, status=harness.OK, text=None, **arguments):
    """Guests on a firmware that is told a word."""
    options = [*arguments.pop("options", ()), "--bios", plain.make("build/tests/firmware.bin"),
               "--append", word, *(["--cpu", text] if text else [])]
    return bare_guests.boot(folder, guests, status=status, options=options, **arguments)


def verdicts(result, name):
    """(exact, refused, lost) of kind=faults, of which none may be wrong."""
    found = re.fullmatch(r"faults: (\d+) exact, (\d+) refused, (\d+) lost, 0 wrong",
                         result.vm(name)[-1])
    assert found, str(result)
    exact, refused, lost = (int(n) for n in found.groups())
    # Three verdicts a round, but for one whose counter is refused at its beginning.
    cut_short = (3 * ROUNDS - exact - refused - lost) / 2
    assert cut_short in range(refused + 1)
    return exact, refused, lost


def counts(folder, word, guests=("alpha",), text=None):
    """The verdicts of guests that count while calls fail after the boot."""
    result = boot(folder, word, {name: FAULTS for name in guests}, text=text, backend="sbi")
    assert any("back end sbi, overflow to " in line for line in result.own), str(result)
    return [verdicts(result, name) for name in guests]


ALL = (3 * ROUNDS, 0, 0)
BOTH = ("alpha", "beta")


def refused(n):
    """The verdicts if the counters of so many rounds are refused, and all else is exact."""
    return (3 * (ROUNDS - n), n, 0)


def test_nothing_fails(tmp_path):
    assert counts(tmp_path, "fw.fail=0", BOTH) == [ALL, ALL]


def test_memory_is_cleared_without_cbo_zero(tmp_path):
    """The tree promises operations that the firmware does not permit."""
    result = boot(tmp_path, "fw.blocks=no", {"alpha": FAULTS})
    assert [line for line in result.own if ": no zicb" in line] == [
        "hart 0: no zicbom, which the host's tree promises: it traps, or its block has another "
        "size",
        "hart 0: no zicboz, which the host's tree promises: it traps, or its block has another "
        "size; memory is cleared by stores"]
    assert verdicts(result, "alpha") == ALL


def numbered(call):
    """The number here of a start or stop after the boot. Where instret does not count as another
    counter does, boot counts a moment with each once more: three starts and stops of each."""
    return call if instret_is_alike() else call + 6


@pytest.mark.parametrize("first, step, rounds",
                         [(166, 4, 24), (166, 5, 1), (167, 7, 0), (211, 1, 39)])
def test_starts_and_stops_that_fail(tmp_path, first, step, rounds):
    """A guest alone, so it is known which call it is that fails. Each is tried once more; what
    fails then as well is refused."""
    assert counts(tmp_path, f"fw.fail={numbered(first)}/{step}") == [refused(rounds)]


def test_configurations_that_fail(tmp_path):
    assert counts(tmp_path, "fw.fail-config=140/5") == [refused(30)]


def test_where_the_guest_sees_the_harts_flags(tmp_path):
    assert counts(tmp_path, "fw.fail=191/4", text=cpu(["ssccfg"])) == [refused(25)]


def test_starts_and_stops_that_fail_in_a_switch(tmp_path):
    """Beside a neighbour a counter that counts may be lost as well. Which call it is that fails
    depends on where turns end, which any instruction of Tally's shifts: so not how many."""
    every = [verdict for word in ("166/4", "166/5", "167/7", "306/1")
             for verdict in counts(tmp_path, f"fw.fail={word}", BOTH)]
    assert all(exact > 0 for exact, _, _ in every)
    assert sum(refusals for _, refusals, _ in every) > 50
    assert sum(lost for _, _, lost in every) > 20


def test_starts_and_stops_that_fail_once_in_a_while(tmp_path):
    """Side by side the second try of each start and stop is not one that fails. What is tried once
    only is the RESET in front of a new configuration: a counter whose RESET is the third call is
    lost. Which call that is depends on where turns end; nothing is refused, and none is wrong."""
    for exact, refusals, lost in counts(tmp_path, "fw.fail=166/3", BOTH):
        assert refusals == 0 and exact + lost == 3 * ROUNDS and lost <= 1


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 400, 10))
def test_each_call_fails_once(tmp_path, first):
    """During the boot, too: what cannot be tried is not offered."""
    for n in range(first, first + 10):
        verdicts(boot(tmp_path, f"fw.fail={n}", {"alpha": FAULTS}, backend="sbi"), "alpha")


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
