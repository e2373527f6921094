# SPDX-License-Identifier: Apache-2.0
"""What a person reads of a machine: whole lines, each of which begins with its writer.

"[NAME] text" is a VM's line, "tally: text" one of Tally's. A VM's line of more than LINE_BYTES is
continued in pieces, "[NAME]+text". What a VM prints stays in its own lines: backspace, erase-to-end
and steps of the cursor to the left and right are carried out there, and every other control byte
or sequence is left out. A CR without LF ends the line, so that no text is lost.

tools/lib/runlib/terminal.py adds lines that grow.
"""
import re

from runlib.ansi import CONTROL, TEXT
from runlib.flow import OWN, Listener
from runlib.line import Line
from tallylib import printable

LIFE = re.compile(r"vm (\S+): (ended|failed|stopped|asked for a restart|starts again)\b")


class Console(Listener):
    """flow: what is printed; write: takes bytes for the person; names: before lines (class Names);
    record: line(owner, text, continued, whole) takes each line that ends, as text: owner is a VM's
    name, "" for Tally, None for all others, whole has the prefix; raw(data) takes what the firmware
    prints before frames begin; said(text) takes a line that was made here. brief: nothing of what
    the firmware prints first is shown, unless nothing follows."""

    newline = b"\n"

    def __init__(self, flow, write, names, record, brief=False):
        self.flow, self.write, self.names, self.record = flow, write, names, record
        self.lines = [Line(vm.name, vm.number) for vm in flow.vms]
        self.others = Line("")                # of the firmware, while frames are on
        self.hidden = b"" if brief else None  # what came first; None: is not hidden
        flow.listeners.append(self)

    # --- What is printed ----------------------------------------------------------------------

    def output(self, vm, data):
        """Takes bytes of a VM."""
        for n in range(len(self.lines), vm.number + 1):
            self.lines.append(Line(self.flow.vms[n].name, n))
        line = self.lines[vm.number]
        line.name = vm.name
        self.print(line, data)

    def plain(self, data):
        """Shows bytes outside of frames: before guests run as they are, later in own lines."""
        if self.flow.framed:
            self.print(self.others, data)
            return
        self.record.raw(data)
        if self.hidden is None:
            self.write(data)
        else:
            self.hidden += data

    def begun(self):
        """Notes that guests are about to run."""
        self.hidden = None

    def own(self, text):
        """Takes a line of Tally's."""
        self.hidden = None
        text = printable.plain(text)
        life = LIFE.match(text)
        if life:
            self.life(life[1], life[2])
        self.record.line("", text, False, OWN.decode() + text)
        self.line_of_tally(text)

    def end(self):
        """Ends all lines, because the machine has ended."""
        for line in [*self.lines, self.others]:
            self.flush(line)
        self.write(self.hidden or b"")
        self.hidden = None

    # --- Lines --------------------------------------------------------------------------------

    def life(self, name, what):
        """Ends the unfinished line of a VM that ends or begins."""
        for line in self.lines:
            if line.name == name:
                self.flush(line)
                line.cutter = type(line.cutter)()
                line.ended = what != "starts again"
                line.hinted = False

    def flush(self, line):
        """Ends the unfinished line, if there is one."""
        if not line.is_blank() or line.drawn:
            self.line_end(line)

    def prefix(self, line):
        """Returns what a line begins with."""
        return line.prompt if line.vm is None else self.names.vm(line.name, line.continued)

    def line_of_tally(self, text):
        """Shows a line of Tally's."""
        self.write(self.names.tally(b": ") + text.encode() + self.newline)

    def line_end(self, line):
        """Handles the end of a line."""
        self.note(line)
        self.show(line)
        line.reset()

    def note(self, line):
        """Passes the line on to logs and verdict."""
        sign = "+" if line.continued else " "
        whole = "[%s]%s%s" % (line.name, sign, line.text) if line.name else line.text
        self.record.line(line.name or None, line.text, line.continued, whole)
        line.last.append(line.text)

    def show(self, line):
        """Shows a line that is whole."""
        self.write(self.prefix(line) + line.text.encode() + self.newline)

    # --- Units of what a VM prints ------------------------------------------------------------

    def print(self, line, data):
        """Takes bytes for a line apart."""
        for kind, unit in line.cutter.feed(data):
            self.unit(line, kind, unit)

    def unit(self, line, kind, unit):
        """Carries out one complete unit of them."""
        if kind == CONTROL and unit == b"\n":
            self.line_end(line)
            return
        if kind == CONTROL and unit == b"\r":
            line.cr = True
            return
        if line.cr:
            line.cr = False
            self.lone_cr(line)
        if kind == TEXT:
            self.text(line, unit.decode())
        elif kind == CONTROL:
            self.control(line, unit)
        else:
            self.escape(line, unit)

    def lone_cr(self, line):
        """Handles a CR that no LF follows."""
        if not line.is_blank():
            self.line_end(line)

    def text(self, line, text):
        """Adds characters."""
        while text := line.put(text):
            self.line_end(line)
            line.continued = True

    def control(self, line, unit):
        """Carries out a control byte."""
        if unit == b"\t":
            self.text(line, "\t")
        elif unit == b"\b":
            line.move(-1)

    def escape(self, line, unit):
        """Carries out an escape sequence."""
        line.escape(unit)
