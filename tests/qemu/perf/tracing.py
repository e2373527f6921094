# SPDX-License-Identifier: Apache-2.0
"""tools/tally-trace beside a machine that runs, and the files that it writes."""

import collections
import json

import harness

TOOL = harness.ROOT / "tools/tally-trace"
# Starts a VM that is off and waits until it is again. Prints what `exits` tells of its first vcpu
# before and after, each when it stands still.
WATCH = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from tallylib import tally_ctl

with tally_ctl.Machine(sys.argv[2], timeout=600) as machine:
    def quiet():
        seen = []
        while len(seen) < 5 or seen[-5]["hs_instructions"] != seen[-1]["hs_instructions"]:
            seen += [line for line in machine.objects("exits")
                     if line["vm"] == sys.argv[3] and line["vcpu"] == 0]
            time.sleep(0.05)
        print(json.dumps(seen[-1]))
    quiet()
    assert machine.ask("start " + sys.argv[3])[0] == 0
    while any(vm["vm"] == sys.argv[3] and vm["state"] != "off" for vm in machine.objects("vms")):
        time.sleep(0.01)
    quiet()
"""


class Traced:
    """What a file has."""

    def __init__(self, path):
        whole = json.loads(path.read_text(encoding="utf-8"))
        self.events, self.other = whole["traceEvents"], whole["otherData"]
        self.tracks = {(event["pid"], event["tid"]): event["args"]["name"]
                       for event in self.events if event["name"] == "thread_name"}

    def of(self, category, track=None):
        return [event for event in self.events if event.get("cat") == category and
                track in (None, self.tracks[event["pid"], event["tid"]])]

    def names(self, category, track=None):
        return collections.Counter(event["name"] for event in self.of(category, track))

    def instructions(self, track):
        return sum(event["args"]["instructions"] for event in self.of("stay", track))


def tracing(run, out, *words):
    """The tool, which traces until the command of its own ends."""
    return [TOOL, "--socket", run.path, "--timeout", str(harness.GUARD), "-o", out, *words]
