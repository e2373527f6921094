# SPDX-License-Identifier: Apache-2.0
"""Tally's prompt on a terminal, and the bare guests behind it."""

import re

import pexpect

import bare_guests
import harness
import measured
import schemas

LENGTH = 50000000
GUESTS = {"alpha": f"kind=measure rounds=1 length={LENGTH}", "beta": "kind=busy ticks=40000000"}
EXPECTED = measured.rounds(1, LENGTH)
# The same without an end: however long a test takes, both still run.
ON_AND_ON = f"kind=measure rounds=1000000 length={LENGTH}"
ENDLESS = {"alpha": ON_AND_ON, "beta": bare_guests.FOREVER}
# The same beside programs that come and go: each row still lasts ten turns of its vcpu. A test that
# uses it says how often they must have come.
SHORT = 5000000
SHORT_ROWS = f"kind=measure rounds=1000000 length={SHORT}"
OFTEN = 10
EXITS = ["ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other"]


def as_seen(text):
    """What stays on the screen: no erased lines, escape sequences or CR."""
    text = re.sub(r"[^\n]*\x1b\[m\r\x1b\[K", "", text)
    return re.sub(r"\x1b(\[[?0-9;]*[A-Za-z]|[78>]|\(B)|[\r\x0f]", "", text)


def check_rounds(lines, expected=None):
    """What a guest of ON_AND_ON has printed, a whole round at least; a stop may have cut the last
    line."""
    expected = expected or EXPECTED
    rows = [line for line in lines if line.startswith("measure: round ")][:-1]
    assert len(rows) >= len(expected)
    assert rows == [expected[n % 8].replace("round 0", f"round {n // 8}") for n in range(len(rows))]


class Prompt:
    """A prompt that reads commands."""

    def __init__(self, screen):
        self.screen = screen
        screen.send("\x14:")
        screen.expect("tally: input goes to the prompt .*\n")
        self.wait()

    def wait(self):
        """Until it reads on; what was printed meanwhile."""
        self.screen.expect(r"tally> \x1b\[K")
        return as_seen(self.screen.before)

    def ask(self, command):
        """Tally's lines in answer, without their prefix."""
        self.screen.send(command + "\r")
        self.screen.expect(re.escape(command) + r"\r+\n")
        return [line.removeprefix("tally: ") for line in self.wait().split("\n")
                if line.startswith("tally: ")]

    def objects(self, command):
        return [schemas.read("tally-ctl", line, command.split()[0])
                for line in self.ask(command + " --json")]


def to_the_end(screen):
    """All that was seen."""
    screen.expect("tally: all VMs ended")
    screen.expect(pexpect.EOF)
    screen.wait()
    screen.close()
    assert screen.exitstatus == harness.OK
    return as_seen(screen.logfile_read.getvalue())
