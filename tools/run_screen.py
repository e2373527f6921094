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
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            except OSError:
                pass  # nobody looks any more; the verdict is still wanted

    def close(self):
        with self.change:
            self.ended = True
            self.change.notify_all()
        self.thread.join()


@contextlib.contextmanager
def raw_terminal(wanted):
    """Keys come one by one, and what is printed goes out as it is."""
    if not wanted or not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setraw(sys.stdin, termios.TCSANOW)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def colours_wanted():
    """As https://no-color.org has it."""
    return (sys.stdout.isatty() and not os.environ.get("NO_COLOR") and
            os.environ.get("TERM", "dumb") != "dumb")


class View:
    """What a person sees of the console: names in colours; when the focus moves to another guest, its
    last lines once more; and what others said while a guest had the whole screen, after it."""

    SCROLL_BACK = 20
    HELD = 10000
    COLOURS = (32, 33, 36, 35, 34, 31)
    PREFIX = re.compile(rb"(?:(?<=[\n\r])|(?<=\x1b\[K))(?:\[([\w-]+)\](?=[ +])|tally(?=[:>]))")
    FOCUS = re.compile(rb"tally: input goes to (.*) \(Ctrl-T \? for help\)\r?\n")
    # The beginning of one of these, which will come to its end at once.
    BEGUN = re.compile(rb"(?:(?<=[\n\r])|(?<=\x1b\[K))(\[[\w-]*\]?|t|ta|tal|tall|tally|tally:[^\n]*)\Z")

    def __init__(self, write, colours, person):
        self.write, self.colours, self.person = write, colours, person
        self.names = {}         # name -> colour
        self.last = {}          # name -> its last lines
        self.focus = None       # the guest that has or had it last
        self.rest = b"\n"       # not yet written, but for the first byte, which is its context
        self.full = False
        self.held = collections.deque(maxlen=self.HELD)
        self.missed = 0

    def line(self, owner, text):
        """A line has ended."""
        vm = re.match(r"vm (\S+): \d+ MiB, ", text) if owner == "" else None
        if vm:
            self.colour(vm[1].encode())  # in the order of the VM tree; the first has the focus
            self.focus = self.focus or vm[1]
        if owner:
            self.last.setdefault(owner, collections.deque(maxlen=self.SCROLL_BACK)).append(text)

    def feed(self, data):
        """Bytes of the console."""
        if self.full:
            self.write(data)
            return
        data = self.rest + data
        begun = self.BEGUN.search(data)
        end = begun.start() if begun and self.person else len(data)
        self.rest = data[max(0, end - 1):]
        self.write(self.paint(data[:end])[1:])  # no first byte

    def paint(self, data):
        """With colours and last lines."""
        if self.person:
            data = self.FOCUS.sub(self.again, data)
        return self.PREFIX.sub(self.prefix, data) if self.colours else data

    def colour(self, name):
        """Each guest has its own, as far as there are enough."""
        return self.names.setdefault(name, self.COLOURS[len(self.names) % len(self.COLOURS)])

    def prefix(self, found):
        """A name at the beginning of a line."""
        code = self.colour(found[1]) if found[1] else 1
        return b"\x1b[%dm%s\x1b[m" % (code, found[0])

    def again(self, found):
        """The focus moved."""
        name = found[1].decode(errors="replace")
        if name == "the prompt" or name == self.focus:
            return found[0]
        self.focus = name
        return found[0] + b"".join(b"%s| %s\r\n" % (found[1], text.encode())
                                   for text in self.last.get(name, ()))

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
            self.rest = b"\n"
            self.feed(lines)

    def flush(self):
        """What was held back for the rest of it."""
        self.write(self.rest[1:])
        self.rest = self.rest[-1:]
