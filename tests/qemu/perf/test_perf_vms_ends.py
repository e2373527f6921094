# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms is cut short, in each way there is: nothing that it began goes on, and no count
that it shows is a part of one."""

import json
import os
import signal
import subprocess

import pytest

from bare_guests import FOREVER
import harness
from perf_runs import perf_vms, tool_of
from perflib import events as perf_events
import schemas
from tallylib import tally_ctl


def start(run, *words, **arguments):
    """The tool, at work."""
    return subprocess.Popen([*tool_of(run), *words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **arguments)


def nothing_goes_on(run):
    """No observation is left."""
    assert run.ctl("observed") == (0, [], [])


def test_who_reads_it_goes(running):
    """As in `perf-vms -I 10 | head -1`."""
    run = running({"alpha": FOREVER})
    tool = start(run, "-e", "exits", "-I", "10", "-x,")
    assert tool.stdout.readline()
    tool.stdout.close()
    assert tool.wait(timeout=harness.GUARD) == 128 + signal.SIGPIPE
    assert tool.stderr.read() == ""
    nothing_goes_on(run)


def test_a_command_that_cannot_be_run(running, tmp_path):
    run = running({"alpha": FOREVER})
    lines, complaints = perf_vms(run, "--", str(tmp_path), status=2)
    assert (lines, complaints) == ([], [f"tools/perf-vms: {tmp_path}: Permission denied"])
    nothing_goes_on(run)


def test_a_command_that_is_killed(running):
    """Its status is the shell's; and who ends the tool ends the command."""
    run = running({"alpha": FOREVER})
    lines, _ = perf_vms(run, "-e", "exits", "-x,", "--", "sh", "-c", "kill -9 $$",
                        status=128 + signal.SIGKILL)
    assert len(lines) == 1
    tool = start(run, "-e", "exits", "-x,", "--", "sh", "-c", "echo $$; exec sleep 1000")
    child = int(tool.stdout.readline())
    tool.terminate()
    assert len(tool.communicate(timeout=harness.GUARD)[0].splitlines()) == 1
    assert tool.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    nothing_goes_on(run)


def test_ctrl_c_at_any_moment(running):
    """While it begins, looks or waits: all that is shown was counted, and to the end."""
    run = running({"alpha": FOREVER, "beta": FOREVER})
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        for n in range(12):
            tool = start(run, "-e", "exits,instructions:k", "-I", "1", "-j", "--per-vcpu")
            if n % 2:
                tool.stdout.readline()
            else:
                while len(machine.objects("observed")) < 1 + n // 3:
                    pass
            tool.send_signal(signal.SIGINT)
            # Not communicate(): it does not see what readline() has read already.
            lines, complaints = tool.stdout.read(), tool.stderr.read()
            assert (tool.wait(timeout=harness.GUARD), complaints) == (0, ""), complaints
            assert all(told["event-runtime"]
                       for told in schemas.lines("perf-vms", lines, "stat")), lines
            assert machine.objects("observed") == []


def test_somebody_else_ends_it(running):
    """Another operator's `unobserve`: it says so, and shows no part as if it were the whole."""
    run = running({"alpha": FOREVER})
    tool = start(run, "-e", "exits", "-I", "100", "-j")
    assert json.loads(tool.stdout.readline())["counter-value"].endswith(".000000")
    assert run.ctl("unobserve")[0] == 0
    ends = (part for part in (schemas.read("perf-vms", line, "stat") for line in tool.stdout)
            if part["counter-value"] == "<not counted>")
    assert next(ends)["note"] == "somebody else ended it"
    tool.terminate()
    tool.communicate(timeout=harness.GUARD)
    assert tool.returncode == 0


def test_events_without_modes(running):
    """Firmware events and Tally's own do not know whose doing they are."""
    for name in ("exits:u", "fw-set-timer:k", "r8000000000000100:u"):
        with pytest.raises(perf_events.BadEvent, match="has no modes"):
            perf_events.parse(name)
    assert perf_events.parse("exits:uk") == "0xf0100:uk"
    run = running({"alpha": FOREVER})
    (line,) = (json.loads(line) for line in run.ctl("observe", "alpha", "0xf0100:u", "--json")[1])
    assert line["ended"] == "not supported"


def test_times_that_are_none(running):
    """Too long for a clock."""
    run = running({"alpha": FOREVER})
    for words in (("--timeout", "inf"), ("-I", "inf"), ("--duration", "1e300"),
                  ("--duration", "nan")):
        lines, complaints = perf_vms(run, *words, status=2)
        assert lines == [] and "is not a positive number" in complaints[-1], words
    assert run.ctl("--timeout", "inf", "vms")[0] == 2
    assert harness.OK == run.ctl("vms")[0]
