# SPDX-License-Identifier: Apache-2.0
"""How late windows begin, by tools/bench-windows: with a guard not at all, without one by what
docs/windows.md says at most. Three neighbours here, all of them in the long form."""

import json
import subprocess

import pytest

import harness
import schemas

TOOL = harness.ROOT / "tools" / "bench-windows"
SHORT = ("nothing", "fuzz", "restart")
WINDOWS = 100


def bench(*arguments):
    """A run of the tool."""
    return subprocess.run([TOOL, *map(str, arguments)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def delays(row):
    """{ticks: windows} of a row."""
    return {int(delay): times for delay, times in row["delays"].items()}


def judge(rows, windows):
    """Whether each row is as promised, and none is what a measurement that sees nothing would say.
    """
    for row in rows:
        found = delays(row)
        assert sum(found.values()) == windows
        if row["guard"]:
            assert found == {0: windows}, row
        else:
            assert 0 < min(found) <= max(found) <= harness.LEAST_GUARD[row["backend"]] * 10, row


@harness.both_backends
def test_windows_begin_when_they_shall(backend):
    words = [word for name in SHORT for word in ("--neighbour", name)]
    done = bench(*words, "--windows", WINDOWS, "--on", backend, "--json")
    assert done.returncode == 0, done.stderr
    rows = schemas.read("bench-windows", done.stdout)
    assert [(row["neighbour"], row["guard"], row["backend"]) for row in rows] == [
        (name, guard, backend) for name in SHORT for guard in (harness.LEAST_GUARD[backend], 0)]
    judge(rows, WINDOWS)
    # Two runs give the same.
    again = bench(*words[:2], "--windows", WINDOWS, "--on", backend, "--json")
    assert schemas.read("bench-windows", again.stdout) == rows[:2]


@pytest.mark.long
@harness.both_backends
def test_beside_all_neighbours(backend):
    done = bench("--all", "--windows", 200, "--on", backend, "--json")
    assert done.returncode == 0, done.stderr
    rows = schemas.read("bench-windows", done.stdout)
    assert len(rows) == 2 * len(bench("--list").stdout.splitlines()) > 30
    judge(rows, 200)


def test_what_is_late_is_told(tmp_path):
    """A tick with a guard, or one more than the bound without: the exit status, and a line."""
    file = tmp_path / "windows.json"

    def told(guard, found):
        row = {"neighbour": "nothing", "backend": "sbi", "guard": guard, "least": 9,
               "delays": found}
        file.write_text(json.dumps([row]), encoding="ascii")
        done = bench("--table", file)
        return done.returncode, done.stderr

    assert told(9, {"0": 100}) == told(0, {"12": 99, "90": 1}) == (0, "")
    assert told(9, {"0": 99, "1": 1}) == (
        1, "tools/bench-windows: beside one that only computes, with a guard of 9 us, sbi: 1 "
           "ticks late, and may be 0\n")
    assert told(0, {"12": 99, "91": 1}) == (
        1, "tools/bench-windows: beside one that only computes, without a guard, sbi: 91 ticks "
           "late, and may be 90\n")


def test_the_histogram(tmp_path):
    """Columns, and the delays that so many windows do not exceed."""
    file = tmp_path / "windows.json"
    rows = [{"neighbour": "nothing", "backend": "sbi", "guard": 0, "least": 32,
             "delays": {"0": 1, "9": 2, "14": 60, "49": 36, "320": 1}}]
    file.write_text(json.dumps(rows), encoding="ascii")
    head, names, row = bench("--table", file).stdout.rstrip("\n").split("\n")
    assert head.endswith("without a guard, sbi")
    assert names.split()[1:9] == ["0", "1-9", "10-19", "20-29", "30-49", "50-99", "100-199",
                                  "later"]
    assert row.removeprefix("one that only computes").split() == [
        "1", "2", "60", ".", "36", ".", ".", "1", "0", "14", "49", "320"]
    file.write_text('[{"delays": 1}]', encoding="ascii")
    assert bench("--table", file).returncode == 2
