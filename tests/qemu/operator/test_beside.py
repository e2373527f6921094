# SPDX-License-Identifier: Apache-2.0
"""Commands of this computer beside which tools measure: behind "--" they run, and nowhere else."""

import json
import subprocess

import pytest

import fakes
import harness

TOOLS = harness.ROOT / "tools"
SUBCOMMANDS = "stat, record, top, diff, export, folded, html, report, speedscope"
BEHIND = "a command of this computer stands behind --"


@pytest.fixture
def machine(tmp_path):
    made = fakes.Asked(tmp_path / "control", lambda command: (0, [json.dumps(
        {"ns": 5, "value": 7, "shared": False} | row) for row in fakes.looked(command, 1)]))
    yield made
    made.end()


def call(machine, folder, tool, *words):
    """(status, standard output, standard error)"""
    at = words.index("--") if "--" in words else len(words)
    done = subprocess.run([TOOLS / tool, *words[:at], "--socket", machine.path, *words[at:]],
                          cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=harness.GUARD)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words, word, what", [
    (["perf-vms", "touch", "made"], "touch", f"subcommand; there are {SUBCOMMANDS}"),
    (["perf-vms", "touch", "--", "touch", "made"], "touch",
     f"subcommand; there are {SUBCOMMANDS}"),
    (["perf-vms", "-e", "cycles", "touch", "made"], "touch",
     f"subcommand; there are {SUBCOMMANDS}"),
    (["perf-vms", "stat", "touch", "made"], "touch", f"subcommand; there are {SUBCOMMANDS}"),
    (["perf-vms", "-x,", "stat", "--", "touch", "made"], "stat",
     f"subcommand; there are {SUBCOMMANDS}"),
    (["perf-vms", "Record"], "Record", f"subcommand; there are {SUBCOMMANDS}"),
    (["perf-vms", ""], "", f"subcommand; there are {SUBCOMMANDS}"),
    (["perf-vms", "record", "touch", "made"], "touch", "option"),
    (["perf-vms", "record", "-c", "100", "touch", "made"], "touch", "option"),
    (["tally-trace", "touch", "made"], "touch", "option"),
    (["tally-trace", "--vm", "alpha", "touch", "made"], "touch", "option"),
])
def test_no_word_is_executed(machine, tmp_path, words, word, what):
    """It is one sentence, and no machine is asked."""
    tool = f"tools/{words[0]}" + " record" * ("record" in words)
    assert call(machine, tmp_path, *words) == (2, "", f'{tool}: "{word}" is no {what}; {BEHIND}\n')
    assert not (tmp_path / "made").exists() and machine.commands == []


def test_stat_is_perfs_word(machine, tmp_path):
    """It changes nothing; the command's own words do not matter."""
    shown = []
    for first in [], ["stat"]:
        before = len(machine.commands)
        status, out, wrong = call(machine, tmp_path, "perf-vms", *first, "-e", "cycles", "-x,",
                                  "--", "sh", "-c", "echo $0 $1; exit 3", "--", "stat")
        assert (status, wrong) == (3, "")
        shown.append((out, machine.commands[before:]))
    assert shown[0] == shown[1]
    assert shown[0][0].splitlines()[0] == "-- stat" and "cycles,alpha" in shown[0][0]


@pytest.mark.parametrize("words", [["perf-vms"], ["perf-vms", "stat"], ["perf-vms", "record"],
                                   ["tally-trace"]])
def test_unknown_options(machine, tmp_path, words):
    """They are named as they are, whatever follows."""
    status, out, wrong = call(machine, tmp_path, *words, "--bogus", "touch", "made")
    assert (status, out) == (2, "") and "unrecognized arguments: --bogus\n" in wrong
    assert not (tmp_path / "made").exists()
