# SPDX-License-Identifier: Apache-2.0
"""The self test guest on OpenSBI alone: the reference for what it finds on Tally."""

import pytest

import firmwares
from bare_guests import kinds

# Instructions of code of known length: (S, U, S and U) by the filter's flags.
COUNTS = {
    "0x0": (1000001, 2001, 2140),
    "0x20": (1000001, 0, 134),
    "0x40": (0, 2001, 2006),
    "0x60": (0, 0, 0),
}


@pytest.fixture(scope="module")
def lines():
    return firmwares.on_opensbi()


def test_every_case_has_its_line(lines):
    assert kinds(lines) == {"PASS": 216, "FAIL": 0, "KNOWN": 81, "SKIP": 4}
    assert lines[-2:] == ["81 known, 4 skipped", "216 passed, 0 failed"]


def test_firmware_and_events(lines):
    assert lines[0] == "selftest: SBI 2.0, implementation 0x1 version 0x10005"
    assert lines[1] == "counters 35: fixed 0x5, programmable 0x7fff8, firmware 0x7fff80000"
    offered = [line for line in lines if line.startswith("event ") and "counter" in line]
    assert offered == [f"event 0x{event}: counter 18"
                       for event in ("1", "2", "10019", "1001b", "10021")]


def test_counts(lines):
    for event in ("0x1", "0x2"):
        for flags, (s, u, both) in COUNTS.items():
            assert f"count event {event} flags {flags}: S {s}, U {u}, S and U {both}" in lines


def test_nothing_below_the_guest_is_counted(lines):
    for event in ("0x1", "0x2"):
        assert (f"count event {event}: two reads 16, with an SBI call between 26, "
                "with an illegal instruction between 158") in lines


def test_overflow_is_exact(lines):
    for period in (1000, 777):
        line = f"overflow of counter 18 after {period}: 1 interrupts, after {period} instructions"
        assert lines.count(line) == 2


# Each damages this firmware's state, so each has a boot of its own.
@pytest.mark.parametrize("case, counts", [
    ("fw-base", {"PASS": 3, "FAIL": 0, "KNOWN": 2, "SKIP": 0}),
    ("fw-base-start", {"PASS": 3, "FAIL": 0, "KNOWN": 2, "SKIP": 0}),
    ("wrap", {"PASS": 5, "FAIL": 0, "KNOWN": 4, "SKIP": 0}),
    ("info", {"PASS": 3, "FAIL": 0, "KNOWN": 0, "SKIP": 1}),
    ("shmem", {"PASS": 3, "FAIL": 0, "KNOWN": 0, "SKIP": 1}),
])
def test_corrupting_cases(case, counts):
    lines = firmwares.on_opensbi("case=" + case)
    assert f"case {case}" in lines
    assert kinds(lines) == counts
    assert lines[-1] == f"{counts['PASS']} passed, 0 failed"


def test_corrupting_cases_are_announced(lines):
    assert lines[-3] == ("20 cases that corrupt some firmware left out; a boot each with "
                         "case=fw-base case=fw-base-start case=wrap case=info case=shmem")


def test_an_unknown_case_fails():
    assert firmwares.on_opensbi("case=nonsense")[-1] == "2 passed, 1 failed"
