# SPDX-License-Identifier: Apache-2.0
"""A terminal of tools/run beside a machine whose frames are made by hand: what it writes, and what
a person's terminal shows of that."""
import collections
import os

import pyte

import harness  # pylint: disable=unused-import  # finds the tools
from runlib.colours import Names
from runlib.console import Console
from runlib.flow import Flow
from runlib.keys import Keys
from runlib.prompt import Prompt
from runlib.terminal import Terminal
import re

from tallylib.frames import Output, Plain

VMS = ("linux-a", "linux-b", "c")


def coded(data):
    """A guest's bytes as they are in a frame."""
    return b"".join(b"%%%02X" % byte if byte < 0x20 or byte in (0x25, 0x7f) else bytes([byte])
                    for byte in data)


def names_of(vms):
    """The frames that come first."""
    return b"\x1e+\n" + b"".join(b"\x1e:%c %s\n" % (65 + n, name.encode())
                                 for n, name in enumerate(vms))


def output_of(vm, data):
    """A frame of output, without its end."""
    return b"\x1e%c%s" % (65 + vm, coded(data))


class Record:
    """Lines as they ended."""

    def __init__(self):
        self.lines = []
        self.told = b""

    def line(self, owner, text, continued, whole):
        self.lines.append((owner, text, continued))

    def said(self, text):
        self.lines.append(("tools/run", text, False))

    def raw(self, data):
        self.told += data


class Relay:
    """Notes what is asked and typed."""

    def __init__(self):
        self.asked = collections.deque()  # (client, command)
        self.typed = []                   # (VM, bytes)
        self.waits = 0
        self.left = False

    def ask_soon(self, client, command):
        self.asked.append((client, command.decode()))

    def type_to(self, vm, data):
        self.typed.append((vm, data))

    def untyped(self, vm):
        return self.waits

    def leave(self):
        self.left = True


class Bench:
    """interactive: class Terminal, and keys; else class Console."""

    def __init__(self, interactive, vms=VMS, frames=True):
        self.written = b""
        self.flow, self.record, self.relay = Flow(vms), Record(), Relay()
        names = Names(vms, False)
        kind = Terminal if interactive else Console
        self.console = kind(self.flow, self.write, names, self.record)
        if interactive:
            self.prompt = Prompt(self.console, self.relay.ask_soon)
            self.keys = Keys(self.console, self.prompt, self.relay, None,
                             lambda: os.terminal_size((100, 30)))
        if frames:
            self.flow.feed(names_of(vms))

    def write(self, data):
        self.written += data

    def emitted(self):
        """What was written since it was asked last."""
        written, self.written = self.written, b""
        return written

    def put(self, vm, data):
        """A VM prints; in one piece."""
        self.flow.feed(output_of(vm, data) + b"\n")
        return self.emitted()

    def own(self, *lines):
        """Tally prints."""
        self.flow.feed(b"".join(b"\x1e!%s\n" % line.encode() for line in lines))
        return self.emitted()

    def type(self, data):
        """A person types: what is shown at once, and (VM, bytes) of what VMs get."""
        self.relay.typed.clear()
        self.keys.take(data)
        return self.emitted()

    def answer(self, status, *lines):
        """Tally answers what was asked first."""
        client, command = self.relay.asked.popleft()
        for line in lines:
            client.send(b"=", line.encode())
        client.send(b".", b"%d" % status)
        self.keys.work()
        return command


class Screen(pyte.Screen):
    """What a person's terminal shows. pyte has no other screen, so that is here."""

    def __init__(self, columns=80, lines=24):
        self.kept = None
        self.rows = []     # those that were scrolled off
        super().__init__(columns, lines)
        self.stream = pyte.ByteStream(self)

    def feed(self, data):
        self.stream.feed(data)
        return self

    def index(self):
        top, bottom = self.margins or pyte.screens.Margins(0, self.lines - 1)
        if self.cursor.y == bottom and top == 0 and self.kept is None:
            self.rows.append(self.display[0].rstrip())
        super().index()

    def set_margins(self, top=None, bottom=None):
        """pyte keeps the old bottom where the sequence has no numbers."""
        if top or bottom:
            super().set_margins(top, bottom)
        else:
            self.margins = None
            self.cursor_position()

    def set_mode(self, *modes, **words):
        if words.get("private") and 1049 in modes and self.kept is None:
            self.save_cursor()
            self.kept = self.buffer, self.savepoints
            self.buffer = collections.defaultdict(self.buffer.default_factory)
            self.savepoints = []
        super().set_mode(*modes, **words)

    def reset_mode(self, *modes, **words):
        if words.get("private") and 1049 in modes and self.kept is not None:
            self.buffer, self.savepoints = self.kept
            self.kept = None
            self.restore_cursor()
            self.dirty.update(range(self.lines))
        super().reset_mode(*modes, **words)

    def all_rows(self):
        """All that were on the main screen, without those that are empty."""
        return [row for row in [*self.rows, *(row.rstrip() for row in self.display)] if row]


def merged(events):
    """Neighbours that are one stream are one event."""
    out = []
    for event in events:
        last = out[-1] if out else None
        if isinstance(event, Plain) and isinstance(last, Plain):
            out[-1] = Plain(last.data + event.data)
        elif isinstance(event, Output) and isinstance(last, Output) and last.vm == event.vm:
            out[-1] = Output(event.vm, last.data + event.data)
        else:
            out.append(event)
    return out


def until_shown(screen, text, before=""):
    """Reads until a row of the terminal shows that; what came, behind what came before."""
    shown, came = Screen(columns=100, lines=30).feed(before.encode()), ""
    while not any(text in row for row in shown.display):
        screen.expect(re.compile(".+", re.DOTALL))
        came += screen.after
        shown.feed(screen.after.encode())
    return came
