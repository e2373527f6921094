# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms speedscope: a file of samples for https://www.speedscope.app, one profile for each
event of each VM, with callers from the outermost."""
import argparse
import json
import sys

from perflib import profile
from tallylib import printable

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def profiles(found, numbers):
    """In the order of the VMs and events; numbers: {name: its number}, which grows."""
    for vm in found.vms:
        for event in found.events:
            stacks = [(stack, events) for stack, (_, events) in sorted(found.sums.items())
                      if (stack.vm, stack.event) == (vm, event)]
            if not stacks:
                continue
            yield {"type": "sampled", "name": f"{vm}: {event}", "unit": "none", "startValue": 0,
                   "endValue": sum(events for _, events in stacks),
                   "samples": [[numbers.setdefault(name, len(numbers)) for name in (
                       f"vcpu {stack.vcpu}", f"[{stack.mode}]", *stack.frames)]
                       for stack, _ in stacks],
                   "weights": [events for _, events in stacks]}


def main(argv):
    parser = argparse.ArgumentParser(prog="tools/perf-vms speedscope", description=__doc__)
    profile.add_options(parser)
    args = parser.parse_args(argv)
    found = profile.of(args, lambda text: print(f"tools/perf-vms: {text}", file=sys.stderr))
    numbers = {}
    rows = list(profiles(found, numbers))
    json.dump({"$schema": SCHEMA, "name": printable.line(args.file), "exporter": "tally",
               "shared": {"frames": [{"name": name} for name in numbers]}, "profiles": rows},
              sys.stdout)
    print()
    return 0
