# SPDX-License-Identifier: Apache-2.0
"""README.md and the session of docs/tour.md: what they show is what one sees, and their figures are
those that other tests hold."""

import io
import re
import subprocess

import pexpect
import pytest

import harness
from pages import FIGURES, cells, column, text_of
from platforms import want_instret
import samples


def test_beside_kvm():
    """The README's figures of other firmware are those of the pages that are made from runs."""
    tally, kvm, _ = cells("README.md", "test cases of the SBI PMU")
    (kernel,) = re.findall(r"\| KVM \(Linux (6[.\d]*)\) \|", text_of("README.md"))
    rows = re.findall(rf"^\| (KVM), Linux {kernel} \|(.*)\|$|^\| (Tally) \|(.*)\|$",
                      text_of("docs/firmwares.md"), re.M)
    counts = {first or second: [int(n) for n in re.findall(r"\d+", left or right)]
              for first, left, second, right in rows}
    passed, wrong, silent, machine, _ = counts["Tally"]
    assert tally == f"{passed} of {passed + wrong + silent + machine} right"
    passed, wrong, silent, machine, _ = counts["KVM"]
    run = passed + wrong + silent + machine
    assert kvm == f"{run - wrong} of {run} right"
    read = column(FIGURES, "read-direct", "kvm-6.12")
    assert cells("README.md", "read of a counter")[1] == f"{read:,.0f} instructions"


def test_one_sitting():
    """It stays a page that is read to its end."""
    assert len(text_of("README.md").split()) < 900


@pytest.fixture
def terminal(console, tmp_path):
    """What `make run` gives to somebody with a terminal, when both guests have a shell."""
    path = tmp_path / "control"
    screen = console(harness.ROOT / "dts/two-linux-shell.dts",
                     options=["--brief", "--control", path])
    screen.logfile_read = io.StringIO()
    screen.control = path
    for _ in range(2):
        screen.expect("A shell on (alpha|beta)")
    screen.expect(r"\[alpha\] / # ")
    return screen


def on_the_host(screen, command):
    """Lines of a command of the README, which finds this test's machine."""
    tool, _, words = command.partition(" ")
    done = subprocess.run(["sh", "-c", f"{tool} --socket {screen.control} {words}"],
                          cwd=harness.ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (harness.OK, ""), done
    return done.stdout.splitlines()


def check_pairs(lines):
    """Each VM has as many cycles as instructions."""
    counts = {}
    for line in lines:
        found = re.match(r" +(\d+) +(cycles|instructions) +(\S+) ", line)
        if found:
            counts.setdefault(found[3], []).append(int(found[1]))
    assert set(counts) == {"alpha", "beta"}, lines
    for cycles, instructions in counts.values():
        assert cycles == instructions > 0, lines


def test_samples(terminal):
    """Each number that a guest prints is the README's."""
    blocks = [samples.steps(block) for block in samples.blocks("README.md")]
    (host,) = [block for block in blocks if block and block[0][0][0].startswith("$ ")]
    shell = [block for block in blocks if block and block is not host]
    assert len(shell) == 2
    player = samples.Player(terminal)
    for block in shell:
        for typed, lines in block:
            player.play(typed, lines)
    # Now both have work to do.
    terminal.send("work 100000000000\r")
    terminal.expect(r"work 100000000000\r+\n")
    terminal.send("\x14n")
    terminal.expect(r"\[beta\] / # ")
    terminal.send("work 100000000000\r")
    terminal.expect(r"work 100000000000\r+\n")
    ((typed, lines),) = host
    seen = on_the_host(terminal, typed["command"])
    assert samples.missing(lines, seen) is None, seen
    check_pairs(lines)
    check_pairs(seen)


def test_the_tour(terminal):
    """From the first shell until both guests are off."""
    want_instret()
    player = samples.Player(terminal)
    for block in samples.blocks("docs/tour.md"):
        for typed, lines in samples.steps(block):
            if typed[0].startswith("$ "):
                seen = on_the_host(terminal, typed["command"])
                assert samples.missing(lines, seen) is None, seen
            else:
                player.play(typed, lines)
    terminal.expect(pexpect.EOF)
    terminal.wait()
    terminal.close()
    assert terminal.exitstatus == harness.OK


def test_a_wrong_digit_is_noticed():
    """A guest's; a sum of Tally's may differ, its words may not."""
    seen = ["[alpha]   100      cycles:u   ", "tally: vm alpha: 12 exits"]
    assert samples.missing(["[alpha] 100 cycles:u", "tally: vm alpha: 9 exits"], seen) is None
    for wrong in ("[alpha] 101 cycles:u", "[beta] 100 cycles:u", "tally: vm alpha: 12 exit"):
        assert samples.missing([wrong], seen) == wrong
    assert samples.missing(["tally: vm alpha: 9 exits", "[alpha] 100 cycles:u"], seen)
    line = "tally: vm alpha: ran 1.4 s, %d HS instructions"
    for number, near in ((37000000, True), (50000000, True), (7700000, False), (9, False)):
        assert (samples.missing([line % number], [line % 37100000]) is None) == near
