# SPDX-License-Identifier: Apache-2.0
"""tools/tally-top on a terminal, by curses."""
import curses
import os
import signal
import sys
import time

from toplib.functions import DRAIN_S
from toplib.looks import rows
from toplib.table import SORT_KEYS, colour, in_order, notes, pane, ports, summary, table

KEYS = "keys: q quits; i counts; f samples; c s e h o n sort; r turns; SPACE looks"
ENTER = "\n"
HEAD_LINES = 3
# Downwards or upwards, and whether by a whole screen.
STEPS = {curses.KEY_DOWN: (1, False), curses.KEY_UP: (-1, False), curses.KEY_NPAGE: (1, True),
         curses.KEY_PPAGE: (-1, True)}


def colours():
    """{name: attribute}; none where https://no-color.org or the terminal says so."""
    if os.environ.get("NO_COLOR") or not curses.has_colors():
        return {}
    names = {"red": curses.COLOR_RED, "yellow": curses.COLOR_YELLOW, "blue": curses.COLOR_BLUE}
    for n, number in enumerate(names.values(), 1):
        curses.init_pair(n, number, -1)
    return {name: curses.color_pair(n) for n, name in enumerate(names, 1)}


class View:
    """What is on the screen."""

    def __init__(self, window, machine, interval, key, switches):
        self.window, self.machine, self.interval = window, machine, interval
        self.switches = switches
        self.key, self.backwards = key, False
        self.before = self.after = []
        self.first = 0  # line below the head that is shown first
        self.colours = colours()

    def draw(self):
        """Draws as much as fits, from where the person wants it on."""
        height, width = self.window.getmaxyx()
        shown = in_order(rows(self.before, self.after), self.key, self.backwards)
        head, *body = [*table(shown, width - 1, bool(self.machine.counts)), *notes(shown),
                       *ports(shown), *pane(self.after, self.switches.most)]
        room = max(0, height - HEAD_LINES)
        self.first = max(0, min(self.first, len(body) - room))
        part = body[self.first:self.first + room]
        styles = [self.colours.get(colour(row), curses.A_NORMAL) for row in shown][self.first:]
        where = "" if len(part) == len(body) else "arrows: %d-%d of %d; " % (
            self.first + bool(part), self.first + len(part), len(body))
        self.window.erase()
        for n, text in enumerate(["tally-top: " + summary(shown), where + KEYS, head,
                                  *part][:height]):
            row = n - HEAD_LINES
            style = (curses.A_REVERSE if row == -1 else
                     styles[row] if 0 <= row < len(styles) else curses.A_NORMAL)
            # The last cell of a screen cannot be written.
            self.window.addnstr(n, 0, text, width - 1, style)
        self.window.refresh()

    def look(self):
        """Looks at the machine again, and draws."""
        self.before, self.after = self.after, self.machine.look()
        self.draw()

    def press(self, key):
        """Serves a key. Returns whether it leaves."""
        if key in ("q", "Q"):
            return True
        if key in SORT_KEYS:
            self.key, self.backwards = key, False
        elif key == "r":
            self.backwards = not self.backwards
        elif key in STEPS:
            direction, screen = STEPS[key]
            self.first += direction * (
                max(1, self.window.getmaxyx()[0] - HEAD_LINES) if screen else 1)
        elif key in (" ", ENTER):
            self.look()
        elif key in ("i", "f"):
            self.switches.turn(self.machine, "counts" if key == "i" else "functions")
            self.look()
        # A person who pressed a key sees all of it anew, whatever has disturbed the screen.
        self.window.clear()
        self.draw()
        return False

    def fit(self):
        """Takes the size that the terminal has now."""
        size = os.get_terminal_size()
        if self.window.getmaxyx() != (size.lines, size.columns):
            curses.resizeterm(size.lines, size.columns)
            self.window.clear()
            self.draw()

    def typed(self):
        """Returns the keys that have been pressed."""
        while True:
            try:
                yield self.window.get_wch()
            except curses.error:
                return

    def keys(self, until, stop):
        """Serves keys up to a time of time.monotonic(). Returns whether one leaves."""
        while (left := until - time.monotonic()) > 0:
            stop.sleep(min(left, DRAIN_S) if self.machine.functions else left, sys.stdin)
            if stop.wanted:
                return True
            self.machine.drain()
            self.fit()
            if any(self.press(key) for key in self.typed()):
                return True
        return False


def show(machine, interval, key, switches, stop):
    """Shows the table until q, or a signal."""
    def work(window):
        window.nodelay(True)
        curses.use_default_colors()
        try:
            curses.curs_set(0)
        except curses.error:
            pass  # this terminal cannot hide it
        view = View(window, machine, interval, key, switches)
        view.look()
        while not view.keys(time.monotonic() + interval, stop):
            view.look()
    # curses waits for a key with its own handler, and one that comes just before is not noticed.
    signal.signal(signal.SIGWINCH, lambda *_: None)
    curses.wrapper(work)
