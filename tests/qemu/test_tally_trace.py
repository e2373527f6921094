# SPDX-License-Identifier: Apache-2.0
"""tools/tally-trace: each stay in HS is in the file, with its cause and its length, to the
instruction; and the file is one that viewers read."""

import collections
import json
import subprocess

import pytest

import bare_guests
import harness
from test_control import running  # pylint: disable=unused-import

TOOL = harness.ROOT / "tools/tally-trace"
FOREVER = "kind=busy ticks=100000000000"
MIX = "kind=mix event=2 flags=0 share=1 period=30000 length=100000 parts=5"
DEFERRED = 'boot = "defer";'


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


def deferred(tmp_path, alpha, beta=FOREVER):
    """A tree of two guests, the first of which waits for its start."""
    tree = tmp_path / "bare.dts"
    tree.write_text(bare_guests.tree({"alpha": alpha, "beta": beta}, own={"alpha": DEFERRED}),
                    encoding="utf-8")
    return tree


def tracing(run, out, *words):
    """The tool, which traces until the command of its own ends."""
    return [TOOL, "--socket", run.path, "--timeout", str(harness.GUARD), "-o", out, *words]


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


def trace_life(run, tmp_path, name="alpha"):
    """Traces a VM from before its start until it is off: (Traced, exits before, after)."""
    out = tmp_path / "trace.json"
    done = subprocess.run(
        tracing(run, out, "--", "python3", "-c", WATCH, harness.ROOT / "tools", run.path, name),
        check=False, capture_output=True, text=True, timeout=harness.GUARD)
    assert done.returncode == 0, done.stderr
    before, after = map(json.loads, done.stdout.splitlines())
    return Traced(out), before, after


@harness.both_backends
def test_each_instruction_in_hs_is_in_the_trace(running, tmp_path, backend):
    """Of a life of a VM, from before its start until after its end, beside a busy neighbour: the sum
    of the stays is by what `exits` has grown, for each kind of exit."""
    run = running(deferred(tmp_path, MIX), backend=backend)
    traced, before, after = trace_life(run, tmp_path)
    grown = after["hs_instructions"] - before["hs_instructions"]
    stays = [event for event in traced.of("stay", "alpha/0")
             if before["time_us"] < event["ts"] < after["time_us"]]
    assert sum(event["args"]["instructions"] for event in stays) == grown > 10000
    # Each kind of exit as often as it was.
    names = collections.Counter(event["name"] for event in stays)
    exits = {kind: after[kind] - before[kind] for kind in ("lcofi", "csr", "wfi")}
    assert exits == {"lcofi": names["overflow"], "csr": names["csr"], "wfi": names["wfi"]}
    assert traced.names("interrupt", "alpha/0")["overflow interrupt (LCOFI)"] > 30
    # And of all vcpus, from the begin of the trace to its end.
    assert traced.other["lost"] == {"hart 0": 0}
    for vcpu in traced.other["vcpus"]:
        of_track = traced.instructions(f"{vcpu['vm']}/{vcpu['vcpu']}")
        assert of_track == vcpu["instructions"] == vcpu["hs_instructions"] > 0
        assert vcpu["missing"] == 0
