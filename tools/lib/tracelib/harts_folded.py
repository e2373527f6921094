# SPDX-License-Identifier: Apache-2.0
"""tools/tally-trace harts: who had each hart, and who waited for it meanwhile, as folded stacks.

  tools/tally-trace harts tally-trace.json | flamegraph.pl --countname ns > harts.svg

A line is a hart, the vcpu that had it, the vcpus that were ready and did not, and how many
nanoseconds of the machine's time that was so. speedscope and inferno read them too. The lines of a
hart add up to its time in the trace.
"""
import collections

from tallylib.parser import Parser
from tracelib import read_trace


def homes(trace):
    """{vcpu: [(until, hart)]}: on which hart it was next, for the times that it waited."""
    found = {}
    for bar in trace.of("resident"):
        found.setdefault(bar.name, []).append((bar.end, bar.track))
    return found


def waits(trace):
    """{hart: [(begin, end, vcpu)]}: a vcpu waits for the hart on which it is resident next."""
    next_of, found = homes(trace), {}
    for bar in trace.of("steal"):
        hart = next((hart for until, hart in next_of.get(bar.track, ()) if until >= bar.end), None)
        if hart is not None:
            found.setdefault(hart, []).append((bar.begin, bar.end, bar.track))
    return found


def stacks(trace):
    """{(hart, who has it, who waits): nanoseconds}."""
    found, waiting = collections.Counter(), waits(trace)
    for category in ("resident", "idle", "lost"):
        for bar in trace.of(category):
            name = "records lost" if category == "lost" else bar.name
            here = [(max(begin, bar.begin), min(end, bar.end), vcpu)
                    for begin, end, vcpu in waiting.get(bar.track, ())
                    if begin < bar.end and end > bar.begin]
            times = sorted({bar.begin, bar.end, *(time for wait in here for time in wait[:2])})
            for begin, end in zip(times, times[1:]):
                who = sorted({vcpu for first, last, vcpu in here if first <= begin and last >= end})
                found[bar.track, name, ", ".join(who)] += end - begin
    return found


def main(argv):
    """Prints them."""
    parser = Parser(prog="tools/tally-trace harts", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="of tools/tally-trace")
    found = stacks(read_trace.File(parser.parse_args(argv).file))
    for (hart, name, who), nanoseconds in sorted(found.items()):
        print(";".join([hart, name, *([f"waits: {who}"] if who else [])]), nanoseconds)
    return 0
