# SPDX-License-Identifier: Apache-2.0
"""One console of one VM: what comes on a line with frames, and what is sent there."""
import re

from tallylib import frames
from tallylib.replay import Replay

OK, FAILED, NO_VM = 0, 1, 2
MACHINE_ENDED = 6
# Lines of Tally's about a VM's life (core/life/vm_log.c, core/life/vm_life.c): told to the person.
LIFE = re.compile(r"vm (\S+): ((ended|stopped|failed|asked for a restart|starts again|stays off|"
                  r"\d+ bytes are left out).*)")
STARTED = re.compile(rb"^tally: \d+ \w+ from entry to the first guest", re.MULTILINE)
STARTED_BYTES = 256
OFF = ("ended", "stopped", "failed")
LAST_BYTES = 65536     # of what came before, from which the last lines are taken
MATCHED_BYTES = 4096   # of its last output is looked at for --until
BEGIN, ATTACHED, PACE = "fr", "attached", "p"
# A serial device has no flow control, and the board's UART room for 16 bytes: so many are typed,
# then a request, which is answered when all before it was read. It is no command: that is enough.
PIECE_BYTES = 12
PACE_COMMAND = b"x"


def last_lines(data, n):
    """Returns the last n lines. The last of them may be unfinished."""
    if n <= 0:
        return b""
    lines = data.split(b"\n")
    return b"\n".join(lines[-n - (lines[-1] == b""):])


class Leave(Exception):
    """Ends the console, with an exit status and a sentence or nothing."""

    def __init__(self, status, why=""):
        super().__init__(why)
        self.status = status


class Session:
    """line: tallylib.line.Line; vm: the name, None: the only one there is; write(bytes): what the
    VM prints; say(text): what is not from it; lines: so many of those before are shown; until:
    leaves where the VM's output matches; with_vm: leaves when the VM does."""

    def __init__(self, line, vm, write, say, lines=20, until=None, with_vm=False):
        self.line, self.vm, self.write, self.say = line, vm, write, say
        self.lines, self.until, self.with_vm = lines, until, with_vm
        self.names = {}
        self.number = None    # of the VM; None: not known yet
        self.before = b""     # output of the time before; None: that has been shown
        self.replay = Replay()
        self.last = self.plain = b""
        self.requests = 0
        self.typed = b""      # not sent yet
        self.paced = False    # what was sent has not been read yet

    def begin(self):
        """Asks for frames, and asks again if nobody has heard."""
        if self.line.serial:
            self.line.send(frames.request(BEGIN.encode(), b"frames on"))

    def ready(self):
        """Whether the VM is known, so that it can be typed to."""
        return self.number is not None

    def events(self, events):
        """Takes what came."""
        for event in events:
            self._event(event)

    def _event(self, event):
        if isinstance(event, frames.Name):
            self.names[event.name] = event.vm
        elif isinstance(event, frames.Output):
            if self.before is None:
                self._output(event)
            elif self.line.serial or event.vm == self.names.get(self.vm, event.vm):
                self.before = (self.before + event.data)[-LAST_BYTES:]
        elif isinstance(event, frames.Own):
            self._own(event.text)
        elif isinstance(event, frames.Answer) and event.request == ATTACHED:
            raise Leave(NO_VM, event.text)
        elif isinstance(event, frames.AnswerEnd) and event.request in (ATTACHED, BEGIN):
            self._begun()
        elif isinstance(event, frames.AnswerEnd) and event.request == PACE:
            self.paced = False
            self._send()
        elif isinstance(event, frames.Plain):
            self._plain(event.data)

    def _begun(self):
        """Begins, because the names and the last output have been told."""
        if self.before is None:
            return
        if self.vm is None and len(self.names) != 1:
            raise Leave(NO_VM, "which VM? There are: " + ", ".join(self.names))
        self.vm = self.vm or next(iter(self.names))
        if self.vm not in self.names:
            raise Leave(NO_VM, "no VM is called %s; there are: %s" % (
                self.vm, ", ".join(self.names)))
        self.number = self.names[self.vm]
        self.say("this is vm " + self.vm)
        self.write(last_lines(self.replay.feed(self.before), self.lines))
        self.before = None

    def _plain(self, data):
        """A board that has started anew has forgotten that frames were on."""
        self.plain = (self.plain + data)[-STARTED_BYTES:]
        if self.line.serial and self.ready() and STARTED.search(self.plain):
            self.plain = b""
            self.typed, self.paced = b"", False
            self.say("the machine has started anew")
            self.begin()

    def _output(self, event):
        if event.vm != self.number:
            return
        self.write(self.replay.live(event.data))
        if self.until:
            self.last = (self.last + event.data)[-MATCHED_BYTES:]
            if self.until.search(self.last.decode(errors="replace")):
                raise Leave(OK)

    def _own(self, text):
        found = LIFE.fullmatch(text)
        if not found or found[1] != self.vm:
            return
        self.say("vm %s: %s" % (self.vm, found[2]))
        if found[3] in OFF and self.with_vm:
            raise Leave(FAILED if found[3] == "failed" or self.until else OK)

    def type(self, data):
        """Takes what a person typed."""
        self.typed += data
        self._send()

    def unsent(self):
        """Returns how many bytes wait. The caller types no more while these are many."""
        return len(self.typed) + len(self.line.unsent)

    def _send(self):
        """Sends as much as may be under way at once."""
        if not self.typed:
            return
        if not self.line.paced:
            self.line.send(frames.typed_to(self.number, self.typed))
            self.typed = b""
        elif not self.paced:
            self.line.send(frames.typed_to(self.number, self.typed[:PIECE_BYTES]) +
                           frames.request(PACE.encode(), PACE_COMMAND))
            self.typed, self.paced = self.typed[PIECE_BYTES:], True

    def type_size(self, size):
        """Types what tells the guest how large the terminal is: a serial line cannot."""
        self.type(b"stty rows %d cols %d\r" % (size.lines, size.columns))

    def tell_size(self, size):
        """Sets the size of the VM's pseudo-terminal (tools/lib/runlib/ptys.py), if there is one."""
        if not self.line.serial:
            self.requests = self.requests % 999 + 1
            self.line.send(frames.request(b"s%d" % self.requests, b"@size %d %d" % (
                size.lines, size.columns)))

    def end(self):
        """Leaves a board's line as it was, with whole lines for people."""
        if self.line.serial:
            self.line.send(frames.request(BEGIN.encode(), b"frames off"))
