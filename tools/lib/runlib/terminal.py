# SPDX-License-Identifier: Apache-2.0
"""The terminal that a person shares with all guests (docs/console.md).

The unfinished line of the VM in focus is shown as it grows. It is erased for lines of others, and
drawn again behind them. The prompt and QEMU's monitor have such a line, too. A VM may change the
attributes of its text, step and erase inside its line, and ask for the terminal's type. All else
that could touch the text of others is left out. A full-screen program of the VM in focus has the
screen for itself: its bytes pass, and lines of others wait until it ends.
"""
import collections
import re

from runlib import full_screen
from runlib.ansi import ESCAPE, TEXT
from runlib.console import Console

HELD = 10000         # lines of others wait while a program has the whole screen
# This many bytes of a line are drawn again. Those before them have wrapped, and stand above.
REDRAW_BYTES = 256
SGR_BYTES = 128      # of sequences about how text looks
ERASE = b"\x1b[m\r\x1b[K"
QUERY = re.compile(rb"\x1b\[(?:[56]n|0?c)")
TO_THE_END = re.compile(rb"\x1b\[0*[JK]")
SGR = re.compile(rb"\x1b\[([\d;:]*)m")
# Each takes one column on every terminal, so the cursor can be moved by their number.
NARROW = re.compile("[ -~\xa1-\xac\xae-\u02ff]*")


