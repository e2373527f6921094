# SPDX-License-Identifier: Apache-2.0
"""The line that a person types at the prompt: cursor, last commands, and the words that Tab
completes. Each function returns the bytes that change the line, as a line editor prints them."""
import collections
import os

from tallylib.tally_ctl import COMMAND_BYTES

MOST = 50  # commands that are kept
ERASE = b"\x1b[K"


class Sequences:
    """Finds the bytes of keys that send a sequence (arrows, F1): ESC and a character, with further
    ones behind ESC [ and ESC O."""

    def __init__(self):
        self.begun = b""

    def take(self, byte):
        """Returns None if the byte is of no sequence, the last byte of one behind ESC [ or ESC O,
        or b"". A control character ends one, so a lone ESC loses one character at most."""
        begun, self.begun = self.begun, b""
        if byte == b"\x1b":
            self.begun = byte
            return b""
        if not begun or byte < b" ":
            return None
        if begun == b"\x1b" and byte in (b"[", b"O") or begun == b"[" and byte < b"@":
            self.begun = byte if begun == b"\x1b" else begun
            return b""
        return byte if begun in (b"[", b"O") else b""


class Editing:
    """line: of class Line, to which the caller echoes what is returned."""

    def __init__(self, line):
        self.line = line
        self.last = collections.deque(maxlen=MOST)
        self.recalled = 0

    def insert(self, text):
        """At the cursor. All of the text, or none of it."""
        line = self.line
        if len(line.text) + len(text) > COMMAND_BYTES:
            return b""
        room = b"\x1b[%d@" % len(text) if line.pos < len(line.text) else b""
        return room + text.encode()

    def erase(self):
        """The character before the cursor."""
        line = self.line
        if not line.pos:
            return b""
        return b"\b" + (b"\x1b[P" if line.pos < len(line.text) else ERASE)

    def enter(self, text):
        """Keeps a command."""
        self.recalled = 0
        if text and (not self.last or self.last[-1] != text):
            self.last.append(text)

    def home(self):
        """To the begin of the line."""
        return b"\x1b[%dD" % self.line.pos if self.line.pos else b""

    def recall(self, step):
        """The command before the one that is shown, or the one after it; at the end, nothing."""
        recalled = self.recalled + step
        if not 0 <= recalled <= len(self.last):
            return b""
        self.recalled = recalled
        text = self.last[-recalled] if recalled else ""
        return self.home() + ERASE + text.encode()

    def arrow(self, key):
        """The key that ends its sequence with that byte."""
        line = self.line
        if key in (b"A", b"B"):
            return self.recall(1 if key == b"A" else -1)
        if key == b"H":
            return self.home()
        right = len(line.text) - line.pos
        if key == b"F":
            return b"\x1b[%dC" % right if right else b""
        if key == b"D" and line.pos or key == b"C" and right:
            return b"\x1b[" + key
        return b""

    def is_first(self):
        """Whether the cursor is in the first word."""
        return " " not in self.line.text[:self.line.pos]

    def complete(self, names):
        """Tab: (what it adds, the names that are possible)."""
        begun = self.line.text[:self.line.pos].rsplit(" ", 1)[-1]
        found = [name for name in names if name.startswith(begun)]
        common = os.path.commonprefix(found)[len(begun):]
        return self.insert(common + " " * (len(found) == 1)) if found else b"", found
