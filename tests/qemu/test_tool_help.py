# SPDX-License-Identifier: Apache-2.0
"""Every tool says what it is for, and does nothing else, when it is asked that; nor when what it is
asked makes no sense."""

import os
import subprocess

import pytest

import harness

TOOLS = sorted(path.name for path in (harness.ROOT / "tools").iterdir()
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


@pytest.mark.parametrize("tool", TOOLS)
def test_nonsense(tmp_path, tool):
    done = call(tmp_path, tool, "--no-such-option")
    assert done.returncode == 2, done
    assert done.stderr and "Traceback" not in done.stderr, done.stderr
