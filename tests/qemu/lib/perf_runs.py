# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms beside a machine that runs: observations and their values."""

import subprocess

import harness

TOOL = harness.ROOT / "tools/perf-vms"
# Ends when the first vcpu of a VM has made so many more exits of a cause.
EXITS = """
import sys
sys.path.insert(0, sys.argv[1])
from tallylib import tally_ctl

_, _, path, seconds, vm, cause, number = sys.argv
with tally_ctl.Machine(path, timeout=float(seconds)) as machine:
    def made():
        return next(row[cause] for row in machine.objects("exits") if row["vm"] == vm)
    enough = made() + int(number)
    while made() < enough:
        pass
"""
# Longer than a bare guest's work in the other mode (2 ms), in turns of 2 ms with its neighbour.
QUIET_NS = 10_000_000


def tool_of(run):
    """The words of perf-vms for that machine, which may take its time to answer."""
    return [TOOL, "--socket", run.path, "--timeout", str(harness.GUARD)]


def quiet(machine, number, while_ns=QUIET_NS):
    """What has been counted, once it has stood still for a while: the guest waits again."""
    since = None
    while True:
        (line,) = [line for line in machine.objects("observed") if line["observation"] == number]
        assert line["ended"] is None
        if since is None or since["value"] != line["value"]:
            since = line
        elif line["at_ns"] - since["at_ns"] > while_ns:
            return line


def begin(machine, vm, event):
    """A new observation's line."""
    (line,) = machine.objects(f"observe {vm} {event}")
    assert line["ended"] is None, line
    return line


def perf_vms(run, *words, status=0):
    """Lines of its output and of complaint."""
    done = subprocess.run([*tool_of(run), *words], capture_output=True, text=True,
                          check=False, timeout=harness.GUARD)
    assert done.returncode == status, done
    return done.stdout.splitlines(), done.stderr.splitlines()


def exits_of(run, vm, cause, number):
    """The words of a command that ends when that VM has made so many more of these exits. A time of
    this computer's clock may be none of the machine's."""
    return ["python3", "-c", EXITS, harness.ROOT / "tools/lib", run.path, str(harness.GUARD), vm,
            cause, str(number)]
