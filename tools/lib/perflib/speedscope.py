# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms speedscope: a file of samples for https://www.speedscope.app, one profile for each
event of each vcpu, with callers from the outermost.

Samples are in the order of the machine's time. The weight of one is the time, in nanoseconds, since
the sample of this vcpu and event before it; the first one has none. Time in which the vcpu was off
its hart is in the weight of the sample behind it: for shares of events there is tools/perf-vms
report.
"""
import argparse
import json
import sys

from perflib import profile
from tallylib import printable

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def profiles(found, numbers):
    """In the order of the vcpus and events; numbers: {name: its number}, which grows."""
    moments = {}
    for time_ns, stack in found.moments:
        moments.setdefault((found.vms.index(stack.vm), stack.vcpu,
                            found.events.index(stack.event)), []).append((time_ns, stack))
    for (vm, vcpu, event), taken in sorted(moments.items()):
        times = [time_ns for time_ns, _ in taken]
        yield {"type": "sampled", "name": f"{found.vms[vm]}/{vcpu}: {found.events[event]}",
               "unit": "nanoseconds", "startValue": times[0], "endValue": times[-1],
               "samples": [[numbers.setdefault(name, len(numbers)) for name in (
                   f"[{stack.mode}]", *stack.frames)] for _, stack in taken],
               "weights": [0, *(after - before for before, after in zip(times, times[1:]))]}


def main(argv):
    parser = argparse.ArgumentParser(prog="tools/perf-vms speedscope", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    profile.add_options(parser)
    args = parser.parse_args(argv)
    found = profile.of(args, lambda text: print(f"tools/perf-vms: {text}", file=sys.stderr),
                       timed=True)
    numbers = {}
    rows = list(profiles(found, numbers))
    json.dump({"$schema": SCHEMA, "name": printable.line(args.file), "exporter": "tally",
               "shared": {"frames": [{"name": name} for name in numbers]}, "profiles": rows},
              sys.stdout)
    print()
    return 0
