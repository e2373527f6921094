# SPDX-License-Identifier: Apache-2.0
"""--serial: tools that have a board's line to themselves. The board is a function here."""

import json
import subprocess

import pytest

import boards
import consoles
import fakes
import harness
from boards import board  # pylint: disable=unused-import
from tallylib import frames

TOOLS = harness.ROOT / "tools"
OTHERS = b"[alpha] tally: 1 cycles from entry to the first guest\r\n\x1b[1m\r\ntally@r1 x\n"


def run(tool, board, *words, status=0, **arguments):
    """Lines of its output and of complaint."""
    done = subprocess.run([TOOLS / tool, "--serial", board.line, "--timeout", str(harness.GUARD),
                           *words], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, timeout=harness.GUARD, **arguments)
    assert done.returncode == status, done
    return done.stdout.splitlines(), done.stderr.splitlines()


def test_tally_ctl(board):
    """The line is left with whole lines for people; the next one begins anew."""
    for _ in range(2):
        assert run("tally-ctl", board, "vms", "--json") == (
            [json.dumps(line) for line in fakes.looked("vms", 1)], [])
        board.wait_for(lambda: not board.frames)
    assert run("tally-ctl", board, "stop", "gamma", status=1) == (
        [], ['tools/tally-ctl: stop: no VM is called "gamma"'])
    assert board.commands == ["frames on", "vms --json", "frames off"] * 2 + [
        "frames on", "stop gamma", "frames off"]


def test_tally_top(board):
    """What is printed meanwhile is nobody's answer."""
    lines, complaints = run("tally-top", board, "--once", "--json", "-d", "0.01")
    assert complaints == []
    rows = list(map(json.loads, lines))
    assert [(row["vm"], row["vcpu"], row["state"], row["counters"]) for row in rows] == [
        ("alpha", 0, "running", 1), ("beta", 0, "off", 1), ("beta", 1, "off", 1)]
    assert board.commands == ["frames on", *["vms --json", "exits --json", "pmu --json"] * 2,
                              "frames off"]


@pytest.mark.parametrize("words, most", [
    (["-F", "577"], 576), (["-F", "1000", "-e", "cycles,instructions"], 288),
    (["-F", "116", "-g"], 115), (["-F", "600", "-g", "--max-stack", "1"], 460),
    (["--baud", "9600", "-F", "49"], 48), (["--baud", "1500000", "-F", "7501"], 7500)])
def test_a_rate_that_is_too_high(board, tmp_path, words, most):
    """It is refused with the one that the line carries."""
    done = subprocess.run([TOOLS / "perf-vms", "record", "--serial", board.line, "--vm", "alpha",
                           "-o", tmp_path / "file", *words], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=harness.GUARD)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert f"baud carries {most} at most" in done.stderr
    assert not any(command.startswith("sample ") for command in board.commands)


