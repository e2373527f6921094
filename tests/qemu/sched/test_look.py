# SPDX-License-Identifier: Apache-2.0
"""A hart of one's own: what Tally adds to a guest that computes or sleeps, which nobody waits for.
"""

import re

import pytest

import bare_guests
import harness

# Of a look for trap loops, exit and entry included.
LOOK = 350
SECOND = 10_000_000
OFF = '\t\t\tlook = "off";'


def quiet(folder, backend="ssccfg", properties="", **words):
    """{what: [(exits, instructions in HS) of each stretch]}, as the guest counted them, and the
    result."""
    bootargs = "kind=quiet " + " ".join(f"{word}={number}" for word, number in words.items())
    result = bare_guests.boot(folder, {"alpha": bootargs}, properties=properties, backend=backend)
    *lines, last = result.vm("alpha")
    assert last == f"quiet: ends, 0 wrong of {2 * words['spans']}"
    told = {}
    for line in lines:
        what, exits, insns = re.fullmatch(
            r"quiet: (\w+): (\d+) exits, (\d+) instructions in HS", line).groups()
        told.setdefault(what, []).append((int(exits), int(insns)))
    assert all(len(stretches) == words["spans"] for stretches in told.values())
    return told, result


@harness.both_backends
def test_without_a_look(tmp_path, backend):
    """Asleep for seconds, then 10^8 instructions: no exit, and nothing done in HS."""
    told, result = quiet(tmp_path, backend, OFF, sleep=7 * SECOND, length=12_500_000, spans=2)
    assert told == {what: [(0, 0)] * 2 for what in ("asleep", "cycles", "instructions")}
    assert "vm alpha: not looked at while it computes: a trap loop goes unnoticed" in result.own
    exits = bare_guests.exits(result, "alpha")
    assert [exits[cause] for cause in ("timer", "irq", "lcofi", "other")] == [0] * 4


@harness.both_backends
def test_with_looks(tmp_path, backend):
    """Asleep for 7.5 s: 7 looks, each of 350 instructions at most."""
    told, result = quiet(tmp_path, backend, sleep=7 * SECOND + SECOND // 2, length=1000, spans=2)
    for exits, insns in told["asleep"]:
        assert exits == 7 and 0 < insns <= exits * harness.at_most(LOOK)
    # One may have fallen into what came before or after.
    assert 14 <= bare_guests.exits(result, "alpha")["timer"] <= 15


@pytest.mark.long
@harness.both_backends
@pytest.mark.parametrize("look", ["on", "off"])
def test_long(tmp_path, backend, look):
    """1.2 * 10^9 instructions at a time take 1.2 s: one look is due in each, or none."""
    told, _ = quiet(tmp_path, backend, f'\t\t\tlook = "{look}";', length=600_000_000, spans=1)
    for event in ("cycles", "instructions"):
        (exits, insns), = told[event]
        assert exits == (look == "on")
        assert (0 < insns <= LOOK) if look == "on" else insns == 0


@pytest.mark.parametrize("look", ["on", "off"])
def test_trap_loop(tmp_path, look):
    """The look is what finds it. With look = "off" it goes on while a neighbour on another hart
    sleeps for three times as long as a look would have taken."""
    failed, ended = "vm alpha: failed: its trap handler traps for ever", "vm beta: ended"
    guests = {"alpha": "kind=crash how=breakpoint", "beta": f"kind=idle ticks={3 * SECOND}"}
    own = {"alpha": f'look = "{look}"; vcpu0 {{ harts = <1>; }};',
           "beta": "vcpu0 { harts = <0>; };"}
    result = bare_guests.boot(tmp_path, guests, vcpus=(), own=own, profile="smp",
                              options=["--harts", 2], status=harness.INTERRUPTED,
                              until=failed if look == "on" else ended)
    assert any(line.startswith(failed) for line in result.own) == (look == "on")
