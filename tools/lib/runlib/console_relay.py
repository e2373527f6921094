# SPDX-License-Identifier: Apache-2.0
"""The serial line of a running machine, shared by a person and by programs (tools/tally-ctl).

What the machine prints goes to a flow (tools/lib/runlib/flow.py), which tells it to all who listen.
Typed bytes and requests go to the machine in turn, and never one inside of the other.
"""
import array
import collections
import fcntl
import os
import re
import selectors
import termios
import time

from tallylib import frames
from runlib.flow import Listener
from runlib.programs import Programs
from runlib.shared_answers import Shared

COMMAND = re.compile(rb"[ -~]{1,64}")
FRAMES = re.compile(rb" *frames\b")
READY = re.compile(r"\d+ \w+ from entry to the first guest")
# So much may lie unread between here and the machine, where nothing can overtake it; and so long it
# takes to look whether it was read.
AHEAD_BYTES = 256
LOOK_S = 0.005
# What follows what the flow keeps back comes in so many seconds, or does not.
KEEPS_S = 0.02
# Of what is typed to a VM so much goes at once; then it is another's turn.
TURN_BYTES = 64


class Relay(Listener):
    """to_machine: the write end of the pipe that the machine reads, from_us: the read end;
    from_machine: what it prints; flow: takes that; path: of the socket for programs, None: there is
    none."""

    def __init__(self, to_machine, from_us, from_machine, flow, path=None):
        self.to_machine, self.from_us, self.from_machine = to_machine, from_us, from_machine
        self.flow = flow
        flow.listeners.insert(0, self)
        self.keyboard = self.keys = None
        self.left = False     # nothing more is to come, or the person wants no more
        self.to_vms = collections.OrderedDict()  # number -> bytes not yet sent, whose turn is first
        self.target = None    # the VM to which the line types
        self.to_ask = collections.deque()  # (client, command), of who is in here
        self.asked = {}       # id -> client that waits for the answer
        self.shared = Shared()
        self.number = 0       # of the last request
        self.ready = False    # Tally reads what is sent
        self.wait = selectors.DefaultSelector()
        self.wait.register(from_machine, selectors.EVENT_READ, self.output_comes)
        self.programs = Programs(self, path) if path else None
        self.parts = [self.programs] if path else []  # have flush(): True, something is unread
        self.senders = [self.ask, self.serve_keys, self.send_to_vms]

    def run(self, deadline=None):
        """Runs until the machine ends. True: the deadline, in time.monotonic(), came first."""
        look = False
        while self.from_machine is not None and not self.left:
            left = LOOK_S if look else None
            if deadline is not None:
                left = min(max(0, deadline - time.monotonic()), left or 1e6)
            if self.flow.keeps():
                left = min(KEEPS_S, left or 1e6)
            ready = self.wait.select(left)
            for key, _ in ready:
                key.data()
            if not ready:
                self.flow.release()
            if deadline is not None and time.monotonic() >= deadline:
                return True
            # They take turns to be first, so that neither programs nor a long paste keep the line.
            self.senders.append(self.senders.pop(0))
            look = any([send() for send in self.senders])
            # Last, so that those who waited for room listen again.
            look = any([part.flush() for part in self.parts]) or look
        return False

    def close(self):
        """Ends all connections. Those who wait for an answer are told why there is none."""
        if self.programs:
            self.programs.close()
        self.wait.close()

    # --- From the machine ---------------------------------------------------------------------

    def output_comes(self):
        """Takes what the machine prints."""
        data = os.read(self.from_machine, 65536)
        if data:
            self.flow.feed(data)
        else:
            self.wait.unregister(self.from_machine)
            self.from_machine = None

    def own(self, text):
        """Takes a line of Tally's. A machine that cannot switch itself off is left."""
        self.left = self.left or text.startswith("the machine stops here: ")
        self.ready = self.ready or bool(READY.match(text))

    def answer(self, request, text):
        """Passes on a line of an answer."""
        self.shared.answer(request, text.encode())
        client = self.asked.get(request)
        if client:
            client.send(b"=", text.encode())

    def answer_end(self, request, status):
        """Ends an answer."""
        self.shared.end(request)
        client = self.asked.pop(request, None)
        if client:
            client.asked = False
            client.send(b".", b"%d" % status)

    def set_size(self, vm, rows, columns):
        """Sets the size of a VM's pseudo-terminal (tools/lib/runlib/ptys.py), if there is one."""

    # --- To the machine -----------------------------------------------------------------------

    def room(self):
        """Returns how many bytes may be sent now."""
        unread = array.array("i", [0])
        fcntl.ioctl(self.from_us, termios.FIONREAD, unread)
        return AHEAD_BYTES - unread[0]

    def type_to(self, vm, data):
        """Types bytes to the VM of that number, when it is its turn."""
        if data:
            self.to_vms[vm] = self.to_vms.get(vm, b"") + data

    def untyped(self, vm):
        """Returns how many bytes wait to be typed to that VM."""
        return len(self.to_vms.get(vm, b""))

    def send_to_vms(self):
        """Sends what was typed to VMs. Returns whether more can go when the machine has read."""
        while self.to_vms and self.ready:
            if self.room() < TURN_BYTES:
                return True
            self.send_piece(TURN_BYTES)
        return False

    def send_piece(self, n):
        """Sends at most n bytes to the VM whose turn it is."""
        vm, data = self.to_vms.popitem(last=False)
        self.type_to(vm, data[n:])
        data = frames.typed_to(vm, data[:n])
        if vm == self.target:
            data = data[3:]
        self.target = vm
        os.write(self.to_machine, data)

    def ask(self):
        """Sends a request that waits. Returns whether more can go when the machine has read."""
        while self.to_ask and self.ready:
            if self.room() <= 0:
                return True
            self.ask_for(*self.to_ask.popleft())
        return bool(self.programs) and self.ready and self.programs.ask()

    def ask_soon(self, client, line):
        """Does the same as ask_for(), when the machine reads."""
        self.to_ask.append((client, line))

    def ask_for(self, client, line):
        """Sends a request, or says why not. client: has `asked`, and send(kind, text), which takes
        what a program would be told (tools/lib/runlib/programs.py)."""
        if not COMMAND.fullmatch(line):
            client.send(b"!", b"a command is 1 to 64 characters of printable ASCII")
        elif FRAMES.match(line):
            client.send(b"=", b"frames are on as long as the machine runs: tools/run reads them")
            client.send(b".", b"1")
        else:
            self.number = self.number % 999999 + 1
            name = "r%d" % self.number
            self.asked[name] = client
            client.asked = True
            self.shared.ask(name, client, line)
            os.write(self.to_machine, frames.request(name.encode(), line))

    # --- A person's keys ----------------------------------------------------------------------

    def listen_to(self, keyboard, keys):
        """keyboard: the descriptor of what a person types; keys: serves it (class Keys)."""
        self.keyboard, self.keys = keyboard, keys
        self.serve_keys()

    def serve_keys(self):
        """What was typed before waits, then what is typed waits in the terminal. True: some does.
        """
        waits = bool(self.keys) and self.keys.work()
        if self.keyboard is None:
            return waits
        listens = self.keyboard in self.wait.get_map()
        if listens and self.keys.is_full():
            self.wait.unregister(self.keyboard)
        elif not listens and not self.keys.is_full():
            try:
                self.wait.register(self.keyboard, selectors.EVENT_READ, self.typed)
            except PermissionError:  # a file: nobody types
                self.keyboard = None
        return waits

    def typed(self):
        """Takes what a person types, or notes that the person has gone."""
        data = os.read(self.keyboard, 4096)
        if data:
            self.keys.take(data)
        else:
            self.wait.unregister(self.keyboard)
            self.keyboard = None

    def leave(self):
        """Ends the run, because a person has left."""
        self.left = True
