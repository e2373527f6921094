# SPDX-License-Identifier: Apache-2.0
"""Schedules of harts, in words of a VM tree, and what guests see of their windows."""

import re

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
    until = arguments.pop("until", None)
    text = bare_guests.tree(guests, **arguments)
    at = text.rindex("};")
    file = folder / "schedules.dts"
    file.write_text(text[:at] + "schedules {\n" + "\n".join(schedules) + "\n};\n" + text[at:],
                    encoding="utf-8")
    result = harness.run(file, until=until, options=options, backend=backend)
    assert status is None or result.status == status, str(result)
    return result


def told(result, name):
    """What a guest of kind=windows says: [(earliest, latest, times)] and (from, to, away, stolen),
    in ticks."""
    *windows, last = result.vm(name)
    return ([tuple(map(int, BEGINS.fullmatch(line).groups())) for line in windows],
            tuple(map(int, AWAY.fullmatch(last).groups())))
