# SPDX-License-Identifier: Apache-2.0
"""The terminal of the person who started tools/run."""
import contextlib
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
