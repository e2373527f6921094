# SPDX-License-Identifier: Apache-2.0
"""The serial line of a running machine, shared by a person and by programs (tools/tally-ctl).

What the machine prints goes to a sink, without the frames that answer programs. What a person types
goes to the machine byte by byte; a program's request goes in between, never inside of a key of
Tally's or QEMU's. A program connects to a UNIX socket and sends lines, one command each:

COMMAND         -> "= LINE" for each line of the answer, then ". STATUS" as core/operator/prompt.h
has it, or "! WORDS" where the machine was not even asked

Answers come in the order of the commands. Programs are served in turn, each with one command at a
time; what a program asks ahead waits with it, most of it in its socket, and goes when it goes.
"""
import array
import fcntl
import os
import re
import selectors
import socket
import termios
import time

from tallylib import tally_ctl
from runlib.console_client import Client

KEY = b"\x14"        # Ctrl-T, for Tally (core/console/console.h)
QEMU_KEY = b"\x01"   # Ctrl-A, for QEMU
SIZE_KEY = KEY + b"w"  # the one key that is served here: no serial line knows the size of a window
FRAME = re.compile(rb"\x1etally@([0-9A-Za-z]+|[!-]) ([^\r\n]*)\r?\n")
FRAME_START = 0x1e
FRAME_BYTES = 1024   # no frame is longer
COMMAND = re.compile(rb"[ -~]{1,64}")
READY = re.compile(rb"tally: \d+ \w+ from entry to the first guest")
# So much may lie unread between here and the machine, where nothing can overtake it; and so long it
# takes to look whether it was read.
AHEAD_BYTES = 256
LOOK_S = 0.005
# What follows what the sink keeps back comes in so many seconds, or does not.
KEEPS_S = 0.02
TYPED_BYTES = 65536  # more stays in the terminal
REQUESTS = 64        # of a program are waited with; then it is not read any further
CLIENTS = 64         # at once


