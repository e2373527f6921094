# SPDX-License-Identifier: Apache-2.0
"""Budgets of events of a vcpu, and Tally's line about its time away."""

import re

CYCLES, INSTRUCTIONS, DTLB = 1, 2, 0x10019
AWAY = re.compile(r"budget: away (\d+) times, (\d+) of \d+ ticks, longest (\d+); "
                  r"steal (\d+), throttled (\d+); between (\d+) to (\d+)")
# To stop the vcpu and to let it go on: 2,000 instructions, and a round until it looks at the time.
LATE = 300


def budget(event, count, period_us):
    return f"\t\t\tbudget = <{event} {count} {period_us}>;"


def away(result, name):
    (line,) = result.vm(name)
    return tuple(map(int, AWAY.fullmatch(line).groups()))
