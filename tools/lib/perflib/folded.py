# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms folded: the samples of a file as folded stacks, the outermost caller first."""
import argparse
import collections
import sys

from perflib import naming, samples


def joined(*frames):
    """A stack. What is between frames stands in none."""
    return ";".join(frame.replace(";", ":") for frame in frames)


def stack(sample, named):
    """Its frames from the outermost to where it was: VM, vcpu and mode stand for what is below."""
    frames = [*reversed(sample.get("callchain", [])), sample["ip"]]
    return joined(sample["vm"], f"vcpu {sample['vcpu']}", f"[{sample['mode']}]",
                  *(named.name(sample, address) for address in frames))


def exit_stack(row):
    """Of a row of hs-instructions: an SBI call has its extension and its function."""
    what = [row["what"]] if row["what"] else []
    if row["cause"] == "ecall" and what != ["unknown extension"]:
        what = row["what"].split(" ", 1)
    return joined(row["vm"], "hs", row["cause"], *what)


def fold(objects, event, named):
    """{stack: how many events}"""
    found = collections.Counter()
    for sample in objects:
        if sample.get("type") == "sample" and event in (None, sample["event"]):
            found[stack(sample, named)] += sample["period"]
        elif sample.get("type") == "exits" and sample["instructions"]:
            found[exit_stack(sample)] += sample["instructions"]
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
