# SPDX-License-Identifier: Apache-2.0
"""tools/tally-trace exits and harts: what they make of a file, here one that is made by hand."""

import subprocess
import sys

import pytest

import harness
import schemas

sys.path.insert(0, str(harness.ROOT / "tools/lib"))
from tracelib.trace_event import Writer

TOOL = harness.ROOT / "tools/tally-trace"
HARTS, ALPHA, BETA = (1, 100), (2, 200), (3, 300)
TIMEBASE = 1000000  # a tick is a microsecond


@pytest.fixture(name="file")
def made(tmp_path):
    """Alpha has the hart from 0 to 50 us and beta from 60 to 100; each waits for the other, and
    alpha has a stay while it waits."""
    path = tmp_path / "trace.json"
    with path.open("w", encoding="utf-8") as out:
        writer = Writer(out, TIMEBASE)
        for track, name in ((HARTS, "hart 0"), (ALPHA, "alpha/0"), (BETA, "beta/0")):
            writer.track(track, name)
        writer.span(HARTS, "alpha/0", "resident", 0, 50, {"then": "preempted"})
        writer.span(BETA, "steal", "steal", 20, 60, {"since": "waits"})
        writer.span(HARTS, "no vcpu", "idle", 50, 60, {})
        writer.span(HARTS, "beta/0", "resident", 60, 100, {"then": "preempted"})
        writer.span(ALPHA, "steal", "steal", 50, 70, {"since": "preempted"})
        writer.span(ALPHA, "steal", "steal", 75, 100, {"since": "preempted"})
        writer.span(HARTS, "alpha/0", "resident", 100, 110, {"until": "the end of the trace"})
        for track, name, length in ((ALPHA, "timer", 500), (ALPHA, "timer", 100),
                                    (ALPHA, "irq", 127), (BETA, "timer", 8192)):
            writer.span(track, name, "stay", 70, 75, {"instructions": length})
        writer.close(vcpus=[{"vm": vm, "vcpu": 0} for vm in ("alpha", "beta")], lost={})
    return path


def run(*words):
    return subprocess.run([TOOL, *words], check=False, capture_output=True, text=True)


def test_exits(file):
    done = run("exits", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["exit", "stays", "instructions", "share", "least", "mean", "most"],
        ["timer", "3", "8,792", "98.58", "%", "100", "2,930.7", "8,192"],
        ["irq", "1", "127", "1.42", "%", "127", "127.0", "127"],
        [],
        ["stays", "by", "length", "<128", "<256", "<512", "<1,024", "<2,048", "<4,096", "<8,192",
         "more"],
        ["timer", "1", "-", "1", "-", "-", "-", "-", "1"],
        ["irq", "1", "-", "-", "-", "-", "-", "-", "-"]]


def test_exits_as_objects(file):
    done = run("exits", file, "--vm", "alpha", "--json")
    timer, irq = schemas.lines("tally-trace", done.stdout)
    assert timer == {"exit": "timer", "stays": 2, "instructions": 600, "percent": 82.53,
                     "least": 100, "mean": 300.0, "most": 500,
                     "histogram": {"128": 1, "256": 0, "512": 1, "1024": 0, "2048": 0, "4096": 0,
                                   "8192": 0, "more": 0}}
    assert irq["instructions"] == 127


def test_who_had_the_hart(file):
    """Each moment is in one line, so they add up to the 110 us of the trace."""
    done = run("harts", file)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines == ["hart 0;alpha/0 30000", "hart 0;alpha/0;waits: beta/0 30000",
                     "hart 0;beta/0 5000", "hart 0;beta/0;waits: alpha/0 35000",
                     "hart 0;no vcpu;waits: alpha/0, beta/0 10000"]
    assert sum(int(line.split()[-1]) for line in lines) == 110000


def test_wrong_files(tmp_path, file):
    for text in ("", "{}", '{"traceEvents": [{"name": "x"}], "otherData": {"vcpus": []}}'):
        bad = tmp_path / "bad.json"
        bad.write_text(text, encoding="utf-8")
        done = run("exits", bad)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"tools/tally-trace: {bad}: is no whole trace of tools/tally-trace\n"
    done = run("harts", tmp_path / "none.json")
    assert done.returncode == 2 and "No such file" in done.stderr
    done = run("exits", file, "--vm", "gamma")
    assert done.returncode == 2
    assert done.stderr == 'tools/tally-trace: no VM is called "gamma"; there are: alpha, beta\n'
