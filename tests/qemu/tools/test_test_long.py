# SPDX-License-Identifier: Apache-2.0
"""tools/test-long: which parts there are, and which of them run again."""

import importlib.machinery
import importlib.util
import re
import subprocess
import sys

import pytest

import harness
import schemas

LOADER = importlib.machinery.SourceFileLoader("test_long", str(harness.ROOT / "tools/test-long"))


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """The tool as a module, on a folder of its own, with three parts that only note that they ran;
    tool.fails is the part that fails, tool.interrupts the one that is cut."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("test_long", LOADER))
    LOADER.exec_module(module)
    ran = []

    def run(name, words):
        ran.append(name)
        if name == module.interrupts:
            raise KeyboardInterrupt
        return {"passed": name != module.fails, "date": "2026-01-02", "seconds": 3,
                "command": words[0], "figures": ["1 passed"]}

    module.ran, module.fails, module.interrupts = ran, None, None
    monkeypatch.setattr(module, "TOP", str(tmp_path))
    monkeypatch.setattr(module, "run", run)
    (tmp_path / "build/long").mkdir(parents=True)
    return module


TABLE = {"a/1": (["make", "x"], "one"), "a/2": (["make", "y"], "two"), "b": (["true"], "three")}


def ran(tool, now="s", again=False, names=tuple(TABLE)):
    """Which parts a run begins, and which failed."""
    tool.ran.clear()
    failed = tool.run_all(list(names), TABLE, tool.results(), now, again)
    return tool.ran[:], failed


def test_a_part_that_passed_is_left_out(tool):
    assert ran(tool) == (["a/1", "a/2", "b"], [])
    assert ran(tool) == ([], [])
    assert ran(tool, again=True, names=["b"]) == (["b"], [])
    assert ran(tool, now="other sources", names=["a/2"]) == (["a/2"], [])
    assert ran(tool) == (["a/2"], [])


def test_a_part_that_failed_or_was_cut_runs_again(tool):
    tool.fails = "a/2"
    assert ran(tool) == (["a/1", "a/2", "b"], ["a/2"])
    tool.fails, tool.interrupts = None, "a/2"
    with pytest.raises(KeyboardInterrupt):
        ran(tool)
    assert tool.ran == ["a/2"]
    tool.interrupts = None
    assert ran(tool) == (["a/2"], [])


def test_the_page_tells_what_passed(tool):
    tool.fails = "a/2"
    ran(tool, names=["a/1", "a/2"])
    page = tool.page(TABLE, tool.results())
    assert "| `a/1` | one | 2026-01-02 | 3 s | 1 passed |\n" in page
    assert "| `a/2` | two | not yet |  |  |\n| `b` | three | not yet |  |  |\n" in page


def test_what_is_chosen(tool):
    assert tool.chosen(TABLE, []) == ["a/1", "a/2", "b"]
    assert tool.chosen(TABLE, ["b", "a/2"]) == ["a/2", "b"]
    assert tool.chosen(TABLE, ["a"]) == ["a/1", "a/2"]
    with pytest.raises(SystemExit) as stop:
        tool.chosen(TABLE, ["a", "c"])
    assert stop.value.code == 2


def test_figures(tool):
    log = ("seed 2, 500 steps, 2 processes\n[9/93] x: killed by step 1: y\n"
           "[10/93] z: ALIVE after 1 steps\n==== 64 passed, 3 deselected in 3.00s ====\n"
           "insn: inputs tried: 77\nmake mutants 'MUTANTS=--seed 2'")
    assert tool.figures(log) == ["64 passed", "seed 2, 500 steps", "77 inputs", "93 defects",
                                 "seed 2"]


def test_every_test_is_in_a_part():
    """Files with a long form, each with its part; and all files on the build that checks."""
    done = subprocess.run([harness.ROOT / "tools/test-long", "--list", "--json"], text=True,
                          capture_output=True, check=False)
    parts = schemas.read("test-long", done.stdout)
    tests = harness.ROOT / "tests/qemu"
    texts = {path.stem.removeprefix("test_"): path.read_text("utf-8")
             for path in tests.glob("*/test_*.py")}
    marked = {name for name, text in texts.items()
              if re.search(r"^(?!#).*\b(pytest\.mark\.long\b|\w*short_on\()", text, re.M)}
    # And those with both back ends, of which conftest.py leaves one.
    both = {name for name, text in texts.items() if re.search("backend|BACKEND|sbi", text)}
    long_parts = {name.split("/")[1] for name in parts if name.startswith("long/")}
    assert set() != marked <= long_parts <= marked | both
    debug = [name for part, what in parts.items() if part.startswith("debug/")
             for name in re.findall(r"test_\w+\.py", what["command"])]
    assert sorted(debug) == sorted(path.name for path in tests.glob("*/test_*.py"))
    assert {name.split("/")[1] for name in parts if name.startswith("fuzz/")} == {
        path.name.split(".")[0] for path in (harness.ROOT / "tests/fuzz").glob("*.tar.xz")}
