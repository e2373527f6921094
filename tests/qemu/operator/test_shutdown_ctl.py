# SPDX-License-Identifier: Apache-2.0
"""tools/tally-ctl shutdown: it waits, and says what became of the VM."""

import contextlib
import json
import subprocess

import pytest

import fakes
import harness

TAKEN = "{} has {} s to sync and power off"
PRESSED = "{} has {} s to shut down"
OFF = "all VMs are being stopped, then the machine goes off"
ASKED, LATE = {"shutdown": "asked"}, {"shutdown": "late"}


def ctl(path, *words):
    """The status and the lines that it prints. Its --timeout is what a test says."""
    done = subprocess.run([harness.ROOT / "tools/tally-ctl", "--socket", path, *words],
                          capture_output=True, text=True, check=False, timeout=harness.GUARD)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def test_of_guests(running):
    """One ends, one does not; none of them waits for the other, or for another program."""
    run = running({"alpha": "kind=asked", "beta": "kind=asked obeys=0",
                   "gamma": "kind=asked opens=0"}, properties='shutdown = "sysrq";')
    for name in ("alpha", "beta", "gamma"):
        run.read_until(f"[{name}] asked: begins")
    assert ctl(run.path, "shutdown", "alpha") == (
        0, [TAKEN.format("alpha", 30), "alpha has synced and is off; its programs were not ended"],
        [])
    assert ctl(run.path, "shutdown", "alpha") == (0, ["alpha is off already"], [])
    assert ctl(run.path, "shutdown", "beta", "--timeout", "5") == (
        1, [TAKEN.format("beta", 5)],
        ["tools/tally-ctl: beta did not end in 5 s: stop pulls the plug"])
    assert run.ctl("vms")[1][1].endswith(", asked to shut down, which took too long")
    assert 'tally_vm_shutdown_late{vm="beta"} 1' in run.ctl("metrics")[1]
    assert ctl(run.path, "shutdown", "gamma") == (
        1, [], ["tools/tally-ctl: shutdown: gamma: its kernel has not opened the console"])
    for wrong in (["--timeout", "4"], ["--timeout", "6.5"], ["--json"], ["5", "5"]):
        assert ctl(run.path, "shutdown", "beta", *wrong) == (2, [], [
            "tools/tally-ctl: usage: shutdown VM [SECONDS]"])
    run.ctl("start", "alpha")
    while run.console.count("[alpha] asked: begins") < 2:
        run.read_line()
    assert ctl(run.path, "poweroff", "--timeout", "4") == (2, [], [
        "tools/tally-ctl: usage: shutdown VM [SECONDS]"])
    assert ctl(run.path, "poweroff", "--timeout", "6") == (0, [
        TAKEN.format("alpha", 6), TAKEN.format("beta", 6),
        "shutdown: gamma: its kernel has not opened the console",
        "alpha has synced and is off; its programs were not ended",
        "beta did not end in 6 s: stop pulls the plug", OFF], [])
    run.read_until(None)
    assert run.process.wait() == harness.OK


def row(state="running", vm="alpha", **more):
    return {"vm": vm, "state": state, "uptime_ms": 1, "vcpus": 1, "harts": [0], "memory": 0,
            **more}


@pytest.mark.parametrize("taken,looks,end,status,said", [
    (TAKEN, [row(**ASKED), row("ending", **ASKED), row("off", **ASKED)], "shutdown", 0,
     "alpha has synced and is off; its programs were not ended"),
    (TAKEN, [row("off", **LATE)], "stop", 1, "alpha is off, but has not synced: stop"),
    (PRESSED, [row(**ASKED), row("off", **ASKED)], "shutdown", 0,
     "alpha has shut down and is off"),
    (PRESSED, [row("off", **LATE)], "stop", 1, "alpha is off, but has not shut down: stop"),
    (TAKEN, [row(**ASKED), row(**LATE)], None, 1, "alpha did not end in 30 s: stop pulls the plug"),
    (TAKEN, [row(**ASKED), row("loading", **ASKED), row()], None, 1,
     "alpha has ended, and runs again"),
])
def test_each_outcome(tmp_path, taken, looks, end, status, said):
    """It looks until there is one, and not once more."""
    looks = iter(looks)

    def answer(command):
        if command.startswith("shutdown"):
            return 0, [taken.format("alpha", 30)]
        if command == "vms --json":
            return 0, [json.dumps(row("off") | {"vm": "beta"}), json.dumps(next(looks))]
        assert command == "last alpha --json"
        return 0, [json.dumps({"vm": "alpha", "end": end})]

    with contextlib.ExitStack() as stack:
        machine = fakes.Asked(tmp_path / "control", answer)
        stack.callback(machine.end)
        done = ctl(machine.path, "shutdown", "alpha")
    first = taken.format("alpha", 30)
    assert done == ((0, [first, said], []) if status == 0 else
                    (status, [first], [f"tools/tally-ctl: {said}"]))
    assert next(looks, None) is None
    assert machine.commands[0] == "shutdown alpha"


def test_poweroff(tmp_path):
    """It asks each VM that is on, waits for those that are asked, and only then switches off."""
    none = 'shutdown: beta has shutdown = "none": stop pulls the plug'
    first = [row(), row(vm="beta"), row("off", vm="gamma"), row(vm="delta", **ASKED)]
    looks = iter([first, [row(**ASKED), *first[1:]],
                  [row("off", **ASKED), *first[1:]], [row(vm="delta", **LATE)]])
    answers = {"shutdown alpha": (0, [TAKEN.format("alpha", 30)]), "shutdown beta": (1, [none]),
               "last alpha --json": (0, [json.dumps({"vm": "alpha", "end": "shutdown"})]),
               "poweroff": (0, [OFF])}

    def answer(command):
        if command == "vms --json":
            return fakes.told(next(looks))
        return answers[command]

    with contextlib.ExitStack() as stack:
        machine = fakes.Asked(tmp_path / "control", answer)
        stack.callback(machine.end)
        assert ctl(machine.path, "poweroff", "now") == (0, [OFF], [])
        assert machine.commands == ["poweroff"]
        assert ctl(machine.path, "poweroff") == (0, [
            TAKEN.format("alpha", 30), none,
            "alpha has synced and is off; its programs were not ended",
            "delta did not end in time: stop pulls the plug", OFF], [])
    assert machine.commands[1:] == [
        "vms --json", "shutdown alpha", "shutdown beta", "vms --json", "vms --json",
        "last alpha --json", "vms --json", "poweroff"]
    assert next(looks, None) is None
