# SPDX-License-Identifier: Apache-2.0
"""What Tally relies on is tried at boot: on a firmware that does one thing wrong (tests/firmware),
what does not hold is switched off in words, and no count is wrong."""

import pytest

import bare_guests
import harness
from measured import ALL_EXACT, ALL_REFUSED, SHORT
import plain
from platforms import cpu, without_ssccfg

CHANCE = "sampling=chance clean=yes sharers=1 sequences=100"
HS = "a counter that counts HS-mode"
M = "a counter that counts M-mode, or takes no value"


def boot(folder, word, bootargs=SHORT, status=harness.OK, text=None, **arguments):
    """A guest on a firmware that is told a word: what it prints, and what Tally does."""
    options = ["--bios", plain.make("build/tests/firmware.bin"), "--append", word,
               *(["--cpu", text] if text else [])]
    result = bare_guests.boot(folder, {"alpha": bootargs}, status=status, options=options,
                              timeout=harness.GUARD, **arguments)
    return result.vm("alpha"), result.own


def hart(backend, overflow):
    """The boot report's line."""
    return f"hart 0: 16 counters (3 to 18) of 64 bits, back end {backend}, overflow {overflow}"


@harness.both_backends
def test_a_firmware_that_does_all_right(tmp_path, backend):
    for word in ("fw.start=keeps", "fw.start=sets"):
        lines, own = boot(tmp_path, word, CHANCE, backend=backend)
        assert hart(backend, "to guests") in own
        assert lines == ["chance: ends after 100 sequences, 36 interrupts, 0 wrong"]


@pytest.mark.parametrize("word, why", [
    ("fw.start=clears", "a start that clears OF where it is to stay"),
    ("fw.start=never", "a start that leaves OF set"),
])
def test_flags_that_are_not_as_believed(tmp_path, word, why):
    """Counts are exact all the same. Delegated counters have their flags without the firmware."""
    lines, own = boot(tmp_path, word, backend="sbi")
    assert hart("sbi", f"not available to guests: {why}") in own
    assert f"vm alpha: {bare_guests.NO_OVERFLOW}: hart 0 has {why}" in own
    assert lines == ALL_EXACT
    lines, own = boot(tmp_path, word)
    assert hart("ssccfg", "to guests") in own
    assert lines == ALL_EXACT


def test_flags_that_a_guest_would_see_itself(tmp_path):
    lines, own = boot(tmp_path, "fw.start=clears", text=cpu(["ssccfg"]))
    assert hart("sbi", "not available to guests: a start that clears OF where it is to stay, "
                "no ssccfg") in own
    assert lines == ALL_EXACT
    lines, own = boot(tmp_path, "fw.start=sets", CHANCE, text=cpu(["ssccfg"]))
    assert hart("sbi", f"{without_ssccfg()}: no ssccfg") in own
    assert lines == ["chance: ends after 100 sequences, 36 interrupts, 0 wrong"]


@pytest.mark.parametrize("word, backend, why", [
    ("fw.filter=ignored", "sbi", HS), ("fw.minh=unset", "sbi", M), ("fw.minh=unset", "auto", M),
])
def test_counters_that_count_too_much(tmp_path, word, backend, why):
    """Cycles and instructions are refused: what they would count is not the guest's alone."""
    lines, own = boot(tmp_path, word, status=harness.VM_FAILED, backend=backend)
    for event in ("cycles", "instructions"):
        assert f"hart 0: {event} is refused: it has {why}" in own
    assert hart("sbi", "not available to guests: no event to try an overflow with") in own
    assert (f"hart 0: no back end ssccfg: it has {M}" in own) == (backend == "auto")
    assert lines == ALL_REFUSED


def test_filters_that_only_the_delegated_way_has(tmp_path):
    lines, own = boot(tmp_path, "fw.filter=ignored")
    assert hart("ssccfg", "to guests") in own
    assert lines == ALL_EXACT


def test_a_stop_that_stops_nothing(tmp_path):
    lines, own = boot(tmp_path, "fw.stop=ignored", status=harness.VM_FAILED, backend="sbi")
    assert "hart 0: cycles is refused: it has a counter that refuses it" in own
    assert lines == ALL_REFUSED


def test_a_firmware_without_events(tmp_path):
    lines, own = boot(tmp_path, "fw.events=none", status=harness.VM_FAILED)
    assert "hart 0: no hardware events: the firmware maps none to its counters" in own
    assert hart("ssccfg", "not available to guests: no events") in own
    assert lines == ALL_REFUSED


@pytest.mark.parametrize("word, why", [
    ("fw.delegated=reads", "delegated counters that cannot be written"),
    ("fw.delegated=ignores", "delegated counters that cannot be written"),
    # To read one goes through M-mode there, and is counted.
    ("fw.delegated=minh", HS),
])
def test_delegated_counters_that_are_none(tmp_path, word, why):
    """The firmware drives them then."""
    lines, own = boot(tmp_path, word)
    assert hart("sbi", "to guests") in own
    assert f"hart 0: no back end ssccfg: it has {why}" in own
    assert lines == ALL_EXACT
