# SPDX-License-Identifier: Apache-2.0
"""A program that is connected to a running machine (tools/lib/runlib/programs.py)."""
import collections
import contextlib
import select
import socket

# Of a program that does not read its answers: when it asks again, and at any time. One answer to
# `samples` has up to 350 KB of each hart.
UNREAD_BYTES = 1 << 18
UNREAD_MOST = 1 << 23


class Client:
    """A program that asks."""

    def __init__(self, connection):
        self.connection = connection
        self.received = b""
        self.unread = b""
        self.requests = collections.deque()  # not yet sent to the machine
        self.asked = False  # the machine has one of its requests

    def send(self, kind, text):
        """Sends a line. A client that never reads is dropped, because an answer has no gaps."""
        self.unread += kind + b" " + text + b"\n"
        self.flush()
        if len(self.unread) > UNREAD_MOST:
            self.leave()

    def ask_again(self):
        """Called before its next request is sent to the machine."""
        if len(self.unread) > UNREAD_BYTES:
            self.leave()

    def flush(self):
        """Sends as much as the client takes now. Returns whether something is left."""
        try:
            while self.unread:
                self.unread = self.unread[self.connection.send(self.unread):]
        except BlockingIOError:
            pass
        except OSError:
            self.unread = b""  # it has gone
        return bool(self.unread)

    def gone(self):
        """Whether nobody is at the other end, even if there is still something to read."""
        poll = select.poll()
        poll.register(self.connection, 0)
        return bool(poll.poll(0))

    def is_idle(self):
        """Whether the client waits for nothing: it has sent no whole request that is not answered,
        and has read all answers."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        return not (self.asked or self.requests or self.unread or poll.poll(0))

    def leave(self):
        """Drops what waits and ends the connection, so that the client finds its end."""
        self.unread = b""
        self.requests.clear()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def waits(self):
        """Whether nothing is to be read from the client now."""
        return False

    def gone_now(self):
        """Called when the client has left."""

    def lines(self):
        """Returns the lines that the client has sent since the last call, or None at the end."""
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
