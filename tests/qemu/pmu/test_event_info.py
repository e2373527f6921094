# SPDX-License-Identifier: Apache-2.0
"""A million event-info entries in one call: all answered, and nobody waits for it."""

import re

import pytest

import bare_guests
import harness

SLICE = 20000  # 2 ms, in ticks of the guests' clock
# The same of two stays in HS: in the first a slice ends, and the second begins with the switch.
STAY = 2 * harness.LONGEST_STAY // 100


def numbers(line):
    """The decimal numbers of a line."""
    return [int(n) for n in re.findall(r"\d+", line)]


@pytest.mark.parametrize("backend", ["sbi", "ssccfg"])
def test_a_million_entries(tmp_path, backend):
    guests = {"alpha": "kind=million entries=1000000", "beta": "kind=gaps ticks=9000000"}
    result = bare_guests.boot(tmp_path, guests, backend=backend, memory=64)
    # 8 of the 16 kinds in turn can be counted: what config_matching said before.
    assert result.vm("alpha")[0] == (
        "million: 1000000 entries: error 0, 500000 can be counted, 0 wrong")
    begin, end = numbers(result.vm("alpha")[1])
    # However long it takes, to the guest it is one instruction.
    assert result.vm("alpha")[2] == "million: 0 instructions more than the call for one entry"
    first, last, times, away, longest = numbers(result.vm("beta")[0])
    # The neighbour was there all the time, had its turn after each of the other's, and half of
    # the hart.
    assert first < begin < end < last
    assert times >= (end - begin) // (2 * SLICE)
    assert away <= times * (SLICE + STAY)
    assert SLICE - STAY <= longest <= SLICE + STAY
    for name in guests:
        assert 0 < bare_guests.exits(result, name)["longest-stay"] <= harness.LONGEST_STAY
