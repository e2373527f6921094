# SPDX-License-Identifier: Apache-2.0
"""Cuts what a terminal program prints into whole units: text, a control byte, an escape sequence. A
unit is reported only when it is complete, so that two who share a terminal never cut each other's
sequences."""
import re

TEXT, CONTROL, ESCAPE = range(3)
MAX_BYTES = 32  # a longer escape sequence is left out as a whole
PLAIN = re.compile(rb"[ -~]+")
ESC, CAN, SUB, BEL, DEL = 0x1b, 0x18, 0x1a, 0x07, 0x7f
CR, LF = 0x0d, 0x0a
# Of UTF-8: what the second byte may be after these first ones (Unicode, table 3-7); no C1 control.
SECOND = {0xc2: range(0xa0, 0xc0), 0xe0: range(0xa0, 0xc0), 0xed: range(0x80, 0xa0),
          0xf0: range(0x90, 0xc0), 0xf4: range(0x80, 0x90)}
ANY_SECOND = range(0x80, 0xc0)
STRINGS = b"]PX^_"  # ESC and one of these begin a string for the terminal itself


class Cutter:
    """feed() takes bytes and returns units: pairs of a kind and bytes.

    CR and LF are always reported, and abort what is incomplete. Strings for the terminal itself
    (OSC, DCS, PM, APC, SOS) are left out. A byte that cannot be part of UTF-8 there, or a character
    that is a C1 control, is reported as the text "?". A character that another unit cuts short is
    left out.
    """

    def __init__(self):
        self.state = self._ground
        self.need = 0         # bytes of UTF-8 that are missing
        self.bytes = b""      # of what is not complete
        self.units = []

    def feed(self, data):
        """Bytes as they come -> the units that they complete."""
        self.units, at = [], 0
        while at < len(data):
            # pylint: disable-next=comparison-with-callable  # a state is the method that serves it
            run = self.state == self._ground and PLAIN.match(data, at)
            if run:
                self.units.append((TEXT, run[0]))
                at = run.end()
            else:
                self.state(data[at])
                at += 1
        return self.units

    def _begin(self, state, byte):
        self.state = state
        self.bytes = bytes([byte])

    def _unit(self, kind, data):
        self.state = self._ground
        self.units.append((kind, data))

    def _ground(self, byte):
        if byte == ESC:
            self._begin(self._escape, byte)
        elif byte < 0x20 or byte == DEL:
            self._unit(CONTROL, bytes([byte]))
        elif byte < 0x80:
            self._unit(TEXT, bytes([byte]))
        elif byte < 0xc2 or byte > 0xf4:
            self._unit(TEXT, b"?")
        else:
            self._begin(self._utf8, byte)
            self.need = 1 if byte < 0xe0 else 2 if byte < 0xf0 else 3

    def _utf8(self, byte):
        if not 0x80 <= byte < 0xc0:
            self._ground(byte)
        elif len(self.bytes) == 1 and byte not in SECOND.get(self.bytes[0], ANY_SECOND):
            self._unit(TEXT, b"?")
        else:
            self.bytes += bytes([byte])
            self.need -= 1
            if not self.need:
                self._unit(TEXT, self.bytes)

    def _aborted(self, byte, in_string=False):
        """Does a byte that means the same everywhere end the sequence?"""
        if byte in (CAN, SUB):
            self.state = self._ground
        elif byte in (CR, LF, ESC) or (byte >= 0x80 and not in_string):
            self.state = self._ground
            self._ground(byte)
        else:
            return False
        return True

    def _append(self, byte):
        # One byte more than may be tells that there were too many.
        self.bytes = (self.bytes + bytes([byte]))[:MAX_BYTES + 1]

    def _escape(self, byte):
        """After ESC, or after ESC and intermediate bytes."""
        if self._aborted(byte) or byte < 0x20 or byte == DEL:
            return
        first = len(self.bytes) == 1
        if first and byte in STRINGS:
            self.state = self._string
        elif first and byte == ord("["):
            self._append(byte)
            self.state = self._csi
        else:
            self._append(byte)
            if byte >= 0x30:
                self._end()

    def _csi(self, byte):
        if self._aborted(byte) or byte < 0x20 or byte == DEL:
            return
        self._append(byte)
        if byte >= 0x40:
            self._end()

    def _end(self):
        self.state = self._ground
        if len(self.bytes) <= MAX_BYTES:
            self._unit(ESCAPE, self.bytes)

    def _string(self, byte):
        """UTF-8 is common in one (a window's title), and no end of it."""
        if not self._aborted(byte, in_string=True) and byte == BEL:
            self.state = self._ground
