# SPDX-License-Identifier: Apache-2.0
"""The lines of a console, as they were when they ended: whose they are, and what they say.

On a terminal the line of the guest in focus is drawn as it grows, taken away for others' lines and
drawn again. What is left when it ends is its text.
"""
import re

PIECE = re.compile(r"\x1b\[([0-9;?]*)([@-~])|\x1b[ -/]*[0-~]?|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")
# A line may be drawn over and over, and never end: of one that takes more only what it shows is
# kept.
LONGEST = 1 << 16
OWNER = re.compile(r"\[([\w-]+)\]([ +]|$)|tally: ")


def settled(text):
    """What a terminal shows of a line in the end."""
    text = text.rstrip("\r")
    if text.isprintable():
        return text
    shown, at = [], 0
    for piece in PIECE.finditer(text):
        number = int(piece[1]) if (piece[1] or "").isdigit() else 0
        if piece[0] == "\r":
            at = 0
        elif piece[0] == "\b" or piece[2] == "D":
            at = max(0, at - max(1, number))
        elif piece[2] == "C":
            at = min(len(shown), at + max(1, number))
        elif piece[2] in ("J", "K") and number == 0:
            del shown[at:]
        elif piece[0] == "\t" or piece[0] >= " " and piece[0] != "\x7f":
            shown[at:at + len(piece[0])] = piece[0]
            at += len(piece[0])
    return "".join(shown)


class Lines:
    """feed() what is printed; line(owner, text, continued, whole) is called for each line that
    ends. names: of the VMs; owner: one of these, "" for Tally, None for all others: what runs
    before it, and names that a guest makes up; whole: with the prefix."""

    def __init__(self, line, names):
        self.line = line
        self.names = names
        self.rest = b""

    def feed(self, data):
        """Bytes of the console."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.tell(line)
        if len(self.rest) > LONGEST:
            self.rest = settled(self.rest.decode(errors="replace")).encode()[:LONGEST // 2]

    def end(self):
        """The console says nothing more."""
        self.feed(b"\n" if self.rest else b"")

    def tell(self, line):
        """One line."""
        whole = settled(line.decode(errors="replace"))
        found = OWNER.match(whole)
        if found and found[1] and found[1] not in self.names:
            found = None
        owner = found and (found[1] or "")
        self.line(owner, whole[found.end():] if found else whole, bool(found) and found[2] == "+",
                  whole)
