# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms record is cut short by what is wrong on this computer, or asked for something
twice: nothing that it began goes on in the machine, and each sample is in the file once."""

import json
import subprocess

import pytest

import fakes
import harness
from perf_runs import TOOL

LONG = "a-vm-of-fifteen"


def answer(command):
    """Of a machine with alpha and beta, and a third VM that has no observation."""
    words = command.split()
    if words[0] == "samples":
        return 0, fakes.noted()
    rows = fakes.looked(command, 1)
    if words[0] == "sample" and words[2].startswith("0x5:"):
        rows = [{**rows[0], "observation": None, "ended": "not supported"}]
    return fakes.told(rows + [{"vm": LONG, "state": "running"}] if words[0] == "vms" else rows)


@pytest.fixture
def machine(tmp_path):
    made = fakes.Asked(tmp_path / "control", answer)
    yield made
    made.end()


def record(machine, *words):
    return subprocess.run([TOOL, "record", "--socket", machine.path, *words], check=False,
                          capture_output=True, text=True, timeout=harness.GUARD)


def refused(machine, why, *words):
    """With one sentence; what had begun has ended."""
    done = record(machine, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert why in done.stderr
    begun = {command.split()[1] for command in machine.commands if command.startswith("sample ")}
    ended = {command.split()[1] for command in machine.commands if command.startswith("unobserve")}
    assert ended == {str(fakes.SAMPLING[vm]) for vm in begun}


def test_a_command_that_cannot_be_run(machine, tmp_path):
    refused(machine, f"{tmp_path}: Permission denied", "--vm", "alpha", "-o", tmp_path / "file",
            "--", tmp_path)
    assert "sample alpha 0x1:uk 1000hz --json" in machine.commands


def test_no_room_for_the_file(machine):
    refused(machine, "/dev/full: No space left on device", "--vm", "alpha", "--vm", "beta", "-o",
            "/dev/full", "--duration", "100")
    assert "sample beta 0x1:uk 1000hz --json" in machine.commands


def test_what_will_never_be_sampled(machine, tmp_path):
    """It is said at once, and the command does not run. One event of several may be so."""
    words = "-o", tmp_path / "file", "--vm", "alpha", "--vm", "beta"
    done = record(machine, "-e", "branches", *words, "--", "touch", tmp_path / "ran")
    assert (done.returncode, done.stdout) == (2, "") and not (tmp_path / "ran").exists()
    assert done.stderr == ("tools/perf-vms: alpha: no branches: not supported; "
                           "beta: no branches: not supported\n")
    done = record(machine, "-e", "branches,cycles", *words, "--", "touch", tmp_path / "ran")
    assert done.returncode == 0 and (tmp_path / "ran").exists(), done
    assert "alpha/0: no branches were sampled" in done.stderr


def test_more_than_a_request_can_say(machine, tmp_path):
    """The prompt takes 64 characters; the VM before had begun."""
    refused(machine, "a command is 1 to 64 characters", "-o", tmp_path / "file", "--vm", "alpha",
            "--vm", LONG, "-e", "rffffffffffffff", "-g", "-F", "100000")
    assert any(command.startswith("sample alpha ") for command in machine.commands)


def test_no_place_for_the_file_of_exits(machine, tmp_path):
    """It is said before anything is recorded."""
    done = record(machine, "-e", "hs-instructions", "-o", tmp_path / "none/file", "--duration",
                  "100")
    assert done.returncode == 2 and f"{tmp_path}/none/file: No such file" in done.stderr, done
    assert machine.commands == ["vms --json"]


def test_what_is_named_twice(machine, tmp_path):
    """One VM, and one event, are sampled once."""
    file = tmp_path / "file"
    done = record(machine, "-o", file, "--vm", "alpha", "--vm", "alpha", "-e", "cycles,cycles",
                  "--duration", "0.1")
    assert done.returncode == 0, done
    head, *_ = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert (head["vms"], head["events"]) == (["alpha"], ["cycles"])
    assert sum(command.startswith("sample ") for command in machine.commands) == 1
