# SPDX-License-Identifier: Apache-2.0
"""What a person sees of guests on a terminal: full-screen programs, last lines, colours, logs."""

import re

import pexpect
import pytest

import harness
from recorded import until_shown
from tallylib import tally_ctl

SCRIPTS = {"alpha": "true", "beta": "true"}
TICKS = "n=0; while sleep 0.1; do n=$((n + 1)); echo tick $n; done &"
ALPHA, BETA = r"\x1b\[32m\[alpha\]\x1b\[m", r"\x1b\[33m\[beta\]\x1b\[m"


def as_left(screen):
    """All up to EOF."""
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == harness.OK


def wait_for_beta(path):
    """Until it has printed some lines more, which nobody sees."""
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        def printed():
            return machine.objects("exits")[1]["mmio"]
        enough = printed() + 200
        while printed() < enough:
            pass


def in_vi(screen, path):
    """A program that asks for the whole screen."""
    screen.send("vi /tmp/x\r")
    screen.expect(r"\x1b\[\?1049h")
    whole = until_shown(screen, "~")
    screen.send("ihello world\x1b")
    whole += until_shown(screen, "hello world", whole)
    wait_for_beta(path)
    screen.send(":wq\r")
    screen.expect(r"\x1b\[\?1049l")
    whole += screen.before
    assert "alpha]" not in whole and "beta" not in whole and "tick" not in whole
    assert "\x1b[30;1H" in whole  # the line of status, where the window ends
    screen.expect(rf"{BETA} tick (\d+)\r\n")
    screen.send("cat /tmp/x\r")
    screen.expect(rf"{ALPHA} hello world\r\n")


def in_top(screen):
    """One that does not."""
    screen.send("\x14f")
    screen.expect(r"alpha has the whole screen \(Ctrl-T f\)\r\n")
    screen.send("top\r")
    screen.expect(r"\x1b\[H\x1b\[J")
    screen.expect(r"\x1b\[H\x1b\[J")
    assert "Mem: " in screen.before and "alpha]" not in screen.before
    assert "tick" not in screen.before
    screen.send("q\x14f")
    screen.expect(r"alpha prints lines again \(Ctrl-T f\)\r\n")
    screen.expect(rf"{BETA} tick \d+\r\n")


@pytest.mark.long
def test_an_evening_at_the_terminal(console, tmp_path):
    """alpha runs vi and top while beta prints: nothing of beta's touches the screen, and nothing of
    it is lost."""
    logs, path = tmp_path / "logs", tmp_path / "control"
    tree = harness.linux_tree(tmp_path, SCRIPTS, bootargs="tally.shell")
    screen = console(tree, timeout=harness.GUARD, colours=True,
                     options=["--log-dir", logs, "--control", path])
    for _ in range(2):
        screen.expect(rf"({ALPHA}|{BETA}) A shell on (alpha|beta)")
    screen.expect(rf"{ALPHA} / # ")

    # A key types for the person how large the terminal is.
    screen.setwinsize(30, 100)
    screen.send("\x14w")
    screen.expect(r"stty rows 30 cols 100\r\n")
    screen.send("stty size\r")
    screen.expect(rf"{ALPHA} 30 100\r\n")

    screen.send("\x142")
    screen.expect(r"input goes to beta [^\n]*\n")
    screen.send(TICKS + "\r")
    screen.expect(rf"{BETA} tick 3\r\n")
    screen.send("\x141")
    screen.expect(r"input goes to alpha [^\n]*\n")
    # What alpha said last, once more.
    screen.expect(r"alpha\| 30 100\r\n")
    screen.expect(rf"{BETA} tick \d+\r\n")

    in_vi(screen, path)
    in_top(screen)

    screen.send("\x142")
    screen.expect(r"input goes to beta [^\n]*\n((beta\| [^\n]*\n)+)")
    ticks = re.findall(r"beta\| tick (\d+)\r\n", screen.match[1])
    assert len(ticks) == 20
    assert [int(n) for n in ticks] == list(range(int(ticks[0]), int(ticks[0]) + 20))
    for key, name in (("2", "beta"), ("1", "alpha")):
        screen.send(f"\x14{key}poweroff -f\r")
        screen.expect(f"vm {name}: ended")
    as_left(screen)

    log = {path.stem: path.read_text(encoding="utf-8") for path in logs.iterdir()}
    assert set(log) == {"alpha", "beta", "tally"}
    assert all(text.replace("\n", "").replace("\t", "").isprintable() for text in log.values())
    ticks = [int(n) for n in re.findall(r"tick (\d+)$", log["beta"], re.M)]
    assert len(ticks) > 30 and ticks == list(range(1, len(ticks) + 1))
    assert "\n/ # cat /tmp/x\n" in log["alpha"] and "\n30 100\n" in log["alpha"]
    assert "vm beta: ended\n" in log["tally"] and "all VMs ended\n" in log["tally"]
    assert "[" not in log["tally"].split("\n")[-2]
