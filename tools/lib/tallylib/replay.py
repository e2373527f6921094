# SPDX-License-Identifier: Apache-2.0
"""What a terminal may be shown once more of what a guest printed earlier: all but what it would
answer. An answer is typed, so the guest would read it as a person's keys.

  replay = Replay()
  shown = replay.feed(backlog)
  shown += replay.live(data)       # of all that comes afterwards

Queries are left out. So are strings for the terminal itself, but for titles, links and colours: the
others ask, or act outside of the screen (clipboard, notifications, graphics, macros). A sequence
that the backlog ends in is held back until live() has the rest of it, and is judged as a whole.
What begins in the middle of a sequence is text by then, which asks nothing.

The states are those of ECMA-48 and of DEC's VT500. Sequences are from xterm's ctlseqs, DEC's
manuals, and the documents of kitty, iTerm2 and the Linux console.
"""
import re

ENQ, BEL, LF, CR, CAN, SUB, ESC, DEL = 5, 7, 10, 13, 24, 26, 27, 127
LONGEST = 256   # of a control sequence; a longer one is none
STRING = 4096   # of a string that is shown
LIVE_BYTES = 4096  # of live output in which the end of a sequence is looked for
CSI = re.compile(rb"\x1b\[([<=>?]?)([\d;:]*)([ -/]*)([@-~])")
# (marker, intermediates, final) that the terminal answers, whatever the numbers are.
ASKS = {
    (b"", b"", b"n"), (b"?", b"", b"n"),                        # DSR
    (b"", b"", b"c"), (b">", b"", b"c"), (b"=", b"", b"c"),     # DA1, DA2, DA3
    (b"", b"", b"x"),                                           # DECREQTPARM
    (b"", b"$", b"p"), (b"?", b"$", b"p"),                      # DECRQM
    (b"", b"$", b"u"), (b"", b"&", b"u"),                       # DECRQTSR, DECRQUPSS
    (b"", b"$", b"w"), (b"", b'"', b"v"),                       # DECRQPSR, DECRQDE
    (b"", b"*", b"y"), (b"", b"*", b"z"),                       # DECRQCRA, DECINVM (a macro)
    (b"", b"'", b"|"), (b"", b"+", b"x"),                       # DECRQLP, DECRQPKFM
    (b">", b"", b"q"), (b"?", b"", b"u"),                       # XTVERSION, kitty's keyboard
    (b"?", b"", b"m"), (b"?", b"", b"S"), (b"?", b"", b"g"),    # XTQMODKEYS, XTSMGRAPHICS, ...
    (b"", b"#", b"R"), (b"", b"#", b"|"), (b"", b"#", b"S"),    # XTREPORTCOLORS, XTREPORTSGR, ...
}
# Reports of the window (XTWINOPS), of title and icon too.
WINDOW = {11, 13, 14, 15, 16, 18, 19, 20, 21}
# Modes that are answered when they are set: Tektronix', focus events, reports of the size.
MODES = {b"38", b"1004", b"2048"}
# OSC: titles, folder, link and prompts are what they say; colours may ask by "?".
WORDS = re.compile(rb"(?:[0-2]|7|8|133);[^\x00-\x1f\x7f]*")
COLOURS = re.compile(rb"(?:[45]|1[0-9]|10[45]|11[0-9])(?:;[^\x00-\x1f\x7f?]*)?")
STRINGS = {b"\x1bP", b"\x1bX", b"\x1b]", b"\x1b^", b"\x1b_"}  # DCS, SOS, OSC, PM, APC
LINUX = re.compile(rb"R|P[0-9A-Fa-f]{7}")  # colours of the Linux console, which have no end
# Of UTF-8, by the first byte: how many follow, and from where to where the first of them is.
FOLLOW = {**dict.fromkeys(range(0xc3, 0xe0), (1, 0x80, 0xc0)), 0xc2: (1, 0xa0, 0xc0),
          **dict.fromkeys(range(0xe1, 0xf0), (2, 0x80, 0xc0)), 0xe0: (2, 0xa0, 0xc0),
          **dict.fromkeys(range(0xf1, 0xf4), (3, 0x80, 0xc0)), 0xf0: (3, 0x90, 0xc0),
          0xf4: (3, 0x80, 0x90), 0xed: (2, 0x80, 0xa0)}


def control_sequence(sequence):
    """Returns what is shown of a whole one."""
    found = CSI.fullmatch(sequence)
    if not found:
        return b""
    marker, numbers, between, final = found.groups()
    kind = marker, between, final
    if kind in ASKS:
        return b""
    if kind == (b"", b"", b"t"):
        first = re.match(rb"\d*", numbers)[0]
        return b"" if int(first or 0) in WINDOW else sequence
    if kind == (b"?", b"", b"h"):
        modes = [mode for mode in numbers.split(b";") if mode.lstrip(b"0") not in MODES]
        return b"\x1b[?" + b";".join(modes) + b"h" if modes else b""
    return sequence


