# SPDX-License-Identifier: Apache-2.0
"""tools/run with a QEMU that only prints: its files, its terminal, and what it leaves behind."""

import ctypes
import os
from pathlib import Path
import signal
import subprocess
import termios

import pexpect
import pytest

import harness
import recorded
from tool_run import ENDED, start_fake

ONE = "\x1e+\n\x1e:A alpha\n\x1eAone%0A\n"


def framed(names, *outputs):
    """What a machine with these VMs prints; each output is (VM, bytes)."""
    data = recorded.names_of(names) + b"".join(
        recorded.output_of(vm, data) + b"\n" for vm, data in outputs)
    return data.decode()


def test_a_forged_name_opens_no_file(fake_run, tmp_path):
    """No name of a guest's making counts, whatever it does to the terminal."""
    forged = b"".join(b"\x1b[8D[forged-%d] x\n\r[beta] y\n" % n for n in range(1000))
    command = fake_run(framed(("alpha", "beta"), (0, b"one\n" + forged + b"two\n")) + ENDED,
                       ("alpha", "beta"))
    logs = tmp_path / "logs"
    assert start_fake([*command, "--log-dir", logs], tmp_path) == (harness.OK, "")
    assert sorted(path.name for path in logs.iterdir()) == ["alpha.log", "beta.log", "tally.log"]
    lines = (logs / "alpha.log").read_text(encoding="utf-8").splitlines()
    assert lines[::len(lines) - 1] == ["one", "two"] and len(lines) == 2002
    assert (logs / "beta.log").read_text(encoding="utf-8") == ""


def test_each_vm_has_a_log_of_its_own(fake_run, tmp_path):
    """Whatever it is called; and one that says nothing has one, too."""
    names = ("tally", "vm-tally", "silent")
    command = fake_run(framed(names, (0, b"a\n"), (1, b"b\n\nc\n"), (0, b"l" * 700 + b"\n")) +
                       "\x1e!all VMs ended\n", names)
    logs = tmp_path / "logs"
    assert start_fake([*command, "--log-dir", logs], tmp_path) == (harness.OK, "")
    assert {path.name: path.read_text(encoding="utf-8") for path in logs.iterdir()} == {
        "tally.log": "all VMs ended\n", "tally.vm.log": f"a\n{'l' * 700}\n",
        "vm-tally.log": "b\n\nc\n",
        "silent.log": ""}


def test_a_disk_that_is_full(fake_run, tmp_path):
    """A word about each file, once; and the machine goes on to its end."""
    command = fake_run(framed(("alpha",), (0, b"one\n" * 1000)) + ENDED)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "alpha.log").symlink_to("/dev/full")
    full = "No space left on device"
    status, messages = start_fake([*command, "--log", "/dev/full", "--log-dir", logs], tmp_path)
    assert status == harness.OK
    assert sorted(messages.splitlines()) == [
        f"tools/run: {path}: {full}; it ends here, and the machine goes on"
        for path in ("/dev/full", f"{logs}/alpha.log")]
    assert "all VMs ended" in (logs / "tally.log").read_text(encoding="ascii")
    with open("/dev/full", "wb") as nothing:
        assert start_fake(command, tmp_path, stdout=nothing) == (
            harness.OK, f"tools/run: standard output: {full}; the machine goes on\n")


def test_a_log_that_cannot_be(fake_run, tmp_path):
    command = fake_run(ENDED)
    (tmp_path / "logs/alpha.log").mkdir(parents=True)
    assert start_fake([*command, "--log-dir", tmp_path / "logs"], tmp_path) == (
        harness.USAGE, f"tools/run: --log-dir {tmp_path}/logs/alpha.log: Is a directory\n")


def test_the_debugger_is_on_this_machine(fake_run, tmp_path):
    command = fake_run(ENDED)
    assert start_fake([*command, "--gdb"], tmp_path)[0] == harness.OK
    words = (tmp_path / "qemu.arguments").read_text(encoding="utf-8").splitlines()
    assert words[words.index("-gdb") + 1] == "tcp:127.0.0.1:1234" and "-s" not in words


def mode(terminal):
    """Does it edit lines, echo and make signals?"""
    return termios.tcgetattr(terminal)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)


