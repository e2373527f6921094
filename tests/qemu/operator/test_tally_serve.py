# SPDX-License-Identifier: Apache-2.0
"""tools/tally-serve: several tools share a board's line. The board is a function here."""

import contextlib
import os
import signal
import subprocess

import pexpect
import pytest

import boards
import consoles
import harness
from boards import board  # pylint: disable=unused-import
from tallylib import frames

TOOLS = harness.ROOT / "tools"
STARTED = b"OpenSBI\r\ntally: 5 cycles from entry to the first guest\r\n"


@pytest.fixture
def served(board, tmp_path):
    """The tool without a terminal, when it serves; its socket is tmp_path/control."""
    words = [TOOLS / "tally-serve", board.line, "--control", tmp_path / "control", "--log-dir",
             tmp_path / "logs", "--log", tmp_path / "log", "--timeout", str(harness.GUARD)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        assert process.stderr.readline() == b"tools/tally-serve: the VMs are alpha, beta\n"
        yield process
        process.terminate()


def console(folder, *words):
    """A console through the socket, when it is attached."""
    child = subprocess.Popen([TOOLS / "tally-console", "--socket", folder / "control", *words],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"this is vm" in child.stderr.readline()
    return child


def test_several_tools(board, served, tmp_path):
    """Lines and logs of all, two consoles, a pseudo-terminal, and programs that ask meanwhile."""
    with console(tmp_path, "alpha") as alpha, console(tmp_path, "beta") as beta:
        pty = os.open(tmp_path / "control.ptys" / "beta", os.O_RDWR | os.O_NOCTTY)
        board.prints(frames.Output(0, b"a\x1b[1mb\r\n"), frames.Output(1, b"c\x1e!d\n"),
                     frames.Own("vm alpha: starts again"))
        consoles.read(alpha.stdout.fileno(), b"a\x1b[1mb\r\n")
        for fd in (beta.stdout.fileno(), pty):
            consoles.read(fd, b"c\x1e!d\n")
        assert alpha.stderr.readline() == b"tools/tally-console: vm alpha: starts again\n"
        consoles.read(served.stdout.fileno(),
                      b"[alpha] ab\n[beta] c!d\ntally: vm alpha: starts again\n")
        alpha.stdin.write(b"x" * 100)
        alpha.stdin.flush()
        os.write(pty, b"typed")
        for tool, words in (("tally-ctl", ["vms"]), ("tally-top", ["--once", "-d", "0.01"])):
            subprocess.run([TOOLS / tool, "--socket", tmp_path / "control", *words], check=True,
                           stdout=subprocess.DEVNULL)
        board.wait_for(lambda: board.typed == {0: b"x" * 100, 1: b"typed"})
        os.close(pty)
        served.send_signal(signal.SIGTERM)
        assert served.wait(timeout=harness.GUARD) == 0
        for child in (alpha, beta):
            assert child.wait(timeout=harness.GUARD) == 6
    board.wait_for(lambda: not board.frames)
    assert board.commands[0] == "frames on" and board.commands[-1] == "frames off"
    assert not (tmp_path / "control").exists() and not (tmp_path / "control.ptys").exists()
    logs = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "logs").iterdir()}
    assert logs == {"alpha.log": "ab\n", "beta.log": "c!d\n",
                    "tally.log": "vm alpha: starts again\n"}
    # Typing to a device was in pieces that its UART holds.
    assert board.listener or board.most_ahead <= 16


def test_the_board_starts_anew(board, served, tmp_path):
    """It is asked for frames again; who waited for an answer is told."""
    with console(tmp_path, "alpha") as alpha:
        board.prints(frames.Plain(STARTED))
        board.wait_for(lambda: board.commands.count("frames on") == 2)
        board.prints(frames.Output(0, b"again"))
        consoles.read(alpha.stdout.fileno(), b"again")
        alpha.stdin.write(b"y")
        alpha.stdin.flush()
        board.wait_for(lambda: board.typed[0] == b"y")
        alpha.terminate()
    served.terminate()
    out = served.stdout.read()
    assert b"tally: 5 cycles from entry to the first guest\n" in out
    assert out.endswith(b"[alpha] again\n")


@pytest.mark.parametrize("board", ["socket"], indirect=True)
def test_the_line_ends(served, board):
    board.end()
    assert served.wait(timeout=harness.GUARD) == 6
    assert served.stderr.read() == b"tools/tally-serve: the line has ended\n"


def test_on_a_terminal(board, tmp_path):
    """Focus keys and the prompt, as tools/run has them."""
    with contextlib.ExitStack() as stack:
        child = pexpect.spawn(str(TOOLS / "tally-serve"),
                              [board.line, "--control", str(tmp_path / "control")],
                              encoding="utf-8", timeout=harness.GUARD, echo=False,
                              dimensions=(24, 80), env={**os.environ, "NO_COLOR": "1"})
        stack.callback(child.close, force=True)
        child.expect("Ctrl-A x leaves")
        while not (tmp_path / "control.ptys" / "beta").is_symlink():
            pass
        board.prints(frames.Output(0, b"login: "))
        child.expect_exact("[alpha] login: ")
        child.send("r\x142s")
        child.expect("input goes to beta")
        board.wait_for(lambda: board.typed == {0: b"r", 1: b"s"})
        child.send("\x14:vms\r")
        child.expect("tally: alpha +running +up 2.000 s")
        child.send("\x01x")
        assert consoles.ended(child) == 0
    board.wait_for(lambda: not board.frames)


def test_nobody_answers(tmp_path):
    deaf = boards.Board(["alpha"], boards.answer, tmp_path / "line", deaf=1000)
    for words, status, why in (
            ([deaf.line, "--timeout", "0.1"], 5, "no answer within 0.1 s"),
            ([tmp_path / "no"], 4, f"{tmp_path}/no: No such file or directory"),
            ([deaf.line, "--baud", "1"], 2, "is no speed that this computer has"),
            ([deaf.line, "--timeout", "-1"], 2, "is not a positive number of seconds")):
        done = subprocess.run([TOOLS / "tally-serve", *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        assert done.returncode == status and why in done.stderr.splitlines()[-1], done
        assert done.stdout == ""
    deaf.end()
