# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms report: a file of samples as a table of the functions in which VMs were most.

  tools/perf-vms report tally.samples
  tools/perf-vms report tally.samples --vm alpha --sort symbol --children
  tools/perf-vms report tally.samples --sort vm,vcpu,mode --json

Overhead is the share of a row in all events of the VMs that are shown. Names are those of the
kernels from which tools/run booted the VMs, unless --symbols gives others.
"""
import argparse
import json
import sys

from perflib import profile, ranking

TOOL = "tools/perf-vms report"


def ordered(rows, children):
    """[Row], the greatest share first."""
    by = (lambda row: (-row.children, -row.self, row.key)) if children else (
        lambda row: (-row.self, row.key))
    return sorted((row for row in rows.values() if children or row.self), key=by)


def objects(found, event, keys, args):
    """Those of --json."""
    rows, total = ranking.rows(found, event, keys, args.vm)
    for row in ordered(rows, args.children):
        if ranking.share(row.children if args.children else row.self, total) < args.least:
            continue
        more = {"children": ranking.share(row.children, total) / 100} if args.children else {}
        yield {"event": event, **more, "overhead": ranking.share(row.self, total) / 100,
               "samples": row.samples, "events": row.self, **dict(zip(keys, row.key))}


def summary(found, event, args):
    """What the table is of, in one line."""
    vms = args.vm or found.vms
    taken = sum(n for (vm, _, of), n in found.arrived.items() if of == event and vm in vms)
    # A recording without an end has what was lost until then.
    lost = sum(end["lost"] if end else found.lost[key] for key, end in found.ends.items()
               if key[2] == event and key[0] in vms)
    _, total = ranking.rows(found, event, ["vm"], args.vm)
    return f"{taken} samples of {total} {event}" + (f", {lost} lost" if lost else "")


def table(found, event, keys, args):
    """Its lines, for people."""
    yield "# " + summary(found, event, args)
    heads = [("Children", True)] * args.children + [("Overhead", True), ("Samples", True)] + [
        (ranking.KEYS[key][0], False) for key in keys]
    yield from ranking.lines(heads, [
        [f"{each[key]:.2f}%" for key in ["children"] * args.children + ["overhead"]] +
        [str(each["samples"]), *(each[key] for key in keys)]
        for each in objects(found, event, keys, args)])


def main(argv):
    parser = argparse.ArgumentParser(prog=TOOL, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    profile.add_options(parser)
    ranking.add_options(parser)
    parser.add_argument("--children", action="store_true",
                        help="also the share of a function with all that it called; needs -g when "
                             "recording")
    parser.add_argument("--percent-limit", type=float, default=0, metavar="PERCENT",
                        help="without rows below this share")
    args = parser.parse_args(argv)
    keys = ranking.keys_of(parser, args)
    args.least = args.percent_limit * 100
    out = sys.stderr if args.json else sys.stdout
    found = profile.of(args, lambda text: print(
        f"{TOOL}: {text}" if args.json else f"# {text}", file=out))
    ranking.check(found, args)
    for event in [args.event] if args.event else found.events:
        for line in (map(json.dumps, objects(found, event, keys, args)) if args.json
                     else [*table(found, event, keys, args), ""]):
            print(line)
    return 0
