# SPDX-License-Identifier: Apache-2.0
"""tools/tally-trace exits: the stays of a trace by their cause, as `perf kvm stat report` has them.

  tools/tally-trace exits tally-trace.json
  tools/tally-trace exits tally-trace.json --vm alpha --json

The second table tells how many stays of each cause were shorter than so many instructions, and not
shorter than those of the column before it.
"""
import json

from perflib.samples import BadSamples
from tallylib.parser import Parser
from tracelib import read_trace

# Of the histogram, in instructions.
BOUNDS = (128, 256, 512, 1024, 2048, 4096, 8192)


def lengths(trace, vm):
    """{cause: [instructions of each stay]} of a VM, or of all; the most instructions first."""
    found = {}
    for bar in trace.of("stay"):
        if vm in (None, bar.track.rpartition("/")[0]):
            found.setdefault(bar.name, []).append(bar.args["instructions"])
    return dict(sorted(found.items(), key=lambda row: (-sum(row[1]), row[0])))


def histogram(numbers):
    """How many are below each bound; the last one has the others."""
    counts = [0] * (len(BOUNDS) + 1)
    for number in numbers:
        counts[sum(number >= bound for bound in BOUNDS)] += 1
    return counts


def objects(found):
    """Those of --json."""
    total = sum(map(sum, found.values()))
    for exit_, numbers in found.items():
        yield {"exit": exit_, "stays": len(numbers), "instructions": sum(numbers),
               "percent": round(100 * sum(numbers) / total, 2) if total else 0.0,
               "least": min(numbers), "mean": round(sum(numbers) / len(numbers), 1),
               "most": max(numbers),
               "histogram": dict(zip([*map(str, BOUNDS), "more"], histogram(numbers)))}


def table(found):
    """Its lines, for people."""
    width = max(map(len, ("exit", *found)))
    yield f"{'exit':{width}} {'stays':>9} {'instructions':>14} {'share':>8} {'least':>7} " \
          f"{'mean':>9} {'most':>7}"
    for row in objects(found):
        yield f"{row['exit']:{width}} {row['stays']:9,} {row['instructions']:14,} " \
              f"{row['percent']:6.2f} % {row['least']:7,} {row['mean']:9,.1f} {row['most']:7,}"
    yield ""
    yield f"{'stays by length':{width}} " + "".join(
        f"{'<' + format(bound, ','):>8}" for bound in BOUNDS) + f"{'more':>8}"
    for exit_, numbers in found.items():
        yield f"{exit_:{width}} " + "".join(f"{count or '-':>8}" for count in histogram(numbers))


def main(argv):
    """Prints it."""
    parser = Parser(prog="tools/tally-trace exits", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="of tools/tally-trace")
    parser.add_argument("--vm", metavar="NAME", help="of this VM (default: of all)")
    parser.add_argument("-j", "--json", action="store_true", help="an object for each row")
    args = parser.parse_args(argv)
    trace = read_trace.File(args.file)
    known = list(dict.fromkeys(vcpu["vm"] for vcpu in trace.vcpus))
    if args.vm is not None and args.vm not in known:
        raise BadSamples(f"no VM is called \"{args.vm}\"; there are: {', '.join(known)}")
    found = lengths(trace, args.vm)
    for line in map(json.dumps, objects(found)) if args.json else table(found):
        print(line)
    return 0
