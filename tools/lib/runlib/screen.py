# SPDX-License-Identifier: Apache-2.0
"""The terminal of the person who started tools/run."""
import contextlib
import os
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
        """Takes the clock off the screen, because something is printed now."""
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


def terminal_size():
    """Returns rows and columns of the person's terminal."""
    return os.get_terminal_size(sys.stdin.fileno())
