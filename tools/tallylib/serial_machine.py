# SPDX-License-Identifier: Apache-2.0
"""A machine at the other end of a serial line that this program has alone, for tools that ask. It is
asked in frames (docs/frames.md), and left with whole lines for people."""
import contextlib
import os
import select
import time

from tallylib import frames
from tallylib import line as lines
from tallylib import tally_ctl

AGAIN_S = 2.0  # then it is asked for frames once more: what it heard may have been half a key
ENDED = "the line has ended"


class SerialMachine(tally_ctl.Machine):
    """path, baud: of the line (tallylib/line.py). timeout: for each answer, in seconds."""

    def __init__(self, path, baud, timeout=10):
        # Not its parent's: there is no socket of tools/run.
        # pylint: disable=super-init-not-called
        self.timeout = timeout
        self.number = 0
        self.line = lines.serial(path, baud)
        try:
            self._begin()
        except BaseException:
            self.line.close()
            raise

    def close(self):
        with contextlib.suppress(tally_ctl.NoAnswer, TimeoutError):
            self._ask(b"frames off", self._deadline())
        self.line.close()

    def _deadline(self):
        return None if self.timeout is None else time.monotonic() + self.timeout

    def _begin(self):
        """Until it hears."""
        deadline = self._deadline()
        while True:
            again = time.monotonic() + AGAIN_S
            with contextlib.suppress(TimeoutError):
                self._ask(b"frames on", again if deadline is None else min(again, deadline))
                return
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError

    def _events(self, deadline):
        """The next events, some or none."""
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        try:
            unsent = self.line.flush()
            select.select([self.line], [self.line] if unsent else [], [], left)
            return self.line.receive()
        except lines.Ended as error:
            raise tally_ctl.NoAnswer(ENDED) from error

    def _ask(self, command, deadline):
        """Status and lines. Each request has a name that no other one has had lately, of whatever
        program: late answers to others are nobody's."""
        self.number += 1
        name = "%x%x" % (os.getpid() & 0xfffff, self.number & 0xfff)
        with contextlib.suppress(lines.Ended):  # what it had to say before that can be read
            self.line.send(frames.request(name.encode(), command))
        answer = []
        while True:
            for event in self._events(deadline):
                if isinstance(event, frames.Answer) and event.request == name:
                    answer.append(event.text)
                elif isinstance(event, frames.AnswerEnd) and event.request == name:
                    return event.status, answer

    def ask(self, command):
        tally_ctl.check(command)
        return self._ask(command.encode(), self._deadline())
