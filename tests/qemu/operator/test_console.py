# SPDX-License-Identifier: Apache-2.0
"""The console that all guests share: nothing typed or printed is lost or torn."""

import contextlib
import hashlib
import random
import re
import string
import threading

import pexpect
import pytest

import bare_guests
from bare_guests import letters
import harness
import programs

LINES = 600


@pytest.mark.parametrize("beta", ["dbcn", "call", "uart"])
def test_two_that_flood(tmp_path, beta):
    """Each line is there once, whole, behind its guest's name, and in order."""
    guests = {"alpha": f"kind=chatter lines={LINES} by=dbcn",
              "beta": f"kind=chatter lines={LINES} by={beta}"}
    result = bare_guests.boot(tmp_path, guests)
    expected = [letters(n) for n in range(LINES)]
    for name in guests:
        assert [line for line in result.lines if line.startswith(f"[{name}]")] == [
            f"[{name}] {line}" for line in expected]
    # They print in turns: so whole lines are not whole by chance.
    names = re.findall(r"^\[(alpha|beta)\]", result.console, re.M)
    assert sum(a != b for a, b in zip(names, names[1:])) > 4


@pytest.mark.parametrize("profile", ["exact", "smp"])
def test_one_call_on_the_move(tmp_path, two_harts, roaming, profile):
    """What one call writes is whole, on however many harts that is: by turns of these, which are
    the same in each run, and on threads of the host, which may need few."""
    guests = {name: f"kind=chatter lines={LINES} by=call" for name in ("alpha", "beta")}
    harts = two_harts if profile == "exact" else ["--harts", 2]
    result = bare_guests.boot(tmp_path, guests, profile=profile, vcpus=("0 1",), stays=False,
                              options=[*harts, *roaming])
    for name in guests:
        assert result.vm(name) == [letters(n) for n in range(LINES)]
        counts = bare_guests.exits(result, name)
        assert counts["ecall"] < 10
        assert profile == "smp" or counts["moves"] > 10, counts


@pytest.mark.long
def test_two_linux_guests_that_flood(linux):
    """The driver's interrupts at work in both guests at once."""
    script = "seq 2000 | sed 's/.*/line & of a text that is long enough to be torn/'"
    result = linux({"alpha": script, "beta": script})
    assert result.status == harness.OK, str(result)
    expected = [f"line {n} of a text that is long enough to be torn" for n in range(1, 2001)]
    assert result.guest_output("alpha", "alpha") == expected
    assert result.guest_output("beta", "beta") == expected


def drain(screen):
    """Reads what has been printed."""
    with contextlib.suppress(pexpect.TIMEOUT):
        while True:
            screen.read_nonblocking(65536, timeout=0)


def paste(screen, text, piece=512):
    """Sends a long text and reads meanwhile: else the guest's echo fills the terminal, and both
    wait for each other."""
    for at in range(0, len(text), piece):
        screen.send(text[at : at + piece])
        drain(screen)


@pytest.mark.long
def test_a_long_paste(console, tmp_path):
    """20,000 bytes for one guest while a program asks Tally; then to the other with Ctrl-T n, and
    back."""
    path = tmp_path / "control"
    screen = console(harness.ROOT / "dts/two-linux-shell.dts", timeout=harness.GUARD,
                     options=["--control", path])
    for _ in range(2):
        screen.expect("A shell on (alpha|beta)")
    screen.expect(r"\[alpha\] / # ")
    chance = random.Random(1)
    lines = ["".join(chance.choices(string.ascii_letters + string.digits + " ./:", k=79))
             for _ in range(250)]
    text = "\n".join(lines) + "\n"
    assert len(text) == 20000
    screen.send("cat > /x\r")
    screen.expect(r"cat > /x\r+\n")
    end, answers = threading.Event(), []
    program = threading.Thread(target=programs.ask_until, args=(path, end, answers))
    program.start()
    paste(screen, text[:10000])
    while len(answers) <= 6:
        drain(screen)
    paste(screen, text[10000:])
    screen.send("\x04")
    screen.expect(r"\[alpha\] / # ")
    screen.send("md5sum < /x; wc -c < /x\r")
    screen.expect(r"\[alpha\] ([0-9a-f]{32})  -\r+\n")
    found = screen.match.group(1)
    end.set()
    program.join()
    screen.expect(r"\[alpha\] (\d+)\r+\n")
    assert (found, screen.match.group(1)) == (hashlib.md5(text.encode()).hexdigest(), "20000")
    for name, key in (("beta", "n"), ("alpha", "n"), ("beta", "p"), ("alpha", "1"), ("beta", "2")):
        screen.send("\x14" + key)
        screen.expect(f"input goes to {name}")
        screen.send("echo $((6 * 7)) $(hostname)\r")
        screen.expect(rf"\[{name}\] 42 {name}\r+\n")


def rounds_of(result):
    """How far alpha came in its time."""
    return int(re.search(r"busy: ends after (\d+) rounds", "\n".join(result.vm("alpha")))[1])


def test_a_flood_delays_nobody(tmp_path):
    """Beside a guest that prints all the time, alpha comes as far as beside one that computes."""
    ticks = 2000000
    alpha = f"kind=busy ticks={ticks}"
    quiet = rounds_of(bare_guests.boot(tmp_path, {"alpha": alpha, "beta": alpha}))
    result = bare_guests.boot(tmp_path,
                              {"alpha": alpha, "beta": "kind=chatter lines=40000 by=dbcn"})
    flooded = rounds_of(result)
    # It prints until alpha has ended.
    ends = [n for n, line in enumerate(result.lines) if "busy: ends" in line]
    assert len([line for line in result.lines[ends[0]:] if line.startswith("[beta] line")]) > 10
    assert len(result.vm("beta")) == 40000
    assert abs(flooded - quiet) < quiet // 50, (flooded, quiet)
