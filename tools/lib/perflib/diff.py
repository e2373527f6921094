# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms diff: what has changed from one file of samples to another one.

  tools/perf-vms diff before.samples after.samples
  tools/perf-vms diff before.samples after.samples --vm alpha --sort symbol
  tools/perf-vms diff before.samples after.samples --html page.html

Shares are compared, so the recordings may be of different length. Baseline is the share in the
first file, Delta by how many points the second one differs. The greatest difference is first.
--html makes a page of flame graphs of the second file, whose colours are the differences.
"""
import argparse
import json
import sys

from perflib import html, profile, ranking, samples

TOOL = "tools/perf-vms diff"


def objects(before, after, event, keys, vms):
    """Those of --json: a row that one file does not have has a share of 0 there."""
    sides = [ranking.rows(found, event, keys, vms) for found in (before, after)]
    rows = []
    for key in {key: None for side, _ in sides for key, row in side.items() if row.self}:
        was, now = (ranking.share(side[key].self if key in side else 0, total)
                    for side, total in sides)
        rows.append((-abs(now - was), -was, key, was, now))
    for *_, key, was, now in sorted(rows):
        yield {"event": event, "baseline": was / 100, "now": now / 100,
               "delta": (now - was) / 100, **dict(zip(keys, key))}


def table(before, after, event, keys, vms):
    """Its lines, for people."""
    yield f"# {event}"
    yield from ranking.lines(
        [("Baseline", True), ("Delta", True), *((ranking.KEYS[key][0], False) for key in keys)],
        [[f"{each['baseline']:.2f}%", f"{each['delta']:+.2f}%", *(each[key] for key in keys)]
         for each in objects(before, after, event, keys, vms)])


def main(argv):
    parser = argparse.ArgumentParser(prog=TOOL, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", metavar="BEFORE", help="of tools/perf-vms record")
    profile.add_options(parser)
    ranking.add_options(parser)
    parser.add_argument("--html", metavar="PAGE", help="writes a page instead of a table")
    args = parser.parse_args(argv)
    keys = ranking.keys_of(parser, args)
    if args.html and (args.json or args.vm or args.event or args.sort != ranking.DEFAULT):
        parser.error("--html has all VMs and events: without --json, --vm, -e and --sort")
    both = []
    for file in (args.before, args.file):
        one = argparse.Namespace(**{**vars(args), "file": file})
        both.append(profile.of(one, lambda text, file=file: print(
            f"{TOOL}: {file}: {text}", file=sys.stderr)))
        ranking.check(both[-1], one)
    events = [args.event] if args.event else [
        event for event in both[1].events if event in both[0].events]
    if not events:
        raise samples.BadSamples("the files have no event in common: %s; %s" % tuple(
            ", ".join(found.events) for found in both))
    if args.html:
        html.write(args.html, html.data(both[1], args.file, (both[0], args.before)))
        return 0
    for event in events:
        what = both[0], both[1], event, keys, args.vm
        for line in map(json.dumps, objects(*what)) if args.json else [*table(*what), ""]:
            print(line)
    return 0
