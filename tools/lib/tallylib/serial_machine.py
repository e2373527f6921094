# SPDX-License-Identifier: Apache-2.0
"""A machine at the other end of a serial line that this program has alone, for tools that ask. It
is asked in frames (docs/frames.md), and left with whole lines for people."""
import contextlib
import os
import queue
import select
import threading
import time

from tallylib import frames
from tallylib import line as lines
from tallylib import tally_ctl

AGAIN_S = 2.0  # then it is asked for frames once more: what it heard may have been half a key


class SerialMachine(tally_ctl.Machine):
    """path, baud: of the line (tallylib/line.py). timeout: for each answer, in seconds."""

    def __init__(self, path, baud, timeout=10):
        # Not its parent's: there is no socket of tools/run.
        # pylint: disable=super-init-not-called
        self.timeout = timeout
        self.number = 0
        self.line = lines.serial(path, baud)
        self.name = None              # of the request that is under way
        self.answers = queue.Queue()  # its events; None: the line has ended
        self.stop, self.stopped = os.pipe()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        try:
            self._begin()
        except BaseException:
            self._end()
            raise

    def close(self):
        with contextlib.suppress(tally_ctl.NoAnswer, TimeoutError):
            self._ask(b"frames off", self._deadline())
        self._end()

    def _end(self):
        os.close(self.stopped)
        self.reader.join()
        os.close(self.stop)
        self.line.close()

    def _read(self):
        """The thread. It reads all that comes, also while nothing is asked, because a line that
        nobody reads stops the machine behind it."""
        with contextlib.suppress(lines.Ended):
            while self.stop not in select.select([self.line, self.stop], [], [])[0]:
                for event in self.line.receive():
                    if self.name and getattr(event, "request", None) == self.name:
                        self.answers.put(event)
        self.answers.put(None)

    def _deadline(self):
        return None if self.timeout is None else time.monotonic() + self.timeout

    def _begin(self):
        """Asks for frames until the machine answers."""
        deadline = self._deadline()
        while True:
            again = time.monotonic() + AGAIN_S
            with contextlib.suppress(TimeoutError):
                self._ask(b"frames on", again if deadline is None else min(again, deadline))
                return
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError

    def _ask(self, command, deadline):
        """Returns status and lines. Each request has a name that no program has used lately, so a
        late answer to another request is not taken for this one's."""
        self.number += 1
        self.name = "%x%x" % (os.getpid() & 0xfffff, self.number & 0xfff)
        with contextlib.suppress(lines.Ended):  # what it had to say before that can be read
            self.line.send(frames.request(self.name.encode(), command))
            while self.line.flush():
                select.select([], [self.line], [], 1)
        answer = []
        while True:
            left = None if deadline is None else max(0, deadline - time.monotonic())
            try:
                event = self.answers.get(timeout=left)
            except queue.Empty as error:
                raise TimeoutError from error
            if event is None:
                self.answers.put(None)
                raise tally_ctl.NoAnswer("the line has ended")
            if event.request != self.name:
                continue
            if isinstance(event, frames.AnswerEnd):
                return event.status, answer
            answer.append(event.text)

    def ask(self, command):
        tally_ctl.check(command)
        return self._ask(command.encode(), self._deadline())
