# SPDX-License-Identifier: Apache-2.0
"""Turns of VMs that share a hart: how long they are, and what each VM gets of the hart."""

import re

import pytest

import bare_guests
import harness
import plain

TICKS_A_US = 10
# Ticks by which a guest that is away may notice late that it is back: a switch for each of three,
# and a round of its own loop, which is 50 of them.
LATE = 70
# While a VM is cleared and loaded its turns end with a step of that, 10,000 instructions at most.
STEP = 100
GAPS = re.compile(r"gaps: from (\d+) to (\d+), away (\d+) times, (\d+) ticks, longest (\d+)")
TICKS = 5_000_000


def gaps(folder, shares, turn_us=None, backend="ssccfg"):
    """{VM: (times, ticks away, longest, ticks in all)} of guests that share a hart, and Tally's
    lines. None of them lasts longer than another."""
    text = bare_guests.tree(
        {name: f"kind=gaps ticks={TICKS}" for name in shares},
        own={name: f"\t\t\tshare = <{share}>;" for name, share in shares.items() if share})
    if turn_us:
        text = text.replace("vms {", f"vms {{ turn-us = <{turn_us}>;")
    plain.make("build/guests/bare.bin")
    file = folder / "turns.dts"
    file.write_text(text, encoding="ascii")
    result = harness.run(file, options=["--include", harness.BUILD / "guests"], backend=backend)
    assert result.status == harness.OK, str(result)
    told = {}
    for name in shares:
        (line,) = result.vm(name)
        begin, end, times, away, longest = map(int, GAPS.fullmatch(line).groups())
        assert end - begin > TICKS * 0.9
        told[name] = (times, away, longest, end - begin)
    return told, result.own


@harness.both_backends
@pytest.mark.parametrize("shares, turn_us", [
    ({"alpha": 0, "beta": 0}, None),
    ({"alpha": 1, "beta": 3}, None),
    ({"alpha": 4, "beta": 1, "gamma": 2}, 500),
    ({"alpha": 1, "beta": 100}, 100),
])
def test_turns(tmp_path, backend, shares, turn_us):
    """Who is away is away for exactly the turns of the others, once each time."""
    told, own = gaps(tmp_path, shares, turn_us, backend)
    turn = {name: (share or 1) * (turn_us or 2000) * TICKS_A_US for name, share in shares.items()}
    for name, (times, away, longest, ticks) in told.items():
        others = sum(ticks for other, ticks in turn.items() if other != name)
        assert others <= longest <= others + LATE + STEP, name
        # Each time it was away for so long, but for the first and the last, and had its own turn
        # in between.
        assert (times - 2) * others <= away <= times * (others + LATE), name
        # Who began last is alone in the end, for as many turns as its memory and images took, 10
        # of 100 us: 16 MiB are cleared by 700,000 instructions, and copying takes 300,000.
        assert abs(times - ticks / sum(turn.values())) <= 10, name
        unusual = turn[name] != 2000 * TICKS_A_US
        assert (f"vm {name}: turns of {turn[name] // TICKS_A_US} us on harts that it shares"
                in own) == unusual
