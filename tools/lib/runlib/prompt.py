# SPDX-License-Identifier: Apache-2.0
"""The prompt (Ctrl-T :): a line that a person types, asked of Tally as programs ask.

It is echoed as if a VM in focus printed it, and so is erased and drawn again around others' lines.
"""
from runlib.line import Line
from tallylib.tally_ctl import COMMAND_BYTES
from tallylib.told import Told

BACKSPACE, DEL, CTRL_C, CTRL_D, ESC = b"\b", b"\x7f", b"\x03", b"\x04", b"\x1b"


class Sequences:
    """Finds the bytes of keys that send a sequence (arrows, F1): ESC and a character, with further
    ones behind ESC [ and ESC O."""

    def __init__(self):
        self.begun = b""

    def take(self, byte):
        """Returns whether the byte is of a sequence. A control character ends one."""
        if byte == ESC:
            self.begun = ESC
            return True
        begun, self.begun = self.begun, b""
        if not begun or byte < b" ":
            return False
        if begun == ESC and byte in (b"[", b"O") or begun == b"[" and byte < b"@":
            self.begun = byte if begun == ESC else begun
        return True


class Asker:
    """Something to ask of Tally from here: its answer is shown as Tally's lines. done: is called
    when there is no more of it."""

    def __init__(self, terminal, command, done=lambda: None):
        self.terminal, self.told, self.done = terminal, Told(command), done
        self.asked = False

    @property
    def command(self):
        """The command that Tally is asked."""
        return self.told.command.encode()

    def send(self, kind, text):
        """Takes a line of the answer, as a program would (tools/lib/runlib/programs.py)."""
        text = text.decode(errors="replace")
        lines = (self.told.rows(text) if kind == b"=" else
                 self.told.end() if kind == b"." else [text])
        for line in lines:
            self.terminal.say(line)
        if kind != b"=":
            self.done()


class Prompt:
    """ask: takes an Asker and a command. watch: takes the words behind `top` and what to call at
    the end of it, and returns it (class Watched) or None."""

    def __init__(self, terminal, ask, watch=None):
        self.terminal, self.ask, self.watch = terminal, ask, watch
        self.line = Line("the prompt", prompt=terminal.names.tally(b"> "))
        self.back = None       # the line that had the focus before
        self.busy = False      # an answer is waited for
        self.watched = None    # has the screen, and gets what is typed
        self.sequences = Sequences()

    def has_focus(self):
        """Whether typed bytes go to the prompt."""
        return self.terminal.focus is self.line

    def open(self):
        """Moves the focus to the prompt."""
        if self.has_focus():
            return
        self.back = self.terminal.focus
        self.line.reset()
        self.terminal.set_focus(self.line)
        if not self.busy:
            self.show()

    def leave(self):
        """Moves the focus back."""
        self.stop()
        self.terminal.set_focus(self.back)

    def stop(self):
        """Ends what has the terminal for the prompt."""
        if self.watched:
            self.watched.stop()

    def show(self):
        """Puts the line on the screen, by erasing what is behind the cursor."""
        self.echo(b"\x1b[K")

    def echo(self, data):
        """Shows bytes as if the prompt printed them."""
        self.terminal.print(self.line, data)
        self.terminal.restore()

    def ready(self):
        """Shows the prompt for the next command."""
        self.busy, self.watched = False, None
        if self.has_focus():
            self.show()

    def enter(self):
        """Carries out the line."""
        text = self.line.text
        self.echo(b"\n")
        words = text.split()
        if words == ["exit"]:
            self.leave()
        elif not words:
            self.show()
        else:
            self.busy = True
            if words[0] == "top" and self.watch:
                self.watched = self.watch(words[1:], self.ready)
            else:
                asker = Asker(self.terminal, text, self.ready)
                self.ask(asker, asker.command)

    def key(self, byte):
        """Takes a byte that is typed."""
        if self.watched:
            self.watched.type(byte)
        elif self.sequences.take(byte):
            pass  # no key here has one
        elif byte in (b"\r", b"\n"):
            self.enter()
        elif byte in (BACKSPACE, DEL):
            if self.line.text:
                self.echo(b"\b\x1b[K")
        elif byte == CTRL_C:
            self.echo(b"\n")
            self.show()
        elif byte == CTRL_D and not self.line.text:
            self.leave()
        elif b" " <= byte <= b"~" and len(self.line.text) < COMMAND_BYTES:
            self.echo(byte)