@pytest.mark.parametrize("number, status", [
    (signal.SIGQUIT, harness.INTERRUPTED), (signal.SIGTERM, harness.INTERRUPTED),
    (signal.SIGHUP, harness.INTERRUPTED), (signal.SIGKILL, None)])
def test_ended_by_a_signal(fake_run, tmp_path, number, status):
    """The terminal is as it was. No file stays, or the next run removes it, and no other's."""
    command = fake_run(ONE, ends=False)
    temporary = tmp_path / "temporary"
    (temporary / "tally-notes").mkdir()
    screen = pexpect.spawn(command[0], [*command[1:], "--profile", "interactive"], timeout=None,
                           env={**os.environ, "TMPDIR": str(temporary)})
    terminal = os.open(os.readlink(f"/proc/{screen.pid}/fd/0"), os.O_RDWR | os.O_NOCTTY)
    before = termios.ICANON | termios.ECHO | termios.ISIG
    screen.expect("one")
    assert mode(terminal) == 0
    assert len(list(temporary.iterdir())) == 2
    os.kill(screen.pid, number)
    # Whoever gives the terminal back after SIGKILL does so as soon as it is scheduled.
    while mode(terminal) != before:
        os.sched_yield()
    os.close(terminal)
    screen.expect(pexpect.EOF)
    screen.close()
    assert (screen.exitstatus, screen.signalstatus) == (
        (status, None) if status else (None, signal.SIGKILL))
    assert len(list(temporary.iterdir())) == (1 if status else 2)
    assert start_fake(fake_run(ENDED), tmp_path) == (harness.OK, "")
    assert [path.name for path in temporary.iterdir()] == ["tally-notes"]
    assert not [path for path in (harness.BUILD / "control").iterdir()
                if path.name.endswith(f"-{screen.pid}.sock")]


def state_of(pid):
    """Of its first thread: one letter, S if it sleeps."""
    text = Path(f"/proc/{pid}/task/{pid}/stat").read_text(encoding="ascii")
    return text.rsplit(")", 1)[1].split()[0]


def test_a_signal_that_another_thread_takes(fake_run):
    """It ends the run, too, while nobody types and the machine prints nothing. The system may give
    a signal to any thread; and one that comes just before a wait is not seen by that wait."""
    command = fake_run(ONE, ends=False)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        run.stdout.readline()
        while state_of(run.pid) != "S":
            os.sched_yield()
        other = max(int(name) for name in os.listdir(f"/proc/{run.pid}/task"))
        assert other != run.pid
        ctypes.CDLL(None).tgkill(run.pid, other, signal.SIGTERM)
        assert run.wait(harness.GUARD) == harness.INTERRUPTED


def test_two_runs_leave_each_other_alone(fake_run, tmp_path):
    """The folder of one that goes on is no leftover."""
    command = fake_run(ONE, ends=False)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(tmp_path / "temporary")}) as first:
        first.stdout.readline()
        mine = list((tmp_path / "temporary").iterdir())
        assert start_fake(fake_run(ENDED), tmp_path) == (harness.OK, "")
        assert list((tmp_path / "temporary").iterdir()) == mine and len(mine) == 1
        first.terminate()
    assert not list((tmp_path / "temporary").iterdir())


def test_leaving_a_machine(fake_run):
    """QEMU ends by Ctrl-A x: no VM has ended well, so it is not told."""
    command = fake_run(ONE)
    screen = pexpect.spawn(command[0], [*command[1:], "--profile", "interactive"], timeout=None,
                           encoding="utf-8")
    screen.expect("the machine was left before all VMs had ended")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == harness.INTERRUPTED


@pytest.mark.parametrize("keys", ["/dev/null", "file"])
def test_nobody_types(fake_run, tmp_path, keys):
    """Interactive, but without a terminal: the machine goes on to its end."""
    (tmp_path / "file").write_text("\x142x", encoding="ascii")
    command = fake_run(framed(("alpha", "beta"), (0, b"one\n")) + ENDED)
    with open(tmp_path / keys, "rb") as stdin:
        done = subprocess.run([*command, "--profile", "interactive"], stdin=stdin,
                              capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (harness.OK, 1), done.stderr
    assert b"[alpha] one\r\n" in done.stdout and b"tally: all VMs ended\r\n" in done.stdout