class Terminal(Console):
    """As Console. focus: the line that is shown as it grows, or None."""

    newline = b"\r\n"

    def __init__(self, *arguments, **words):
        super().__init__(*arguments, **words)
        self.focus = self.lines[0] if self.lines else None
        self.shown_last = self.focus    # the VM that has or had the focus last
        self.erased = False             # the focus's line is to be drawn again
        self.full = False               # the VM in focus has the whole screen
        self.held = collections.deque(maxlen=HELD)
        self.missed = 0                 # lines that there was no room for

    # --- What is drawn ------------------------------------------------------------------------

    def draw(self, line):
        """Shows an unfinished line, and puts the cursor at its place."""
        first, text = line.tail(REDRAW_BYTES)
        self.write(self.prefix(line) + text.encode())
        line.drawn = True
        at, line.pos = line.pos, len(line.text)
        self.step(line, max(at, first) - len(line.text))
        line.pos = at
        self.write(line.sgr)

    def erase(self):
        """Clears the screen's last line for a whole one. restore() draws it again."""
        if self.focus and self.focus.drawn:
            self.write(ERASE)
            self.focus.drawn = False
            self.erased = True

    def restore(self):
        """Draws the unfinished line again, behind all others."""
        if self.erased:
            self.erased = False
            self.draw(self.focus)

    idle = restore

    def put_line(self, data):
        """Shows a whole line, now or when the screen is free."""
        if self.full:
            self.missed += len(self.held) == HELD
            self.held.append(data)
            return
        self.erase()
        self.write(data + self.newline)

    def line_of_tally(self, text):
        self.put_line(self.names.tally(b": ") + text.encode())

    def show(self, line):
        if line.drawn:
            self.write((b"\x1b[m" if line.sgr else b"") + self.newline)
        else:
            self.put_line(self.prefix(line) + line.text.encode())

    def note(self, line):
        if line.vm is not None or line is self.others:
            super().note(line)

    def say(self, text):
        """Shows a line that this program itself says in Tally's name."""
        for line in text.split("\n"):
            self.record.said(line)
            self.line_of_tally(line)
        self.restore()

    def end(self):
        if self.full:
            self.give_back()
        if self.focus and self.focus.vm is None:
            self.flush(self.focus)
        super().end()

    # --- Units --------------------------------------------------------------------------------

    def is_live(self, line):
        """Whether the line is shown as it grows."""
        return line is self.focus

    def live(self, line):
        """As is_live(). If so, shows the line now."""
        if self.is_live(line) and not line.drawn:
            self.erased = False
            self.draw(line)
        return line.drawn

    def unit(self, line, kind, unit):
        if self.full and line is self.focus:
            self.full_unit(line, kind, unit)
        else:
            super().unit(line, kind, unit)

    def lone_cr(self, line):
        if not self.is_live(line):
            super().lone_cr(line)
        elif line.drawn:
            line.pos = 0
            # Not to column 0, where the prefix stands.
            self.write((b"\x1b[m" if line.sgr else b"") + b"\r" + self.prefix(line) + line.sgr)

    def text(self, line, text):
        while True:
            shown = self.live(line)
            rest = line.put(text)
            if shown:
                self.write(text[:len(text) - len(rest)].encode())
            if not rest:
                return
            text = rest
            self.line_end(line)
            line.continued = True

    def control(self, line, unit):
        if unit == b"\a" and self.is_live(line):
            self.write(unit)
        elif unit == b"\b" and self.is_live(line):
            self.step(line, -1)
        else:
            super().control(line, unit)

    def step(self, line, steps):
        """Moves the cursor inside the text."""
        before = line.pos
        line.move(steps)
        steps = line.pos - before
        if not line.drawn or not steps:
            return
        passed = line.text[min(before, line.pos):max(before, line.pos)]
        if NARROW.fullmatch(passed):
            way = b"D" if steps < 0 else b"C"
            self.write(b"\b" if steps == -1 else b"\x1b[%d%s" % (abs(steps), way))
        elif steps > 0:
            self.write(passed.encode())
        else:
            # The width of these is not known. So they are printed again, up to the new place.
            first, text = line.tail(REDRAW_BYTES)
            self.write(b"\x1b[m\r" + self.prefix(line) +
                       text[:max(0, line.pos - first)].encode() + line.sgr)

    def escape(self, line, unit):
        way = full_screen.switch(unit)
        if way is not None and line.vm is not None:
            line.full = line.other_screen = way
            if self.is_live(line) and way:
                self.take()
            return
        if not self.is_live(line):
            super().escape(line, unit)
            return
        self.live(line)
        look = SGR.fullmatch(unit)
        if look:
            self.look(line, look[1], unit)
        elif QUERY.fullmatch(unit):
            self.write(unit)
        else:
            self.edit(line, unit)

    def look(self, line, numbers, unit):
        """Notes the attributes that the line's text has from now on."""
        self.write(unit)
        from_new = numbers.lstrip(b"0")[:1] in (b"", b";") and numbers[:1] != b";"
        line.sgr = b"" if not numbers.strip(b"0;") else unit if from_new else line.sgr + unit
        if len(line.sgr) > SGR_BYTES:
            line.sgr = unit

    def edit(self, line, unit):
        """Carries out what line editors send, as far as it stays inside the line."""
        before, text = line.pos, line.text
        line.escape(unit)
        after, line.pos = line.pos, before
        if after != before:
            self.step(line, after - before)
        elif TO_THE_END.fullmatch(unit):
            self.write(b"\x1b[K")
        elif line.text != text:
            self.write(unit)  # it was one of P, @ and X

    # --- The whole screen ---------------------------------------------------------------------

    def full_unit(self, line, kind, unit):
        """Passes on a unit of the program that has the screen."""
        if kind == ESCAPE:
            way = full_screen.switch(unit)
            if way is None:
                if full_screen.harmless(unit):
                    self.write(unit)
            elif way:
                line.other_screen = True
                self.write(full_screen.TAKE)
            else:
                self.give_back()
                line.full = line.other_screen = False
        elif kind == TEXT or b"\a" <= unit <= b"\r":
            self.write(unit)

    def take(self):
        """Gives the screen to the VM in focus."""
        if self.focus.drawn:
            self.write(self.newline)
        self.erased = False
        self.focus.reset()
        self.focus.sgr = b""
        self.full = True
        if self.focus.other_screen:
            self.write(full_screen.TAKE)

    def give_back(self):
        """Takes the screen from that VM."""
        self.write(full_screen.AS_BEFORE +
                   (full_screen.LEAVE if self.focus.other_screen else full_screen.BELOW))
        self.show_held()

    def lend(self):
        """Gives the screen to a program of the host's."""
        self.erase()
        self.erased = False
        self.full = True
        self.write(full_screen.TAKE)

    def take_back(self):
        """Takes the screen from that program, which may have ended in the middle of a sequence."""
        if self.full:
            self.write(full_screen.AS_BEFORE + full_screen.LEAVE)
            self.show_held()

    def show_held(self):
        """Shows the lines that have waited."""
        self.full = False
        held, self.held = self.held, collections.deque(maxlen=HELD)
        if self.missed:
            self.line_of_tally("%d lines are left out here" % self.missed)
        self.missed = 0
        for data in held:
            self.put_line(data)

    def life(self, name, what):
        for line in self.lines:
            if line.name == name:
                if self.full and line is self.focus:
                    self.give_back()
                line.full = line.other_screen = False
                line.sgr = b""
        super().life(name, what)

    def toggle_full(self, line):
        """Gives a VM the whole screen for a person, or takes it."""
        full = not line.full
        if not full:
            if self.full and line is self.focus:
                self.give_back()
            line.full = line.other_screen = False
        self.say("%s %s (Ctrl-T f)" % (
            line.name, "has the whole screen" if full else "prints lines again"))
        line.full = full
        if full and line is self.focus:
            self.take()

    # --- The focus ----------------------------------------------------------------------------

    def set_focus(self, line):
        """Moves the focus, and says so. Another VM's last lines are shown once more."""
        if self.full:
            self.give_back()
        self.erase()
        self.erased = False  # what was erased is the former focus's, and stays in its line
        self.focus = line
        line.hinted = False
        self.say("input goes to %s (Ctrl-T ? for help)" % line.name)
        if line.vm is not None and line is not self.shown_last:
            self.shown_last = line
            for text in line.last:
                self.write(("%s| %s" % (line.name, text)).encode() + self.newline)
        if not line.is_blank():
            self.draw(line)
        if line.full:
            self.take()