def test_perf_vms_names_the_line(tmp_path):
    done = subprocess.run([TOOLS / "perf-vms", "--serial", tmp_path / "no"], text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (
        4, f"tools/perf-vms: --serial {tmp_path}/no: No such file or directory\n")


def test_tally_console(board):
    """Both VMs and Tally on one line, of which one is shown; typing goes to that one."""
    child = consoles.attached("alpha", "--serial", board.line)
    board.prints(frames.Output(1, b"beta\r\n"), frames.Output(0, b"alpha\x1e!x\n"),
                 frames.Plain(OTHERS), frames.Own("vm alpha: starts again"))
    child.expect_exact("alpha\x1e!x\n")
    assert child.before == ""
    child.expect("tools/tally-console: vm alpha: starts again\r\n")
    child.send("ls\x14\r")
    board.wait_for(lambda: board.typed[0] == b"ls\x14\r")
    assert board.typed[1] == b""
    # The board is reset: it is asked for frames again.
    board.prints(frames.Plain(b"OpenSBI\r\ntally: 5 cycles from entry to the first guest\r\n"))
    child.expect("tools/tally-console: the machine has started anew\r\n")
    board.wait_for(lambda: board.commands.count("frames on") == 2)
    board.prints(frames.Output(0, b"again"))
    child.expect_exact("again")
    consoles.leave(child)
    board.wait_for(lambda: not board.frames)


def test_a_long_paste(board):
    """A board's UART holds 16 bytes, and no wire tells that it is full: never more than that are
    under way to a device. A socket waits by itself."""
    typed = bytes(range(256)) * 4
    with subprocess.Popen([TOOLS / "tally-console", "beta", "--serial", board.line],
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        process.stdin.write(typed)
        process.stdin.close()
        board.wait_for(lambda: len(board.typed[1]) >= len(typed))
        process.terminate()
    assert board.typed == {0: b"", 1: typed}
    if board.listener:
        assert "x" not in board.commands
    else:
        assert board.most_ahead == 12


@pytest.mark.parametrize("tool, words", [("tally-ctl", ["vms"]),
                                         ("tally-console", ["alpha", "--until", "x"])])
def test_a_request_that_is_lost(tmp_path, tool, words):
    """A board may be in the middle of a key, or still in its firmware: it is asked again."""
    board = boards.Board(["alpha"], boards.answer, tmp_path / "line", deaf=1)
    with subprocess.Popen([TOOLS / tool, "--serial", board.line, *words],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        board.wait_for(lambda: board.commands[:1] == ["frames on"])
        if tool == "tally-console":
            board.prints(frames.Output(0, b"x"))
        process.stdout.read()
        assert process.wait(timeout=harness.GUARD) == 0
    board.end()


def test_the_line_ends(tmp_path):
    board = boards.Board(["alpha"], boards.answer, tmp_path / "line")
    with subprocess.Popen([TOOLS / "tally-console", "--serial", board.line],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr.readline() == b"tools/tally-console: this is vm alpha\n"
        board.end()
        assert process.stderr.readline() == b"tools/tally-console: the machine has ended\n"
        assert process.wait(timeout=harness.GUARD) == 6


def test_no_line(tmp_path):
    """Each in one sentence; a device that another program has, too."""
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "folder").mkdir()
    for line, why in ((file, "is no serial device and no socket"),
                      (tmp_path / "no", "No such file or directory"),
                      ("localhost:1", "Connection refused"),
                      (tmp_path / "folder", "Is a directory")):
        board = type("", (), {"line": str(line)})
        assert run("tally-ctl", board, "vms", status=4) == (
            [], [f"tools/tally-ctl: --serial {line}: {why}"])
    board = boards.Board(["alpha"], boards.answer)
    with subprocess.Popen([TOOLS / "tally-console", "--serial", board.line],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr.readline() == b"tools/tally-console: this is vm alpha\n"
        assert run("tally-ctl", board, "vms", status=4)[1] == [
            f"tools/tally-ctl: --serial {board.line}: another program has it; "
            "tools/tally-serve shares it"]
        process.terminate()
    board.end()
    for words, why in ((["--baud", "9600"], "--baud is of --serial"),
                       (["--serial", "x", "--baud", "9601"], "is no speed"),
                       (["--serial", "x", "--socket", "y"], "exclude each other")):
        done = subprocess.run([TOOLS / "tally-ctl", "vms", *words], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 2 and why in done.stderr


def test_speed():
    """A device is set to the speed that is asked for, and takes bytes as they are."""
    board = boards.Board(["alpha"], boards.answer)
    run("tally-ctl", board, "vms", "--baud", "57600")
    settings = subprocess.run(["stty", "-a", "-F", board.line], capture_output=True, text=True,
                              check=True).stdout
    assert "speed 57600 baud" in settings
    assert {"cs8", "-parenb", "-cstopb", "-crtscts", "clocal", "-icanon", "-opost", "-echo",
            "-ixon"} <= set(settings.replace(";", "").split())
    board.end()
