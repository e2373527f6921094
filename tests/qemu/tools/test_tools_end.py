# SPDX-License-Identifier: Apache-2.0
"""A tool that is asked to end takes its emulator along."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import bare_guests
import harness
import plain

# An emulator that never ends, and tells that it runs. What asks for its version is answered.
EMULATOR = """#!/bin/sh
case " $* " in
*" --version "*) echo "QEMU emulator version 10.0.2"; exit ;;
esac
echo $$ >"{pid}.part"
mv "{pid}.part" "{pid}"
exec sleep 100000
"""
PAUSE_S = 0.05
TOOLS = [
    ["bench-calls", "--on", "opensbi"], ["bench-calls", "--on", "sbi"],
    ["bench-switch", "--on", "sbi"], ["bench-boot", "--on", "sbi"],
    ["bench-disk", "--disk", "wired"], ["bench-samples", "--seconds", "1"],
    ["bench-windows", "--on", "sbi"], ["bench", "--one", "calls/sbi"],
]


def wait_for(what):
    """Until what() is true; a hang ends by harness.GUARD, as everywhere."""
    for _ in range(int(harness.GUARD / PAUSE_S)):
        if what():
            return
        time.sleep(PAUSE_S)
    pytest.fail("it hangs")


def is_running(pid):
    """Also False for a process that only waits to be collected."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def emulator(tmp_path):
    """The file with the fake emulator's process id; PATH finds the emulator."""
    plain.make("build/bench/boot.so")  # without it tools/bench-boot does not begin
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "qemu-system-riscv64"
    program.write_text(EMULATOR.format(pid=tmp_path / "pid"), encoding="ascii")
    program.chmod(0o755)
    return tmp_path / "pid"


@pytest.mark.parametrize("words", TOOLS, ids=" ".join)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_the_emulator_ends_as_well(tmp_path, emulator, words, number):
    env = dict(os.environ, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}", TMPDIR=str(tmp_path))
    command = [harness.ROOT / "tools" / words[0], *words[1:]]
    with open(tmp_path / "said", "w", encoding="utf-8") as said, \
         subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said,
                          stderr=said) as tool:
        try:
            wait_for(lambda: emulator.exists() or tool.poll() is not None)
            assert tool.poll() is None, (tmp_path / "said").read_text(encoding="utf-8")
            pid = int(emulator.read_text(encoding="ascii"))
            tool.send_signal(number)
            status = tool.wait(harness.GUARD)
        finally:
            tool.kill()
    assert status == 128 + number
    assert (tmp_path / "said").read_text(encoding="utf-8").endswith(
        f"tools/{words[0]}: interrupted\n")
    wait_for(lambda: not is_running(pid))


def run_program(program, *words):
    """A Python program in a process of its own, whose main thread is its own."""
    return subprocess.Popen([sys.executable, "-c", program, *map(str, words)],
                            stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": str(harness.ROOT / "tools/lib"),
                                 "PYTHONDONTWRITEBYTECODE": "1"})


ASKED_AT_ONCE = """
import os, signal, sys
from tallylib import ended
def ask():
    with open(sys.argv[1], "w") as file:
        file.write(str(os.getpid()))
    os.kill(os.getppid(), signal.SIGTERM)
sys.exit(ended.run("tool", lambda: ended.captured(["sleep", "100000"], preexec_fn=ask)))
"""


def test_a_program_that_is_being_started_ends_as_well(tmp_path):
    """The signal comes before the tool knows the program's number."""
    with run_program(ASKED_AT_ONCE, tmp_path / "pid") as process:
        assert process.communicate(timeout=harness.GUARD)[1] == "tool: interrupted\n"
    assert process.returncode == 128 + signal.SIGTERM
    assert not is_running(int((tmp_path / "pid").read_text(encoding="ascii")))


GROUP = """
import sys
from tallylib import ended
sys.exit(ended.run("tool", lambda: ended.group(["sh", "-c", sys.argv[1]])))
"""


def test_a_group_ends_with_all_that_it_started(tmp_path):
    """As tools/test-long runs its parts."""
    program = f"sleep 100000 & echo $! >{tmp_path}/part; mv {tmp_path}/part {tmp_path}/pid; wait"
    with run_program(GROUP, program) as process:
        wait_for((tmp_path / "pid").exists)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=harness.GUARD)[1] == "tool: interrupted\n"
    pid = int((tmp_path / "pid").read_text(encoding="ascii"))
    wait_for(lambda: not is_running(pid))


HAIL = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def hail(process):
    """Signals without a pause, until the program is gone: who is in a hurry types Ctrl-C again, and
    a closed terminal adds one of its own. What the program said, and its status."""
    while process.poll() is None:
        for number in HAIL:
            process.send_signal(number)
    return process.stderr.read(), process.returncode


AGAIN = """
import sys, time
from tallylib import ended
def main():
    try:
        print("begun", file=sys.stderr, flush=True)
        time.sleep(100000)
    finally:
        time.sleep(0.05)
        print("put away", file=sys.stderr, flush=True)
sys.exit(ended.run("tool", main))
"""


def test_signals_that_go_on():
    """The first one ends the tool; the others tear it out of nothing."""
    for _ in range(20):
        with run_program(AGAIN) as process:
            assert process.stderr.readline() == "begun\n"
            said, status = hail(process)
            assert said == "put away\ntool: interrupted\n" and status - 128 in HAIL


DESTROYED = """
import sys, time
from tallylib import ended
class Waits:
    def __del__(self):
        print("begun", file=sys.stderr, flush=True)
        time.sleep(100000)
def main():
    Waits()
    time.sleep(100000)
sys.exit(ended.run("tool", main))
"""


def test_a_signal_in_a_destructor():
    """Python lets no exception out of that."""
    with run_program(DESTROYED) as process:
        assert process.stderr.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=harness.GUARD)[1] == "tool: interrupted\n"
    assert process.returncode == 128 + signal.SIGTERM


def test_signals_for_tools_run(tmp_path, emulator):
    """It leaves no emulator behind either."""
    tree = tmp_path / "vms.dts"
    tree.write_text(bare_guests.tree({"alpha": "kind=idle"}), encoding="utf-8")
    words = harness.command(tree, options=["--include", harness.BUILD / "guests",
                                           "--qemu", tmp_path / "bin/qemu-system-riscv64"])
    plain.make("build/guests/bare.bin")
    for _ in range(20):
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as tool:
            wait_for(emulator.exists)
            pid = int(emulator.read_text(encoding="ascii"))
            assert hail(tool) == ("tools/run: interrupted\n", harness.INTERRUPTED)
            assert not is_running(pid)
            emulator.unlink()
