# SPDX-License-Identifier: Apache-2.0
"""The documentation's figures are those of record (tests/bench), which test_bench_calls.py,
test_bench_switch.py and test_bench_boot.py measure again."""

import json
import re
import shutil
import subprocess

import pytest

import harness
from pages import text_of

TOOL = harness.ROOT / "tools/pages/figures"
TRAP_PATH = "docs/trap-path.md"


def check(tool):
    """(exit status, what it said)"""
    done = subprocess.run([tool, "--check"], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_the_pages_have_the_figures_of_record():
    assert check(TOOL) == (0, "")


@pytest.fixture
def copy(tmp_path):
    """The tool, its pages and the record, to be changed."""
    for folder in ("tools", "docs", "tests/bench"):
        shutil.copytree(harness.ROOT / folder, tmp_path / folder, symlinks=True)
    shutil.copy(harness.ROOT / "README.md", tmp_path)
    return tmp_path


def test_another_figure_is_noticed(copy):
    """In the record, where it shows on each page that has it, and on a page."""
    tool, page, record = (copy / name for name in ("tools/pages/figures", TRAP_PATH,
                                                   "tests/bench/calls.json"))
    calls = json.loads(record.read_text(encoding="ascii"))
    calls["base"]["ssccfg"] += 1
    record.write_text(json.dumps(calls), encoding="ascii")
    words = "other figures than in tests/bench; tools/pages/figures writes them\n"
    assert check(tool) == (1, f"README.md, docs/evaluation.md, {TRAP_PATH}: {words}")
    subprocess.run([tool], check=True)
    assert check(tool) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert "| `base` | 312 | 76 | 75 |" in text
    page.write_text(text.replace("| `base` | 312 | 76 | 75 |", "| `base` | 312 | 77 | 75 |"),
                    encoding="utf-8")
    assert check(tool) == (1, f"{TRAP_PATH}: {words}")
    page.write_text(text.replace("<!-- End of calls. -->", ""), encoding="utf-8")
    status, said = check(tool)
    assert status == 2 and f"{TRAP_PATH} has no place for calls" in said


@pytest.mark.parametrize("name, words", [("base", "An SBI call that does nothing (`base`)"),
                                         ("start", "`start` with `ssccfg`:")])
def test_steps_add_up(name, words):
    """Where a page says what each instruction is for."""
    calls = json.loads(text_of("tests/bench/calls.json"))
    _, _, behind = text_of(TRAP_PATH).partition(words)
    rows = re.findall(r"^\| ([\d +]+) \|", behind.split("\n\n")[1], re.M)
    assert sum(int(part) for row in rows for part in row.split("+")) == calls[name]["ssccfg"]
