# SPDX-License-Identifier: Apache-2.0
"""A program that is connected to a running machine (tools/runlib/programs.py)."""
import collections
import contextlib
import select
import socket

UNREAD_BYTES = 1 << 18  # of a program that does not read its answers


class Client:
    """A program that asks."""

    def __init__(self, connection):
        self.connection = connection
        self.received = b""
        self.unread = b""
        self.requests = collections.deque()  # not yet sent to the machine
        self.asked = False  # the machine has one of its requests

    def send(self, kind, text):
        """One line. A client that never reads is left: an answer has no gaps."""
        self.unread += kind + b" " + text + b"\n"
        self.flush()
        if len(self.unread) > UNREAD_BYTES:
            self.leave()

    def flush(self):
        """As much as it takes now. True: something is left."""
        try:
            while self.unread:
                self.unread = self.unread[self.connection.send(self.unread):]
        except BlockingIOError:
            pass
        except OSError:
            self.unread = b""  # it has gone
        return bool(self.unread)

    def gone(self):
        """Nobody is at the other end, whatever can still be read from it."""
        poll = select.poll()
        poll.register(self.connection, 0)
        return bool(poll.poll(0))

    def leave(self):
        """No more for it; it finds the end."""
        self.unread = b""
        self.requests.clear()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def waits(self):
        """Nothing more is to be read of it now."""
        return False

    def gone_now(self):
        """It has left."""

    def lines(self):
        """What it has sent since, by line; None at the end."""
        try:
            data = self.connection.recv(4096)
        except OSError:
            data = b""
        if not data:
            return None
        *whole, self.received = (self.received + data).split(b"\n")
        if len(self.received) > 4096:
            self.received = self.received[:4096]
        return whole