def is_shown(command):
    """Whether an OSC with that text is."""
    try:
        text = command.decode()
    except UnicodeDecodeError:
        return False
    return bool(WORDS.fullmatch(command) or COLOURS.fullmatch(command)) and not any(
        "\x80" <= c <= "\x9f" for c in text)


class Replay:
    """One stream of bytes, from the beginning of what is shown again."""

    def __init__(self):
        self.state = None   # the method that serves the next byte; None: it begins something
        self.held = b""     # of a sequence, a string or a character that has not ended
        self.need = 0       # bytes of a character are missing
        self.kind = b""     # of a string: the byte behind ESC
        self.begun = 0      # so many sequences have
        self.out = b""
        self.over = False   # what was begun before has ended
        self.looked = 0     # at so many live bytes

    def feed(self, data):
        """Returns what is shown of bytes from before."""
        for byte in data:
            self._take(byte)
        return self._taken()

    def live(self, data):
        """Returns what is shown of bytes that come now: all but the end of a sequence that has
        begun before and is not shown."""
        at = 0
        while not self.over and self.state and at < len(data):
            begun = self.begun
            if self.looked >= LIVE_BYTES:
                self._end()
                break
            if self.state == self._string_escape and self.looked and data[at] != ord("\\"):
                self._end(b"\x1b")  # which has come now
                break
            self._take(data[at])
            self.looked += 1
            at += 1
            if self.begun != begun:
                # Another one, which is not from before.
                self.out += (b"\x1b" + self.kind if self._in_string() else b"") + self.held
                self.over = True
        self.over = not self.state or self.over
        return self._taken() + data[at:]

    def _taken(self):
        out, self.out = self.out, b""
        return out

    def _in_string(self):
        return self.state in (self._string, self._string_escape)

    def _take(self, byte):
        (self.state or self._ground)(byte)

    def _begin(self, state, held):
        self.state, self.held = state, held
        self.begun += 1

    def _end(self, shown=b""):
        self.state, self.held = None, b""
        self.out += shown

    def _again(self, byte):
        """The byte ends something, and means what it does elsewhere."""
        self._end()
        self._ground(byte)

    def _ground(self, byte):
        if byte == ESC:
            self._begin(self._escape, b"\x1b")
        elif 0x80 <= byte < 0xa0:
            self._control(byte)
        elif byte in FOLLOW:
            self._begin(self._character, bytes([byte]))
            self.need = FOLLOW[byte][0]
        else:
            self._execute(byte)

    def _execute(self, byte):
        if byte != ENQ:
            self.out += bytes([byte])

    def _control(self, byte):
        """A C1 control is ESC and another byte."""
        self._begin(self._escape, b"\x1b")
        self._escape(byte - 0x40)

    def _character(self, byte):
        _, low, high = FOLLOW[self.held[0]]
        if self.held == b"\xc2" and 0x80 <= byte < 0xa0:
            self._end()
            self._control(byte)
        elif not (low if len(self.held) == 1 else 0x80) <= byte < (
                high if len(self.held) == 1 else 0xc0):
            self._again(byte)  # it is none
        else:
            self.held += bytes([byte])
            self.need -= 1
            if not self.need:
                self._end(self.held)

    def _interrupted(self, byte):
        """Does the byte end a sequence, or has it nothing to do with it?"""
        if byte in (CAN, SUB):
            self._end()
        elif byte == ESC or byte >= 0x80:
            self._again(byte)
        elif byte < 0x20:
            self._execute(byte)
        else:
            return byte == DEL
        return True

    def _escape(self, byte):
        """Behind ESC, or behind it and intermediate bytes."""
        if self._interrupted(byte):
            return
        sequence = self.held + bytes([byte])
        if sequence in STRINGS:
            self.state, self.held, self.kind = self._string, b"", bytes([byte])
        elif sequence == b"\x1b[":
            self.state, self.held = self._csi, sequence
        elif byte < 0x30:
            self.held = sequence[:LONGEST]
        else:
            self._end(b"" if sequence == b"\x1bZ" else sequence)  # DECID

    def _csi(self, byte):
        if self._interrupted(byte):
            return
        self.held = (self.held + bytes([byte]))[:LONGEST]
        if byte >= 0x40:
            self._end(control_sequence(self.held) if len(self.held) < LONGEST else b"")

    def _string(self, byte):
        is_command = self.kind == b"]"
        if byte in (CAN, SUB):
            self._end()
        elif byte == ESC:
            self.state = self._string_escape
        elif is_command and byte == BEL:
            self._string_ends(b"\a")
        elif byte in (CR, LF):
            self._again(byte)  # what died in the middle of a string never ends it
        elif is_command:
            self.held = (self.held + bytes([byte]))[:STRING]
            if LINUX.fullmatch(self.held):
                self._end()

    def _string_escape(self, byte):
        if byte == ord("\\"):
            self._string_ends(b"\x1b\\")
        else:
            self.state, self.held = self._escape, b"\x1b"
            self._escape(byte)

    def _string_ends(self, end):
        """A command is shown if it asks nothing; no other string is."""
        shown = self.kind == b"]" and len(self.held) < STRING and is_shown(self.held)
        self._end(b"\x1b]" + self.held + end if shown else b"")
