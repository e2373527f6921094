# SPDX-License-Identifier: Apache-2.0
"""A stranger on Debian 12 and 13: a minimal system of that release, with git and make, in which the
commands of README.md, docs/tour.md, docs/profiling.md and docs/disks.md are typed into a fresh
clone, as root. Packages come from this computer's mirror."""

import re
import shlex
import subprocess

import pexpect
import pytest

import harness
import minimal
import samples

pytestmark = [pytest.mark.long, minimal.needs_root, minimal.on_x86_64]
# What `make check` leaves out: checkers of another version than Debian 12's.
LEFT_OUT = {"bookworm": [], "trixie": ["format:", "python:", "shell:", "cppcheck:", "clang-tidy:"]}


@pytest.fixture(name="stranger", scope="module", params=["bookworm", "trixie"])
def a_computer(request):
    """Its minimal.System, with a clone in /root/tally."""
    with minimal.debian(request.param, "git", "make") as system:
        system.suite = request.param
        subprocess.run(["git", "clone", "--quiet", harness.ROOT, system.root / "root/tally"],
                       check=True)
        system.folder = "/root/tally"
        yield system


def told(page, begin):
    """The line of a page's sample that begins with these words, as one would copy it."""
    for block in samples.blocks(page):
        for line in block:
            line = line.removeprefix("$ ")
            if re.match(re.escape(begin) + r"(\s|$)", line):
                return line
    raise AssertionError(f"{page} has no command {begin}")


def ends_well(child):
    """A program on a terminal ends with status 0."""
    child.expect(pexpect.EOF)
    child.wait()
    child.close()
    assert child.exitstatus == harness.OK


def shells(child):
    """Waits until `make run` offers both shells."""
    for _ in range(2):
        child.expect("A shell on (alpha|beta)")
    child.expect(r"\[alpha\] / # ")


def works(screen):
    """The guest in focus has much to do."""
    screen.send("work 100000000000\r")
    screen.expect(r"work 100000000000\r+\n")


def test_the_first_run(stranger):
    """Nothing of Tally's needs is there before. Both counts are right."""
    assert not (stranger.root / "usr/bin/qemu-system-riscv64").exists()
    lines = stranger.says(told("README.md", "make run"))
    for vm in ("alpha", "beta"):
        assert f"[{vm}] work executes 50000000 instructions; perf counted 50000000" in lines
    assert "tally: all VMs ended" in lines
    # What only tests need is not installed.
    assert not (stranger.root / "usr/bin/pylint").exists()
    assert stranger.typed("tools/setup") == (0, "", "")


def attached(stranger):
    """A second terminal at beta: perf in that guest counts there, too."""
    with stranger.terminal("tools/tally-console beta") as console:
        console.expect("this is vm beta")
        console.send("perf stat -e instructions:u work 20000000\r")
        console.expect(r" 20000000 +instructions:u")
        console.send("\x1dq")
        ends_well(console)


def profiled(stranger):
    """Samples of both guests, as tables and as a page."""
    said = stranger.typed(told("docs/profiling.md", "tools/perf-vms record"))
    found = dict(re.findall(r"record: (\w+)/0: (\d+) samples of \d+ cycles,", said[1] + said[2]))
    assert said[0] == 0 and set(found) == {"alpha", "beta"}, said
    assert all(int(number) for number in found.values()), said
    rows = stranger.says(told("docs/reports.md", "tools/perf-vms report"))
    assert {row.split()[2] for row in rows if not row.startswith("#") and row} == {
        "alpha", "beta"}, rows
    said = stranger.typed(told("docs/profiling.md", "tools/perf-vms html"))
    assert said == (0, "", f"page.html: {sum(map(int, found.values()))} samples\n")
    text = (stranger.root / "root/tally/page.html").read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>")


def watched(stranger):
    """tally-top names functions of both."""
    with stranger.terminal("tools/tally-top --functions") as top:
        for vm in ("alpha", "beta"):
            top.expect(rf"{vm}: [1-9]\d* samples")
        top.send("q")
        ends_well(top)


def test_the_readme(stranger):
    """Its samples in a guest, those from outside, and what its pages on profiling begin with."""
    blocks = [samples.steps(block) for block in samples.blocks("README.md")]
    blocks = [block for block in blocks if block]
    with stranger.terminal(told("README.md", "make run")) as screen:
        shells(screen)
        player = samples.Player(screen)
        for block in blocks:
            if not block[0][0][0].startswith("$ "):
                for typed, lines in block:
                    player.play(typed, lines)
        attached(stranger)
        works(screen)
        screen.send("\x14n")
        screen.expect(r"\[beta\] / # ")
        works(screen)
        ((typed, lines),) = [block[0] for block in blocks if block[0][0][0].startswith("$ ")]
        seen = stranger.says(typed["command"])
        assert samples.missing(lines, seen) is None, seen
        watched(stranger)
        profiled(stranger)
        screen.send("\x01x")
        ends_well(screen)


def test_the_tour(stranger):
    """From the first shell until both guests are off."""
    with stranger.terminal(told("README.md", "make run")) as screen:
        shells(screen)
        player = samples.Player(screen)
        for block in samples.blocks("docs/tour.md"):
            for typed, lines in samples.steps(block):
                if typed[0].startswith("$ "):
                    seen = stranger.says(typed["command"])
                    assert samples.missing(lines, seen) is None, seen
                else:
                    player.play(typed, lines)
        ends_well(screen)


def log_in(stranger, run, name, command, wanted):
    """By the line of docs/disks.md, on a terminal; a command there, and the guest is off. That is
    waited for where the machine tells it: a guest that is off may have left the connection open."""
    page = (harness.ROOT / "docs/disks.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^    (ssh -F build/debian/ssh_config alpha)$", page, re.M)
    # Nothing that ends by the time of this computer.
    line = line.replace("alpha", f"-o ServerAliveCountMax=1000000 {name}")
    with stranger.terminal(line) as shell:
        shell.expect(rf"root@{name}:~# ")
        shell.send(command + "\r")
        shell.expect(wanted)
        shell.expect(rf"root@{name}:~# ")
        shell.send("poweroff\r")
        run.expect(f"vm {name}: ended")


def test_guests_with_disks(stranger):
    """They are made, logged in to, measured in, and switched off."""
    page = (harness.ROOT / "docs/disks.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    root@alpha:~# (perf stat .*)$", page, re.M)
    event = shlex.split(command)[3]
    # Without a terminal there: SSH is the only way in.
    with stranger.terminal("exec </dev/null; " + told("README.md", "make run-debian")) as run:
        ready = {"alpha", "beta"}
        while ready:
            run.expect(r"(\w+): ssh ready")
            ready.remove(run.match[1])
        for name in ("alpha", "beta"):
            log_in(stranger, run, name, command, rf"[1-9][\d,]* +{event}\b")
        run.expect("tally: all VMs ended")
        ends_well(run)


def test_make_check(stranger):
    """With both compilers of the release. Checkers of other versions than Debian 12's are named."""
    status, out, error = stranger.typed("make check")
    assert status == 0, out + error
    assert "check: clang: ok\n" in out and "FAILED" not in out
    left_out = [line.split()[1] for line in out.splitlines() if ": left out, " in line]
    assert left_out == LEFT_OUT[stranger.suite]
