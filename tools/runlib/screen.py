# SPDX-License-Identifier: Apache-2.0
"""The terminal of the person who started tools/run."""
import collections
import contextlib
import os
import re
import sys
import termios
import threading
import time
import tty

from runlib.verdict import say


class Clock:
    """While nothing is printed, shows on a terminal how long it has been going on."""

    def __init__(self, wanted):
        self.start = self.last = time.monotonic()
        self.shown = False
        self.lock = threading.Lock()
        self.on = wanted and sys.stderr.isatty()
        if self.on:
            threading.Thread(target=self.tick, daemon=True).start()

    def tick(self):
        while self.on:
            time.sleep(0.5)
            now = time.monotonic()
            with self.lock:
                if self.on and now - self.last > 1:
                    sys.stderr.write("\r[%d s] running ...\033[K" % (now - self.start))
                    sys.stderr.flush()
                    self.shown = True

    def output(self):
        """Something is printed now: takes the clock off the screen."""
        with self.lock:
            self.last = time.monotonic()
            if self.shown:
                sys.stderr.write("\r\033[K")
                sys.stderr.flush()
                self.shown = False

    def stop(self):
        self.on = False
        self.output()


class Screen:
    """Writes to standard output, in a thread of its own: one who does not read delays no program
    that asks, and the machine only when much is waiting."""

    ROOM = 1 << 20

    def __init__(self, clock):
        self.clock = clock
        self.out = sys.stdout.fileno()
        self.lost = False
        self.waiting = bytearray()
        self.ended = False
        self.change = threading.Condition()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def write(self, data):
        with self.change:
            self.change.wait_for(lambda: len(self.waiting) < self.ROOM)
            self.waiting += data
            self.change.notify_all()

    def work(self):
        while True:
            with self.change:
                self.change.wait_for(lambda: self.waiting or self.ended)
                data, self.waiting = self.waiting, bytearray()
                self.change.notify_all()
            if not data:
                return
            self.clock.output()
            try:
                while data and not self.lost:
                    data = data[os.write(self.out, data):]
            except OSError as error:
                self.lost = True  # the verdict is still wanted
                if not isinstance(error, BrokenPipeError):  # that is one who looks no longer
                    say("standard output: %s; the machine goes on" % error.strerror)

    def close(self):
        with self.change:
            self.ended = True
            self.change.notify_all()
        self.thread.join()


def give_back(terminal, before, end):
    """In a process of its own: waits until nobody holds the other side of `end`, however that
    ended, and sets the terminal as it was."""
    os.setsid()  # no key and no signal to the group reaches it, and it may set a terminal
    os.read(end, 1)
    termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextlib.contextmanager
def raw_terminal(wanted):
    """Keys come one by one, and what is printed goes out as it is. The terminal is given back even
    if this program is killed."""
    if not wanted or not sys.stdin.isatty():
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    end, held = os.pipe()
    keeper = os.fork()
    if not keeper:
        try:
            os.close(held)
            give_back(terminal, before, end)
        finally:
            os._exit(0)
    os.close(end)
    try:
        tty.setraw(terminal, termios.TCSANOW)
        yield
    finally:
        os.close(held)
        os.waitpid(keeper, 0)


def colours_wanted():
    """As https://no-color.org has it."""
    return (sys.stdout.isatty() and not os.environ.get("NO_COLOR") and
            os.environ.get("TERM", "dumb") != "dumb")


class View:
    """What a person sees of the console: names in colours; when the focus moves to another guest,
    its last lines once more; and what others said while a guest had the whole screen, after it."""

    SCROLL_BACK = 20
    HELD = 10000
    CONTEXT = 3
    COLOURS = (32, 33, 36, 35, 34, 31)
    PREFIX = re.compile(rb"(?:(?<=[\n\r])|(?<=\x1b\[K))(?:\[([\w-]+)\](?=[ +])|tally(?=[:>]))")
    FOCUS = re.compile(rb"tally(?:\x1b\[m)?: input goes to (.*) \(Ctrl-T \? for help\)\r?\n")
    # The beginning of one of these, which will come to its end at once.
    BEGUN = re.compile(rb"(?:(?<=[\n\r])|(?<=\x1b\[K))(\[[\w-]*\]?|t|ta|tal|tall|tally|tally:[^\n]*)\Z")

    def __init__(self, write, colours, person, names):
        self.write, self.colours, self.person = write, colours, person
        # Each guest has a colour of its own, as far as there are enough.
        self.names = {name.encode(): self.COLOURS[n % len(self.COLOURS)]
                      for n, name in enumerate(names)}
        self.last = {name: collections.deque(maxlen=self.SCROLL_BACK) for name in names}
        self.focus = names[0] if names else None  # the guest that has or had it last
        self.rest = b"\n"       # not yet written, but for
        self.written = 1        # so many bytes of context: ESC [ K may come in pieces
        self.full = False
        self.held = collections.deque(maxlen=self.HELD)
        self.missed = 0

    def line(self, owner, text):
        """A line has ended."""
        if owner:
            self.last[owner].append(text)

    def feed(self, data):
        """Bytes of the console."""
        if self.full:
            self.write(data)
            return
        data = self.rest + data
        begun = self.BEGUN.search(data)
        end = begun.start() if begun and (self.person or self.colours) else len(data)
        # Painted from where it was written to: what is before it is only looked at.
        self.write(self.paint(data, self.written, end))
        self.written = min(end, self.CONTEXT)
        self.rest = data[end - self.written:]

    def paint(self, data, begin, end):
        """That part, with colours and last lines."""
        done = []
        for piece in self.PREFIX.finditer(data, begin, end):
            done += [data[begin:piece.start()],
                     self.prefix(piece) if self.colours else piece[0]]
            begin = piece.end()
        painted = b"".join(done) + data[begin:end]
        return self.FOCUS.sub(self.again, painted) if self.person else painted

    def prefix(self, found):
        """A name at the beginning of a line."""
        code = self.names.get(found[1]) if found[1] else 1
        return b"\x1b[%dm%s\x1b[m" % (code, found[0]) if code else found[0]

    def again(self, found):
        """The focus moved."""
        name = found[1].decode(errors="replace")
        if name not in self.last or name == self.focus:
            return found[0]
        self.focus = name
        return found[0] + b"".join(b"%s| %s\r\n" % (found[1], text.encode())
                                   for text in self.last[name])

    def aside(self, line):
        """A line that came while a guest had the screen."""
        self.missed += len(self.held) == self.HELD
        self.held.append(line)

    def set_full(self, full):
        """A guest has the whole screen, or no longer."""
        if full:
            self.flush()
        self.full = full
        if not full and self.held:
            if self.missed:
                self.held.appendleft(b"tally: %d lines are left out here" % self.missed)
            self.missed = 0
            lines = b"".join(line + b"\r\n" for line in self.held)
            self.held.clear()
            self.rest, self.written = b"\n", 1
            self.feed(lines)

    def flush(self):
        """What was held back for the rest of it."""
        self.write(self.rest[self.written:])
        self.rest = self.rest[-self.CONTEXT:]
        self.written = len(self.rest)
