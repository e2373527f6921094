# SPDX-License-Identifier: Apache-2.0
"""What `perf stat -v -x,` says of events that took turns, and how right its scaled figures can be.
"""

import re
from collections import namedtuple

# scaled: what perf prints; in nanoseconds, enabled: how long the event was wanted, running: how
# long it was counted; raw: what was counted in that time.
Turn = namedtuple("Turn", "event scaled enabled running raw")


def turns(lines):
    """A Turn of each line "EVENT: SCALED ENABLED RUNNING". perf scales up and rounds, so the raw
    count is the only whole number that gives the scaled one."""
    found = []
    for line in lines:
        match = re.fullmatch(r"(\S+:[uk]+): (\d+) (\d+) (\d+)", line)
        if match:
            scaled, enabled, running = (int(number) for number in match.groups()[1:])
            raw = (2 * scaled * running + enabled) // (2 * enabled)
            found.append(Turn(match.group(1), scaled, enabled, running, raw))
    return found


def show(found):
    """The figures, for the test's record."""
    for turn in found:
        print(f"{turn.event}: scaled {turn.scaled}, raw {turn.raw}, time_running {turn.running} of "
              f"{turn.enabled} ns: {100 * turn.running / turn.enabled:.2f} %")


def check_scaled(turn, known):
    """`known` user instructions, one a nanosecond: the program's time E is known + K, where K is
    what kernel, Tally and neighbours took. Of K some k, from nothing to all of it, fell into the
    time R in which the event was counted, so raw = R - k, and perf's figure raw * E / R is wrong by
    K - k * E / R. That is the best that scaling can do. Times are in ticks of 100 ns, and R is
    summed up over turns of 4 ms, one tick lost or won at either end."""
    other = turn.enabled - known
    stretch = turn.enabled / turn.running
    ticks = 200 * (turn.enabled / 4e6 + 1) * stretch
    error = turn.scaled - known
    assert other - other * stretch - ticks <= error <= other + ticks, turn
