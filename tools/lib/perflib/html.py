# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms html: a file of samples as one HTML page with flame graphs, which needs nothing
else: no network, no other file.

  tools/perf-vms html tally.samples -o page.html

One graph for each VM and one for all; docs/profiling.md says how to read and use it.
"""
import argparse
import base64
import hashlib
import json
import os
import sys

from perflib import profile
from tallylib import printable, whole_file

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")
SCRIPTS = ("tree.js", "words.js", "chart.js", "page.js")


def rows_of(sums, vms, events_, names):
    """Those of stacks whose VM and event are in these lists. names: {name: number}, which grows.
    Numbers of events are texts: JavaScript would round them beyond 2^53."""
    return [[vms.index(stack.vm), stack.vcpu, events_.index(stack.event),
             int(stack.mode == "user"), int(stack.masked),
             names.setdefault(stack.satp, len(names)), n, str(events),
             *(names.setdefault(name, len(names)) for name in stack.frames)]
            for stack, (n, events) in sorted(sums.items())
            if stack.vm in vms and stack.event in events_]


def data(found, file, compared=None):
    """What page/tree.js reads. compared: (Profile, file) of a recording before; None: of none."""
    names = {}
    rows = rows_of(found.sums, found.vms, found.events, names)
    more = {}
    if compared:
        before, its_file = compared
        more = {"before": rows_of(before.sums, found.vms, found.events, names),
                "before_file": printable.line(os.path.basename(its_file))}
    ends = []
    for key, end in sorted(found.ends.items()):
        vm, vcpu, event = key
        ends.append({"vm": vm, "vcpu": vcpu, "event": event, "arrived": found.arrived[key],
                     "lost": found.lost[key]})
        if end:
            ends[-1].update({field: end[field] for field in (
                "samples", "lost", "late", "reasons")})
            ends[-1].update({field: str(end[field]) for field in ("count", "ns", "unsampled_ns")})
            ends[-1]["ended"] = True
    return {"file": printable.line(os.path.basename(file)),
            "vms": found.vms, "events": found.events,
            "period": str(found.head.get("period", "")), "first_ns": str(found.first_ns),
            "last_ns": str(found.last_ns), "complaints": found.complaints,
            "names": list(names), "stacks": rows, "ends": ends, **more}


def part(name):
    with open(os.path.join(FOLDER, name), encoding="ascii") as file:
        return file.read()


def allowed(text):
    """What lets a browser run or apply this text and no other one."""
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(content):
    """The HTML. Names come from guests and their symbols: they are in it as data only, of which no
    character can end the element, and what is run is allowed by its hash."""
    style = part("page.css")
    script = "\n".join(part(name) for name in SCRIPTS)
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    fill = {"@POLICY@": f"default-src 'none'; img-src data:; style-src {allowed(style)}; "
                        f"script-src {allowed(script)}",
            "@STYLE@": style, "@SCRIPT@": script, "@DATA@": text}
    out = part("page.html")
    before, *pieces = out.split("@")
    for word, after in zip(pieces[::2], pieces[1::2]):
        before += fill[f"@{word}@"] + after
    return before


def write(path, content):
    """The page of data()."""
    whole_file.write(path, page(content).encode("ascii"))


def main(argv):
    parser = argparse.ArgumentParser(prog="tools/perf-vms html", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    profile.add_options(parser)
    parser.add_argument("-o", "--output", metavar="PAGE", required=True, help="where it goes")
    args = parser.parse_args(argv)
    found = profile.of(args, lambda text: print(f"tools/perf-vms: {text}", file=sys.stderr))
    write(args.output, data(found, args.file))
    print(f"{args.output}: {sum(found.arrived.values())} samples", file=sys.stderr)
    return 0
