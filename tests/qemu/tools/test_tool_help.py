# SPDX-License-Identifier: Apache-2.0
"""Every tool says what it is for, and does nothing else, when it is asked that; nor when what it is
asked makes no sense."""

import os
import re
import subprocess

import pytest

import harness
from tallylib import version

TOOLS = sorted(str(path.relative_to(harness.ROOT / "tools"))
               for path in (harness.ROOT / "tools").rglob("*")
               if path.is_file() and os.access(path, os.X_OK))


def call(folder, tool, *words):
    """Runs it where no other program can be found, so that it cannot do much."""
    bin_ = folder / "bin"
    bin_.mkdir(exist_ok=True)
    for name in ("sh", "sed", "cat", "dirname", "readlink", "env", "python3"):
        if not (bin_ / name).exists():
            (bin_ / name).symlink_to(f"/usr/bin/{name}")
    return subprocess.run([harness.ROOT / "tools" / tool, *words], cwd=folder, text=True,
                          env={"PATH": str(bin_), "PYTHONDONTWRITEBYTECODE": "1"},
                          capture_output=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("tool", TOOLS)
def test_help(tmp_path, tool):
    for word in ("--help", "-h"):
        done = call(tmp_path, tool, word)
        assert (done.returncode, done.stderr) == (0, ""), done
        assert tool in done.stdout, done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if "/" not in tool])
def test_version(tmp_path, tool):
    """The one number, which the changes begin with."""
    done = call(tmp_path, tool, "--version")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout == f"tools/{tool} (Tally) {version.number()}\n"
    changes = (harness.ROOT / "docs/CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changes, re.M)[0] == version.number()


@pytest.mark.parametrize("tool", TOOLS)
def test_nonsense(tmp_path, tool):
    done = call(tmp_path, tool, "--no-such-option")
    assert done.returncode == 2, done
    assert done.stderr and "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("tool", ["bench-calls", "bench-switch"])
@pytest.mark.parametrize("option", ["--against", "--table"])
def test_figures_that_are_none(tmp_path, tool, option):
    """Said before anything is measured, and told from a figure that has grown."""
    for content, why in ((None, "No such file or directory"), ("{", "is not what --json prints"),
                         ("[1]", "is not what --json prints"),
                         ('{"a": 1}', "is not what --json prints"),
                         ('{"a": {"sbi": "x"}}', "holds something else than figures")):
        file = tmp_path / "figures.json"
        if content is not None:
            file.write_text(content, encoding="ascii")
        done = call(tmp_path, tool, option, str(file))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"tools/{tool}: {option} {file}: {why}\n"
