# SPDX-License-Identifier: Apache-2.0
"""What a person types: bytes for the VM in focus, and keys for Tally and for QEMU.

Keys are served in the order in which they are typed. They wait until earlier bytes have been sent
to the VM in focus, and at the prompt until the answer has come. Ctrl-A x is served at once.
"""
import re

from runlib.prompt import Asker

TALLY_KEY = b"\x14"  # Ctrl-T
QEMU_KEY = b"\x01"   # Ctrl-A
LEAVE = QEMU_KEY + b"x"
PREFIX = re.compile(rb"[\x14\x01]")
TYPED_BYTES = 65536  # more stays in the terminal
LIFE = {b"g": "start", b"s": "stop", b"r": "restart"}
HELP = """\
Ctrl-T, then 1..9: that VM gets the input; n, p: the next, the one before;
  g, s, r: starts, stops, restarts it; :: the prompt; f: whole screen;
  w: tells it the terminal's size; Ctrl-T: sends Ctrl-T; ?: this help;
Ctrl-A, then x: ends the machine; c: QEMU's monitor; Ctrl-A: sends Ctrl-A"""


class Keys:
    """terminal and prompt show things; relay types and asks; monitor is QEMU's, or None; size()
    returns the terminal's rows and columns, or raises OSError."""

    def __init__(self, terminal, prompt, relay, monitor, size):
        self.terminal, self.prompt, self.relay = terminal, prompt, relay
        self.monitor, self.size = monitor, size
        self.typed = b""

    def take(self, data):
        """Takes what was typed just now."""
        if LEAVE in (self.typed[-1:] + data):
            self.relay.leave()
        self.typed += data
        self.work()

    def is_full(self):
        """Whether the caller should not read more now."""
        return len(self.typed) >= TYPED_BYTES

    def work(self):
        """Serves what can be served now. Returns whether some of it waits."""
        while self.typed and not self.must_wait():
            used = self.serve()
            if not used:
                break  # half a key
            self.typed = self.typed[used:]
        return bool(self.typed)

    def must_wait(self):
        """Whether what is in focus takes nothing now."""
        focus = self.terminal.focus
        if self.prompt.has_focus():
            return self.prompt.busy and not self.prompt.watched
        return (focus is not None and focus.vm is not None and
                self.relay.untyped(focus.vm) >= TYPED_BYTES)

    def serve(self):
        """Serves one key, or all bytes before the next one. Returns how many bytes that was."""
        prefix, key = self.typed[:1], self.typed[1:2]
        if prefix not in (TALLY_KEY, QEMU_KEY):
            return self.plain(PREFIX.split(self.typed, maxsplit=1)[0])
        if not key:
            return 0
        if key == prefix == TALLY_KEY and self.prompt.has_focus():
            self.prompt.leave()
        elif key == prefix:
            self.plain(key)
        elif prefix == QEMU_KEY:
            self.qemu_key(key)
        elif self.terminal.lines:
            self.tally_key(key)
        self.terminal.restore()
        return 2

    def plain(self, data):
        """Serves bytes that are no keys here. Returns how many of them were used."""
        focus = self.terminal.focus
        if self.prompt.has_focus():
            self.prompt.key(data[:1])
            return 1
        if self.monitor and focus is self.monitor.line:
            self.monitor.type(data)
        elif focus is not None and not focus.ended:
            self.relay.type_to(focus.vm, data)
        elif focus is not None and not focus.hinted:
            focus.hinted = True
            self.terminal.say("%s has ended and reads nothing; Ctrl-T n goes to the next"
                              % focus.name)
        return len(data)

    # --- Keys ---------------------------------------------------------------------------------

    def vm_in_focus(self):
        """Returns the line of the VM that keys act on. For prompt and monitor it is the VM that had
        the focus before."""
        focus = self.terminal.focus
        return focus if focus.vm is not None else self.terminal.shown_last

    def tally_key(self, key):
        """Serves the key after Ctrl-T."""
        lines, line = self.terminal.lines, self.vm_in_focus()
        if key == b"n":
            self.turn(1)
        elif key == b"p":
            self.turn(-1)
        elif key.isdigit() and 0 < int(key) <= len(lines):
            self.go_to(lines[int(key) - 1])
        elif key in LIFE:
            asker = Asker(self.terminal, "%s %s" % (LIFE[key], line.name))
            self.relay.ask_soon(asker, asker.command)
        elif key == b":":
            self.prompt.open()
        elif key == b"f":
            self.terminal.toggle_full(line)
        elif key == b"w":
            self.type_size(line)
        elif key == b"?":
            self.help()
        else:
            self.wrong_key(key)

    def go_to(self, line):
        """Gives the focus to a VM."""
        self.prompt.stop()
        self.terminal.set_focus(line)

    def turn(self, step):
        """Gives the focus to the next VM that has not ended. If there is no other, the focus stays,
        and a line says so."""
        lines = self.terminal.lines
        at = lines.index(self.vm_in_focus())
        others = [lines[(at + step * n) % len(lines)] for n in range(1, len(lines) + 1)]
        self.go_to(next((line for line in others if not line.ended), lines[at]))

    def type_size(self, line):
        """Types the terminal's size, which no serial line carries, as a person would."""
        try:
            size = self.size()
        except OSError:
            return
        self.relay.type_to(line.vm, b"stty rows %d cols %d\r" % (size.lines, size.columns))

    def help(self):
        """Shows keys and VMs."""
        rows = [HELP]
        for n, line in enumerate(self.terminal.lines):
            rows.append("%s %d %s%s" % ("*" if line is self.terminal.focus else " ", n + 1,
                                        line.name, " (ended)" if line.ended else ""))
        self.terminal.say("\n".join(rows))

    def wrong_key(self, key):
        """Says that there is no such key."""
        if key.isdigit() and key != b"0":
            self.terminal.say("there is no VM %s; there are %d"
                              % (key.decode(), len(self.terminal.lines)))
        elif b" " < key <= b"~":
            self.terminal.say("Ctrl-T %s means nothing; Ctrl-T ? for help" % key.decode())
        else:
            self.terminal.say("that key means nothing after Ctrl-T; Ctrl-T ? for help")

    def qemu_key(self, key):
        """Serves the key after Ctrl-A."""
        if key == b"x":
            self.relay.leave()
        elif key == b"c" and self.monitor:
            self.prompt.stop()
            self.monitor.toggle(self.vm_in_focus() if self.terminal.lines else None)
        else:
            self.help()
