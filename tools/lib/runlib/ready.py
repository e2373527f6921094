# SPDX-License-Identifier: Apache-2.0
"""Tells, once a life, that a guest can be logged in to: the first bytes of its SSH server have come
through a port of this computer that QEMU forwards (--net).

There is one connection to a guest at a time. It ends when these bytes have come, or when none come
for so long; the next one waits longer, so that a slow computer only makes it later.
"""
import contextlib
import os
import re
import socket
import threading

from runlib.crash_files import ENDED
from runlib.flow import Listener

FORWARDED = re.compile(r"hostfwd=tcp:([^,:]*):(\d+)-[^,:]*:22(?:,|$)")
BEGINS = b"SSH-"
PATIENCE_S = 5      # of the first connection; of each that follows so much more:
MORE_S = 1
PAUSE_S = 1         # between two


def forwarded(nets):
    """{VM: (address, port)} of the texts of --net: where its port 22 is."""
    found = {}
    for text in nets:
        vm, _, net = text.partition("=")
        port = FORWARDED.search(net)
        if port:
            found.setdefault(vm, (port[1] or "127.0.0.1", int(port[2])))
    return found


class Guest:
    """A guest and the thread that asks for it. found: called with the number of its life."""

    def __init__(self, place, found):
        self.place, self.found = place, found
        self.life = 0                       # the number of the one that runs
        self.told = -1                      # that of the one that was told of last
        self.patience = PATIENCE_S
        self.over = False
        self.socket = None
        self.change = threading.Condition()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def set(self, life, over=False):
        """Another life has begun, or the machine has ended."""
        with self.change:
            self.life, self.over = life, over
            if self.socket:
                self.socket.close_soon()
            self.change.notify()

    def work(self):
        """The thread."""
        while True:
            with self.change:
                self.change.wait_for(lambda: self.over or self.told != self.life)
                if self.over:
                    return
                life, self.socket = self.life, Connection()
            answers = self.socket.begins_well(self.place, self.patience)
            with self.change:
                self.socket = None
                if answers and life == self.life:
                    self.told = life
                elif life == self.life:
                    self.patience += MORE_S
                    self.change.wait_for(lambda life=life: self.over or life != self.life, PAUSE_S)
            if answers:
                self.found(life)


class Connection:
    """One that another thread may end."""

    def __init__(self):
        self.socket = socket.socket()

    def close_soon(self):
        with contextlib.suppress(OSError):  # it is not connected
            self.socket.shutdown(socket.SHUT_RDWR)

    def begins_well(self, place, patience):
        """Are the first bytes those of an SSH server?"""
        with self.socket:
            try:
                self.socket.settimeout(patience)
                self.socket.connect(place)
                data = b""
                while len(data) < len(BEGINS) and BEGINS.startswith(data):
                    more = self.socket.recv(len(BEGINS) - len(data))
                    if not more:
                        break
                    data += more
                return data == BEGINS
            except OSError:
                return False


class Ready(Listener):
    """All guests that have such a port. told: called with a line, in the thread of the relay."""

    def __init__(self, places, relay, told):
        self.relay, self.told = relay, told
        self.news, self.wake = os.pipe()
        self.names = list(places)
        self.guests = [Guest(place, lambda life, number=number: self.find(number, life))
                       for number, place in enumerate(places.values())]

    def start(self):
        self.relay.flow.listeners.append(self)
        self.relay.wait.register(self.news, 1, self.serve)
        for guest in self.guests:
            guest.thread.start()

    def stop(self):
        for guest in self.guests:
            guest.set(guest.life, over=True)
        for guest in self.guests:
            guest.thread.join(PATIENCE_S)

    def find(self, number, life):
        os.write(self.wake, bytes([number, life & 255]))

    def serve(self):
        """In the thread of the console."""
        number, life = os.read(self.news, 2)
        if self.guests[number].life & 255 == life:
            self.told("%s: ssh ready" % self.names[number])

    def own(self, text):
        ended = ENDED.match(text)
        if ended and ended[1] in self.names:
            guest = self.guests[self.names.index(ended[1])]
            guest.set(guest.life + 1)


@contextlib.contextmanager
def watched(nets, relay, told):
    """Watches the guests of the texts of --net."""
    ready = Ready(forwarded(nets), relay, told)
    ready.start()
    try:
        yield
    finally:
        ready.stop()
