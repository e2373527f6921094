# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms folded: the samples of a file as folded stacks, the outermost caller first."""
import argparse
import collections
import sys

from perflib import naming, samples


def stack(sample, named):
    """Its frames from the outermost to where it was: VM, vcpu and mode stand for what is below."""
    frames = [*reversed(sample.get("callchain", [])), sample["ip"]]
    return ";".join((sample["vm"], f"vcpu {sample['vcpu']}", f"[{sample['mode']}]",
                     *(named.name(sample, address).replace(";", ":") for address in frames)))


def fold(objects, event, named):
    """{stack: how many events}"""
    found = collections.Counter()
    for sample in objects:
        if sample.get("type") == "sample" and event in (None, sample["event"]):
            found[stack(sample, named)] += sample["period"]
    return found


def main(argv):
    parser = argparse.ArgumentParser(prog="tools/perf-vms folded", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="of tools/perf-vms record")
    parser.add_argument("-e", "--event", metavar="EVENT",
                        help="of this one; needed if several were sampled")
    naming.add_options(parser)
    args = parser.parse_args(argv)
    objects = samples.load(args.file)
    events = objects[0]["events"]
    if args.event is None and len(events) > 1:
        parser.error("-e says which event: " + ", ".join(events))
    if args.event not in (None, *events):
        parser.error("-e %s: was not sampled; there are: %s" % (args.event, ", ".join(events)))
    named = naming.Naming(args, objects)
    for complaint in named.complaints:
        print("tools/perf-vms folded: " + complaint, file=sys.stderr)
    for text, n in sorted(fold(objects, args.event, named).items()):
        sys.stdout.write("%s %d\n" % (text, n))
    return 0
