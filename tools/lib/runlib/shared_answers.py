# SPDX-License-Identifier: Apache-2.0
"""What the machine tells once is told to all who ask for it. The answer to `samples` takes what it
tells from the machine, so of two programs that ask in turn each would get a part. Whoever has asked
gets the lines of others' answers as well, before those of the next answer of its own."""

from runlib.console_client import Client

COMMAND = b"samples"
# A program that does not ask for so long loses what it has not taken, and sees by the samples'
# numbers that some are missing.
MOST_BYTES = 1 << 17


class Shared:
    """By requests' ids, which the machine answers in their order."""

    def __init__(self):
        self.asked = {}  # id -> client, None: it has gone, of requests that are not answered yet
        self.kept = {}   # client -> lines of others, of each who has been answered before
        self.begun = set()  # ids of which something has come

    def ask(self, request, client, command):
        """A program sends a command. It gets what was kept for it."""
        if command.strip() != COMMAND:
            return
        # A person at the prompt asks once, and takes part for others only.
        self.asked[request] = client if isinstance(client, Client) else None
        if client in self.kept:
            kept, self.kept[client] = self.kept[client], []
            for line in kept:
                client.send(b"=", line)

    def _begin(self, request):
        """From its first answer on a program gets all: a sample may be in two lines of one answer,
        and never in two answers."""
        if request not in self.begun:
            self.begun.add(request)
            if self.asked[request]:
                self.kept.setdefault(self.asked[request], [])

    def answer(self, request, line):
        """A line has come."""
        if request not in self.asked:
            return
        self._begin(request)
        waiting = set(self.asked.values())
        for client, kept in list(self.kept.items()):
            if client is self.asked[request]:
                continue
            if client in waiting:
                client.send(b"=", line)  # behind what it has, before what it waits for
                continue
            kept.append(line)
            if sum(map(len, kept)) > MOST_BYTES:
                del self.kept[client]

    def end(self, request):
        """An answer has ended."""
        if request in self.asked:
            self._begin(request)
            self.begun.discard(request)
            del self.asked[request]

    def forget(self, client):
        """A program has gone."""
        self.kept.pop(client, None)
        for request, other in self.asked.items():
            if other is client:
                self.asked[request] = None
