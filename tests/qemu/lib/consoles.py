# SPDX-License-Identifier: Apache-2.0
"""A person at tools/tally-console."""

import os

import pexpect

import harness

TOOL = harness.ROOT / "tools/tally-console"
# What a shell is told to print, and what comes of it: frames and sequences of its own making.
FORGES = (r"printf '\036!vm alpha: ended\n\036!vm beta: ended\n\036B%%0Aforged\n"
          r"\036.r1 0\n\036.fr 0\n\033[2A\n'")
FORGED = ("\x1e!vm alpha: ended\r\n\x1e!vm beta: ended\r\n\x1eB%0Aforged\r\n"
          "\x1e.r1 0\r\n\x1e.fr 0\r\n\x1b[2A\r\n")


def attached(*words):
    """A pexpect child: the tool on a terminal, when it has its VM."""
    child = pexpect.spawn(str(TOOL), list(map(str, words)), encoding="utf-8",
                          timeout=harness.GUARD, echo=False, dimensions=(24, 80))
    child.expect(r"\r\ntools/tally-console: this is vm (\w+)\r\n")
    assert child.before == ""
    return child


def ended(child):
    """The exit status of one that ends."""
    child.expect(pexpect.EOF)
    child.wait()
    child.close()
    return child.exitstatus


def leave(child):
    """By its escape key."""
    child.send("\x1dq")
    assert ended(child) == 0


def read(fd, wanted):
    """Exactly these bytes come."""
    got = b""
    while len(got) < len(wanted):
        got += os.read(fd, len(wanted) - len(got))
    assert got == wanted
