# SPDX-License-Identifier: Apache-2.0
"""A loop takes the same instructions whatever its neighbour does: on a hart of its own all that the
hart executes, by turns and in windows what the guest counts; and windows begin at the same ticks.
Three storms here, and two more in windows; all of them in the long form."""

import re

import pytest

import harness
from benchlib.storms import CALM, STORMS
from interference import GUARD, LOOK, OWN, PLACES, TICKS_A_US, measured, table

SHORT = ("calls", "overflow", "restart")


def storms(*more):
    """Those of the short form, and these; all others in the long one."""
    return pytest.mark.parametrize("storm", [
        storm if storm in (*SHORT, *more) else pytest.param(storm, marks=pytest.mark.long)
        for storm in STORMS])


@storms()
def test_on_a_hart_of_its_own(storm):
    """Not one instruction more, of whatever privilege mode, and no exit."""
    seen = measured(storm, "own")
    assert set(seen.rounds) == set(measured(CALM, "own").rounds)
    assert len(set(seen.rounds)) == 1 and OWN < seen.rounds[0] < OWN + 20
    assert seen.exits == 0
    assert seen.gusts >= STORMS[storm][1]


def test_it_would_be_noticed():
    """Two exits in each round: the same guest on the same hart, but its reads of counters trap."""
    calm, seen = measured(CALM, "own"), measured(CALM, "trapped")
    assert seen.exits == 2 * len(seen.rounds)
    assert min(seen.rounds) > calm.rounds[0] + 100
    # And windows without a guard, which begin later even beside one that only computes.
    earliest, latest, _ = measured(CALM, "unguarded").late
    assert 0 < earliest <= latest < GUARD * TICKS_A_US


@storms()
def test_by_turns(storm):
    """What the guest counts is what it executes, and nothing of its neighbour."""
    seen = measured(storm, "turns")
    assert seen.counted == {OWN}
    assert seen.gusts >= STORMS[storm][1]


@storms("frames", "messages")
def test_in_windows(storm):
    """Some rounds are cut by the end of a window, and the storm has the hart in between; what the
    guest counts is what it executes all the same. Each window begins at its tick, neither earlier
    nor later, and nobody else takes the hart from it."""
    seen = measured(storm, "windows")
    assert seen.counted == {OWN}
    assert seen.gusts >= STORMS[storm][1]
    earliest, latest, windows = seen.late
    assert 0 <= earliest <= latest <= harness.CHECKS
    assert 6 <= windows < seen.exits


@storms()
def test_in_windows_and_the_storm_on_another_hart(storm):
    """What the storm's first vcpu does on its hart, also to its second one beside the victim, adds
    nothing to a round that no window's end has cut, of whatever privilege mode. The time is the
    host's there, so nothing can be said of ticks."""
    seen, calm = measured(storm, "apart"), min(measured(CALM, "own").rounds)
    assert min(seen.rounds) == calm
    assert sum(insns != calm for insns in seen.rounds) <= seen.exits
    assert seen.gusts >= STORMS[storm][1]


@pytest.mark.long
@pytest.mark.parametrize("storm", STORMS)
def test_with_looks(storm):
    """One a second, and nothing else."""
    seen, calm = measured(storm, "look"), min(measured(CALM, "own").rounds)
    assert min(seen.rounds) == calm
    assert 0 < sum(seen.rounds) - calm * len(seen.rounds) <= LOOK * seen.exits
    # The time is the host's, so there may be more than the two that are due.
    assert sum(insns != calm for insns in seen.rounds) <= seen.exits


@pytest.mark.long
def test_the_table():
    """Of docs/neighbours.md is today's; tools/pages/interference-table writes it."""
    page = (harness.ROOT / "docs/neighbours.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"<!-- Made by tools/pages/interference-table. -->\n(.*?)\n\n",
                          page, re.S)
    assert found + "\n" == table()
    assert len(found.splitlines()) == 2 + 1 + len(STORMS) and len(PLACES) == 5