class Relay:
    """to_machine: the write end of the pipe that the machine reads, from_us: the read end;
    from_machine: what it prints; sink: feed(bytes) takes what is for people, aside(line) a line
    that comes while a guest has the whole screen, set_full(bool) tells when that is; keyboard: the
    descriptor of what a person types, None: nobody does; qemu_key: QEMU listens to Ctrl-A; path: of
    the socket for programs, None: there is none."""

    def __init__(self, to_machine, from_us, from_machine, sink, keyboard=None, qemu_key=False,
                 path=None):
        self.to_machine, self.from_us, self.from_machine = to_machine, from_us, from_machine
        self.sink = sink
        self.keyboard = keyboard
        self.prefixes = KEY + QEMU_KEY if qemu_key else KEY
        self.typed = b""      # not yet sent
        self.asked = {}       # id -> client that waits for the answer
        self.number = 0       # of the last request
        self.boot = b""       # what was printed so far; None: Tally reads what is sent
        self.in_monitor = False
        self.printed = b""    # the beginning of a frame, perhaps
        self.clients = []     # who was served last comes last
        self.senders = [self.ask, self.feed]
        self.wait = selectors.DefaultSelector()
        self.wait.register(from_machine, selectors.EVENT_READ, self.output)
        self.listener = None
        if path:
            self.listener = socket.socket(socket.AF_UNIX)
            with tally_ctl.address(path) as name:
                self.listener.bind(name)
            self.listener.listen(16)
            self.wait.register(self.listener, selectors.EVENT_READ, self.accept)
        self.listen_to_keyboard()

    def run(self, deadline=None):
        """Until the machine ends. True: the deadline, in time.monotonic(), came first."""
        look = False
        while self.from_machine is not None:
            left = LOOK_S if look else None
            if deadline is not None:
                left = min(max(0, deadline - time.monotonic()), left or 1e6)
            if self.sink.keeps():
                left = min(KEEPS_S, left or 1e6)
            ready = self.wait.select(left)
            for key, _ in ready:
                key.data()
            if not ready:
                self.sink.release()
            if deadline is not None and time.monotonic() >= deadline:
                return True
            unread = [client.flush() for client in self.clients]
            # By turns the first, so that neither programs nor a long paste have the line alone.
            self.senders.reverse()
            look = any([send() for send in self.senders]) or any(unread)
        return False

    def close(self):
        """Ends all connections; whoever waits for an answer is told why there is none."""
        for client in self.clients:
            client.send(b"!", b"the machine has ended")
            client.connection.close()
        if self.listener:
            self.listener.close()
        self.wait.close()

    # --- From the machine ---------------------------------------------------------------------

    def output(self):
        """Takes the frames out."""
        data = os.read(self.from_machine, 65536)
        if not data:
            self.wait.unregister(self.from_machine)
            self.from_machine = None
            self.sink.feed(self.printed)
            return
        rest, plain = self.printed + data, bytearray()
        while rest:
            found = FRAME.match(rest)
            if rest[0] != FRAME_START:
                n = rest.find(FRAME_START)
                n = len(rest) if n < 0 else n
            elif found and found.group(1) in self.asked:
                self.answer(*found.groups())
                rest = rest[found.end():]
                continue
            elif found and found.group(1) in (b"!", b"-"):
                self.sink.feed(bytes(plain))
                plain.clear()
                if found.group(1) == b"-":
                    self.sink.aside(found.group(2))
                else:
                    self.sink.set_full(found.group(2) == b"on")
                rest = rest[found.end():]
                continue
            elif found or len(rest) > FRAME_BYTES:
                n = 1  # somebody else's
            else:
                break
            plain += rest[:n]
            rest = rest[n:]
        self.printed = rest
        if self.boot is not None:
            self.boot += plain
            if READY.search(self.boot):
                self.boot = None
        self.sink.feed(bytes(plain))

    def answer(self, number, text):
        """One line of the answer to a request, or its end."""
        end = re.fullmatch(rb"end (\d+)", text)
        client = self.asked[number]
        client.send(*(b".", end.group(1)) if end else (b"=", text))
        if end:
            del self.asked[number]
            client.asked = False

    # --- To the machine -----------------------------------------------------------------------

    def listen_to_keyboard(self):
        """Or no longer, so that a long paste waits in the terminal."""
        if self.keyboard is None:
            return
        listens = self.keyboard in self.wait.get_map()
        if not listens and len(self.typed) < TYPED_BYTES:
            try:
                self.wait.register(self.keyboard, selectors.EVENT_READ, self.type)
            except PermissionError:  # a file: nobody types
                self.keyboard = None
        elif listens and len(self.typed) >= TYPED_BYTES:
            self.wait.unregister(self.keyboard)

    def type(self):
        """Takes what was typed."""
        data = os.read(self.keyboard, 4096)
        self.typed += data
        if not data:
            self.wait.unregister(self.keyboard)
            self.keyboard = None

    def room(self):
        """So many bytes may be sent now."""
        unread = array.array("i", [0])
        fcntl.ioctl(self.from_us, termios.FIONREAD, unread)
        return AHEAD_BYTES - unread[0]

    def size_command(self):
        """What a person would type to tell a guest how large the terminal is."""
        try:
            size = os.get_terminal_size(self.keyboard)
        except OSError:
            return b""
        return b"stty rows %d cols %d\r" % (size.lines, size.columns)

    def feed(self):
        """Sends what was typed. True: there is more, when the machine has read."""
        end, room = 0, self.room() if self.typed else 0
        while end < len(self.typed) and end < room:
            prefix = self.typed[end] in self.prefixes
            if prefix and end + 1 == len(self.typed):
                break  # half a key: a request must not come between the halves
            if self.typed[end:end + 2] == SIZE_KEY:
                self.typed = self.typed[:end] + self.size_command() + self.typed[end + 2:]
                continue
            if prefix and self.typed[end:end + 2] == QEMU_KEY + b"c":
                self.in_monitor = not self.in_monitor
            end += 2 if prefix else 1
        os.write(self.to_machine, self.typed[:end])
        self.typed = self.typed[end:]
        self.listen_to_keyboard()
        return bool(self.typed) and end >= room

    # --- Programs -----------------------------------------------------------------------------

    def accept(self):
        """A program comes."""
        client = Client(self.listener.accept()[0])
        client.connection.setblocking(False)
        if len(self.clients) >= CLIENTS:
            client.send(b"!", b"%d programs are connected, and no more can be" % CLIENTS)
            client.connection.close()
            return
        self.clients.append(client)
        self.listen_to(client)

    def listen_to(self, client):
        """As long as it has not asked for much that waits."""
        listens = client.connection in self.wait.get_map()
        wanted = len(client.requests) < REQUESTS
        if wanted and not listens:
            self.wait.register(client.connection, selectors.EVENT_READ, lambda: self.serve(client))
        elif listens and not wanted:
            self.wait.unregister(client.connection)

    def forget(self, client):
        """It has gone, and all that it has not been answered with it."""
        if client.connection in self.wait.get_map():
            self.wait.unregister(client.connection)
        client.connection.close()
        self.clients.remove(client)

    def serve(self, client):
        """A program has sent something, or goes."""
        lines = client.lines()
        if lines is None:
            self.forget(client)
            return
        client.requests += lines
        self.listen_to(client)

    def ask(self):
        """Sends the next request of each program that waits for no answer. True: there is more,
        when the machine has read."""
        if self.boot is not None:
            return False
        for client in list(self.clients):
            self.listen_to(client)
            while client.requests and not client.asked:
                if client.gone():
                    self.forget(client)
                    break
                if self.room() <= 0:
                    return True
                self.clients.remove(client)
                self.clients.append(client)
                self.ask_for(client, client.requests.popleft())
        return False

    def ask_for(self, client, line):
        """Sends a request, or says why not."""
        if not COMMAND.fullmatch(line):
            client.send(b"!", b"a command is 1 to 64 characters of printable ASCII")
        elif self.in_monitor:
            client.send(b"!", b"the console is QEMU's monitor now (Ctrl-A c)")
        else:
            self.number = self.number % 999999 + 1
            name = b"r%d" % self.number
            self.asked[name] = client
            client.asked = True
            os.write(self.to_machine, KEY + b"=" + name + b" " + line + b"\r")
