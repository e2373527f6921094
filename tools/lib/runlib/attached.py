# SPDX-License-Identifier: Apache-2.0
"""A program to which a running machine's socket is a serial line with frames (docs/frames.md), of
all VMs or of one (tools/tally-console). It gets the names, then the last output before it came,
then the end of an answer to `attached`, which it has not asked, then all as it comes.

Requests that begin with @ are served here: `@size ROWS COLUMNS` is the size of its terminal, which
becomes that of its VM's pseudo-terminal.
"""
import collections
import re

from runlib.console_client import UNREAD_BYTES, Client
from runlib.flow import Listener
from tallylib import frames

ATTACH = re.compile(rb"@frames(?: ([!-~]{1,64}))?")
REQUEST_BYTES = 80  # of one that has not ended yet; longer is none
SIZE = re.compile(rb"@size (\d{1,5}) (\d{1,5})")
TYPED_BYTES = 4096  # wait to be typed to a VM; then who types waits, too
ATTACHED = "attached"


class Typed:
    """Takes apart what a program sends. typed(vm, data), asked(id, command) are called."""

    def __init__(self, typed, asked):
        self.typed, self.asked = typed, asked
        self.vm = None
        self.rest = b""

    def feed(self, data):
        """Takes bytes of the line."""
        data, self.rest = self.rest + data, b""
        while data:
            key = data.find(frames.CTRL_T)
            plain = data if key < 0 else data[:key]
            self._type(plain)
            data = data[len(plain):]
            if data:
                used = self._key(data)
                if not used:
                    self.rest = data[:REQUEST_BYTES]
                    return
                data = data[used:]

    def _type(self, data):
        if data and self.vm is not None:
            self.typed(self.vm, data)

    def _key(self, data):
        """Ctrl-T and what follows: how many bytes it is; 0: there is more of it to come."""
        kind = data[1:2]
        if kind == frames.CTRL_T:
            self._type(frames.CTRL_T)
        elif kind == b">":
            if len(data) < 3:
                return 0
            self.vm = frames.number_of(chr(data[2]))
            return 3
        elif kind == b"=":
            end = data.find(b"\r")
            if end < 0:
                return 0 if len(data) < REQUEST_BYTES else len(data)
            name, _, command = data[2:end].partition(b" ")
            if re.fullmatch(rb"[0-9A-Za-z]{1,8}", name):
                self.asked(name.decode(), command)
            return end + 1
        return min(len(data), 2) if kind else 0


class Attached(Client, Listener):
    """client: which this has been so far; relay: asks and types; vm: its VM, None: it is of all."""

    def __init__(self, client, relay, vm, rest):
        super().__init__(client.connection)
        self.relay, self.vm = relay, vm
        self.names = collections.deque()  # of the requests, in their order
        self.left_out = 0
        self.unread = client.unread
        self.input = Typed(self._type, self._ask)
        self._begin()
        self.input.feed(rest)
        relay.flow.listeners.append(self)

    def _begin(self):
        """Sends the names and the last output."""
        self._tell(frames.Begun(True))
        for vm in self.relay.flow.vms:
            self._tell(frames.Name(vm.number, vm.name))
        for vm in self.relay.flow.vms:
            if self.vm in (None, vm) and vm.backlog:
                self._tell(frames.Output(vm.number, vm.backlog))
        self._tell(frames.AnswerEnd(ATTACHED, 0))

    def _tell(self, event):
        """Sends one frame. A program that does not read Tally's lines is dropped."""
        self.unread += frames.framed(event)
        if len(self.unread) > 2 * UNREAD_BYTES:
            self.leave()

    def ask_again(self):
        """The limits above are those of a program that has output to read as well."""

    # --- From the machine: class Listener -------------------------------------------------------

    def output(self, vm, data):
        """Sends output of a VM. What the program does not read is dropped."""
        if self.vm not in (None, vm):
            return
        if self.left_out or len(self.unread) > UNREAD_BYTES:
            self.left_out += len(data)
        else:
            self._tell(frames.Output(vm.number, data))

    def own(self, text):
        self._tell(frames.Own(text))

    def idle(self):
        """Sends at once what came at once."""
        self.flush()

    # --- From the program: class Client ---------------------------------------------------------

    def flush(self):
        more = super().flush()
        if self.left_out and not more:
            name = self.vm.name if self.vm else "*"
            text = "vm %s: %d bytes are left out here, which were not read" % (name, self.left_out)
            self.left_out = 0
            self._tell(frames.Own(text))
            more = super().flush()
        return more

    def send(self, kind, text):
        """Sends a line of an answer, or its end, or why there is none."""
        if not self.names:
            return  # it has asked nothing, and finds the end
        name = self.names[0]
        if kind != b".":
            self._tell(frames.Answer(name, text.decode(errors="replace")))
        if kind != b"=":
            self.names.popleft()
            self._tell(frames.AnswerEnd(name, int(text) if kind == b"." else 2))
        self.flush()

    def is_idle(self):
        """A console is in use as long as it is there."""
        return False

    def waits(self):
        """Whether nothing is read from the program until what it typed has gone."""
        vm = self.input.vm
        return vm is not None and self.relay.untyped(vm) >= TYPED_BYTES

    def take(self):
        """Takes what the program has sent. Returns False if it has gone."""
        try:
            data = self.connection.recv(4096)
        except OSError:
            data = b""
        self.input.feed(data)
        return bool(data)

    def gone_now(self):
        """Stops to tell the program anything."""
        self.relay.flow.listeners.remove(self)

    def _type(self, number, data):
        if self.relay.flow.vm(number):
            self.relay.type_to(number, data)

    def _ask(self, name, command):
        """Answers a request, or passes it to the machine."""
        size = SIZE.fullmatch(command)
        if size and self.vm:
            self.relay.set_size(self.vm, int(size[1]), int(size[2]))
            self._tell(frames.AnswerEnd(name, 0))
        elif command.startswith(b"@"):
            self._tell(frames.AnswerEnd(name, 2))
        else:
            self.names.append(name)
            self.requests.append(command)


def attached(client, relay, line, rest):
    """What a client has become that has sent such a line; None: there is no such VM, which it is
    told. rest: what it has sent after it."""
    name = ATTACH.fullmatch(line)[1]
    vms = {vm.name.encode(): vm for vm in relay.flow.vms}
    if name is not None and name not in vms:
        text = "no VM is called %s; there are: %s" % (name.decode(), b", ".join(vms).decode())
        client.unread += frames.framed(frames.Answer(ATTACHED, text))
        client.unread += frames.framed(frames.AnswerEnd(ATTACHED, 1))
        client.flush()
        return None
    return Attached(client, relay, vms.get(name), rest)
