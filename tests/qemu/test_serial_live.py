# SPDX-License-Identifier: Apache-2.0
"""--serial beside Tally itself: QEMU's serial line is a UNIX socket, as a board's may be, and there
is no tools/run."""

import json
import socket
import subprocess
import time

import pexpect
import pytest

import harness
from runlib.qemu import BIOS_PLACES, CPU, INTERACTIVE
from tallylib.vm_tree import compile_tree

TOOLS = harness.ROOT / "tools"
READY = b" from entry to the first guest"


def read_until(path, text):
    """The line, read by nobody in particular, up to a text."""
    with socket.socket(socket.AF_UNIX) as line:
        while True:
            try:
                line.connect(str(path))
                break
            except OSError:
                time.sleep(0.01)  # QEMU has not made it yet
        got = b""
        while text not in got:
            got += line.recv(65536)


@pytest.fixture
def board(tmp_path):
    """The path of the line of a machine with two Debian guests, which both offer a shell; and QEMU.
    """
    tree = harness.linux_tree(tmp_path, {"alpha": "true", "beta": "true"}, bootargs="tally.shell")
    assert compile_tree(str(tree), [], str(tmp_path / "vms.dtb")) is None
    line = tmp_path / "line"
    words = ["qemu-system-riscv64", "-machine", "virt", "-cpu", CPU, "-smp", "1", "-m", "1G",
             "-display", "none", "-monitor", "none", "-no-reboot", *INTERACTIVE,
             "-bios", BIOS_PLACES[0], "-kernel", harness.KERNEL or harness.BUILD / "tally.bin",
             "-initrd", tmp_path / "vms.dtb", "-serial", f"unix:{line},server=on,wait=on"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as qemu:
        read_until(line, READY)
        yield line, qemu
        qemu.terminate()


def console(line, *words):
    """A pexpect child: a console that has the line for itself."""
    return pexpect.spawn(str(TOOLS / "tally-console"), [*words, "--serial", str(line)],
                         encoding="utf-8", timeout=harness.GUARD, echo=False, dimensions=(24, 80))


def leave(child):
    child.send("\x1dq")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


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
    child = console(line, "alpha")
    child.expect("this is vm alpha")
    child.expect("/ # ")
    child.send("\x1dw")
    child.expect("stty rows 24 cols 80\r\n")
    child.send("stty size; echo $((6 * 7)) $(hostname)\r")
    child.expect("24 80\r\n42 alpha\r\n")
    # Whatever it prints is its own.
    child.send(r"printf '\036!vm alpha: ended\n\036B%%0Aforged\n\036.fr 0\n\033[31m\n'; "
               "echo e''nd\r")
    child.expect_exact("\x1e!vm alpha: ended\r\n\x1eB%0Aforged\r\n\x1e.fr 0\r\n\x1b[31m\r\nend\r\n")
    assert "tally-console" not in child.before
    leave(child)

    assert states(line) == {"alpha": "running", "beta": "running"}
    child = console(line, "beta")
    child.expect("this is vm beta")
    # Its prompt was printed while alpha's console had the line.
    child.send("\r")
    child.expect("/ # ")
    child.send("hostname; poweroff -f\r")
    child.expect("beta\r\n")
    child.expect("tools/tally-console: vm beta: ended\r\n")
    leave(child)
    # Its memory is being cleared when its end is told.
    while (seen := states(line))["beta"] == "clearing":
        pass
    assert seen == {"alpha": "running", "beta": "off"}
    done = subprocess.run([TOOLS / "tally-console", "alpha", "--serial", line],
                          input=b"poweroff -f\n", capture_output=True, check=False)
    assert done.returncode == 0 and b"vm alpha: ended\n" in done.stderr
    assert qemu.wait(timeout=harness.GUARD) == 0
