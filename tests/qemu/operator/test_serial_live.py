# SPDX-License-Identifier: Apache-2.0
"""--serial beside Tally itself: QEMU's serial line is a UNIX socket, as a board's may be, and there
is no tools/run."""

import json
import subprocess

import pytest

import alone
import consoles
import harness

TOOLS = harness.ROOT / "tools"
READY = b" from entry to the first guest"


@pytest.fixture
def board(tmp_path):
    """The path of the line of a machine with two Debian guests, which both offer a shell; and QEMU.
    """
    with alone.machine(tmp_path) as qemu:
        with alone.connected(tmp_path) as line:
            got = b""
            while READY not in got:
                got += line.recv(65536)
        yield tmp_path / "line", qemu


def ctl(line, *words):
    """Lines of the answer."""
    done = subprocess.run([TOOLS / "tally-ctl", "--serial", line, "--timeout", str(harness.GUARD),
                           *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def states(line):
    """{VM: its state}"""
    vms = [json.loads(text) for text in ctl(line, "vms", "--json")]
    return {vm["vm"]: vm["state"] for vm in vms}


def test_one_line_for_all(board):
    """Consoles of both guests one after the other, questions in between, a guest that prints frames
    of its own, and the end of each."""
    line, qemu = board
    child = consoles.attached("alpha", "--serial", line)
    child.expect("/ # ")
    child.send("\x1dw")
    child.expect("stty rows 24 cols 80\r\n")
    child.send("stty size; echo $((6 * 7)) $(hostname)\r")
    child.expect("24 80\r\n42 alpha\r\n")
    # Whatever it prints is its own.
    child.send(consoles.FORGES + "; echo e''nd\r")
    child.expect_exact(consoles.FORGED + "end\r\n")
    assert "tally-console" not in child.before
    consoles.leave(child)

    assert states(line) == {"alpha": "running", "beta": "running"}
    child = consoles.attached("beta", "--serial", line)
    # Its prompt was printed while alpha's console had the line.
    child.send("\r")
    child.expect("/ # ")
    child.send("hostname; poweroff -f\r")
    child.expect("beta\r\n")
    child.expect("tools/tally-console: vm beta: ended\r\n")
    consoles.leave(child)
    # Its memory is being cleared when its end is told.
    while (seen := states(line))["beta"] == "clearing":
        pass
    assert seen == {"alpha": "running", "beta": "off"}
    done = subprocess.run([TOOLS / "tally-console", "alpha", "--serial", line],
                          input=b"poweroff -f\n", capture_output=True, check=False)
    assert done.returncode == 0 and b"vm alpha: ended\n" in done.stderr
    assert qemu.wait(timeout=harness.GUARD) == 0
