# SPDX-License-Identifier: Apache-2.0
"""The prompt (Ctrl-T :): a line that a person types, asked of Tally as programs ask.

It is echoed as if a VM in focus printed it, and so is erased and drawn again around others' lines.
"""
from runlib.editing import ERASE, Editing, Sequences
from runlib.line import Line
from tallylib.told import Told

BACKSPACE, DEL, CTRL_C, CTRL_D, TAB = b"\b", b"\x7f", b"\x03", b"\x04", b"\t"


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


class Commands:
    """Asks Tally for the names of its commands: each line of `help` begins with one."""

    command = b"help"

    def __init__(self, done):
        self.names, self.done = [], done

    def send(self, kind, text):
        """Takes a line of the answer."""
        if kind == b"=":
            self.names.append(text.decode(errors="replace").split(" ", 1)[0].rstrip(":"))
        else:
            self.done(self.names)


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
        self.editing = Editing(self.line)
        self.commands = None   # their names, when Tab has asked for them
        self.tab = False       # the last key was Tab

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
        self.echo(ERASE)

    def echo(self, data):
        """Shows bytes as if the prompt printed them."""
        if not data:
            return
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
        self.editing.enter(text)
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

    def know(self, names):
        """Tally has told its commands."""
        self.commands = names + (["top"] if self.watch else [])
        self.busy = False
        if self.has_focus():
            self.complete(False)

    def complete(self, again):
        """Tab. If it adds nothing, the second one lists the names that are possible."""
        if self.editing.is_first() and self.commands is None:
            self.busy = True
            self.ask(asker := Commands(self.know), asker.command)
            return
        names = (self.commands if self.editing.is_first() else
                 [line.name for line in self.terminal.lines])
        added, found = self.editing.complete(names)
        if added:
            self.echo(added)
        elif again and len(found) > 1:
            self.terminal.say(" ".join(found))

    def key(self, byte):
        """Takes a byte that is typed."""
        if self.watched:
            self.watched.type(byte)
            return
        arrow, again = self.sequences.take(byte), self.tab
        self.tab = byte == TAB
        if arrow is not None:
            self.echo(self.editing.arrow(arrow))
        elif byte in (b"\r", b"\n"):
            self.enter()
        elif byte in (BACKSPACE, DEL):
            self.echo(self.editing.erase())
        elif byte == TAB:
            self.complete(again)
        elif byte == CTRL_C:
            self.editing.recalled = 0
            self.echo(b"\n")
            self.show()
        elif byte == CTRL_D and not self.line.text:
            self.leave()
        elif b" " <= byte <= b"~":
            self.echo(self.editing.insert(byte.decode()))
