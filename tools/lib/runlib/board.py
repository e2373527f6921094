# SPDX-License-Identifier: Apache-2.0
"""A board's serial line in the place of QEMU's (tools/tally-serve)."""
import array
import fcntl
import os
import re
import select
import termios
import time

from tallylib import frames
from runlib.console_relay import AHEAD_BYTES, Relay
from runlib.flow import Listener

BEGIN = "fr"
BEGIN_REQUEST = frames.request(BEGIN.encode(), b"frames on")
END_REQUEST = frames.request(BEGIN.encode(), b"frames off")
AGAIN_S = 2.0  # then it is asked once more: what it heard may have been half a key
STARTED = re.compile(rb"^tally: \d+ \w+ from entry to the first guest", re.MULTILINE)
STARTED_BYTES = 256
# Typed to a serial device before it is known that all of it was read: a UART holds 16 bytes, and no
# wire tells more. A request is answered when what is before it was read; this one is no command.
PIECE_BYTES = 12
PACE_COMMAND = b"x"


class Pace:
    """Is told when the board has read what was typed."""

    def __init__(self):
        self.asked = False

    def send(self, _kind, _text):
        """The answer says nothing."""


class Began(Listener):
    """Notices the end of the answer to `frames on`."""

    def __init__(self, flow):
        self.heard = False
        flow.listeners.append(self)

    def answer_end(self, request, _status):
        self.heard = self.heard or request == BEGIN


def begin(line, flow, timeout):
    """Asks a board (tallylib.line.Line) for frames; what comes goes to the flow. TimeoutError: it
    does not answer."""
    began, end = Began(flow), time.monotonic() + timeout
    again = 0
    while not began.heard:
        now = time.monotonic()
        if now >= end:
            raise TimeoutError
        if now >= again:
            line.send(BEGIN_REQUEST)
            again = now + AGAIN_S
        if select.select([line], [], [], min(again, end) - now)[0]:
            data = os.read(line.fileno(), 65536)
            if not data:
                raise OSError(0, "the line has ended")
            flow.feed(data)
    flow.listeners.remove(began)


class BoardRelay(Relay):
    """The relay of a line that has begun. path: of the socket for programs."""

    def __init__(self, line, flow, path):
        super().__init__(line.fileno(), line.fileno(), line.fileno(), flow, path)
        self.line, self.pace = line, Pace()
        self.ready = True
        self.printed = b""

    def room(self):
        """Returns how many bytes may be sent now."""
        unsent = array.array("i", [0])
        fcntl.ioctl(self.line.fileno(), termios.TIOCOUTQ, unsent)
        # Of a socket this is no number of bytes, but nothing is nothing.
        return 0 if unsent[0] else AHEAD_BYTES

    def send_to_vms(self):
        """Sends as much as the board has room for. Returns whether more can go when it has read."""
        if not self.line.paced:
            return super().send_to_vms()
        if self.to_vms and self.ready and not self.pace.asked:
            if not self.room():
                return True
            self.send_piece(PIECE_BYTES)
            self.ask_for(self.pace, PACE_COMMAND)
        return False

    def output_comes(self):
        """Takes what comes. An unplugged device ends the line."""
        try:
            super().output_comes()
        except OSError:
            self.wait.unregister(self.from_machine)
            self.from_machine = None

    def plain(self, data):
        """Asks again for frames if the board has started anew. Open requests are lost then."""
        self.printed = (self.printed + data)[-STARTED_BYTES:]
        if STARTED.search(self.printed):
            self.printed = b""
            for client in self.asked.values():
                client.asked = False
                client.send(b"!", b"the machine has started anew")
            self.asked.clear()
            self.target = None
            os.write(self.to_machine, BEGIN_REQUEST)

    def close(self):
        """Leaves the line with whole lines for people."""
        if self.from_machine is not None:
            os.write(self.to_machine, END_REQUEST)
        super().close()
