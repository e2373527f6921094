# SPDX-License-Identifier: Apache-2.0
"""The platform alone: what Tally's counters rest on, driven by hand in both ways."""

import pytest

import plain
import platforms


@pytest.fixture(scope="module")
def console():
    platforms.want_redirects()
    text = plain.run(plain.make("build/tests/spike.bin", "tests/spike/spike.mk"))
    return text[text.index("spike: ") :].splitlines()


def test_nothing_fails(console):
    assert [line for line in console if line.startswith("FAIL")] == []
    assert console[-1] == "231 passed, 0 failed"
    assert sum(line.startswith("PASS") for line in console) == 231


@pytest.mark.parametrize("way, resumes, entries",
                         [("sbi", 140, "576 + 566"), ("ssccfg", 143, "559 + 586")])
def test_a_thousand_switches_are_exact(console, way, resumes, entries):
    assert f"{way}: 1000 world switches, {resumes} resumes, entries {entries}" in console
    for vcpu in (0, 1):
        assert f"{way}: vcpu {vcpu} cycles 4000001 instructions 4000001 of 4000001" in console


def test_event_map(console):
    assert "one counter per event: yes" in console
    assert "sticky map: yes" in console


def test_selectors(console):
    for event in ("1", "2", "10019", "1001b", "10021"):
        line = f"selector of event 0x{event}: sireg2 0xb4{event.zfill(14)}"
        assert line in console


def test_costs(console):
    costs = dict(line[5:].rsplit(": ", 1) for line in console if line.startswith("cost "))
    firmware = {name: int(n) for name, n in costs.items() if name.startswith("sbi ")}
    delegated = {name: int(n) for name, n in costs.items() if name.startswith("ssccfg ")}
    assert len(firmware) == 8 and all(500 < n < 900 for n in firmware.values()), firmware
    assert len(delegated) == 5 and all(n < 40 for n in delegated.values()), delegated


def test_two_runs_are_identical(console):
    again = plain.run(plain.ROOT / "build/tests/spike.bin")
    assert again[again.index("spike: ") :].splitlines() == console
