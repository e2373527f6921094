# SPDX-License-Identifier: Apache-2.0
"""The line that a VM is printing: its text, and a cursor that backspace and the escape sequences of
line editors move."""
import collections
import re

from runlib.ansi import Cutter

LINE_BYTES = 512   # a longer line is told in pieces
SCROLL_BACK = 20   # lines of each VM are shown once more
CSI = re.compile(rb"\x1b\[(\d*)([@-~])")


class Line:
    """name: of the VM, or of what else has a line; vm: its number, None: it is no VM, and has this
    prompt before its lines."""

    def __init__(self, name, vm=None, prompt=b""):
        self.name, self.vm, self.prompt = name, vm, prompt
        self.cutter = Cutter()
        self.last = collections.deque(maxlen=SCROLL_BACK)  # what its last lines said
        self.ended = False         # the VM is no more
        self.hinted = False        # the person was told so
        self.full = False          # a full-screen program prints
        self.other_screen = False  # on the terminal's other screen
        self.sgr = b""             # how the text looks that comes next
        self.text = ""
        self.pos = 0            # of the cursor, in characters
        self.size = 0           # of the text, in bytes
        self.cr = False         # a CR was seen; what follows decides what it meant
        self.continued = False  # its beginning was told as a piece
        self.drawn = False      # it is on the screen, unfinished

    def reset(self):
        """Empties the line."""
        self.text, self.pos, self.size = "", 0, 0
        self.cr = self.continued = self.drawn = False

    def is_blank(self):
        """Whether it is empty, and no piece of it was shown."""
        return not self.text and not self.continued

    def tail(self, size):
        """Returns (n, text): its end of at most `size` bytes, which begins with character n."""
        n = len(self.text)
        while n > 0 and size >= len(self.text[n - 1].encode()):
            n -= 1
            size -= len(self.text[n].encode())
        return n, self.text[n:]

    def put(self, text):
        """Writes characters at the cursor, over those that are there, and steps over them. Returns
        those that there is no room for."""
        if self.pos == len(self.text) and text.isascii():
            fits = text[:LINE_BYTES - self.size]
            self.text += fits
            self.size += len(fits)
            self.pos += len(fits)
            return text[len(fits):]
        for n, char in enumerate(text):
            old = self.text[self.pos:self.pos + 1]
            size = self.size + len(char.encode()) - len(old.encode())
            if size > LINE_BYTES:
                return text[n:]
            self.text = self.text[:self.pos] + char + self.text[self.pos + 1:]
            self.size = size
            self.pos += 1
        return ""

    def move(self, steps):
        """Moves the cursor right or left, as far as there is text."""
        self.pos = max(0, min(len(self.text), self.pos + steps))

    def replace(self, n, text):
        """Puts text in the place of the n characters at the cursor, which stays."""
        text = self.text[:self.pos] + text + self.text[self.pos + n:]
        if len(text.encode()) <= LINE_BYTES:
            self.text = text
            self.size = len(text.encode())

    def escape(self, sequence):
        """Carries out an escape sequence. All that are not here have no effect on the text."""
        found = CSI.fullmatch(sequence)
        if not found:
            return
        n = min(int(found[1] or 0), LINE_BYTES)
        times = max(n, 1)
        left = len(self.text) - self.pos
        if found[2] == b"C":
            self.move(times)
        elif found[2] == b"D":
            self.move(-times)
        elif found[2] == b"G":    # to that column
            self.pos = min(times - 1, len(self.text))
        elif found[2] in b"JK" and not n:  # to the end, of screen or line
            self.replace(left, "")
        elif found[2] == b"P":    # those behind move up
            self.replace(times, "")
        elif found[2] == b"@":    # they make room
            self.replace(0, " " * times if left else "")
        elif found[2] == b"X":
            self.replace(min(times, left), " " * min(times, left))
