# SPDX-License-Identifier: Apache-2.0
"""The serial line without any tool: what a person at a terminal program sees and can do."""

import json
import re
import sys

import pexpect.fdpexpect
import pytest

import alone
import harness
import recorded

SHELL = "/ # "
FORGED = r"\033[A\033[A\rtally: forged\033[1;1Htally: forged\b\b\033[2J\033]0;x\a\302\2331Ay\r"


@pytest.fixture
def line(tmp_path):
    """A pexpect child: the line, when alpha's shell waits."""
    with (alone.machine(tmp_path, "tally.console=interactive") as qemu,
          alone.connected(tmp_path) as connection):
        child = pexpect.fdpexpect.fdspawn(connection, encoding="utf-8",
                                           timeout=harness.GUARD)
        for _ in range(2):
            child.expect(r"A shell on (alpha|beta)")
        child.send("\r")
        child.expect_exact("\r\n[alpha] " + SHELL)
        child.logfile_read = sys.stdout
        child.qemu = qemu
        yield child


def types(child, text, echo=None):
    """And sees it."""
    child.send(text)
    child.expect_exact(text.rstrip("\r") if echo is None else echo)


def ask(child, command):
    """Tally's lines in answer, at the prompt."""
    types(child, command + "\r", command + "\r\n")
    child.expect_exact("tally> ")
    lines = child.before.split("\r\n")[:-1]
    assert all(text.startswith("tally: ") for text in lines), lines
    return [text.removeprefix("tally: ") for text in lines]


def plain(text):
    """What a person reads of an object of JSON; numbers, which go on, as N."""
    text = re.sub(r',(?=")', ", ", text[1:-1]).replace('":', " ").replace('"', "")
    return re.sub(r"\d+", "N", text)


def focus_and_an_unfinished_line(line):
    """Focus, and an unfinished line that waited for it."""
    line.send("\x142")
    line.expect_exact("\r\ntally: input goes to beta (Ctrl-T ? for help)\r\n")
    line.expect_exact("[beta] " + SHELL)
    types(line, "hostnamx\x7fe\r", "hostnamx\b \be")
    line.expect_exact("\r\n[beta] beta\r\n[beta] " + SHELL)


def forgery(line):
    """The guest in focus may print what it likes: each line of it is behind its name."""
    seen = recorded.Screen(columns=200, lines=24)
    line.send(f"printf '{FORGED}'; echo e''nd\r")
    line.expect_exact("[beta] end\r\n")
    assert "\x1b" not in line.before
    seen.feed(line.before.encode())
    assert "[beta] tally: forgedtally: forg?1Ay" in seen.all_rows()
    assert not [row for row in seen.all_rows() if row.startswith("tally: ")]
    line.expect_exact("[beta] " + SHELL)


def requests_at_the_prompt(line):
    """The prompt, and between two of its keys a program's request."""
    line.send("\x14:")
    line.expect_exact("\r\ntally: input goes to the prompt (Ctrl-T ? for help)\r\ntally> ")
    types(line, "vmx\x7f", "vmx\b \b")
    line.send("\x14=r1 vms --json\r")
    line.expect(r"^(?:\x1e=r1 [^\n]*\n){2}\x1e\.r1 0\n")
    told = [text.removeprefix("\x1e=r1 ") for text in line.after.split("\n")[:2]]
    assert [(vm["vm"], vm["state"], vm["harts"]) for vm in map(json.loads, told)] == [
        ("alpha", "running", [0]), ("beta", "running", [0])]
    line.send("s\r")
    line.expect_exact("s\r\n")
    line.expect_exact("tally> ")
    shown = line.before.split("\r\n")[:-1]
    assert [re.sub(r"\d+", "N", text) for text in shown] == ["tally: " + plain(text)
                                                             for text in told]
    assert re.fullmatch(r"tally: vm alpha, state running, uptime_ms \d+, vcpus 1, harts \[0\], "
                        r"memory \d+", shown[0])


def the_same_fields(line):
    """The same fields for a person and for a program."""
    for command in ("exits", "pmu"):
        objects, texts = ask(line, command + " --json"), ask(line, command)
        assert [json.loads(text)["vm"] for text in objects] == ["alpha", "beta"]
        assert [re.sub(r"\d+", "N", text) for text in texts] == list(map(plain, objects))
    observation = ask(line, "observe alpha instructions:u")
    assert re.fullmatch(r"vm alpha, vcpu 0, observation 1, event 0x2, data 0x0, filter u, value 0, "
                        r"ns \d+, at_ns \d+, looked_ns \d+, shared false, ended null", *observation)
    assert ask(line, "observe alpha nonsense") == [
        "usage: observe VM EVENT [--json]"]
    assert ask(line, "trace") == ["no exit was noted"]
    # Tally itself completes, edits in the middle, and remembers.
    line.send("unob\t9")
    line.expect_exact("unobserve 9")
    line.send("\x1b[D0\r")
    line.expect_exact("\r\x1b[Ktally> unobserve 09\x1b[1D\r\n")
    line.expect_exact("tally: unobserve: there is no observation of that number\r\n")
    line.expect_exact("tally> ")
    line.send("\x1b[A\r")
    line.expect_exact("\r\x1b[Ktally> unobserve 09\r\n")
    line.expect_exact("tally: unobserve: there is no observation of that number\r\n")
    line.expect_exact("tally> ")
    line.send("o\t\t")
    line.expect_exact("tally: observe observed\r\ntally> observe")
    line.send("\x03")
    line.expect_exact("\r\ntally> ")
    line.send("\x04")
    line.expect_exact("input goes to beta (Ctrl-T ? for help)\r\n")


def keys_and_the_end(line):
    """Keys for VMs, and the machine's end."""
    line.send("\x14s")
    line.expect_exact("tally: beta is being stopped\r\n")
    line.expect_exact("tally: vm beta: stopped\r\n")
    line.send("x\x14n")
    line.expect_exact("tally: input goes to alpha (Ctrl-T ? for help)\r\n")
    types(line, "hostname\r")
    line.expect_exact("[alpha] alpha\r\n")
    line.send("\x14:")
    line.expect_exact("tally> ")
    types(line, "poweroff\r")
    line.expect_exact("tally: all VMs are being stopped, then the machine goes off\r\n")
    line.expect_exact("tally: all VMs ended")
    line.expect(pexpect.EOF)
    assert line.qemu.wait(timeout=harness.GUARD) == 0


# Long, because lines of beta's boot sometimes tear what is typed at alpha, and then it waits.
@pytest.mark.long
def test_two_guests_on_a_bare_line(line):
    types(line, "echo $((6 * 7)) $(hostname)\r")
    line.expect_exact("\r\n[alpha] 42 alpha\r\n[alpha] " + SHELL)
    focus_and_an_unfinished_line(line)
    forgery(line)
    requests_at_the_prompt(line)
    the_same_fields(line)
    keys_and_the_end(line)
