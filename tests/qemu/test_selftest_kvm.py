# SPDX-License-Identifier: Apache-2.0
"""The self test guest under Linux's KVM: the binary that runs on OpenSBI and on Tally."""

import re

import pytest

import firmwares
from bare_guests import kinds


@pytest.fixture(scope="module")
def lines():
    return firmwares.on_kvm()


def test_every_case_has_its_line(lines):
    assert kinds(lines) == {"PASS": 202, "FAIL": 0, "KNOWN": 115, "SKIP": 15}
    assert lines[-2:] == ["115 known, 15 skipped", "202 passed, 0 failed"]


def test_it_is_kvm(lines):
    assert re.fullmatch(r"selftest: SBI 2\.0, implementation 0x3 version 0x60c[0-9a-f]{2}",
                        lines[0])
    assert lines[1] == "counters 41: fixed 0x5, programmable 0x7fff8, firmware 0x1fffff80000"
    assert "instructions on 2, cycles on 0, other counter 18" in lines


def test_one_read_is_as_on_the_firmware_alone(lines):
    """What KVM's counters hold is right; it is the second read that is not."""
    counted = [line for line in firmwares.on_opensbi() if line.startswith("counted once: ")]
    assert counted == ["counted once: event 0x2: 2005", "counted once: event 0x1: 2005"]
    assert [line for line in lines if line.startswith("counted once: ")] == counted


def test_idle_time_is_no_cycle(lines):
    assert "count over WFI: instructions 9, cycles 9" in lines


def test_half_of_the_overflows_come_and_are_exact(lines):
    """Every other one is lost to the machine; see overflow.c."""
    overflows = [re.sub(r".* after (\d+): (\d) interrupts, after (\d+) .*", r"\1 \2 \3", line)
                 for line in lines if line.startswith("overflow of counter ")]
    assert overflows == ["500 0 0", "500 1 500", "500 0 0", "1000 1 1000", "777 0 0", "1234 0 0",
                         "500 1 500", "500 0 0", "1000 1 1000", "777 0 0", "1234 0 0"]


@pytest.mark.parametrize("case, counts", [
    ("fw-base", {"PASS": 3, "FAIL": 0, "KNOWN": 2, "SKIP": 0}),
    ("fw-base-start", {"PASS": 3, "FAIL": 0, "KNOWN": 2, "SKIP": 0}),
    ("wrap", {"PASS": 1, "FAIL": 0, "KNOWN": 8, "SKIP": 0}),
    ("info", {"PASS": 1, "FAIL": 0, "KNOWN": 2, "SKIP": 1}),
    ("shmem", {"PASS": 5, "FAIL": 0, "KNOWN": 2, "SKIP": 0}),
])
def test_corrupting_cases(case, counts):
    lines = firmwares.on_kvm("case=" + case)
    assert f"case {case}" in lines
    assert kinds(lines) == counts
    assert lines[-1] == f"{counts['PASS']} passed, 0 failed"
