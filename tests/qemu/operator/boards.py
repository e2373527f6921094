# SPDX-License-Identifier: Apache-2.0
"""A board's serial line whose other end is a function here: it speaks as HS does
(docs/frames.md)."""

import contextlib
import os
import socket
import threading
import tty

import pytest

import fakes
import harness
from runlib.attached import Typed
from tallylib import frames


class Board:
    """names: of its VMs; answer(command) -> (status, lines). line: its path for --serial; a serial
    device (a pseudo-terminal), or a UNIX socket at `path`."""

    def __init__(self, names, answer, path=None, deaf=0):
        self.names, self.answer = names, answer
        self.deaf = deaf          # so many requests are lost
        self.frames = False
        self.typed = {n: b"" for n in range(len(names))}
        self.commands = []
        self.ahead = self.most_ahead = 0  # bytes typed since the last answer
        self.change = threading.Condition()
        self.fd = self.listener = None
        if path:
            self.line = str(path)
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.line)
            self.listener.listen(1)
        else:
            self.fd, self.other = os.openpty()
            tty.setraw(self.other)
            self.line = os.ttyname(self.other)
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        """The thread."""
        with contextlib.suppress(OSError):
            while True:
                if self.listener:
                    self.fd = self.listener.accept()[0].detach()
                reader = Typed(self.type, self.ask)
                while data := os.read(self.fd, 4096):
                    reader.feed(data)
                os.close(self.fd)

    def prints(self, *events):
        """What Tally prints."""
        os.write(self.fd, b"".join(map(frames.framed, events)))

    def type(self, vm, data):
        """Bytes for a VM."""
        with self.change:
            self.ahead += len(data)
            self.most_ahead = max(self.most_ahead, self.ahead)
            self.typed[vm] += data
            self.change.notify_all()

    def wait_for(self, wanted):
        """Until that is so."""
        with self.change:
            assert self.change.wait_for(wanted, harness.GUARD)

    def ask(self, name, command):
        """A request."""
        if self.deaf:
            self.deaf -= 1
            return
        command = command.decode()
        self.ahead = 0
        status, lines = (0, []) if command.startswith("frames ") else self.answer(command)
        with contextlib.suppress(OSError):  # the tool may have left without waiting for this
            if command == "frames on":
                self.prints(frames.Begun(True),
                            *(frames.Name(n, vm) for n, vm in enumerate(self.names)))
            elif command == "frames off":
                self.prints(frames.Begun(False))
            self.prints(*(frames.Answer(name, line) for line in lines),
                        frames.AnswerEnd(name, status))
        with self.change:
            self.frames = command == "frames on" or self.frames and command != "frames off"
            self.commands.append(command)
            self.change.notify_all()

    def end(self):
        """It is taken away."""
        if self.listener:
            self.listener.close()
            with contextlib.suppress(OSError):
                socket.socket(fileno=os.dup(self.fd)).shutdown(socket.SHUT_RDWR)
        else:
            os.close(self.other)


def answer(command):
    """As the machine that is looked at, at its first look."""
    if command == "stop gamma":
        return 1, ['stop: no VM is called "gamma"']
    return fakes.told(fakes.looked(command, 1))


@pytest.fixture(params=["device", "socket"])
def board(request, tmp_path):
    """One with the VMs alpha and beta."""
    path = tmp_path / "line" if request.param == "socket" else None
    made = Board(["alpha", "beta"], answer, path)
    yield made
    made.end()
