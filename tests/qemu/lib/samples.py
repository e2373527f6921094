# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows of a session: typed again, and compared with what is printed now.

A sample is a fenced block. What is typed in it are lines `[NAME] / # COMMAND` (a guest's shell),
`tally> COMMAND` (the prompt), `$ COMMAND` (the host's shell), and `Ctrl-T KEY`. The lines behind
one must come in this order; a sample may leave lines out. What guests print must be the same to the
last digit. Numbers of the hypervisor's lines and of the host's tools may be others: they are times
and sums of what a whole kernel did. But a sum of a million and more in a line `tally: ` is mostly
work that is the same each time, such as loading a VM: it may differ by half.
"""
import re

import harness

TYPED = re.compile(r"(?:\[(?P<vm>[a-z]+)\] / # |(?P<prompt>tally> )|\$ )(?P<command>.+)"
                   r"|Ctrl-T (?P<key>\S)(?: .*)?")
PROMPT = r"tally> \x1b\[K"


def blocks(path):
    """The fenced blocks of a page, as lists of lines."""
    text = (harness.ROOT / path).read_text(encoding="utf-8")
    return [block.splitlines() for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)]


def steps(lines):
    """[(match of TYPED, lines behind it)] of a block that is a session; else nothing."""
    found = []
    for line in lines:
        typed = TYPED.fullmatch(line)
        if typed:
            found.append((typed, []))
        elif found:
            found[-1][1].append(line)
    return found


def pattern(line):
    """A regular expression for what may stand for the line, however its columns are set. Numbers
    that may be others are its groups."""
    words = [re.escape(word) for word in line.split()]
    if not re.match(r"\[[a-z]+\]|[a-z]+\|", line):
        words = [re.sub(r"\d+(?:\\\.\d+)?", r"(\\d+(?:\\.\\d+)?)", word) for word in words]
    return r"\s+".join(words)


def is_near(line, groups):
    """Whether the large numbers of a line of the hypervisor's are about those that came."""
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", line)]
    return not line.startswith("tally: ") or all(
        abs(number - float(came)) <= number / 2
        for number, came in zip(numbers, groups, strict=True) if max(number, float(came)) >= 10**6)


def missing(lines, seen):
    """The first line of a sample that does not come in its turn; None if all do."""
    seen = iter(seen)
    for line in lines:
        if not any(found and is_near(line, found.groups()) for found in (
                re.fullmatch(r"\s*" + pattern(line) + r"\s*", other) for other in seen)):
            return line
    return None


class Player:
    """Types a sample's lines at the terminal of a console."""

    def __init__(self, screen):
        self.screen = screen

    def wait(self, lines, end):
        """Until the lines have come, or, wrongly, `end` before."""
        for line in lines:
            came = self.screen.expect([pattern(line) + r"[ \t]*\r*\n", *end])
            assert came == 0, f"instead of {line!r} came:\n{self.screen.before}"
            said = self.screen.match
            assert is_near(line, said.groups()), f"instead of {line!r} came {said[0]!r}"

    def play(self, typed, lines):
        """One step of a block."""
        if typed["key"]:
            self.screen.send("\x14" + typed["key"])
            self.wait(lines, [])
            if typed["key"] == ":":
                self.screen.expect(PROMPT)
            return
        self.screen.send(typed["command"] + "\r")
        self.screen.expect(re.escape(typed["command"]) + r"\r+\n")
        # What follows from these comes when it comes.
        if typed["command"].split()[0] in ("exit", "poweroff", "restart"):
            self.wait(lines, [])
            return
        prompt = PROMPT if typed["prompt"] else rf"\[{typed['vm']}\] / # "
        self.wait(lines, [prompt])
        self.screen.expect(prompt)
