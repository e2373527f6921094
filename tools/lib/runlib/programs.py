# SPDX-License-Identifier: Apache-2.0
"""Programs that ask a running machine (tools/tally-ctl). They connect to a UNIX socket and send
lines, one command each:

COMMAND         -> "= LINE" for each line of the answer, then ". STATUS" (core/operator/prompt.h);
or "! WORDS" if the machine could not be asked

@frames [NAME]  -> the connection is a line with frames from then on (tools/lib/runlib/attached.py)

Answers come in the order of the commands. Programs are served in turn, each with one command at a
time. Further commands of a program wait, most of them in its socket, and are dropped if it leaves.

There are CLIENTS places. If all are taken, a new program gets the place of the one that has asked
for nothing for the longest time. Consoles (@frames) keep their places, but leave some to others.
"""
import os
import selectors
import socket

from tallylib import tally_ctl
from runlib.attached import ATTACH, Attached, attached
from runlib.console_client import Client

REQUESTS = 64        # of a program are waited with; then it is not read any further
CLIENTS = 64         # at once
CONSOLES = 48        # of these, lines with frames


class Programs:
    """relay: asks the machine (class Relay); path: of the socket."""

    def __init__(self, relay, path):
        self.relay = relay
        self.clients = []  # who was served last comes last
        self.listener = socket.socket(socket.AF_UNIX)
        # Whoever may write to a socket may connect to it, so only its owner may.
        umask = os.umask(0o177)
        try:
            with tally_ctl.address(path) as name:
                self.listener.bind(name)
        finally:
            os.umask(umask)
        self.listener.listen(16)
        relay.wait.register(self.listener, selectors.EVENT_READ, self.accept)

    def close(self):
        """Ends all connections. Those who wait for an answer are told why there is none."""
        for client in self.clients:
            client.send(b"!", b"the machine has ended")
            client.connection.close()
        self.listener.close()

    def flush(self):
        """Sends what is left. Returns whether somebody has not read all of it."""
        for client in self.clients:
            self.listen_to(client)
        return any([client.flush() for client in self.clients])

    def accept(self):
        """Takes a new program."""
        client = Client(self.listener.accept()[0])
        client.connection.setblocking(False)
        if len(self.clients) >= CLIENTS and not self.end_idle():
            client.send(b"!", b"%d programs are connected and wait for answers; no more can be"
                        % CLIENTS)
            client.connection.close()
            return
        self.clients.append(client)
        self.listen_to(client)

    def end_idle(self):
        """Ends the connection that has been idle for the longest time. Returns False if none is."""
        for client in self.clients:
            if client.is_idle():
                client.send(b"!", b"the connection was idle, and another program needed its place")
                self.forget(client)
                return True
        return False

    def listen_to(self, client):
        """Listens to a program, unless many of its requests wait."""
        wait = self.relay.wait
        listens = client.connection in wait.get_map()
        wanted = len(client.requests) < REQUESTS and not client.waits()
        if wanted and not listens:
            wait.register(client.connection, selectors.EVENT_READ, lambda: self.serve(client))
        elif listens and not wanted:
            wait.unregister(client.connection)

    def forget(self, client):
        """Forgets a program that has gone, and its requests."""
        if client.connection in self.relay.wait.get_map():
            self.relay.wait.unregister(client.connection)
        client.connection.close()
        client.gone_now()
        self.relay.shared.forget(client)
        self.clients.remove(client)

    def serve(self, client):
        """Takes what a program has sent, or notes that it has gone."""
        if isinstance(client, Attached):
            if not client.take():
                self.forget(client)
            return
        lines = client.lines()
        if lines is None:
            self.forget(client)
            return
        for n, line in enumerate(lines):
            if ATTACH.fullmatch(line):
                self.attach(client, line, b"\n".join([*lines[n + 1:], client.received]))
                return
            client.requests.append(line)
        self.listen_to(client)

    def attach(self, client, line, rest):
        """Makes the connection a line with frames."""
        consoles = sum(isinstance(other, Attached) for other in self.clients)
        if consoles >= CONSOLES:
            client.send(b"!", b"%d consoles are connected, and no more can be" % CONSOLES)
            self.forget(client)
            return
        self.relay.wait.unregister(client.connection)
        made = attached(client, self.relay, line, rest)
        if made:
            self.clients[self.clients.index(client)] = made
        else:
            self.forget(client)

    def ask(self):
        """Sends the next request of each program that waits for no answer. True: there is more,
        when the machine has read."""
        for client in list(self.clients):
            self.listen_to(client)
            while client.requests and not client.asked:
                client.ask_again()
                if client.gone():
                    self.forget(client)
                    break
                if self.relay.room() <= 0:
                    return True
                self.clients.remove(client)
                self.clients.append(client)
                self.relay.ask_for(client, client.requests.popleft())
        return False
