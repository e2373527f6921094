# SPDX-License-Identifier: Apache-2.0
"""tools/tally-console beside a machine that prints frames and is a function here."""

import contextlib
import os
import signal
import subprocess

import pexpect
import pytest

import consoles
import fakes
import harness
from consolelib import keys
from consolelib.session import last_lines
from tallylib import frames, replay

TOOL = consoles.TOOL
ESCAPE = "\x1d"


@pytest.fixture
def machine(tmp_path):
    made = fakes.Framed(tmp_path)
    yield made
    made.end()


@pytest.fixture
def terminal(machine):
    """(WORD...) -> pexpect child: a console on a terminal, attached."""
    with contextlib.ExitStack() as stack:
        def start(*words):
            child = consoles.attached("--socket", machine.path, *words)
            stack.callback(child.close, force=True)
            return child
        yield start


def piped(machine, *words, typed=b"", expected=0):
    """Output and complaints of a console without a terminal."""
    done = subprocess.run([TOOL, "--socket", machine.path, *words], input=typed,
                          capture_output=True, check=False, timeout=harness.GUARD)
    assert done.returncode == expected, done
    return done.stdout, done.stderr.decode().splitlines()


def test_two_consoles_at_two_vms(machine, terminal):
    """Each has its own VM's bytes as they are, and types to it alone."""
    alpha, beta = terminal("alpha"), terminal("beta")
    machine.output_of(0, b"login: ")
    machine.output_of(1, b"\x1b[31mb\x00%41\x1e!vm beta: ended\n")
    alpha.expect_exact("login: ")
    assert alpha.before == ""
    beta.expect_exact("\x1b[31mb\x00%41\x1e!vm beta: ended\n")
    assert beta.before == ""
    alpha.send("root\x14\x03\r")
    machine.reads(b"\x14>Aroot\x14\x14\x03\r")
    beta.send("x")
    machine.reads(b"\x14>Bx")
    alpha.send("y")
    machine.reads(b"\x14>Ay")
    # What Tally says of the other one is none of its business.
    machine.prints(frames.Own("vm beta: failed: illegal instruction 0"),
                   frames.Own("vm alpha: starts again"))
    alpha.expect("\r\ntools/tally-console: vm alpha: starts again\r\n")
    assert alpha.before == ""
    beta.expect("\r\ntools/tally-console: vm beta: failed: illegal instruction 0\r\n")
    beta.send(ESCAPE + ESCAPE)
    assert consoles.ended(beta) == 0
    machine.end()
    alpha.expect("tools/tally-console: the machine has ended\r\n")
    assert consoles.ended(alpha) == 6


def test_leaves_and_comes_again(machine, terminal):
    """The last lines first, an unfinished one too; and two consoles at one VM."""
    first = terminal("alpha")
    machine.output_of(0, b"".join(b"line %d\r\n" % n for n in range(50)) + b"# ")
    first.expect_exact("line 49\r\n# ")
    # The escape key alone leaves, too.
    first.send(ESCAPE)
    assert consoles.ended(first) == 0
    machine.output_of(0, b"later\r\n# ")
    machine.output_of(1, b"beta\r\n")
    second = terminal("alpha", "--lines", "3")
    second.expect_exact("line 49\r\n# later\r\n# ")
    assert second.before == ""
    third = terminal("alpha", "--lines", "0")
    machine.output_of(0, b"new")
    for child in (second, third):
        child.expect_exact("new")
        assert child.before == ""
    second.send("2")
    machine.reads(b"\x14>A2")
    third.send("3")
    machine.reads(b"3")


def test_keys(machine, terminal):
    """The escape key itself, the size, help; another escape key, or none."""
    child = terminal("alpha", "-e", "^A")
    child.send("\x1d\x01sa")
    machine.reads(b"\x14>A\x1d\x01a")
    child.setwinsize(30, 100)
    child.send("\x01w")
    machine.reads(b"stty rows 30 cols 100\r")
    for key in "?x":
        child.send("\x01" + key)
        child.expect(r"Ctrl-A q leaves; w types the size of the terminal; s sends Ctrl-A")
    child.send("\x01q")
    assert consoles.ended(child) == 0
    child = terminal("alpha", "-e", "none", "--resize")
    machine.reads(b"stty rows 24 cols 80\r")
    child.send("\x1d\x1dq")
    machine.reads(b"\x1d\x1dq")
    child.setwinsize(50, 132)
    machine.reads(b"stty rows 50 cols 132\r")
    child.kill(signal.SIGTERM)
    assert consoles.ended(child) == 0


