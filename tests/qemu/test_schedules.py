# SPDX-License-Identifier: Apache-2.0
"""Harts with a schedule: when windows begin, whatever the neighbour does, and what waits for
them."""

import re

import pytest

import bare_guests
import harness
import plain

TICKS_A_US = 10
FRAME = 5000
BEGINS = re.compile(r"begins: (\d+) to (\d+), (\d+) times")
AWAY = re.compile(r"from (\d+) to (\d+): away (\d+), stolen (\d+)")


def window(number, vm, start, length, guard=0, more=""):
    """The text of one window."""
    guard = f"guard-us = <{guard}>; " if guard else ""
    return (f'window{number} {{ vm = "{vm}"; start-us = <{start}>; length-us = <{length}>; '
            f'{guard}{more}}};')


def schedule(windows, slack="", frame=FRAME, hart=0):
    """The text of a hart's schedule; windows: arguments of window() without the number."""
    nodes = "\n".join(window(n, *arguments) for n, arguments in enumerate(windows))
    slack = f"slack = {slack};" if slack else ""
    return f"hart{hart} {{ major-frame-us = <{frame}>; {slack}\n{nodes}\n}};"


def boot(folder, guests, schedules, status=harness.OK, **arguments):
    """Boots bare guests with these schedules."""
    for name in ("selftest", "bare", "sampling"):
        plain.make(f"build/guests/{name}.bin")
    options = ["--include", harness.BUILD / "guests", *arguments.pop("options", ())]
    backend = arguments.pop("backend", "ssccfg")
    text = bare_guests.tree(guests, **arguments)
    at = text.rindex("};")
    file = folder / "schedules.dts"
    file.write_text(text[:at] + "schedules {\n" + "\n".join(schedules) + "\n};\n" + text[at:],
                    encoding="utf-8")
    result = harness.run(file, options=options, backend=backend)
    assert status is None or result.status == status, str(result)
    return result


def told(result, name):
    """What a guest of kind=windows says: [(earliest, latest, times)] and (from, to, away, stolen),
    in ticks."""
    *windows, last = result.vm(name)
    return ([tuple(map(int, BEGINS.fullmatch(line).groups())) for line in windows],
            tuple(map(int, AWAY.fullmatch(last).groups())))


@harness.both_backends
def test_two_windows(tmp_path, backend):
    """Two VMs with a window each: with their guards both begin at their ticks in each frame."""
    kind = f"kind=windows frame={FRAME * TICKS_A_US} ticks=1000000"
    result = boot(tmp_path, {"alpha": kind, "beta": kind},
                  [schedule([("alpha", 500, 1000, 50), ("beta", 2000, 2500, 50)])],
                  backend=backend)
    for name, start in ("alpha", 500), ("beta", 2000):
        windows, (begin, end, away, stolen) = told(result, name)
        ((first, last, times),) = windows
        assert first == last == start * TICKS_A_US, str(result)
        assert times == (end - begin) // (FRAME * TICKS_A_US) + 1
        assert 0 <= away - stolen <= times * 10


STORMS = {"storm": "kind=storm quiet=yes ticks=1500000", "fuzz": "kind=fuzz ticks=1500000",
          "hostile": "kind=hostile again=yes"}


@harness.both_backends
@pytest.mark.parametrize("storm", STORMS)
@pytest.mark.parametrize("guard", [32, 100, 0])
def test_beside_a_hostile_neighbour(tmp_path, backend, storm, guard):
    """With a guard that suffices a window begins at its tick; without one it is late by the longest
    stay and a switch at most."""
    kind = f"kind=windows frame={FRAME * TICKS_A_US} ticks=1000000"
    result = boot(tmp_path, {"alpha": kind, "beta": STORMS[storm]},
                  [schedule([("alpha", 500, 1000, guard), ("beta", 1500, 2000)],
                            slack='"beta"')],
                  backend=backend, status=None, options=["--timeout", "60"])
    ((first, last, times),), (begin, end, away, stolen) = told(result, "alpha")
    assert first >= 500 * TICKS_A_US
    assert last <= (500 if guard else 532) * TICKS_A_US, str(result)
    assert times == end // (FRAME * TICKS_A_US) - begin // (FRAME * TICKS_A_US) + 1
    assert 0 <= away - stolen <= times * 15
