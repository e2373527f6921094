# SPDX-License-Identifier: Apache-2.0
"""What the firmware prints by itself, in the middle of what Tally prints.

From 1.6 on OpenSBI prints a text, and no newline, for each illegal CSR instruction of a guest.
M-mode asks nobody for the UART, so that is taken out of the console here: it gets a line of its
own, and the line that it fell into is whole.
"""
TEXT = b"system_opcode_insn: Invalid opcode for CSR read/write instruction"
NAME = b"firmware: "


class FirmwareText:
    """Sorts the bytes of a console."""

    def __init__(self):
        self.kept = b""     # the end of what came last, which may be the beginning of TEXT
        self.waiting = 0    # texts that fell into a line, until it ends
        self.at_start = True

    def _lines(self):
        """A line for each text that has waited; none is lost, a hundred are one line."""
        if not self.waiting:
            return b""
        times = b" (%d times)" % self.waiting if self.waiting > 1 else b""
        self.waiting = 0
        return NAME + TEXT + times + b"\r\n"

    def _whole(self, data):
        """Bytes with no text in them."""
        if not data:
            return b""
        if self.waiting and self.at_start:
            data = self._lines() + data
        elif self.waiting and b"\n" in data:
            end = data.index(b"\n") + 1
            data = data[:end] + self._lines() + data[end:]
        self.at_start = data.endswith(b"\n")
        return data

    def feed(self, data):
        """Bytes as they come -> bytes as they are to be read."""
        data = self.kept + data
        self.kept = b""
        *parts, last = data.split(TEXT)
        out = b""
        for part in parts:
            out += self._whole(part)
            self.waiting += 1
        for n in range(min(len(TEXT) - 1, len(last)), 0, -1):
            if last.endswith(TEXT[:n]):
                last, self.kept = last[:-n], last[-n:]
                break
        return out + self._whole(last)

    def release(self):
        """Nothing has come for a while: what was kept back was no beginning of the text."""
        kept, self.kept = self.kept, b""
        return self._whole(kept)

    def end(self):
        """What is left when the machine has ended."""
        out = self.release()
        if self.waiting:
            out += (b"" if self.at_start else b"\r\n") + self._lines()
        return out