def test_the_terminal_is_given_back(machine, terminal):
    """After a program on the whole screen."""
    child = terminal("alpha")
    machine.output_of(0, b"\x1b[?1049h\x1b[?25l")
    child.expect_exact("\x1b[?1049h\x1b[?25l")
    child.send(ESCAPE + "q")
    child.expect_exact("\x1b[?25h")
    child.expect_exact("\x1b[?1049l\r\n")
    assert consoles.ended(child) == 0


def test_in_a_pipe(machine):
    """What is typed goes there whole, each byte of it; it ends with the VM."""
    typed = bytes(range(256)) * 200
    with subprocess.Popen([TOOL, "--socket", machine.path, "beta"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(typed)
        process.stdin.close()
        machine.reads(b"\x14>B" + typed.replace(b"\x14", b"\x14\x14"))
        machine.output_of(1, b"off\r\n")
        machine.prints(frames.Own("vm alpha: ended"), frames.Own("vm beta: ended"))
        assert process.wait(timeout=harness.GUARD) == 0
        assert process.stdout.read() == b"off\r\n"
        assert process.stderr.read().decode().splitlines() == [
            "tools/tally-console: this is vm beta", "tools/tally-console: vm beta: ended"]


@pytest.mark.parametrize("said, expected", [("failed: load 0", 1), ("stopped", 0)])
def test_the_vm_ends(machine, said, expected):
    with subprocess.Popen([TOOL, "--socket", machine.path, "alpha"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"this is vm alpha" in process.stderr.readline()
        machine.prints(frames.Own("vm alpha: asked for a restart"),
                       frames.Own("vm alpha: vcpu 0: exits ecall=1"))
        machine.prints(frames.Own("vm alpha: " + said))
        assert process.wait(timeout=harness.GUARD) == expected
        assert process.stderr.read().decode().splitlines() == [
            "tools/tally-console: vm alpha: asked for a restart",
            f"tools/tally-console: vm alpha: {said}"]


def test_until(machine):
    """Of what is printed from now on; and the VM that ends first."""
    machine.output_of(0, b"login: ")
    for last, expected in ((b"log", 0), (b"in: ", 1)):
        with subprocess.Popen([TOOL, "--socket", machine.path, "alpha", "--until", "^log.*n: $"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            assert b"this is vm alpha" in process.stderr.readline()
            machine.output_of(0, last)
            machine.output_of(0, b"in: ")
            machine.prints(frames.Own("vm alpha: ended"))
            assert process.wait(timeout=harness.GUARD) == expected


def test_the_only_vm(tmp_path):
    single = fakes.Framed(tmp_path, ["solo"])
    with subprocess.Popen([TOOL, "--socket", single.path], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        assert process.stderr.readline() == b"tools/tally-console: this is vm solo\n"
        single.end()
        assert process.stderr.readline() == b"tools/tally-console: the machine has ended\n"
        assert process.wait(timeout=harness.GUARD) == 6


def test_wrong_use(machine, tmp_path):
    assert piped(machine, expected=2) == (
        b"", ["tools/tally-console: which VM? There are: alpha, beta"])
    assert piped(machine, "gamma", expected=2) == (
        b"", ["tools/tally-console: no VM is called gamma; there are: alpha, beta"])
    for words, why in ((["ALPHA"], "is no name of a VM"), (["a", "-e", "x"], "is no key"),
                       (["a", "--until", "("], "--until (: "),
                       (["a", "--timeout", "0"], "positive")):
        assert why in piped(machine, *words, expected=2)[1][-1]
    machine.path = str(tmp_path / "nobody")
    assert piped(machine, "alpha", expected=4) == (
        b"", [f"tools/tally-console: nobody listens at {machine.path}"])


def test_who_does_not_read(machine, terminal):
    """A console that stands still costs the machine nothing, and is told what it has missed."""
    child = terminal("alpha")
    child.kill(signal.SIGSTOP)
    piece = b"x" * 1000 + b"\n"
    for _ in range(3000):
        machine.output_of(0, piece)
    with subprocess.Popen([TOOL, "--socket", machine.path, "alpha", "--until", "end"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as other:
        assert b"this is vm alpha" in other.stderr.readline()
        machine.output_of(0, b"end")
        assert other.wait(timeout=harness.GUARD) == 0
    child.kill(signal.SIGCONT)
    child.expect(r"vm alpha: (\d+) bytes are left out here, which were not read")
    assert 1000000 < int(child.match[1]) < 4000000
    machine.output_of(0, b"on\n")
    child.expect_exact("on\n")


def test_keys_by_themselves():
    """However they come; what the bytes around are is nobody's business."""
    for text, key in (("^]", b"\x1d"), ("^a", b"\x01"), ("^A", b"\x01"), ("^@", b"\0"),
                      ("none", None)):
        assert keys.named(text) == key
    for text in ("", "^", "a", "^1", "^]]"):
        with pytest.raises(ValueError):
            keys.named(text)
    expected = [(keys.TYPED, b"ab"), (keys.TYPED, b"\x1d"), (keys.TYPED, b"c"), (keys.SIZE, b""),
                (keys.HELP, b""), (keys.LEAVE, b"")]
    data = b"ab\x1dsc\x1dw\x1d!\x1d\x1d"
    assert keys.Keys(b"\x1d").feed(data) == expected
    one = keys.Keys(b"\x1d")
    found = [action for byte in data for action in one.feed(bytes([byte]))]
    assert found == [(keys.TYPED, b"a"), (keys.TYPED, b"b"), *expected[1:]]


def test_last_lines():
    for n, expected in ((0, b""), (1, b"c"), (2, b"b\nc"), (3, b"a\nb\nc"), (9, b"a\nb\nc")):
        assert last_lines(b"a\nb\nc", n) == expected
        assert last_lines(b"a\nb\nc\n", n) == (expected and expected + b"\n")
    assert last_lines(b"", 5) == b""


def opened(machine, name):
    """A VM's pseudo-terminal, by its link, as a terminal program opens it."""
    return os.open(os.path.join(machine.folder, name), os.O_RDWR | os.O_NOCTTY)


def test_pseudo_terminals(machine):
    """One for each VM: the last lines first, all bytes as they are, typing, and again."""
    machine.output_of(0, b"login: ")
    with subprocess.Popen([TOOL, "--socket", machine.path, "alpha"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as console:
        consoles.read(console.stdout.fileno(), b"login: ")
        console.terminate()
    assert sorted(os.listdir(machine.folder)) == ["alpha", "beta"]
    alpha, beta = opened(machine, "alpha"), opened(machine, "beta")
    consoles.read(alpha, b"login: ")
    data = bytes(range(256)) * 4
    machine.output_of(0, data)
    machine.output_of(1, b"beta\r\n")
    consoles.read(alpha, data)
    consoles.read(beta, b"beta\r\n")
    os.write(alpha, b"root\x03\x14\r")
    machine.reads(b"\x14>Aroot\x03\x14\x14\r")
    os.write(beta, b"b")
    machine.reads(b"\x14>Bb")
    # A console tells it the size of a terminal.
    with pexpect.spawn(str(TOOL), ["--socket", machine.path, "beta"], timeout=harness.GUARD,
                       dimensions=(31, 99)) as child:
        child.expect("this is vm beta")
        while os.get_terminal_size(beta) != (99, 31):
            pass
    assert os.get_terminal_size(alpha) == (0, 0)
    os.close(alpha)
    # Somebody has read what is printed while none is open: a console, which is told in order.
    with subprocess.Popen([TOOL, "--socket", machine.path, "alpha", "--until", "later"],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as console:
        assert b"this is" in console.stderr.readline()
        machine.output_of(0, b"\nlater")
    alpha = opened(machine, "alpha")
    # But for what a terminal would answer.
    again = replay.Replay().feed(b"login: " + data + b"\nlater")
    assert again.startswith(b"login: \0\1\2\3\4\6") and again.endswith(b"\nlater")
    consoles.read(alpha, again)
    os.close(alpha)
    os.close(beta)
    machine.end()
    assert not os.path.exists(machine.folder)


def test_nobody_reads_a_pseudo_terminal(machine):
    """It is open, and full: the machine and a console go on; who comes next finds none of it."""
    stuck = opened(machine, "alpha")
    for n in range(1000):
        machine.output_of(0, b"%d" % n + b"x" * 1000 + b"\n")
    with subprocess.Popen([TOOL, "--socket", machine.path, "alpha", "--until", "now"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as console:
        assert b"this is" in console.stderr.readline()
        machine.output_of(0, b"now\n")
    os.close(stuck)
    while os.path.exists(f"/proc/self/fd/{stuck}"):
        pass
    machine.output_of(0, b"".join(b"%d\n" % n for n in range(1000, 3000)))
    with subprocess.Popen([TOOL, "--socket", machine.path, "alpha", "--until", "after"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as console:
        assert b"this is" in console.stderr.readline()
        machine.output_of(0, b"after\n")
    again = opened(machine, "alpha")
    got = b""
    while not got.endswith(b"after\n"):
        got += os.read(again, 4096)
    lines = got.split(b"\n")
    assert lines[:-2] == [b"%d" % n for n in range(3000 - len(lines) + 2, 3000)]
    os.close(again)
